import SojournTestKit

/// A history that a client has to survive, and what it must do in it.
struct Scenario: Sendable {
    /// How sessions are renewed.
    enum Renewal: String, Sendable {
        /// By a refresh token alone.
        case bearer = "refresh-token"
        /// By a refresh token that is bound to a key (RFC 9449).
        case bound
    }

    /// The number of the rule in the protocol document.
    let rule: Int
    /// A word in lower case, which no other scenario has.
    let name: String
    /// What a client does that keeps the rule.
    let sentence: String
    var renewal = Renewal.bearer
    var settings = ServerSettings(rotationInterval: 0, refreshAfter: World.refreshAfter)
    /// Further variables for the server.
    var environment: [String: String] = [:]
    /// What the scenario needs of the client. It is skipped for a client that lacks it.
    var needs: [Ability] = []
    /// Plays the history. Throws at the first thing that is wrong.
    let play: @Sendable (World) async throws -> Void

    /// For example `7-pages`.
    var label: String { "\(rule)-\(name)" }

    func isCalled(_ word: String) -> Bool { [label, name, "\(rule)"].contains(word) }

    /// Every scenario, by rule.
    static let all: [Scenario] = {
        let chapters = [
            storing, presenting, phones, deciding, time, waiting, leaving, signing, otherLogins, demanding, sealing,
            prompting, keeping,
        ].joined()
        // A chapter may have scenarios of several rules.
        return (1...20).flatMap { rule in chapters.filter { $0.rule == rule } }
    }()
}

/// What a client did wrong.
struct Wrongdoing: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Throws if the client did something wrong; `text` says what.
func require(_ isRight: Bool, _ text: @autoclosure () -> String) throws {
    if !isRight { throw Wrongdoing(text()) }
}

/// Waits until a condition holds.
///
/// - Parameter seconds: the longest time to wait.
func eventually(_ text: String, within seconds: Double = 10, _ isTrue: () async throws -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(seconds)
    while try await !isTrue() {
        guard ContinuousClock.now < deadline else { throw Wrongdoing("\(text): not within \(seconds) s") }
        try await Task.sleep(for: .milliseconds(2))
    }
}
