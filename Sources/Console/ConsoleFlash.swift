public import Pages

/// What the pages of the console say after an act.
public enum ConsoleWord: String, CaseIterable, Sendable {
    case pressAgain = "again"
    case unchanged = "same"
    case loginsDisabled = "disabled"
    case loginsEnabled = "enabled"
    case userUnlocked = "unlocked"
    case sessionsEnded = "revoked"
    case sessionEnded = "ended"
    case loginEnded = "login-over"
    case streamSet = "stream"
    case streamVerified = "verified"
    case streamDeleted = "stream-ended"
    case passkeyRemoved = "removed"
    case pinRemoved = "pin-removed"
    case profileChanged = "edited"
    case changed
    case created
    case userCreated = "user-created"
    case deleted
    case keyRotated = "rotated"
    case deliveriesRetried = "retried"
    case mailRetried = "mail-retried"
}

/// What a page of the console says once.
public typealias ConsoleFlash = Flash<ConsoleWord>

extension ConsoleFlash {
    /// The sentence.
    var notice: ConsoleNotice {
        let sessions = "\(ConsoleView.counted("\(count ?? 0)", "session"))"
        return switch word {
        case .pressAgain: (.plain, "The page was too old, so nothing has happened: press once more.")
        case .unchanged: (.plain, "Nothing was changed.")
        case .loginsDisabled: (.good, "Logins are disabled. \(sessions) ended.")
        case .loginsEnabled: (.good, "Logins are enabled again.")
        case .userUnlocked: (.good, "The lock by wrong passwords is removed.")
        case .sessionsEnded: (.good, "\(sessions) ended.")
        case .sessionEnded: (.good, "The session is over.")
        case .loginEnded: (.good, "The login is over.")
        case .streamSet: (.good, "The status of the stream is set.")
        case .streamVerified:
            (.good, "The stream carries a verification event: see below whether the receiver takes it.")
        case .streamDeleted: (.good, "The stream is deleted, with what waited in it.")
        case .passkeyRemoved: (.good, "The passkey is removed.")
        case .pinRemoved: (.good, "The session has no PIN.")
        case .profileChanged: (.good, "The profile is changed.")
        case .changed: (.good, "The change is made, and acts from now on.")
        case .created: (.good, "It is made.")
        case .userCreated: (.good, "The user is made, without a password: make a link for one.")
        case .deleted: (.good, "It is deleted.")
        case .keyRotated: (.good, "There is a new key.")
        case .deliveriesRetried: (.good, "Deliveries that wait are tried again now.")
        case .mailRetried: (.good, "The mail is tried again now.")
        }
    }
}
