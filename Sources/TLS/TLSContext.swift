// TLS speaks TLS 1.2 and 1.3 as a server, through libssl: certificates and keys from PEM, what is negotiated, and the
// sessions of single connections. It knows descriptors as numbers only, never closes one, and knows nothing of loops or HTTP.
//
// What is negotiated is decided here and not by the system's openssl.cnf: TLS 1.2 with ephemeral elliptic-curve keys
// and authenticated encryption only, TLS 1.3 as it is; no compression, no renegotiation, no early data.
//
// Reading order: TLSCredentials (what PEM files hold, and what can be wrong with it: TLSError), CertificateSummary,
// TLSContext (a listener's side), TicketKeys (resumption), TLSContextHolder (the context of today), TLSSession (one connection).

internal import COpenSSL
internal import Cryptography

/// Everything that the sessions of one listener have in common. Immutable: a new certificate is a new context, and sessions that
/// began with the old one keep it.
public final class TLSContext: Sendable {
    /// The first certificate of the chain: the server's own.
    public let certificate: CertificateSummary
    /// Whether clients must show a certificate (mutual TLS).
    public let requiresClientCertificate: Bool
    let handle: LibraryObject
    /// The callback for tickets points here.
    private let ticketKeys: TicketKeys

    /// The suites of TLS 1.2: Mozilla's "intermediate" list without finite-field Diffie-Hellman. Which one is ours to choose, but a
    /// client that prefers ChaCha20, because it has no hardware for AES, gets it.
    static let suites = [
        "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384",
        "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305",
    ]
    static let suites13 = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
    /// With the hybrid that resists quantum computers where the library has it (OpenSSL 3.5). P-384 is left out: it costs the
    /// server ten times as much, and whoever has it has P-256.
    static let groups = ["X25519MLKEM768:X25519:P-256", "X25519:P-256"]

    /// Makes a context.
    ///
    /// - Parameters:
    ///   - credentials: have been checked.
    ///   - ticketKeys: outlive a context, so that clients can resume after a reload.
    public init(_ credentials: TLSCredentials, ticketKeys: TicketKeys = TicketKeys()) throws(TLSError) {
        let handle = unsafe LibraryObject(SSL_CTX_new(TLS_server_method())) { unsafe SSL_CTX_free($0) }
        certificate = credentials.certificate
        requiresClientCertificate = !credentials.clientAuthorities.isEmpty
        self.handle = handle
        self.ticketKeys = ticketKeys
        let context = unsafe handle.pointer
        unsafe mustSucceed(COpenSSL_prepare(context))
        unsafe SSL_CTX_set_security_level(context, 2)
        unsafe mustSucceed(SSL_CTX_set_cipher_list(context, Self.suites.joined(separator: ":")))
        unsafe mustSucceed(SSL_CTX_set_ciphersuites(context, Self.suites13))
        let hasGroups = Self.groups.contains { unsafe COpenSSL_set_groups(context, $0) == 1 }
        ERR_clear_error()
        if !hasGroups { throw .libraryRefuses("the groups \(Self.groups.last ?? "")") }
        try unsafe Self.use(credentials, context)
        unsafe SSL_CTX_set_alpn_select_cb(
            context,
            { _, choice, choiceCount, offer, offerCount, _ in
                unsafe chooseProtocol(choice, choiceCount, offer, offerCount)
            }, nil)
        unsafe Self.setResumption(context, ticketKeys, isMutual: requiresClientCertificate)
        if requiresClientCertificate { try unsafe Self.requireCertificates(credentials.clientAuthorities, context) }
    }

    private static func use(_ credentials: TLSCredentials, _ context: OpaquePointer) throws(TLSError) {
        guard unsafe SSL_CTX_use_certificate(context, credentials.chain[0].pointer) == 1 else {
            throw .unusable(.certificate, libraryReason())
        }
        for intermediate in credentials.chain.dropFirst() {
            unsafe mustSucceed(X509_up_ref(intermediate.pointer))
            guard unsafe COpenSSL_add_intermediate(context, intermediate.pointer) == 1 else {
                unsafe X509_free(intermediate.pointer)
                throw .unusable(.certificate, libraryReason())
            }
        }
        guard unsafe SSL_CTX_use_PrivateKey(context, credentials.key.pointer) == 1 else {
            throw .unusable(.key, libraryReason())
        }
    }

    /// Resumption is by tickets alone, so that the server keeps nothing. Not with client certificates: a resumed session does not
    /// show its certificate again, so that one which expired, or whose authority was replaced, would live on in tickets.
    private static func setResumption(_ context: OpaquePointer, _ keys: TicketKeys, isMutual: Bool) {
        let name: [UInt8] = Array("sojourn".utf8)
        unsafe mustSucceed(SSL_CTX_set_session_id_context(context, name, UInt32(name.count)))
        if isMutual {
            unsafe COpenSSL_forbid_tickets(context)
            unsafe mustSucceed(SSL_CTX_set_num_tickets(context, 0))
            return
        }
        unsafe SSL_CTX_set_timeout(context, TicketKeys.lifetime)
        // Not retained: the context that outlives the pointer holds the keys itself.
        unsafe COpenSSL_set_tickets(context, Unmanaged.passUnretained(keys).toOpaque()) {
            session, name, vector, cipher, mac, isNew in
            guard let session = unsafe session, let owner = unsafe COpenSSL_owner(session) else { return -1 }
            let keys = unsafe Unmanaged<TicketKeys>.fromOpaque(owner).takeUnretainedValue()
            return unsafe keys.prepare(name, vector, cipher, mac, isNew: isNew == 1)
        }
    }

    private static func requireCertificates(
        _ authorities: [LibraryObject], _ context: OpaquePointer
    ) throws(TLSError) {
        let store = unsafe SSL_CTX_get_cert_store(context)
        // Whatever the file names is trusted by itself, an intermediate too.
        unsafe X509_STORE_set_flags(store, UInt(X509_V_FLAG_PARTIAL_CHAIN))
        for authority in authorities {
            guard unsafe X509_STORE_add_cert(store, authority.pointer) == 1,
                unsafe SSL_CTX_add_client_CA(context, authority.pointer) == 1
            else { throw .unusable(.clientAuthority, libraryReason()) }
        }
        unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
    }
}

/// ALPN (RFC 7301): we speak http/1.1. A client that offers only others is told so by an alert; one that offers nothing goes on.
private func chooseProtocol(
    _ choice: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ choiceCount: UnsafeMutablePointer<UInt8>?,
    _ offer: UnsafePointer<UInt8>?, _ offerCount: UInt32
) -> Int32 {
    guard let choice = unsafe choice, let choiceCount = unsafe choiceCount, let offer = unsafe offer else {
        return SSL_TLSEXT_ERR_ALERT_FATAL
    }
    let ours: StaticString = "http/1.1"
    let offers = unsafe UnsafeBufferPointer(start: offer, count: Int(offerCount))
    var start = 0
    while start < offers.count {
        let count = unsafe Int(offers[start])
        let name = unsafe offers[(start + 1)...].prefix(count)
        if unsafe name.elementsEqual(ours.withUTF8Buffer { unsafe Array($0) }) {
            unsafe choice.pointee = unsafe offer + start + 1
            unsafe choiceCount.pointee = UInt8(count)
            return SSL_TLSEXT_ERR_OK
        }
        start += 1 + count
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL
}
