internal import Calendar

/// One of the files that a listener's TLS is made of.
public enum TLSFile: String, Sendable {
    /// The server's certificate, and the intermediates after it.
    case certificate
    /// The private key of the certificate.
    case key
    /// The certificates of the authorities that may sign client certificates.
    case clientAuthority
}

/// The reason for which TLS cannot be set up. Each description completes a sentence that begins with the name of the
/// file.
public enum TLSError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file cannot be read.
    case unreadable(TLSFile, String)
    /// The file contains no PEM of the expected kind.
    case notPEM(TLSFile)
    /// The key is encrypted, and a server cannot ask for its password.
    case encryptedKey
    /// The key belongs to another certificate.
    case keyDoesNotMatch
    /// The certificate has expired (seconds since 1970).
    case expired(notAfter: Int64)
    /// The certificate is not valid yet (seconds since 1970).
    case notYetValid(notBefore: Int64)
    /// The key is too short, or of a weak kind.
    case weakKey(String)
    /// OpenSSL refuses the contents.
    case unusable(TLSFile, String)
    /// The library lacks a required feature.
    case libraryRefuses(String)

    /// The file that has the problem.
    public var file: TLSFile {
        switch self {
        case .unreadable(let file, _), .notPEM(let file), .unusable(let file, _): file
        case .encryptedKey, .keyDoesNotMatch: .key
        case .expired, .notYetValid, .weakKey, .libraryRefuses: .certificate
        }
    }

    /// The end of a sentence for the operator.
    public var description: String {
        switch self {
        case .unreadable(_, let reason): "cannot be read: \(reason)"
        case .notPEM(.key): "holds no private key in PEM (-----BEGIN PRIVATE KEY-----)"
        case .notPEM: "holds no certificate in PEM (-----BEGIN CERTIFICATE-----)"
        case .encryptedKey: "is encrypted with a password; store it without one, readable by the server's user alone"
        case .keyDoesNotMatch: "is not the key of the certificate"
        case .expired(let time): "expired at \(UTCTime(secondsSinceEpoch: time).rfc3339); renew it"
        case .notYetValid(let time):
            "is not valid before \(UTCTime(secondsSinceEpoch: time).rfc3339); is the clock right?"
        case .weakKey(let kind): "has a weak key (\(kind)); use RSA with 2048 bits or more, or P-256"
        case .unusable(_, let reason): "is refused by OpenSSL: \(reason)"
        case .libraryRefuses(let what): "cannot be used: this OpenSSL refuses \(what)"
        }
    }
}
