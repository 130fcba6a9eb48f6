internal import CCurl

/// An absolute URL that the server may ask: https, or http on this machine where that was allowed.
public struct OutboundURL: Hashable, Sendable, CustomStringConvertible {
    /// The longest URL, in bytes.
    public static let lengthMax = 2048

    /// The URL as it was given.
    public let description: String
    /// Scheme, host in lower case, and port: what two URLs of one server have in common.
    public let origin: String

    /// The URL that `text` spells, if it has no user, no fragment and nothing but visible ASCII, and is https. `plainLoopback`
    /// allows http too where the host is 127.0.0.1, [::1] or localhost. The library that will ask reads it, so that no two
    /// readings can differ.
    public init?(_ text: String, plainLoopback: Bool = false) {
        guard text.utf8.count <= Self.lengthMax, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
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
        // The library overlooks a slash too few or too many.
        guard text.lowercased().hasPrefix("\(scheme)://"), !text.dropFirst(scheme.count + 3).hasPrefix("/") else {
            return nil
        }
        let isLoopback = ["127.0.0.1", "[::1]", "localhost"].contains(host)
        guard scheme == "https" || (scheme == "http" && plainLoopback && isLoopback) else { return nil }
        description = text
        origin = "\(scheme)://\(host):\(port)"
    }
}
