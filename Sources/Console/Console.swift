// Console: what the pages of the admins' console say, and what their forms mean.
//
// Owns: the views, which make a page of `Pages` from an overview of the domain, all English words of the console, the forms with
// the fields of users, clients and settings, and the filters that admins type. A form makes one call of the admin API.
//
// Must not know: requests, routes, cookies, tokens of forms, stores. `Endpoints/Console` finds the admin of a browser, reads the
// overview, checks what comes back and runs the call. A view gets an overview, a `ConsoleSetting` and a `ConsoleAdmin`, and
// asks nothing else.
//
// Reading order: ConsoleSetting, Views/ConsoleView (a page, and the words that many share), Views/ConsoleView+User with
// UserOverview, then Forms/FormAct (an act with its form and its commands), Views/ConsoleView+UserActs (draws the forms of a user)
// and Forms/UserForms (reads what comes back). After that any view by itself.
