internal import HTTP
internal import OAuth
internal import Sessions

/// How it is told that a session asks for its user (RFC 9470 section 3): nobody is logged out, and what would do is named.
extension Endpoints {
    /// As an RFC 9457 problem.
    static func problem(_ demand: PresenceRequirement) -> Problem {
        var problem = Problem(
            .unauthorized, code: ErrorCode.insufficientUserAuthentication.rawValue,
            detail: RefusalReason.userAbsent.sentence, reauthenticate: demand.takesLogin)
        problem.acrValues = demand.acrValues
        problem.maxAge = demand.ageMax.wholeSeconds
        return problem
    }

    static let wrongPasswordText = "The password is wrong. The session is kept."

    /// That the password which came with a session's token is wrong, as an RFC 9457 problem.
    static func wrongPassword(_ demand: PresenceRequirement) -> Problem {
        Problem(
            .unauthorized, code: "invalid_credentials", detail: wrongPasswordText, reauthenticate: demand.takesLogin)
    }

    /// As an error of the token endpoint. It is not `invalid_grant`, at which clients throw their tokens away: neither of who is
    /// away, nor of who has mistyped.
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
    /// The ways that would do, as `acr_values` has them.
    var acrValues: String { ways.map(\.rawValue).joined(separator: " ") }
}
