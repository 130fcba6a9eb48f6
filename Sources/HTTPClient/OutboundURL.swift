internal import CCurl

/// An absolute URL that the server may request: https, or http on this machine if the caller allows it.
public struct OutboundURL: Hashable, Sendable, CustomStringConvertible {
    /// The longest URL, in bytes.
    public static let lengthMax = 2048

    /// The URL as it was given.
    public let description: String
    /// Scheme, host in lower case, and port, which all URLs of one server share.
    public let origin: String

    /// Parses `text`. Returns nil if it is not https, has a user or a fragment, or has anything except visible ASCII.
    /// `plainLoopback` also allows http for the hosts 127.0.0.1, [::1] and localhost. libcurl parses it, because two
    /// parsers could disagree.
    public init?(_ text: String, plainLoopback: Bool = false) {
        guard let parts = URLParts(text) else { return nil }
        let (scheme, isLoopback) = (parts.scheme, parts.isLoopback)
        guard scheme == "https" || (scheme == "http" && plainLoopback && isLoopback) else { return nil }
        description = text
        origin = "\(scheme)://\(parts.host):\(parts.port)"
    }
}

/// The parts of an absolute URL without user, password and fragment, as libcurl reads them.
struct URLParts {
    let scheme: String
    /// In lower case.
    let host: String
    /// The port of the URL, or the usual one of the scheme.
    let port: String
    let path: String
    let hasQuery: Bool

    /// Whether the host is this machine.
    var isLoopback: Bool { ["127.0.0.1", "[::1]", "localhost"].contains(host) }

    init?(_ text: String) {
        guard text.utf8.count <= OutboundURL.lengthMax, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        guard let curl = Library.shared.functions, let parser = curl.curl_url() else { return nil }
        defer { unsafe curl.curl_url_cleanup(parser) }
        guard unsafe curl.curl_url_set(parser, CURLUPART_URL, text, 0) == CURLUE_OK else { return nil }
        func part(_ part: CURLUPart, _ flags: Int32 = 0) -> String? {
            var value: UnsafeMutablePointer<CChar>?
            guard unsafe curl.curl_url_get(parser, part, &value, UInt32(flags)) == CURLUE_OK, let value = unsafe value
            else {
                return nil
            }
            defer { unsafe curl.curl_free(value) }
            return unsafe String(cString: value)
        }
        guard part(CURLUPART_USER) == nil, part(CURLUPART_PASSWORD) == nil, part(CURLUPART_FRAGMENT) == nil,
            let scheme = part(CURLUPART_SCHEME), let host = part(CURLUPART_HOST)?.lowercased(), !host.isEmpty,
            let port = part(CURLUPART_PORT, CURLU_DEFAULT_PORT)
        else { return nil }
        // libcurl accepts too few or too many slashes.
        guard text.lowercased().hasPrefix("\(scheme)://"), !text.dropFirst(scheme.count + 3).hasPrefix("/") else {
            return nil
        }
        (self.scheme, self.host, self.port) = (scheme, host, port)
        (path, hasQuery) = (part(CURLUPART_PATH) ?? "/", part(CURLUPART_QUERY) != nil)
    }
}
