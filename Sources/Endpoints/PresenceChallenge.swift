internal import HTTP
internal import OAuth
internal import Sessions

/// How it is told that a session asks for its user (RFC 9470 section 3): nobody is logged out, and what would do is named.
extension Endpoints {
    /// As an RFC 9457 problem.
    static func problem(_ demand: PresenceDemand) -> Problem {
        var problem = Problem(
            .unauthorized, code: ErrorCode.insufficientUserAuthentication.rawValue,
            detail: RefusalReason.userAbsent.sentence, reauthenticate: false)
        problem.acrValues = demand.acrValues
        problem.maxAge = demand.ageMax.wholeSeconds
        return problem
    }

    /// As an error of the token endpoint. It is not `invalid_grant`, at which clients throw their tokens away.
    static func oauthError(_ demand: PresenceDemand) -> OAuthError {
        var body = ErrorResponse(
            .insufficientUserAuthentication, description: RefusalReason.userAbsent.sentence,
            reason: RefusalReason.userAbsent.rawValue, reauthenticate: false)
        body.acrValues = demand.acrValues
        body.maxAge = demand.ageMax.wholeSeconds
        return OAuthError(.badRequest, body)
    }
}

extension PresenceDemand {
    /// The ways that would do, as `acr_values` has them.
    var acrValues: String { ways.map(\.rawValue).joined(separator: " ") }
}
