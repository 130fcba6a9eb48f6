/// The origin of a page as browsers write it in the field `Origin` (RFC 6454 section 6.2, WHATWG URL): a scheme, a host, and a port
/// that is not the usual one of the scheme. Origins are compared byte for byte.
public struct WebOrigin: Hashable, Sendable {
    /// Why a text is no origin that a client can allow, as a clause that begins with the text.
    public struct Problem: Error, Hashable, Sendable {
        /// The clause, for a sentence about the member that holds the text.
        public let detail: String

        fileprivate init(_ text: String, _ reason: String) {
            let shown = String.UnicodeScalarView(
                text.unicodeScalars.prefix(100).map { (0x20..<0x7F).contains($0.value) ? $0 : "?" })
            detail = "cannot have '\(String(shown))': \(reason)"
        }
    }

    /// The largest number of origins of one client.
    public static let countMax = 20
    /// The longest origin, in bytes.
    static let lengthMax = 255

    /// `https://shop.example`
    public let text: String

    /// Throws the reason why the text is no origin that a client can allow.
    public init(_ text: String) throws(Problem) {
        if let reason = Self.problem(with: text) { throw Problem(text, reason) }
        self.text = text
    }

    /// The origin of the page at `url`; nil if a client can allow none for it.
    public init?(ofPage url: String) {
        guard let text = Self.text(ofPage: url), let origin = try? WebOrigin(text) else { return nil }
        self = origin
    }

    /// The origin of the page at `url` as browsers write it, whether or not a client can allow it; nil if there is none.
    public static func text(ofPage url: String) -> String? {
        guard let start = url.firstRange(of: "://") else { return nil }
        let scheme = url[..<start.lowerBound].lowercased()
        var authority = url[start.upperBound...].prefix { !"/?#".contains($0) }.lowercased()
        if let usual = usualPorts[scheme], authority.hasSuffix(":\(usual)") {
            authority.removeLast("\(usual)".utf8.count + 1)
        }
        return "\(scheme)://\(authority)"
    }

    /// The origins of `texts`. Throws the reason for the first that is none.
    public static func list(_ texts: [String]) throws(Problem) -> [WebOrigin] {
        var origins: [WebOrigin] = []
        for text in texts { origins.append(try WebOrigin(text)) }
        return origins
    }

    /// The error in the origins of a client, as one sentence; nil if there is none.
    static func problem(in origins: [WebOrigin]) -> String? {
        guard origins.count <= countMax, Set(origins).count == origins.count else {
            return "allowed_origins must be at most \(countMax) origins, each once"
        }
        return nil
    }
}

// The rules.
extension WebOrigin {
    /// The ports that browsers leave out, by scheme.
    private static let usualPorts = ["http": 80, "https": 443]
    /// Schemes of documents that have no origin of their own, or that run nothing.
    private static let refusedSchemes: Set = [
        "about", "blob", "data", "file", "filesystem", "ftp", "javascript", "view-source", "ws", "wss",
    ]

    private static func problem(with text: String) -> String? {
        guard (1...lengthMax).contains(text.utf8.count) else { return "it must have 1 to \(lengthMax) bytes" }
        if text == "null" { return "null is the origin of every sandboxed frame" }
        if text.contains("*") { return "patterns are not supported, so each origin is named" }
        guard text.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }) else {
            return "it must be visible ASCII, a host with other letters in its form xn--"
        }
        guard !text.utf8.contains(where: { (0x41...0x5A).contains($0) }) else {
            return "it must be lower case, as browsers send it"
        }
        guard let start = text.firstRange(of: "://") else { return "it must be SCHEME://HOST or SCHEME://HOST:PORT" }
        let (scheme, authority) = (text[..<start.lowerBound], text[start.upperBound...])
        guard isScheme(scheme), !refusedSchemes.contains(String(scheme)) else {
            return "the scheme must be https, http for this machine, or that of a web view"
        }
        if authority.contains(where: { "/?#".contains($0) }) {
            return "it must end after the host or the port, without a path and without a slash"
        }
        if authority.contains("@") { return "it must not have a user" }
        return problem(with: authority, String(scheme))
    }

    private static func problem(with authority: Substring, _ scheme: String) -> String? {
        guard let (host, port) = RedirectURI.split(authority) else { return "the host cannot be read" }
        if let port {
            guard RedirectURI.isPort(port), port.first != "0" else {
                return "the port must be a number from 1 to 65535"
            }
            if usualPorts[scheme].map({ "\($0)" }) == port { return "browsers leave out the port \(port) of \(scheme)" }
        }
        guard isHost(host) else { return "the host must be a name or an address as browsers write it" }
        if scheme == "http", !RedirectURI.loopbackHosts.contains(host) {
            return "http is for \(RedirectURI.loopbackHosts.joined(separator: ", ")) alone"
        }
        return nil
    }

    /// RFC 3986 section 3.1.
    private static func isScheme(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, isLetter(first) else { return false }
        return text.utf8.allSatisfy { isLetter($0) || isDigit($0) || "+-.".utf8.contains($0) }
    }

    /// Returns true for a name of labels, for four numbers with points between them, and for the shortest text of an IPv6 address.
    private static func isHost(_ host: String) -> Bool {
        if host.hasPrefix("[") {
            let address = host.dropFirst().dropLast()
            return IPv6Text(address).map { $0.text == address } ?? false
        }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        guard host.utf8.count <= 253, labels.allSatisfy(isLabel), let last = labels.last else { return false }
        guard last.utf8.allSatisfy(isDigit) else { return true }
        // Browsers take a name with a number at its end for an address, and write it in this form alone.
        return labels.count == 4 && labels.allSatisfy { UInt8($0).map(String.init) == String($0) }
    }

    private static func isLabel(_ label: Substring) -> Bool {
        (1...63).contains(label.utf8.count)
            && label.utf8.allSatisfy { isLetter($0) || isDigit($0) || "-_".utf8.contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }
    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}

extension Client {
    /// Whether its users seem to log in on a page that cannot call the server: a public client with the URI of a page to which codes
    /// go, without origins and without apps of a phone, which have such URIs too.
    public var seemsToLackOrigins: Bool {
        isPublic && allowedOrigins.isEmpty && grantTypes.contains(.authorizationCode) && page.appleAppIDs.isEmpty
            && page.androidApps.isEmpty && page.redirectURIs.contains { $0.hasPrefix("https://") }
    }
}

/// An IPv6 address as browsers write it: lower case, without leading zeros, and with the longest run of zeros as `::` (RFC 5952).
private struct IPv6Text {
    private let groups: [UInt16]

    /// The address of a text without brackets; nil if it cannot be read.
    init?(_ text: Substring) {
        let halves = text.split(separator: "::", maxSplits: 2, omittingEmptySubsequences: false)
        let parts = halves.map { $0.isEmpty ? [] : $0.split(separator: ":", omittingEmptySubsequences: false) }
        let count = parts.map(\.count).reduce(0, +)
        guard halves.count == 1 ? count == 8 : halves.count == 2 && count < 8 else { return nil }
        var groups: [UInt16] = []
        for (index, half) in parts.enumerated() {
            if index == 1 { groups += Array(repeating: 0, count: 8 - count) }
            for part in half {
                guard let group = UInt16(part, radix: 16) else { return nil }
                groups.append(group)
            }
        }
        self.groups = groups
    }

    var text: String {
        let words = groups.map { String($0, radix: 16) }
        var (start, length) = (0, 1)
        for first in groups.indices {
            let zeros = groups[first...].prefix { $0 == 0 }.count
            if zeros > length { (start, length) = (first, zeros) }
        }
        guard length > 1 else { return words.joined(separator: ":") }
        return words[..<start].joined(separator: ":") + "::" + words[(start + length)...].joined(separator: ":")
    }
}
