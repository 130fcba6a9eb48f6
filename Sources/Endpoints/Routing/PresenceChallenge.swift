internal import HTTP
internal import OAuth
internal import Sessions

/// The answers to a refresh or call that requires a proof of the user's presence (RFC 9470 section 3). They name what is
/// required, and no session ends.
extension Endpoints {
    /// The requirement as an RFC 9457 problem.
    static func problem(_ requirement: PresenceRequirement) -> Problem {
        var problem = Problem(
            .unauthorized, code: ErrorCode.insufficientUserAuthentication.rawValue,
            detail: RefusalReason.insufficientUserAuthentication.sentence, reauthenticate: requirement.takesLogin)
        problem.acrValues = requirement.acrValues
        problem.maxAge = requirement.shownAgeMax
        return problem
    }

    static let wrongPasswordText = "The password is wrong. The session is kept."

    /// A wrong password beside a session's token, as an RFC 9457 problem.
    static func wrongPassword(_ requirement: PresenceRequirement) -> Problem {
        Problem(
            .unauthorized, code: "invalid_credentials", detail: wrongPasswordText,
            reauthenticate: requirement.takesLogin)
    }

    /// The requirement as an error of the token endpoint. It is not `invalid_grant`, at which clients delete their tokens.
    static func oauthError(
        _ requirement: PresenceRequirement, description: String = RefusalReason.insufficientUserAuthentication.sentence
    ) -> OAuthError {
        var body = ErrorResponse(
            .insufficientUserAuthentication, description: description,
            reason: RefusalReason.insufficientUserAuthentication.rawValue, reauthenticate: requirement.takesLogin)
        body.acrValues = requirement.acrValues
        body.maxAge = requirement.shownAgeMax
        return OAuthError(.badRequest, body)
    }
}

extension PresenceRequirement {
    /// The ways that meet the requirement, as in `acr_values`.
    var acrValues: String { ways.map(\.rawValue).joined(separator: " ") }
}
