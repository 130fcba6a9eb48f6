/// The outcomes of one minute at a node.
public struct OutcomeMinute: Sendable {
    /// What is counted.
    public enum Subject: Int, CaseIterable, Sendable {
        case refresh
        case login
        /// Beginnings of sessions.
        case start
        /// Ends of sessions, by reason.
        case end
    }

    /// Minutes since 1970.
    public let number: Int64
    /// The counts by outcome, for each subject.
    public var counts: [[String: Int]] = Array(repeating: [:], count: Subject.allCases.count)

    /// A minute without outcomes.
    public init(number: Int64) { self.number = number }

    /// The outcomes of a subject.
    public subscript(_ subject: Subject) -> [String: Int] { counts[subject.rawValue] }

    /// The sum over some outcomes.
    public func count(_ subject: Subject, where isCounted: (String) -> Bool = { _ in true }) -> Int {
        self[subject].reduce(0) { isCounted($1.key) ? $0 + $1.value : $0 }
    }
}
