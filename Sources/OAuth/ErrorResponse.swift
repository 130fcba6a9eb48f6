/// An error of the token endpoint and its siblings (RFC 6749 section 5.2), with two members of ours.
public struct ErrorResponse: Codable, Hashable, Sendable {
    /// The code, one of `ErrorCode`.
    public var error: String
    /// A sentence for developers.
    public var errorDescription: String?
    /// Where to read more.
    public var errorURI: String?
    /// Why a refresh was refused, in one stable word.
    public var reason: String?
    /// Whether logging in again would help.
    public var reauthenticate: Bool?

    /// The ways to authenticate the user that would do, parted by blanks (RFC 9470 section 3).
    public var acrValues: String?
    /// How many seconds ago the user may have been authenticated (RFC 9470 section 3).
    public var maxAge: Int64?

    /// An error. Characters that RFC 6749 does not allow in a description become `?`.
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

    /// `text` with nothing but %x20-21 / %x23-5B / %x5D-7E, which can also stand between the quotes of a challenge.
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
