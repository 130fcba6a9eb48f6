/// Where the SDK writes what happens. Lines hold no tokens, no names and no content.
public struct Log: Sendable {
    private let write: @Sendable (String) -> Void

    /// A log that passes each line to `write`.
    public init(_ write: @escaping @Sendable (String) -> Void) { self.write = write }

    /// A log that drops everything.
    public static let none = Log { _ in }

    func callAsFunction(_ line: @autoclosure () -> String) { write(line()) }
}
