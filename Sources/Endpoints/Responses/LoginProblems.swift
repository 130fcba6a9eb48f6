internal import HTTP
internal import OAuth
internal import Sessions

// The answers to refused acts on logins with a phone.
extension Endpoints {
    /// The refusal as an RFC 9457 problem.
    static func problem(_ refusal: PhoneLogin.Refusal) -> Problem {
        let status: Status
        switch refusal {
        case .phone(let reason): return problem(.invalidToken(reason))
        case .notClaimant, .barred, .otherBrowser, .wrongFactor, .elsewhere, .wrongPIN, .pinLocked: status = .forbidden
        case .numberRequired: status = .badRequest
        case .terminated, .notAwaited, .taken, .wrongNumber, .contested, .pending, .spent, .noPIN: status = .conflict
        }
        var problem = Problem(
            status, code: refusal.word, detail: refusal.sentence, member: refusal == .numberRequired ? "number" : nil)
        switch refusal {
        case .wrongFactor(let left), .wrongPIN(let left): problem.attemptsLeft = left
        case .pinLocked: problem.attemptsLeft = 0
        default: break
        }
        return problem
    }

    /// The refusal as an error of RFC 8628 section 3.5.
    static func oauthError(_ refusal: PhoneLogin.Refusal) -> OAuthError {
        switch refusal {
        case .pending: OAuthError(.badRequest, .authorizationPending, refusal.sentence)
        case .phone(let reason): oauthError(.refused(reason))
        default: OAuthError(.badRequest, .invalidGrant, refusal.sentence)
        }
    }
}

extension PhoneLogin.Refusal {
    /// A sentence for developers.
    var sentence: String {
        switch self {
        case .terminated: "The login is over."
        case .notAwaited: "The login does not wait for this."
        case .notClaimant: "Another phone has claimed the login, or none has."
        case .taken: "The login belongs to another phone."
        case .numberRequired: "number is missing: the user reads it on the other device."
        case .wrongNumber: "The number is not the one on the other device. The login is over."
        case .contested: "A second phone came with the code. The login is over, and nobody is let in."
        case .wrongFactor: "The second factor is wrong."
        case .wrongPIN: "The PIN is wrong."
        case .pinLocked: "The PIN was wrong three times. Another second factor, or a new PIN, ends that."
        case .noPIN: "This session has no PIN."
        case .phone(let reason): reason.sentence
        case .barred: "A phone let this session in less than a day ago, and it may not do this yet."
        case .pending: "The user has not acted yet."
        case .otherBrowser: "Another browser asked for the login."
        case .spent: "The session of the login was collected before."
        case .elsewhere: "The device is in another country or network than this phone. The server does not allow that."
        }
    }
}

extension PhoneLogin.Cause {
    /// A sentence for developers.
    var sentence: String {
        switch self {
        case .denied: "The user has refused the login."
        case .canceled: "The device gave the login up."
        case .timedOut: "Nobody approved the login in time."
        case .notCollected: "The device did not come for its session in time."
        case .wrongNumber: "The user typed another number than that on the device."
        case .contested: "Two phones came with the code of the login, so that nobody is let in."
        case .secondFactorFailed: "The second factor was wrong too often."
        case .fault: "The server could not complete the login."
        case .parentEnded: "The session of the phone ended."
        case .presenceLost: "The phone did not answer in time."
        case .ended: "The session of the login is over."
        }
    }
}

extension Endpoints {
    /// The refusal of a client without the grant of the call.
    static func grantMissingText(_ grant: Client.GrantType) -> String {
        "The client may not do this: its grant_types lack \(grant.rawValue)."
    }
}
