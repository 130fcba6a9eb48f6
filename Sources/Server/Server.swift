// Server puts the parts together and runs them.
//
// It owns the start, the stop, the listeners, the root key file, the certificates, maintenance and the wiring of everything
// else. It decides nothing about tokens (`Sessions`), answers no request (`Endpoints`) and knows no command line (`sojourn`).
//
// Reading order: SojournServer (start and stop); Wiring/Application (everything but the sockets), Wiring/FirstStart,
// Wiring/Database; Wiring/SojournServer+Listening (the sockets, and who the caller of a request is); Maintenance/Maintenance;
// Files (root keys, certificates, locations of addresses, the ready file).
