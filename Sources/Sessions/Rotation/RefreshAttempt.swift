/// One refresh on its way: what is presented, then what the transaction comes to, then the tokens that it gives. An object, because it
/// has two dozen texts, and goes from the request's thread to the store's and back.
final class RefreshAttempt: @unchecked Sendable {
    // Sendable, because one thread after the other has it: the store's decides, and then the request's has it again.
    private let policy: RefreshPolicy
    var presentation: RefreshPresentation
    let wanted: RequestedToken
    let origin: Origin
    let time: ClockGuard.Reading
    /// What the transaction has come to, once it was run.
    var outcome: RefreshOutcome?
    /// The tokens that it gives, once they are signed.
    var grant: Result<TokenGrant, ServiceError>?

    init(
        _ presentation: RefreshPresentation, _ wanted: RequestedToken, under policy: RefreshPolicy, from origin: Origin,
        at time: ClockGuard.Reading
    ) {
        self.policy = policy
        self.presentation = presentation
        self.wanted = wanted
        self.origin = origin
        self.time = time
    }

    /// The transaction: again, if it has to be run again.
    func decide(_ change: inout SessionChange) {
        grant = nil
        outcome = policy.refresh(presentation, wanted, &change, from: origin, at: time)
    }

    /// The tokens that were decided for and are signed, with the row of the table that gave them.
    var granted: (TokenGrant, RefreshDecision)? {
        guard case .issued(let decision, _) = outcome, case .success(let grant) = grant else { return nil }
        return (grant, decision)
    }
}

/// What the transaction of a refresh came to.
enum RefreshOutcome: Sendable {
    case issued(RefreshDecision, TokenIssue)
    /// What was presented belongs to that user, and is refused, or not taken for what the request asks for.
    case refused(ServiceError, Identifier<User>)
    /// Nothing is known of it, or it cannot be decided now.
    case failed(ServiceError)
}

/// What a refresh may ask for less of than the login was granted.
struct RequestedToken: Sendable {
    /// Nil: all that was granted.
    let scope: Scope?
    let resources: ResourceRequirement
}
