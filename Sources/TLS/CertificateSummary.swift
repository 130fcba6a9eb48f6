internal import Calendar
internal import COpenSSL
internal import Cryptography

/// The facts of a certificate that an operator needs.
public struct CertificateSummary: Equatable, Sendable {
    /// The subject in the form of RFC 2253: "CN=login.example,O=Example".
    public let subject: String
    /// The names for which the certificate is valid: DNS names and IP addresses.
    public let names: [String]
    /// The first second at which the certificate is valid, since 1970.
    public let notBefore: Int64
    /// The last second at which the certificate is valid, since 1970.
    public let notAfter: Int64
    /// The SHA-256 of its DER form, 32 bytes (in base64url it is `x5t#S256` of RFC 8705).
    public let sha256: [UInt8]

    init(_ certificate: OpaquePointer) {
        subject = unsafe text { unsafe COpenSSL_write_subject(certificate, $0) }
        let lines = unsafe text { unsafe COpenSSL_write_names(certificate, $0) }.split(separator: "\n")
        names = lines.map { line in
            for prefix in ["DNS:", "IP Address:"] where line.hasPrefix(prefix) {
                return String(line.dropFirst(prefix.count))
            }
            return String(line)
        }
        notBefore = unsafe COpenSSL_seconds(X509_get0_notBefore(certificate))
        notAfter = unsafe COpenSSL_seconds(X509_get0_notAfter(certificate))
        sha256 = unsafe [UInt8](unsafeUninitializedCapacity: 32) { buffer, initialized in
            var count: UInt32 = 0
            unsafe mustSucceed(X509_digest(certificate, EVP_sha256(), buffer.baseAddress, &count))
            initialized = Int(count)
        }
    }

    /// `notAfter` in ISO 8601.
    public var notAfterText: String { UTCTime(secondsSinceEpoch: notAfter).rfc3339 }

    /// The whole days until the certificate expires; negative after that.
    public func daysLeft(at now: Int64) -> Int64 {
        let seconds = notAfter - now
        return seconds >= 0 ? seconds / 86_400 : -1 - (-seconds - 1) / 86_400
    }
}
