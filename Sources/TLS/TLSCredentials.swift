internal import COpenSSL
internal import Cryptography

/// A certificate with its key, and the authorities of client certificates, if they are required. All of it is parsed
/// and checked.
public struct TLSCredentials: Sendable {
    /// The contents of the PEM files.
    public struct PEM: Equatable, Sendable {
        /// The server's certificate, then its intermediates.
        public var certificate: [UInt8]
        /// The private key of the first certificate, unencrypted.
        public var key: [UInt8]
        /// The certificates of the authorities that may sign client certificates; nil if clients need none.
        public var clientAuthority: [UInt8]?

        /// Creates a value from the contents of the files.
        public init(certificate: [UInt8], key: [UInt8], clientAuthority: [UInt8]? = nil) {
            self.certificate = certificate
            self.key = key
            self.clientAuthority = clientAuthority
        }
    }

    /// The first certificate of the chain.
    public let certificate: CertificateSummary
    let chain: [LibraryObject]
    let key: LibraryObject
    let clientAuthorities: [LibraryObject]

    /// The minimum size of an RSA key, in bits.
    static let bitsMin: Int32 = 2048

    /// Parses and checks the files.
    ///
    /// - Parameter now: seconds since 1970; the certificate must be valid at that time.
    public init(_ pem: PEM, now: Int64) throws(TLSError) {
        chain = try Self.certificates(pem.certificate, .certificate)
        key = try Self.key(pem.key)
        clientAuthorities =
            try pem.clientAuthority.map { bytes throws(TLSError) in
                try Self.certificates(bytes, .clientAuthority)
            } ?? []
        certificate = unsafe CertificateSummary(chain[0].pointer)
        guard unsafe X509_check_private_key(chain[0].pointer, key.pointer) == 1 else {
            ERR_clear_error()
            throw .keyDoesNotMatch
        }
        let bits = unsafe EVP_PKEY_get_bits(key.pointer)
        if unsafe EVP_PKEY_is_a(key.pointer, "RSA") == 1, bits < Self.bitsMin { throw .weakKey("RSA, \(bits) bits") }
        // 112 bits of security are what RSA with 2048 bits has.
        if unsafe EVP_PKEY_get_security_bits(key.pointer) < 112 { throw .weakKey("\(bits) bits") }
        if now > certificate.notAfter { throw .expired(notAfter: certificate.notAfter) }
        if now < certificate.notBefore { throw .notYetValid(notBefore: certificate.notBefore) }
    }

    private static func certificates(_ bytes: [UInt8], _ file: TLSFile) throws(TLSError) -> [LibraryObject] {
        ERR_clear_error()
        let bio = unsafe orStop(BIO_new_mem_buf(bytes, Int32(clamping: bytes.count)))
        defer { unsafe BIO_free(bio) }
        var chain: [LibraryObject] = []
        while let certificate = unsafe PEM_read_bio_X509(bio, nil, COpenSSL_no_password, nil) {
            unsafe chain.append(LibraryObject(certificate) { unsafe X509_free($0) })
        }
        let isAtEnd = COpenSSL_found_no_PEM() == 1
        if !isAtEnd { throw .unusable(file, libraryReason()) }
        ERR_clear_error()
        if chain.isEmpty { throw .notPEM(file) }
        return chain
    }

    private static func key(_ bytes: [UInt8]) throws(TLSError) -> LibraryObject {
        ERR_clear_error()
        let bio = unsafe orStop(BIO_new_mem_buf(bytes, Int32(clamping: bytes.count)))
        defer { unsafe BIO_free(bio) }
        if let key = unsafe PEM_read_bio_PrivateKey(bio, nil, COpenSSL_no_password, nil) {
            ERR_clear_error()
            return unsafe LibraryObject(key) { unsafe EVP_PKEY_free($0) }
        }
        let reason = libraryReason()
        let text = String(decoding: bytes, as: UTF8.self)
        if text.contains("ENCRYPTED") { throw .encryptedKey }
        throw text.contains("PRIVATE KEY-----") ? .unusable(.key, reason) : .notPEM(.key)
    }
}
