/// An error response of the token endpoint and related endpoints (RFC 6749 §5.2), with two additional members.
public struct ErrorResponse: Codable, Hashable, Sendable {
    /// The code, one of `ErrorCode`.
    public var error: String
    /// A sentence for developers.
    public var errorDescription: String?
    /// A URL with more information.
    public var errorURI: String?
    /// A stable word for the reason of a refused refresh.
    public var reason: String?
    /// True if logging in again would help.
    public var reauthenticate: Bool?

    /// The acceptable authentication contexts, separated by spaces (RFC 9470 §3).
    public var acrValues: String?
    /// The maximum age of the authentication, in seconds (RFC 9470 §3).
    public var maxAge: Int64?

    /// Creates an error. Characters that RFC 6749 does not allow in a description become `?`.
    public init(
        _ error: ErrorCode, description: String? = nil, uri: String? = nil, reason: String? = nil,
        reauthenticate: Bool? = nil
    ) {
        self.error = error.rawValue
        errorDescription = description.map(Self.printable)
        errorURI = uri
        self.reason = reason
        self.reauthenticate = reauthenticate
    }

    /// Replaces everything except %x20-21 / %x23-5B / %x5D-7E by `?`, so that the text is also valid between the quotes
    /// of a challenge.
    public static func printable(_ text: String) -> String {
        let isAllowed = { (byte: UInt8) in (0x20...0x7E).contains(byte) && byte != 0x22 && byte != 0x5C }
        if text.utf8.allSatisfy(isAllowed) { return text }
        return String(decoding: text.utf8.map { isAllowed($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }

    enum CodingKeys: String, CodingKey {
        case error
        case errorDescription = "error_description"
        case errorURI = "error_uri"
        case reason, reauthenticate
        case acrValues = "acr_values"
        case maxAge = "max_age"
    }
}
