// TLS: the server side of TLS 1.2 and 1.3, through libssl.
//
// Owns: certificates and keys from PEM, the negotiated parameters, session tickets, and the sessions of connections.
//
// Must not know: event loops, HTTP. It knows descriptors as numbers only and never closes one.
//
// This module decides what is negotiated, not the system's openssl.cnf: TLS 1.2 with ephemeral elliptic-curve keys and
// authenticated encryption only, TLS 1.3 unchanged; no compression, no renegotiation, no early data.
//
// Reading order: TLSCredentials (the contents of PEM files) and TLSError, CertificateSummary, TLSContext (the settings of
// a listener), TicketKeys (resumption), TLSContextHolder (the current context), TLSSession (one connection).
