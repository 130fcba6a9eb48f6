import Sessions
import SojournClient

/// What must never be.
extension LoginSessionWorld {
    /// Takes what the app is told, and looks for violations.
    mutating func check(_ mutation: LoginSessionMutation?) {
        answers = answers.filter { answer in
            answer.request.act == nil || answer.request.isAgain
                || running.values.contains(.awaited(answer.request.id))
        }
        var events = machine.takeEvents()
        if mutation == .statusOvertakes {
            events.sort { if case .state = $0, case .secondFactor = $1 { true } else { false } }
        }
        for event in events {
            switch event {
            case .state(let status):
                if status.rank <= shown.rank { violation = "the session goes back" }
                if shown.isFinal { violation = "a final state is left" }
                shown = status
                let isLetIn = status.history == .loggedInOneShot || status.state == .active
                if rules.isAppLogin, isLetIn, !hasAccess {
                    violation = "an AppLogin is told before its backend is open"
                }
                let isOwn = status.isFinal && (status.history == .aborted || running[.claim] == nil)
                let isKnown = passed.contains {
                    $0.state == status.state && $0.history == status.history && $0.input == status.input
                }
                if !isKnown, !isOwn { violation = "the server never was there: \(status)" }
            case .secondFactor(.requested, _), .confirm: break
            case .secondFactor(let result, _):
                results.append(result == .succeeded)
                // An end that another act led to does not tell how the attempt went.
                let hasLed = shown.state == .active || shown.history == .loggedInOneShot
                let hasFailed = shown.cause == "second_factor_failed"
                let isFinal = result == .refused("wrong_number") && shown.isFinal
                if result == .succeeded && hasLed || result == .failed(attemptsLeft: 0) && hasFailed || isFinal {
                    violation = "a result comes after its status"
                }
                if result == .succeeded, !sent.contains(results.count) { violation = "what was not sent succeeds" }
            }
        }
        if shown != machine.status { violation = "a status is not told" }
        let isClaimant = login.claim?.sessionID == Self.phones[0].sessionID
        if machine.status.isFinal, [.approved, .signedIn].contains(login.state) {
            violation = "the phone says that it is over, and it is not"
        }
        if machine.status.history == .aborted, isClaimant, login.hasLetIn {
            violation = "the phone says that no device was let in"
        }
        if login.wrongFactors > factors.count(where: { !$0 }) { violation = "an attempt counts twice" }
        let isProving = running.keys.contains { if case .prove = $0 { true } else { false } }
        if results.count > factors.count { violation = "an attempt has two results" }
        if !isProving, results.count < factors.count { violation = "an attempt has no result" }
        if zip(results, calls).contains(where: { $1 != nil && $0 != $1 }) {
            violation = "a call does not end as it was told"
        }
        if [.approved, .signedIn].contains(login.state), !hasAgreed { violation = "nobody has agreed" }
        var end = machine
        end.observe(LoginStatus(of: login))
        let isAwaited = rules.isAppLogin && isProving
        let isBehind = !isAwaited && end.status.rank != LoginStatus(of: login).rank
        if isBehind, !end.status.isFinal { violation = "the phone never learns how it stands" }
    }
}

extension LoginStatus {
    /// The status of a login of the server, in the words of the wire.
    init(of login: PhoneLogin) {
        let cause = login.cause?.rawValue
        self =
            switch login.state.phase {
            case .requested: Self(.starting)
            case .claimed: Self(.readyForUserInteraction)
            case .confirming: Self(.waitingForUserInput, .confirmation)
            case .proving: Self(.waitingForUserInput, .secondFactor)
            case .approved: Self(.active)
            case .signedIn: Self(.active, history: .loggedIn)
            case .completed: Self(.done, history: .loggedInOneShot)
            case .aborted: Self(.done, history: .aborted, cause: cause)
            case .signedOut: Self(.done, history: .loggedOut, cause: cause)
            case .failed: Self(.error, history: .error, cause: cause)
            case .deleted:
                Self(login.cause?.isFailure == true ? .error : .done, history: .deleted, cause: cause)
            }
    }
}

/// A rule of the SDK, broken: the walk must notice each.
enum LoginSessionMutation: String, CaseIterable, Sendable {
    /// Each retry has an `Idempotency-Key` of its own.
    case hasNewKeys
    /// An answer counts although a later one was taken before.
    case takesOlderAnswers
    /// `stop` ends the session at once, whatever is without its answer.
    case endsBlindly
    /// An act that has begun before `stop` is sent after it.
    case sendsAfterStop
    /// No answer counts as a refusal.
    case silenceIsRefusal
    /// The call of an attempt ends by its own answer, although its result was told.
    case callEndsAlone
    /// An attempt counts as sent from its begin on.
    case countsUnsent
    /// An AppLogin is taken for a login like any other.
    case tellsAppLoginByLooks
    /// A look does not tell what ended the login.
    case losesCauses
    /// A status is told before the result that has led to it.
    case statusOvertakes
}
