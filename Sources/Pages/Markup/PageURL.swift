/// The target of a link: a path of this server, or an absolute URL that a browser opens without running anything in the
/// page: `https`, `http` to a loopback address (RFC 8252 section 7.3), or the scheme of an app (section 7.1).
public struct PageURL: Hashable, Sendable {
    /// The address in ASCII.
    public let text: String
    /// What `form-action` of a Content Security Policy allows for this address, for example `https://app.example:8443`,
    /// `com.example.app:`, or `http:` for a loopback address, because CSP has no syntax for `[::1]`. `'self'` for a path.
    public let formSource: String
    /// Whether it is a path of this server.
    let isPath: Bool

    /// A path of this server.
    public init(_ path: PagePath) {
        text = path.text
        formSource = "'self'"
        isPath = true
    }

    /// An absolute URL; nil if it has another scheme, user information, or characters outside RFC 3986.
    public init?(absolute text: String) {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), text.utf8.allSatisfy(Self.isURLByte) else {
            return nil
        }
        let scheme = text[..<colon].lowercased()
        guard Self.isScheme(scheme), !Self.refused.contains(scheme) else { return nil }
        let rest = text[colon...].dropFirst()
        switch scheme {
        case "https", "http":
            guard rest.hasPrefix("//") else { return nil }
            let authority = rest.dropFirst(2).prefix { !"/?#".contains($0) }
            guard let host = Self.host(of: authority) else { return nil }
            guard scheme == "https" || Self.isLoopback(host) else { return nil }
            // Brackets are no host-part of CSP.
            let isName = !host.hasPrefix("[")
            formSource = scheme == "https" && isName ? "https://\(authority.lowercased())" : "\(scheme):"
        default:
            guard !rest.isEmpty else { return nil }
            formSource = "\(scheme):"
        }
        self.text = text
        isPath = false
    }

    /// Schemes that run script, read files or leave the way of OAuth. The schemes of apps are whatever else there is.
    private static let refused: Set = [
        "javascript", "data", "vbscript", "livescript", "mocha", "blob", "file", "filesystem", "about", "view-source",
        "jar", "resource", "chrome", "chrome-extension", "moz-extension", "edge", "ws", "wss", "ftp", "mailto", "tel",
        "sms", "intent", "content", "android-app",
    ]

    /// Printable ASCII without the characters that RFC 3986 forbids, and without quotes.
    static func isURLByte(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && !"\"'<>\\^`{|}".utf8.contains(byte)
    }

    private static func isScheme(_ text: String) -> Bool {
        guard let first = text.utf8.first, isLetter(first) else { return false }
        return text.utf8.allSatisfy { isLetter($0) || isDigit($0) || "+-.".utf8.contains($0) }
    }

    /// The host of an authority without user information; nil if it is malformed. A port has digits.
    private static func host(of authority: Substring) -> String? {
        let bytes = authority.utf8
        let isBracketed = bytes.first == UInt8(ascii: "[")
        let end = isBracketed ? bytes.firstIndex(of: UInt8(ascii: "]")).map { bytes.index(after: $0) } : nil
        let host = end.map { authority[..<$0] } ?? authority.prefix { $0 != ":" }
        let port = authority[host.endIndex...]
        guard port.isEmpty || port.hasPrefix(":") && port.dropFirst().utf8.allSatisfy(isDigit) else { return nil }
        let allowed =
            isBracketed
            ? end != nil && host.utf8.allSatisfy { isHexDigit($0) || "[:.]".utf8.contains($0) }
            : host.utf8.allSatisfy { isLetter($0) || isDigit($0) || "-.".utf8.contains($0) }
        return allowed && host.utf8.contains(where: { isLetter($0) || isDigit($0) }) ? host.lowercased() : nil
    }

    private static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127"
            && parts.allSatisfy { $0.count <= 3 && UInt8($0) != nil }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
    }
}
