public import Configuration
internal import Glibc
public import TLS

/// The files of one listener's TLS, and the keys of the configuration that name them.
public struct CertificateFiles: Hashable, Sendable {
    /// The listener of the files: "public" or "admin".
    public let listener: String
    let certificate: String
    let key: String
    let clientAuthority: String?

    /// The length limit of a file, because a device or a log may be named by mistake.
    private static let longestFile = 1 << 20

    /// The key of the configuration that names a file.
    func configurationKey(of file: TLSFile) -> String {
        let prefix = listener == "public" ? "server." : "server.\(listener)_"
        return switch file {
        case .certificate: prefix + "tls_certificate"
        case .key: prefix + "tls_key"
        case .clientAuthority: prefix + "client_ca"
        }
    }

    /// The path of a file.
    public func path(of file: TLSFile) -> String {
        switch file {
        case .certificate: certificate
        case .key: key
        case .clientAuthority: clientAuthority ?? ""
        }
    }

    func read() throws(CertificateProblem) -> TLSCredentials.PEM {
        do throws(TLSError) {
            return TLSCredentials.PEM(
                certificate: try Self.read(certificate, .certificate), key: try Self.read(key, .key),
                clientAuthority: try clientAuthority.map { path throws(TLSError) in
                    try Self.read(path, .clientAuthority)
                })
        } catch { throw CertificateProblem(self, error) }
    }

    /// The credentials in `pem`, if they are valid at `now` in seconds since 1970.
    func credentials(_ pem: TLSCredentials.PEM, now: Int64) throws(CertificateProblem) -> TLSCredentials {
        do throws(TLSError) {
            return try TLSCredentials(pem, now: now)
        } catch { throw CertificateProblem(self, error) }
    }

    /// Reads and checks the files, and returns a summary of the certificate.
    public func examine(now: Int64) throws(CertificateProblem) -> CertificateSummary {
        try credentials(read(), now: now).certificate
    }

    private static func read(_ path: String, _ file: TLSFile) throws(TLSError) -> [UInt8] {
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else { throw .unreadable(file, String(cString: strerror(errno))) }
        defer { close(number) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = Glibc.read(number, &buffer, buffer.count)
            if count < 0 { throw .unreadable(file, String(cString: strerror(errno))) }
            if count == 0 { return bytes }
            bytes += buffer.prefix(count)
            if bytes.count > longestFile { throw .unreadable(file, "it is larger than 1 MiB") }
        }
    }
}

/// A problem of one of the files: a line that names the key of the configuration and the file.
public struct CertificateProblem: Error, Equatable, Sendable, CustomStringConvertible {
    /// The line.
    public let description: String

    init(_ files: CertificateFiles, _ error: TLSError) {
        let file = error.file
        description = "\(files.configurationKey(of: file)): \(files.path(of: file)) \(error)"
    }
}

extension ServerConfiguration.Listeners {
    /// The files of the public listener; nil without TLS.
    public var publicCertificate: CertificateFiles? {
        guard let tlsCertificate, let tlsKey else { return nil }
        return CertificateFiles(
            listener: "public", certificate: tlsCertificate, key: tlsKey, clientAuthority: nil)
    }

    /// The files of the admin listener; nil without TLS.
    public var adminCertificate: CertificateFiles? {
        guard let adminTLSCertificate, let adminTLSKey else { return nil }
        return CertificateFiles(
            listener: "admin", certificate: adminTLSCertificate, key: adminTLSKey, clientAuthority: adminClientCA)
    }
}
