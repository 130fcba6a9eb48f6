// Pages: the HTML of the login page, of its neighbors and of the account pages, and the blocks of the console (`ConsolePage`,
// `ConsoleBlock`, `ActForm`), which the target `Console` fills.
//
// Owns: the markup, the sentences in each language, the style sheet and the modules of script, the header fields of a
// page, and the names of the paths and form fields that the pages send. Each page is a value: its stored properties are
// what it shows, and `html(in:)` renders it.
//
// Must not know: sockets, stores, clocks, sessions, cookies, tokens of forms. `Endpoints` decides which page is shown,
// makes the values and checks what comes back. The module imports Calendar, Cryptography (digests in names), HTTP and Texts.
//
// How an endpoint answers:
//
//     let language = languages.chosen(uiLocales: request.uiLocales, acceptLanguage: fields.first("Accept-Language"))
//     let page = LoginPage(
//         app: PageApp(name: client.name, back: PageURL(absolute: "com.example.app:/cancelled")),
//         form: FormState(csrf: token, request: sealed), username: "", password: true)
//     return page.response(.ok, in: language, submittingTo: [redirectURI])     // CSP, no-store, Vary
//
// - `PagePath` is a path of this server and `PageURL` an address that may stand in a link: a path of ours, or an absolute
//   URL with https, http to a loopback address, or the scheme of an app. Nothing else can be written into a link.
// - `FormState` carries the hidden fields `csrf` and `r`; `FormField` names every field that a page sends, and
//   `PagePath.login` and its neighbors every path.
// - `PageAsset.response(at:)` answers `GET /assets/…`, the style sheets of `AccentColor` included.
// - Texts are passed as they are stored: interpolation escapes, and long names are cut where they are shown.
//
// Every page works without script. No page has inline script, inline style or an address of another origin, because the
// policy of `PageHeaders` refuses them.
//
// Reading order: HTML, HTMLContext, PagePath, PageURL, HTMLPage, PageFrame, PageHeaders, PageLanguage, Words, LoginPage, then the
// other pages in any order, and PageAsset.
