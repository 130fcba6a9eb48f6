/// A login session of the phone, without input and output, clock and randomness: which acts the user can make, what an answer
/// means, and what the app is told.
///
/// The rules that it keeps, each broken once in `LoginSessionWalkTests`:
/// - Final states are final, and no answer takes the session back (`LoginStatus.rank`).
/// - An act is retried until it is answered, always as the same request, so that the server decides it once.
/// - The session ends on the device alone only while no act that can let a device in is without its answer.
/// - After `stop` no act that can let a device in is sent.
/// - What is no word of the server changes nothing.
/// - The result of an attempt at a second factor comes before the status to which it has led.
/// - The call of an attempt ends as its result was told, whatever its own answer says later.
/// - An attempt that was not sent does not succeed, whatever an earlier one has led to.
/// - An AppLogin is let in by the answer to its proof alone, because that brings what opens the backend.
///
/// The driver calls `begin` for an act, and then, until `finish`: `send` asks whether the request may go out, `take` takes its
/// answer and returns the next step. What the server tells on its own goes to `observe`.
package struct LoginSessionMachine: Hashable, Sendable {
    /// What the phone asks of the server.
    package enum Act: Hashable, Sendable {
        /// Presents the code.
        case claim
        case start
        case confirm
        /// Gives a second factor. The attempts count from one.
        case prove(attempt: Int)
        case stop

        /// Whether it can let a device in.
        var letsIn: Bool {
            switch self {
            case .confirm, .prove: true
            case .claim, .start, .stop: false
            }
        }
    }

    /// What came of a request.
    package enum Answer: Hashable, Sendable {
        /// The server has accepted the act, and the login stands so.
        case accepted(LoginStatus)
        /// The server has refused the act, in its word.
        case refused(String, attemptsLeft: Int? = nil)
        /// An error of the server.
        case fault
        /// No answer, or none of the server.
        case none
        /// The request was not sent.
        case unsent
    }

    /// What to do next for an act.
    package enum Step: Hashable, Sendable {
        /// Wait before the retry of that number, and send the same request again.
        case retry(Int)
        /// Ask the server how the login stands, and pass that to `look`.
        case look(refusedAs: String)
        case finish(Outcome)
    }

    /// How an act ends.
    package enum Outcome: Hashable, Sendable {
        case accepted
        case refused(String)
        case unanswered
    }

    /// What the app is told, without the details.
    package enum Event: Hashable, Sendable {
        case state(LoginStatus)
        case confirm
        case secondFactor(SecondFactorEvent.Result, expectsInput: Bool)
    }

    /// Where the session stands.
    package private(set) var status = LoginStatus(.starting)
    /// The number of attempts at a second factor.
    package private(set) var attempts = 0

    private let retriesMax: Int
    /// Whether it logs the app itself in at its backend.
    private let isAppLogin: Bool
    /// Whether an earlier process may have left acts without an answer.
    private let hasUnknownPast: Bool
    private var events: [Event]
    private var tries: [Act: Int] = [:]
    private var underWay: Set<Act> = []
    /// Acts that can let a device in, of which it is unknown whether the server has decided them.
    private var unresolved: Set<Act> = []
    /// The attempts at a second factor that were sent.
    private var sent: Set<Act> = []
    /// The ends of attempts with results that were told before their answers came.
    private var told: [Act: Outcome] = [:]
    private var isStopRequested = false
    private var isEndedLocally = false

    /// A session that begins, or one that an earlier process of the app has begun.
    package init(isResumed: Bool = false, isAppLogin: Bool = false, retriesMax: Int = 3) {
        (self.retriesMax, self.isAppLogin) = (retriesMax, isAppLogin)
        hasUnknownPast = isResumed
        events = [.state(status)]
    }

    /// Whether no event follows any more.
    package var isSettled: Bool {
        status.isFinal && !isProving
    }

    /// Takes the events that the app has not been told yet.
    package mutating func takeEvents() -> [Event] {
        defer { events = [] }
        return events
    }

    // MARK: Acts

    /// Begins an act. Returns the word of the refusal if the state does not await it.
    package mutating func begin(_ act: Act) -> String? {
        if status.isFinal { return "session_terminated" }
        if underWay.contains(act) || (act != .stop && !underWay.isEmpty) { return "act_pending" }
        if isStopRequested, act != .stop { return "session_terminated" }
        guard isAwaited(act) else { return "not_awaited" }
        underWay.insert(act)
        tries[act] = 0
        if case .prove(let attempt) = act { attempts = attempt }
        if act == .stop {
            isStopRequested = true
            endLocally("denied")
        }
        return nil
    }

    private func isAwaited(_ act: Act) -> Bool {
        switch act {
        case .claim: status.state == .starting
        case .start: status.state == .readyForUserInteraction || status.state == .waitingForUserInput
        case .confirm: status.input == .confirmation
        case .prove: status.input == .secondFactor
        case .stop: true
        }
    }

    /// Notes that a request goes out. Returns false if it must not, because the session is over or the user has stopped it.
    package mutating func send(_ act: Act) -> Bool {
        guard act == .stop || (!status.isFinal && !isStopRequested && told[act] == nil) else { return false }
        if act.letsIn { unresolved.insert(act) }
        if case .prove = act { sent.insert(act) }
        return true
    }

    /// Ends an attempt at a second factor that has begun, because the user has not given it.
    package mutating func withdraw(_ act: Act, _ failure: PresenceFailure) {
        guard underWay.remove(act) != nil else { return }
        events.append(.secondFactor(.notGiven(failure), expectsInput: status.input == .secondFactor))
    }

    /// The time for the user's input is over by the device's clock.
    package mutating func expire() { endLocally("timed_out") }

    /// Ends the session without the server, if nothing that was sent can let a device in.
    private mutating func endLocally(_ cause: String) {
        guard status.awaitsInput, !hasUnknownPast, unresolved.isEmpty else { return }
        isEndedLocally = true
        observe(LoginStatus(.done, history: .aborted, cause: cause))
    }

    /// Whether the result of an attempt was told before its answer.
    package func isTold(_ act: Act) -> Bool { told[act] != nil }

    /// Whether an attempt at a second factor was sent and is without its result.
    package var isProofSent: Bool {
        let attempt = Act.prove(attempt: attempts)
        return underWay.contains(attempt) && sent.contains(attempt)
    }

    /// Whether an attempt at a second factor is without its result.
    private var isProving: Bool { underWay.contains { if case .prove = $0 { true } else { false } } }

    // MARK: Answers

    /// Takes the answer to a request of an act.
    package mutating func take(_ answer: Answer, to act: Act) -> Step {
        if let outcome = told[act] {
            if answer != .none, answer != .fault { unresolved.remove(act) }
            if case .accepted(let found) = answer { observe(found) }
            return .finish(outcome)
        }
        let isFirst = tries[act] ?? 0 == 0
        switch answer {
        case .accepted(let found):
            unresolved.remove(act)
            return finish(act, .accepted, seeing: found)
        case .refused(let word, let left): return refuse(act, word, left)
        case .fault where act == .claim: return fail("fault")
        case .unsent:
            if isFirst {
                unresolved.remove(act)
                sent.remove(act)
            }
            if act == .claim { return fail("not_sent") }
            let isOver = status.isFinal || isStopRequested
            return finish(act, isOver && act != .stop ? .refused("session_terminated") : .unanswered)
        case .none, .fault:
            // The server itself has told the end meanwhile.
            if status.isFinal, !isEndedLocally {
                return finish(act, act == .stop ? .accepted : .refused("session_terminated"))
            }
            let number = (tries[act] ?? 0) + 1
            tries[act] = number
            if number <= (act == .stop ? 2 * retriesMax : retriesMax) { return .retry(number) }
            return act == .claim ? fail("unreachable") : finish(act, .unanswered)
        }
    }

    private mutating func refuse(_ act: Act, _ word: String, _ left: Int?) -> Step {
        unresolved.remove(act)
        if act == .claim { return fail(word) }
        let error = LoginStatus(.error, history: .error, cause: word)
        switch word {
        case "wrong_number", "contested": return finish(act, .refused(word), seeing: error)
        case "wrong_second_factor":
            let left = max(left ?? 1, 0)
            let end = LoginStatus(.error, history: .error, cause: "second_factor_failed")
            return finish(act, .refused(word), attemptsLeft: left, seeing: left == 0 ? end : nil)
        case "wrong_pin": return finish(act, .refused(word), attemptsLeft: max(left ?? 1, 1))
        case "session_terminated", "not_awaited", "not_claimant", "taken", "spent", "not_found":
            return .look(refusedAs: word)
        default: return finish(act, .refused(word))
        }
    }

    /// Takes how the login stands, after an act was refused as not awaited: that can be a retry of what the server has accepted.
    /// Nil: it could not be learnt.
    package mutating func look(_ found: LoginStatus?, for act: Act, refusedAs word: String) -> Step {
        if let outcome = told[act] {
            if let found { observe(found) }
            return .finish(outcome)
        }
        let isReached = found.map { Self.isReached(act, $0) } ?? false
        return finish(act, isReached && !isYielding(act) ? .accepted : .refused(word), seeing: found)
    }

    /// Whether a login stands as the act wanted it.
    package static func isReached(_ act: Act, _ status: LoginStatus) -> Bool {
        if status.history == .loggedInOneShot { return act != .stop }
        switch act {
        case .claim: return (1...5).contains(status.rank)
        case .start: return (2...5).contains(status.rank)
        case .confirm: return (3...5).contains(status.rank)
        case .prove: return (4...5).contains(status.rank)
        case .stop: return status.isFinal
        }
    }

    /// Whether the answer to an act brings more than a status: that to the proof of an AppLogin opens the backend.
    private func isYielding(_ act: Act) -> Bool {
        if case .prove = act { isAppLogin } else { false }
    }

    /// Takes what the server tells of the login.
    package mutating func observe(_ found: LoginStatus) {
        guard found.rank > status.rank else { return }
        let attempt = Act.prove(attempt: attempts)
        if underWay.contains(attempt) {
            // The answer, or a later look, tells it after the proof.
            if isYielding(attempt), isProofSent, Self.isReached(attempt, found) { return }
            endAttempt(attempt, seeing: found)
        }
        status = found
        if found.isFinal { unresolved = [] }
        events.append(.state(found))
        switch found.input {
        case .confirmation: events.append(.confirm)
        case .secondFactor: events.append(.secondFactor(.requested, expectsInput: true))
        case nil: break
        }
    }

    /// Ends the attempt at a second factor that led to `found`, because a look can overtake the answer to the attempt. The call
    /// ends in the same way, with its answer or without. An attempt that was not sent has led to nothing: it is not awaited any
    /// more.
    private mutating func endAttempt(_ attempt: Act, seeing found: LoginStatus) {
        let isSent = isProofSent
        let (result, outcome): (SecondFactorEvent.Result, Outcome)
        switch found.cause {
        case "second_factor_failed" where isSent:
            (result, outcome) = (.failed(attemptsLeft: 0), .refused("wrong_second_factor"))
        case "wrong_number" where isSent: (result, outcome) = (.refused("wrong_number"), .refused("wrong_number"))
        default:
            guard Self.isReached(attempt, found) else { return }
            (result, outcome) = isSent ? (.succeeded, .accepted) : (.refused("not_awaited"), .refused("not_awaited"))
        }
        underWay.remove(attempt)
        told[attempt] = outcome
        events.append(.secondFactor(result, expectsInput: false))
    }

    /// Takes the end of the phone's own session, which ends the login as well.
    package mutating func loseSession(isDeleted: Bool) {
        guard !status.isFinal else { return }
        let history: LoginStatus.History = status.history == .loggedIn ? .loggedOut : .aborted
        observe(
            LoginStatus(
                .done, history: isDeleted ? .deleted : history, cause: isDeleted ? "user_deleted" : "parent_ended"))
    }

    private mutating func fail(_ cause: String) -> Step {
        finish(.claim, .refused(cause), seeing: LoginStatus(.error, history: .error, cause: cause))
    }

    /// Ends an act. The result of an attempt comes before the status that is learnt with it.
    private mutating func finish(
        _ act: Act, _ outcome: Outcome, attemptsLeft: Int? = nil, seeing found: LoginStatus? = nil
    ) -> Step {
        let place = events.count
        let wasUnderWay = underWay.remove(act) != nil
        if let found { observe(found) }
        guard wasUnderWay, case .prove = act else { return .finish(outcome) }
        let result: SecondFactorEvent.Result =
            switch outcome {
            case .accepted: .succeeded
            case .refused(let word): attemptsLeft.map { .failed(attemptsLeft: $0) } ?? .refused(word)
            case .unanswered: .unanswered
            }
        let expectsInput = outcome != .accepted && status.input == .secondFactor
        events.insert(.secondFactor(result, expectsInput: expectsInput), at: place)
        return .finish(outcome)
    }
}
