internal import COpenSSL
internal import Cryptography

/// The settings that all TLS sessions of one listener share. It is immutable: a new certificate makes a new context,
/// and older sessions keep the old one.
public final class TLSContext: Sendable {
    /// The server's own certificate, which is the first of the chain.
    public let certificate: CertificateSummary
    /// True if clients must present a certificate (mutual TLS).
    public let requiresClientCertificate: Bool
    let handle: LibraryObject
    /// Kept alive here, because the callback for tickets has an unretained pointer to it.
    private let ticketKeys: TicketKeys

    /// The suites of TLS 1.2: Mozilla's "intermediate" list without finite-field Diffie-Hellman. The server chooses the
    /// suite. A client that prefers ChaCha20, because it has no hardware for AES, gets it.
    static let suites = [
        "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384",
        "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305",
    ]
    static let suites13 = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
    /// The key exchange groups, with the post-quantum hybrid if the library has it (OpenSSL 3.5). P-384 is left out,
    /// because it costs the server ten times as much, and clients with P-384 have P-256 too.
    static let groups = ["X25519MLKEM768:X25519:P-256", "X25519:P-256"]

    /// Creates a context.
    ///
    /// - Parameters:
    ///   - credentials: the checked certificate and key.
    ///   - ticketKeys: the keys of session tickets. They outlive a context, so that clients can resume after a reload.
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

    /// Configures resumption: by tickets only, so that the server stores nothing. With client certificates there is
    /// none, because a resumed session does not present its certificate again, and a certificate that expired, or lost
    /// its authority, would stay usable through tickets.
    private static func setResumption(_ context: OpaquePointer, _ keys: TicketKeys, isMutual: Bool) {
        let name: [UInt8] = Array("sojourn".utf8)
        unsafe mustSucceed(SSL_CTX_set_session_id_context(context, name, UInt32(name.count)))
        if isMutual {
            unsafe COpenSSL_forbid_tickets(context)
            unsafe mustSucceed(SSL_CTX_set_num_tickets(context, 0))
            return
        }
        unsafe SSL_CTX_set_timeout(context, TicketKeys.lifetime)
        // The pointer is not retained, because the context holds the keys and outlives the pointer.
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
        // Every certificate in the file is trusted by itself, also an intermediate one.
        unsafe X509_STORE_set_flags(store, UInt(X509_V_FLAG_PARTIAL_CHAIN))
        for authority in authorities {
            guard unsafe X509_STORE_add_cert(store, authority.pointer) == 1,
                unsafe SSL_CTX_add_client_CA(context, authority.pointer) == 1
            else { throw .unusable(.clientAuthority, libraryReason()) }
        }
        unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
    }
}

/// Chooses the protocol by ALPN (RFC 7301): always http/1.1. A client that offers only others gets an alert; one that
/// offers nothing continues.
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
