// Sockets: the sockets of the operating system.
//
// Owns: addresses, descriptors, listening, accepted connections, a blocking client, and what systemd passes on. A
// descriptor is closed here and nowhere else; event loops only watch its number.
//
// Must not know: HTTP, TLS, event loops.
//
// Reading order: FileDescriptor (the only place that closes), SocketAddress (+Parsing, +Native), Listener (+Steering:
// several processes on one port), InheritedListeners and ServiceNotification (the interface to systemd), StreamSocket (an
// accepted connection), ClientSocket (for the command line and tests), AddressRange, SocketAddress+Public (which addresses
// lead outside), ProxyHeader, SocketError.
