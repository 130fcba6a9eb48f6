internal import Sessions

/// The last thing that has happened to a login, for the device that wants to be logged in. It tells nothing of the user before the
/// approval.
enum DeviceEvent: String, CaseIterable {
    case waiting, scanned, number, approved
    case loggedIn = "logged_in"
    case timedOut = "timed_out"
    case canceled, failed
    case loggedOut = "logged_out"

    /// The event of a login as it stands.
    init(_ login: PhoneLogin) {
        self =
            switch login.state {
            case .requested: .waiting
            case .claimed: .scanned
            case .confirming, .proving: login.number == nil ? .scanned : .number
            case .approved: .approved
            case .signedIn: .loggedIn
            case .ended(let ending): Self(ending)
            }
    }

    private init(_ ending: PhoneLogin.Ending) {
        self =
            switch ending.outcome {
            case .completed: .loggedIn
            case .aborted: [.timedOut, .notCollected].contains(ending.cause) ? .timedOut : .canceled
            case .signedOut, .deleted: .loggedOut
            case .failed: .failed
            }
    }
}
