/// Where a login session stands: its state, what the user is asked for, and what has come of it. The words are those of the wire.
public struct LoginStatus: Hashable, Sendable, CustomStringConvertible {
    /// The main states.
    public enum State: String, Hashable, Sendable, CaseIterable {
        /// The session has begun, and its details are being fetched from the server.
        case starting = "STARTING"
        /// The session is on hold until `startUserInteraction`.
        case readyForUserInteraction = "READY_FOR_USER_INTERACTION"
        /// The user has to act: see `input`.
        case waitingForUserInput = "WAITING_FOR_USER_INPUT"
        /// The user has acted. Whether the login is finished is in the history.
        case active = "ACTIVE"
        /// Final: ended in the normal way, with or without success.
        case done = "DONE"
        /// Final: ended by an error.
        case error = "ERROR"
    }

    /// The pseudo states within `waitingForUserInput`.
    public enum Input: String, Hashable, Sendable, CaseIterable {
        /// The consent to log in, and with which account.
        case confirmation = "WAIT_FOR_CONFIRMATION"
        /// Biometry or the password.
        case secondFactor = "WAIT_FOR_SECOND_FACTOR"
    }

    /// What has come of a login.
    public enum History: String, Hashable, Sendable, CaseIterable {
        /// Nothing yet. No login ends so.
        case fail = "FAIL"
        /// Logged in, for as long as the phone's session lives.
        case loggedIn = "LOGGED_IN"
        /// Logged in, without a bond to the phone.
        case loggedInOneShot = "LOGGED_IN_ONE_SHOT"
        /// Denied, or not completed in time.
        case aborted = "ABORTED"
        /// Logged in, and out again.
        case loggedOut = "LOGGED_OUT"
        /// An error.
        case error = "ERROR"
        /// The account was deleted.
        case deleted = "DELETED"
    }

    /// The state.
    public var state: State
    /// What the user is asked for; nil in every state but `waitingForUserInput`.
    public var input: Input?
    /// What has come of it.
    public var history: History
    /// Why it ended, in the server's word, for example `denied`, `timed_out`, `wrong_number` or `contested`; nil before the end.
    public var cause: String?

    /// Creates a status.
    public init(_ state: State, _ input: Input? = nil, history: History = .fail, cause: String? = nil) {
        self.state = state
        self.input = input
        self.history = history
        self.cause = cause
    }

    /// Whether nothing but a deletion of the account changes the status any more.
    public var isFinal: Bool { state == .done || state == .error }

    /// Whether the time-out for the user's input runs.
    public var awaitsInput: Bool { !isFinal && state != .active }

    /// The words, for a log.
    public var description: String {
        [state.rawValue, input?.rawValue, history.rawValue, cause].compactMap(\.self).joined(separator: " ")
    }
}

extension LoginStatus {
    /// The order in which a login passes its statuses. Answers overtake each other on the network, and one that was made earlier
    /// must not take the session back.
    package var rank: Int {
        switch (state, input, history) {
        case (.starting, _, _): 0
        case (.readyForUserInteraction, _, _): 1
        case (.waitingForUserInput, .secondFactor, _): 3
        case (.waitingForUserInput, _, _): 2
        case (.active, _, .fail): 4
        case (.active, _, _): 5
        case (.done, _, .deleted), (.error, _, .deleted): 7
        case (.done, _, _), (.error, _, _): 6
        }
    }

    /// The status in an answer; nil if its words are unknown, or do not belong together. A session stays as it is then.
    init?(_ members: [String: JSONValue]) {
        guard let state = members.text("state").flatMap(State.init),
            let history = members.text("history").flatMap(History.init)
        else { return nil }
        let input = members.text("input").flatMap(Input.init)
        guard (state == .waitingForUserInput) == (input != nil) else { return nil }
        let cause = members.text("cause").map { String($0.prefix(100)) }
        self.init(state, input, history: history, cause: cause)
        if isFinal, history == .fail { return nil }
    }
}
