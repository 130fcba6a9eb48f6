// Doctor: the checks of `sojourn doctor`, which read configuration, keys, database and machine, and change nothing.
//
// This module owns the checks and their sentences for the operator. It must not know the command line; the environment
// variables are passed to it.
//
// Reading order: Finding, DoctorCheck (all checks), ClosedDatabaseCheck and PostgresCheck (the two kinds of databases),
// ContentsCheck (the rows of either), IdentityProviderCheck, IssuerCheck (the way through the proxy), BrowserCheck (pages of another
// origin).

internal import Calendar

/// The result of one check.
public struct Finding: Sendable {
    /// The severity of a result.
    public enum Result: String, Sendable {
        /// No problem.
        case ok
        /// A problem that does not stop the server.
        case warn
        /// A problem that stops the server, or will.
        case fail
    }

    /// The name of the check.
    public let check: String
    /// The severity.
    public let result: Result
    /// The facts, and the remedy for a problem.
    public let detail: String

    /// The result of the check of that name.
    public init(_ result: Result, _ check: String, _ detail: String) {
        self.result = result
        self.check = check
        self.detail = detail
    }

    /// `2026-11-21 09:30:00 UTC`.
    static func time(_ seconds: Int64) -> String {
        let time = UTCTime(secondsSinceEpoch: seconds)
        return "\(time.date.text) \(time.timeText) UTC"
    }
}
