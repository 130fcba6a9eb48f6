/// A state into which a login can be driven, and the way there.
public struct LoginTarget: Hashable, Sendable {
    /// One step of the way.
    enum Step: Hashable, Sendable {
        /// An act of the phone, of the device or of the server.
        case act(LoginAct)
        /// The user types the number of the other device, or another one.
        case typeNumber(isRight: Bool)
        /// Another phone of the user brings the code.
        case contest
        /// The device comes for its session.
        case collect
        /// The clock moves.
        case pass(Duration)
        /// The session of the phone ends, or that of the device.
        case endPhone, endSession(EndReason)
        /// The user is deleted.
        case deleteUser
    }

    let steps: [Step]
    let bond: LoginBond

    /// Whether a phone takes part.
    public var needsPhone: Bool { !steps.isEmpty }

    /// The way to that state; nil: no login gets there.
    ///
    /// - Parameters:
    ///   - history: what has come of the login; nil: `ABORTED` for `DONE`, `ERROR` for `ERROR`, `FAIL` for every other state.
    ///   - cause: why it ended; nil: a usual cause.
    public init?(_ state: LoginState, _ history: LoginHistory? = nil, _ cause: LoginCause? = nil) {
        let history = history ?? (state == .done ? .aborted : state == .error ? .error : .fail)
        bond = history == .loggedInOneShot ? .none : cause == .presenceLost ? .ping(LoginBond.pingMin) : .session
        let claim = Step.act(.claim(.scanned, LoginSession.ClaimOptions()))
        let approval = [
            claim, .typeNumber(isRight: true), .act(.proveFactor(LoginFactor(isValid: true))),
        ]
        switch (state, history) {
        case (.starting, .fail) where cause == nil: steps = []
        case (.readyForUserInteraction, .fail) where cause == nil:
            var options = LoginSession.ClaimOptions()
            options.startsByHand = true
            steps = [.act(.claim(.scanned, options))]
        case (.waitingForUserInput(.confirmation), .fail) where cause == nil: steps = [claim]
        case (.waitingForUserInput(.secondFactor), .fail) where cause == nil: steps = Array(approval.prefix(2))
        case (.active, .fail) where cause == nil: steps = approval
        case (.active, .loggedIn) where cause == nil, (.done, .loggedInOneShot) where cause == nil:
            steps = approval + [.collect]
        case (.done, .aborted):
            guard let end = Self.abortion(cause ?? .denied, after: claim, approval) else { return nil }
            steps = end
        case (.done, .loggedOut):
            guard let end = Self.logout(cause ?? .ended(.revokedByUser)) else { return nil }
            steps = approval + [.collect] + end
        case (.done, .deleted) where cause == nil: steps = approval + [.collect, .deleteUser]
        case (.error, .error):
            guard let end = Self.failure(cause ?? .wrongNumber) else { return nil }
            steps = [claim] + end
        default: return nil
        }
    }

    private static func abortion(_ cause: LoginCause, after claim: Step, _ approval: [Step]) -> [Step]? {
        switch cause {
        case .denied: [claim, .act(.stop(isReport: false))]
        case .canceled: [claim, .act(.cancel)]
        case .timedOut: [claim, .pass(LoginRules().inputLifetime)]
        case .notCollected: approval + [.pass(LoginRules().collectLifetime)]
        case .parentEnded: [claim, .endPhone]
        default: nil
        }
    }

    private static func logout(_ cause: LoginCause) -> [Step]? {
        switch cause {
        case .ended(.revokedByUser): [.act(.stop(isReport: false))]
        case .ended(.loggedOut), .ended(.revokedByAdmin): cause.reason.map { [.endSession($0)] }
        case .parentEnded: [.endPhone]
        case .presenceLost: [.pass(LoginBond.pingMin)]
        default: nil
        }
    }

    private static func failure(_ cause: LoginCause) -> [Step]? {
        switch cause {
        case .wrongNumber: [.typeNumber(isRight: false)]
        case .contested: [.contest]
        case .secondFactorFailed:
            [.typeNumber(isRight: true)]
                + Array(
                    repeating: .act(.proveFactor(LoginFactor(isValid: false))), count: LoginRules().factorAttempts)
        case .fault: [.act(.fail)]
        default: nil
        }
    }
}

extension LoginCause {
    /// The reason for which the session of the login ended.
    fileprivate var reason: EndReason? { if case .ended(let reason) = self { reason } else { nil } }
}
