internal import COpenSSL
internal import Cryptography
internal import Glibc

/// The facts of a certificate that operators need.
public struct CertificateSummary: Equatable, Sendable {
    /// The subject in the form of RFC 2253: "CN=login.example,O=Example".
    public let subject: String
    /// The names that the certificate covers: DNS names and IP addresses.
    public let names: [String]
    /// The start of its validity, in seconds since 1970.
    public let notBefore: Int64
    /// The end of its validity, in seconds since 1970.
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
    public var notAfterText: String { UTCTime.text(notAfter) }

    /// Returns the whole days until the certificate expires; negative after that.
    public func daysLeft(at now: Int64) -> Int64 {
        let seconds = notAfter - now
        return seconds >= 0 ? seconds / 86_400 : -1 - (-seconds - 1) / 86_400
    }
}

enum UTCTime {
    /// Formats a time as "2031-05-09T12:00:00Z".
    static func text(_ secondsSinceEpoch: Int64) -> String {
        var time = time_t(secondsSinceEpoch)
        var parts = unsafe tm()
        guard unsafe gmtime_r(&time, &parts) != nil else { return "\(secondsSinceEpoch)" }
        var buffer = [CChar](repeating: 0, count: 32)
        let count = unsafe strftime(&buffer, buffer.count, "%Y-%m-%dT%H:%M:%SZ", &parts)
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
