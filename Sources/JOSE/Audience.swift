/// For whom a token is: one name, or several (RFC 7519 section 4.1.3).
public struct Audience: Decodable, Hashable, Sendable {
    /// The names, in the order in which they stand.
    public let all: [String]

    /// For those.
    public init(_ all: [String]) { self.all = all }

    /// A string, or an array of strings.
    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let one = try? value.decode(String.self) {
            all = [one]
        } else {
            all = try value.decode([String].self)
        }
    }
}
