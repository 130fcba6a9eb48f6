/// The rules for redirect URIs (RFC 8252 section 7, RFC 9700 section 4.1.3).
public enum RedirectURI {
    /// The longest redirect URI, in bytes.
    public static let lengthMax = 512

    /// The hosts that are this machine. RFC 8252 section 8.3 advises against `localhost`; development needs it.
    static let loopbackHosts = ["127.0.0.1", "[::1]", "localhost"]

    /// Returns true if a client can register `uri`: https, http with a loopback host, or a scheme with a dot in its name, which
    /// RFC 8252 section 7.1 demands of an app's own scheme. `javascript:` and `data:` have none.
    public static func isValid(_ uri: String) -> Bool {
        if isWebPage(uri) { return true }
        guard isPlain(uri), let scheme = scheme(of: uri) else { return false }
        return scheme.contains(".") && uri.utf8.count > scheme.utf8.count + 1
    }

    /// Returns true if `uri` is an https URI, or http with a loopback host, without user and fragment.
    public static func isWebPage(_ uri: String) -> Bool {
        guard isPlain(uri), let scheme = scheme(of: uri), scheme == "https" || scheme == "http",
            uri.hasPrefix("\(scheme)://")
        else { return false }
        let authority = uri.dropFirst(scheme.count + 3).prefix { !"/?".contains($0) }
        guard let (host, port) = split(authority), port == nil || isPort(port ?? "") else { return false }
        return scheme == "https" ? isHost(host) : loopbackHosts.contains(host)
    }

    /// The path of an https URI on the host of `issuer`, `/` if it is empty; nil for any other URI.
    public static func path(of uri: String, onHostOf issuer: String) -> String? {
        guard isWebPage(uri), uri.hasPrefix("https://"), issuer.hasPrefix("https://") else { return nil }
        let (rest, own) = (uri.dropFirst("https://".count), issuer.dropFirst("https://".count))
        let authority = rest.prefix { !"/?".contains($0) }
        guard authority.lowercased() == own.prefix(while: { $0 != "/" }).lowercased() else { return nil }
        let path = rest[authority.endIndex...].prefix { $0 != "?" }
        return path.isEmpty ? "/" : String(path)
    }

    /// Returns true if a request for `uri` is one for the registered URI: both are equal byte for byte, or differ only in the
    /// port of a loopback address, which the app chooses when it starts (RFC 8252 section 7.3).
    public static func matches(_ uri: String, registered: String) -> Bool {
        if uri.utf8.elementsEqual(registered.utf8) { return true }
        guard uri.utf8.count <= lengthMax, let asked = loopbackParts(uri), let known = loopbackParts(registered) else {
            return false
        }
        return asked.host == known.host && asked.rest.utf8.elementsEqual(known.rest.utf8)
    }

    /// The host and what follows the port of an http URI of a loopback address; nil for any other URI.
    private static func loopbackParts(_ uri: String) -> (host: String, rest: Substring)? {
        guard isWebPage(uri), uri.hasPrefix("http://") else { return nil }
        let rest = uri.dropFirst("http://".count)
        let authority = rest.prefix { !"/?".contains($0) }
        guard let (host, _) = split(authority) else { return nil }
        return (host, rest[authority.endIndex...])
    }

    /// The host and the port of an authority; nil if it cannot be read. A user is refused as a part of the host.
    static func split(_ authority: Substring) -> (host: String, port: String?)? {
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            let rest = authority[authority.index(after: end)...]
            if rest.isEmpty { return (String(authority), nil) }
            return rest.first == ":" ? (String(authority[...end]), String(rest.dropFirst())) : nil
        }
        guard let colon = authority.firstIndex(of: ":") else { return (String(authority), nil) }
        return (String(authority[..<colon]), String(authority[authority.index(after: colon)...]))
    }

    /// Returns true for a number of a port.
    static func isPort(_ text: String) -> Bool {
        (1...5).contains(text.utf8.count) && text.utf8.allSatisfy(isDigit)
            && Int(text).map { (1...65535).contains($0) } == true
    }

    /// Returns true for a name or an address. The characters exclude a user, an escape and a wildcard.
    private static func isHost(_ host: String) -> Bool {
        if host.hasPrefix("[") {
            return host.utf8.count > 4
                && host.dropFirst().dropLast().utf8.allSatisfy { isHexDigit($0) || ":.".utf8.contains($0) }
        }
        return !host.isEmpty && host.utf8.allSatisfy { isLetter($0) || isDigit($0) || "-._".utf8.contains($0) }
    }

    /// The scheme (RFC 3986 section 3.1), which must be in lower case; nil if there is none.
    private static func scheme(of uri: String) -> String? {
        guard let colon = uri.firstIndex(of: ":") else { return nil }
        let scheme = String(uri[..<colon])
        guard let first = scheme.utf8.first, (0x61...0x7A).contains(first),
            scheme.utf8.allSatisfy({ (0x61...0x7A).contains($0) || isDigit($0) || "+-.".utf8.contains($0) })
        else { return nil }
        return scheme
    }

    /// Returns true if `uri` is short and has only the characters of a URI without a fragment (RFC 3986).
    private static func isPlain(_ uri: String) -> Bool {
        let bytes = Array(uri.utf8)
        guard (1...lengthMax).contains(bytes.count) else { return false }
        return bytes.indices.allSatisfy { index in
            if bytes[index] == UInt8(ascii: "%") {
                return bytes[(index + 1)...].prefix(2).count(where: isHexDigit) == 2
            }
            return isLetter(bytes[index]) || isDigit(bytes[index])
                || "-._~:/?[]@!$&'()*+,;=".utf8.contains(bytes[index])
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    private static func isHexDigit(_ byte: UInt8) -> Bool { isDigit(byte) || (0x61...0x66).contains(byte | 0x20) }
}
