/// The audience of a token: one name, or several (RFC 7519 §4.1.3).
public struct Audience: Decodable, Hashable, Sendable {
    /// The names, in their order in the token.
    public let all: [String]

    /// Creates an audience from its names.
    public init(_ all: [String]) { self.all = all }

    /// Decodes a string, or an array of strings.
    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let one = try? value.decode(String.self) {
            all = [one]
        } else {
            all = try value.decode([String].self)
        }
    }
}
