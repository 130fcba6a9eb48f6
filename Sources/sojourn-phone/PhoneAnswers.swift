import SojournClient

/// How states and errors are written.
extension Phone {
    static func describe(_ state: SessionState) -> [String: JSONValue] {
        switch state {
        case .starting: return ["state": .string("starting")]
        case .locked: return ["state": .string("locked")]
        case .storeFailed(let error): return ["state": .string("store-failed"), "detail": .string("\(error)")]
        case .signedOut(let cause): return ["state": .string("signed-out"), "cause": .string("\(cause)")]
        case .signedIn(let account, let reachability):
            return [
                "state": .string("signed-in"), "user": .string(account.username ?? account.userID),
                "reachability": .string("\(reachability)"),
            ]
        case .presenceRequired: return ["state": .string("presence-required")]
        case .ended(let reason, _, _): return ["state": .string("ended"), "reason": .string(reason.rawValue)]
        }
    }

    static func describe(_ error: SojournError) -> [String: JSONValue] {
        switch error {
        case .ended(let reason): ["error": .string("ended"), "reason": .string(reason.rawValue)]
        case .suspended(let suspension): ["error": .string("suspended"), "reason": .string(suspension.rawValue)]
        case .notSignedIn: ["error": .string("not-signed-in")]
        case .unreachable(let cause): ["error": .string("unreachable"), "detail": .string(cause.detail)]
        case .refused(let refusal): ["error": .string("refused"), "reason": .string(refusal.code)]
        case .locked: ["error": .string("locked")]
        case .presenceRequired: ["error": .string("presence-required")]
        case .secondFactorRequired: ["error": .string("second-factor-required")]
        case .presence(let failure):
            ["error": .string("presence"), "reason": .string(word(failure.error)), "detail": .string("\(failure)")]
        case .cancelled: ["error": .string("canceled")]
        case .store, .key, .misconfigured: ["error": .string("other"), "detail": .string("\(error)")]
        }
    }

    /// What a check says when its keys are gone.
    static let enrollmentChanged = "enrollment-changed"

    private static func word(_ error: PresenceError) -> String {
        switch error.kind {
        case .cancelled: "canceled"
        case .notRecognized, .possibleAttack: "failed"
        case .enrollmentChanged: enrollmentChanged
        default: "other"
        }
    }
}
