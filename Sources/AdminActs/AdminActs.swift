// AdminActs: what admins can do, apart from the pages and commands by which they do it.
//
// Owns: the acts, one in each file, with the call of the admin API that each makes, the scope that the call needs, and the words of
// the command line that do the same; how these are written for a shell; how durations and members are written in options.
//
// Must not know: pages, forms, requests, routes, stores. The console gives acts their forms, `Endpoints` runs their calls, and
// the program `sojourn` reads its options by the same tables and makes its calls by the same acts.
//
// Reading order: AdminAct (the protocol and the list of all acts), AdminCall, Users/DisableUser as an example, Shell, then
// ClientOption, UserOption and DurationText. After that any act by itself.
