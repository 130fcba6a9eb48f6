/// The target URI of a request without query and fragment, normalized for comparison (RFC 9449 §4.3 point 9; RFC 3986
/// §6.2.2 and §6.2.3): scheme and host in lower case, no default port, an empty path as `/`, escapes of unreserved
/// characters decoded and the others in upper case.
public struct DPoPTarget: Hashable, Sendable {
    private let text: String

    /// Parses `uri`. Returns nil if it is no http or https URI, or if it names a user.
    public init?(_ uri: String) {
        guard uri.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), let mark = uri.firstRange(of: "://") else {
            return nil
        }
        let scheme = uri[..<mark.lowerBound].lowercased()
        guard scheme == "https" || scheme == "http" else { return nil }
        let rest = uri[mark.upperBound...].prefix { $0 != "?" && $0 != "#" }
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        let authority = rest[..<slash].lowercased()
        guard !authority.isEmpty, !authority.contains("@"),
            let path = Self.normalised(rest[slash...].isEmpty ? "/" : rest[slash...])
        else { return nil }
        text = "\(scheme)://\(Self.withoutDefaultPort(authority, scheme: scheme))\(path)"
    }

    private static func withoutDefaultPort(_ authority: String, scheme: String) -> String {
        for end in [scheme == "https" ? ":443" : ":80", ":"] where authority.hasSuffix(end) {
            return String(authority.dropLast(end.count))
        }
        return authority
    }

    /// Normalizes a path (RFC 3986 §6.2.2.1 and §6.2.2.2); returns nil for an invalid escape.
    private static func normalised(_ path: Substring) -> String? {
        guard path.utf8.contains(UInt8(ascii: "%")) else { return String(path) }
        var bytes: [UInt8] = []
        var rest = path.utf8
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let digits = String(rest.prefix(2)), digits.utf8.count == 2, !digits.hasPrefix("+"),
                let value = UInt8(digits, radix: 16)
            else { return nil }
            rest = rest.dropFirst(2)
            if isUnreserved(value) { bytes.append(value) } else { bytes += Array("%\(digits.uppercased())".utf8) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF) || "-._~".utf8.contains(byte)
    }
}
