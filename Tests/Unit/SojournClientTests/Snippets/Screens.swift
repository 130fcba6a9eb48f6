import SojournClient

/// What the app shows for a state.
enum Screen: Equatable {
    case splash
    case login(message: String?)
    case unlock(ways: [String])
    case home(Account, notice: String?)
    case failure(String)

    init(_ state: SessionState) {
        switch state {
        case .starting, .locked: self = .splash
        case .storeFailed(let error): self = .failure("\(error)")
        case .signedOut(.deleted): self = .login(message: "This account no longer exists.")
        case .signedOut: self = .login(message: nil)
        case .ended(.refreshTokenReused, _, _): self = .login(message: "Someone else may have used your session.")
        case .ended(_, let account, _): self = .login(message: "Please log in again, \(account.displayName ?? "").")
        case .presenceRequired(let requirement, _): self = .unlock(ways: requirement.ways)
        case .signedIn(let account, .current): self = .home(account, notice: nil)
        case .signedIn(let account, .unreachable): self = .home(account, notice: "Offline")
        case .signedIn(let account, .suspended): self = .home(account, notice: "Logins are switched off.")
        }
    }
}
