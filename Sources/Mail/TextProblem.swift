/// What is wrong with a text of a file.
public struct TextProblem: Error, Hashable, Sendable {
    /// The key of the text: `reset.subject`.
    public let key: String
    /// The reason, in words that fit after the key.
    public let reason: String

    /// A problem of the text under `key`.
    public init(key: String, reason: String) { (self.key, self.reason) = (key, reason) }
}
