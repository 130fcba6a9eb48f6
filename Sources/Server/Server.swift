// Server: assembles the parts of a running server.
//
// This module owns the start, the stop, the listeners, the root key file, the certificates, maintenance and the wiring of all
// other modules. It must not know the rules of tokens (`Sessions`), the answers to requests (`Endpoints`) and the command line
// (`sojourn`).
//
// Reading order: SojournServer (start and stop); Wiring/Application (everything but the sockets), Wiring/FirstStart,
// Wiring/Database; Wiring/SojournServer+Listening (the sockets, and the caller of a request); Maintenance/Maintenance;
// Files (root keys, certificates, locations of addresses, the ready file).
