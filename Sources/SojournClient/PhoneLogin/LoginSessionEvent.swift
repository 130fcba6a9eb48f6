/// What a login session tells the app, in order.
public enum LoginSessionEvent: Hashable, Sendable {
    /// The status has changed. The first event is the state `STARTING`.
    case state(LoginStatus)
    /// The user has to confirm a login, or to deny it.
    case confirmLogin(LoginDetails)
    /// The user has to confirm that this device is enrolled with a new account, or to deny it.
    case confirmEnrol(LoginDetails)
    /// A second factor is asked for, or an attempt has its result. Each attempt has exactly one result.
    case secondFactor(SecondFactorEvent)
}

/// A second factor that is asked for, or the result of an attempt.
public struct SecondFactorEvent: Hashable, Sendable {
    /// What has happened.
    public enum Result: Hashable, Sendable {
        /// The user is asked for the first time.
        case requested
        /// The factor is right.
        case succeeded
        /// The factor is wrong. With no attempt left the session is over. Of a PIN the attempts at all logins count, and a locked one is
        /// `refused` with `pin_locked`.
        case failed(attemptsLeft: Int)
        /// The prompt was cancelled or has failed. Nothing was sent.
        case notGiven(PresenceFailure)
        /// The server has refused the attempt for another reason, in its word.
        case refused(String)
        /// No answer has come. The session goes on to ask what became of the attempt.
        case unanswered
    }

    /// What the user does.
    public enum Context: String, Hashable, Sendable {
        /// The user sets a factor: this is the first enrolment on the device.
        case firstSet = "SET"
        /// The user gives the factor that was set.
        case verify = "VERIFY"
    }

    /// What has happened.
    public var result: Result
    /// What the user does.
    public var context: Context
    /// Whether the session waits for another attempt.
    public var expectsInput: Bool

    /// Creates an event.
    public init(_ result: Result, context: Context = .verify, expectsInput: Bool) {
        self.result = result
        self.context = context
        self.expectsInput = expectsInput
    }
}
