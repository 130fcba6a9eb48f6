internal import HTTP
internal import OAuth
internal import Sessions

/// The answers that demand a proof of the user's presence (RFC 9470 section 3). They name the accepted ways, and end no
/// session.
extension Endpoints {
    /// The demand as an RFC 9457 problem.
    static func problem(_ demand: PresenceRequirement) -> Problem {
        var problem = Problem(
            .unauthorized, code: ErrorCode.insufficientUserAuthentication.rawValue,
            detail: RefusalReason.userAbsent.sentence, reauthenticate: demand.takesLogin)
        problem.acrValues = demand.acrValues
        problem.maxAge = demand.ageMax.wholeSeconds
        return problem
    }

    static let wrongPasswordText = "The password is wrong. The session is kept."

    /// The problem (RFC 9457) for a wrong password beside a session's token.
    static func wrongPassword(_ demand: PresenceRequirement) -> Problem {
        Problem(
            .unauthorized, code: "invalid_credentials", detail: wrongPasswordText, reauthenticate: demand.takesLogin)
    }

    /// The demand as an error of the token endpoint. The error is not `invalid_grant`, because clients discard their tokens at
    /// that one, and neither an absent user nor a wrong password ends the session.
    static func oauthError(
        _ demand: PresenceRequirement, description: String = RefusalReason.userAbsent.sentence
    ) -> OAuthError {
        var body = ErrorResponse(
            .insufficientUserAuthentication, description: description,
            reason: RefusalReason.userAbsent.rawValue, reauthenticate: demand.takesLogin)
        body.acrValues = demand.acrValues
        body.maxAge = demand.ageMax.wholeSeconds
        return OAuthError(.badRequest, body)
    }
}

extension PresenceRequirement {
    /// The accepted ways as the value of `acr_values`.
    var acrValues: String { ways.map(\.rawValue).joined(separator: " ") }
}
