internal import Sessions

/// The state of a login in the words of the vendor's mobile SDK, which stand on the wire and in the SDK alone.
struct PhoneLoginWords: Hashable {
    /// How far the login is.
    enum State: String, CaseIterable {
        case starting = "STARTING"
        case readyForUserInteraction = "READY_FOR_USER_INTERACTION"
        case waitingForUserInput = "WAITING_FOR_USER_INPUT"
        case active = "ACTIVE"
        case done = "DONE"
        case error = "ERROR"
    }

    /// What the user is asked for.
    enum Input: String, CaseIterable {
        case confirmation = "WAIT_FOR_CONFIRMATION"
        case secondFactor = "WAIT_FOR_SECOND_FACTOR"
    }

    /// What has come of a login. It stays readable after the end.
    enum History: String, CaseIterable {
        case fail = "FAIL"
        case loggedIn = "LOGGED_IN"
        case loggedInOneShot = "LOGGED_IN_ONE_SHOT"
        case aborted = "ABORTED"
        case loggedOut = "LOGGED_OUT"
        case error = "ERROR"
        case deleted = "DELETED"
    }

    let state: State
    let input: Input?
    let history: History

    private init(_ state: State, _ input: Input? = nil, _ history: History = .fail) {
        (self.state, self.input, self.history) = (state, input, history)
    }

    /// The words of `state`.
    init(_ state: PhoneLogin.State) {
        self =
            switch state {
            case .requested: Self(.starting)
            case .claimed: Self(.readyForUserInteraction)
            case .confirming: Self(.waitingForUserInput, .confirmation)
            case .proving: Self(.waitingForUserInput, .secondFactor)
            case .approved: Self(.active)
            case .signedIn: Self(.active, nil, .loggedIn)
            case .ended(let ending): Self(ending)
            }
    }

    private init(_ ending: PhoneLogin.Ending) {
        self =
            switch ending.outcome {
            case .completed: Self(.done, nil, .loggedInOneShot)
            case .aborted: Self(.done, nil, .aborted)
            case .signedOut: Self(.done, nil, .loggedOut)
            case .failed: Self(.error, nil, .error)
            case .deleted: Self(ending.cause?.isFailure == true ? .error : .done, nil, .deleted)
            }
    }

    /// Whether a state with that word awaits that input.
    static func fits(_ state: State, _ input: Input?) -> Bool { (state == .waitingForUserInput) == (input != nil) }

    /// The phase of a login with those words; nil: no login has them. Without a history it is that of a login which has not
    /// succeeded.
    static func phase(_ state: State, _ input: Input?, _ history: History?) -> PhoneLogin.Phase? {
        let usual: History = state == .done ? .aborted : state == .error ? .error : .fail
        let words = Self(state, input, history ?? usual)
        return PhoneLogin.Phase.allCases.first { phase in
            let endedAt = Instant(secondsSinceEpoch: 0)
            let states = [nil, endedAt].map { PhoneLogin.State(phase, cause: nil, endedAt: $0) }
            return states.contains { $0.map { Self($0) } == words }
        }
    }
}
