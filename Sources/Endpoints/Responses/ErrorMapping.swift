internal import HTTP
internal import OAuth
internal import Sessions
internal import Telemetry
internal import WebAuthn

/// The one mapping of errors to answers. The texts are constant, or name what the caller sent, because the precise cause
/// belongs only into the log.
extension Endpoints {
    /// The answer to a call that failed with `error`.
    func errorResponse(_ error: any Error, to call: Call) -> Response {
        let error = mappingLateRefusal(error, call)
        var response: Response
        switch (error, call.route.errorFormat) {
        case (let error as ServiceError, .problem): response = Self.problem(error).response
        case (let error as ServiceError, .oauth): response = Self.oauthError(error).response
        case (let error as RequestProblem, .problem): response = Self.problem(error).response
        case (let error as RequestProblem, .oauth): response = Self.oauthError(error).response
        case (let error as ServiceError, .page): response = errorPage(Self.problem(error), to: call)
        case (let error as RequestProblem, .page): response = errorPage(Self.problem(error), to: call)
        case (_, .page): response = errorPage(Problem.internalError, to: call)
        case (_, .problem): response = Problem.internalError.response
        case (_, .oauth): response = OAuthError(.internalServerError, .serverError, Self.internalText).response
        }
        if error as? RequestProblem == .unsupportedContentCoding {
            // The field lists the accepted codings (RFC 9110 section 12.5.3).
            response.fields.append("Accept-Encoding", "identity")
        }
        appendRetryNonce(for: error, to: &response)
        switch error {
        case ServiceError.scopeMissing: challenge(call, error, &response)
        default: if response.status == .unauthorized { challenge(call, error, &response) }
        }
        if response.status.code == 429 || (response.status.code >= 500 && response.status != .notImplemented) {
            response.fields.append("Retry-After", "\(wait(after: error))")
        }
        log(error, response.status, call)
        return response
    }

    static let internalText = "An unexpected error happened. No session has ended."
    static let passkeyText = "The passkey is not known here, or did not sign this login."
    static let providerText = "The identity provider does not answer at present: try again."
    static let tooManyText = "Too many attempts: try again later. No session has ended."
    static let grantClosedText = "The client may no longer continue its sessions by this grant. The session is kept."
    static let crossSiteText = "The form was not sent by a page of this server."
    static let needsTLSText =
        "This page needs https: set server.tls_certificate, or a trusted proxy that sends X-Forwarded-Proto."
    static let unknownHostText =
        "This is not reached by this name: add it to server.admin_hosts, or use the address of the admin listener."
    static let codeText = "The code is not valid, or no longer, or belongs to another request."
    static let spentText = "The request was answered already: begin again."
    static let targetText = "The resource is malformed, unknown, or not allowed for this client."
    static let staleText =
        "sent_at is too long ago, or ahead, or before the last rotation: nothing was decided. Send it again."
    static let unavailableText = "The server cannot answer at present: try again. No session has ended."

    static let originText = "The client takes no calls of pages of this origin: its allowed_origins say of which."

    static let emailText = "Mails are sent to addresses like anna@example.com, of ASCII characters alone."
    static let invalidCodeText = "The code is wrong."
    static let verificationText =
        "The code was used or replaced, has expired, or had too many tries: ask for a new one."
    static let signUpText = "No account can be made here, or not for this mailbox."

    private static func invalidCode(attemptsLeft: Int) -> Problem {
        var problem = Problem(.badRequest, code: "invalid_code", detail: invalidCodeText, member: "code")
        problem.attemptsLeft = attemptsLeft
        return problem
    }

    private static func scopeText(_ scope: String) -> String { "The access token lacks the scope \(scope)." }

    private static func methodText(_ method: Client.LoginMethod) -> String {
        "The client takes no logins by \(method.rawValue): its login_methods say by what."
    }

    /// The seconds of `Retry-After`: exact for a rate limit; none for a request that slept, which is welcome at once; those of
    /// the server's policy for everything else. What most calls need makes it grow, and no other cause.
    private func wait(after error: any Error) -> Int {
        switch error {
        case ServiceError.staleRequest: 0
        case ServiceError.tooManyRequests(let wait): Self.seconds(of: wait)
        case ServiceError.store(.unavailable), ServiceError.overloaded: retryAfter.seconds()
        case ServiceError.identityProviderUnavailable: retryAfter.seconds(upTo: RetryAfterPolicy.providerLimit)
        default: retryAfter.seconds(upTo: RetryAfterPolicy.limits.lowerBound)
        }
    }

    /// The seconds of the wait of a rate limit, which is over then.
    static func seconds(of wait: Duration) -> Int { Int(wait / .seconds(1)) + 1 }

    /// A page that says why something failed, with `Retry-After` if it may succeed later.
    func page(_ response: Response, after error: ServiceError) -> Response {
        var response = response
        if response.status == .tooManyRequests || response.status == .serviceUnavailable {
            response.fields.append("Retry-After", "\(wait(after: error))")
        }
        return response
    }

    /// The domain's errors as RFC 9457 problems.
    static func problem(_ error: ServiceError) -> Problem {
        switch error {
        case .store(.unavailable): Problem(.serviceUnavailable, code: "unavailable", detail: unavailableText)
        case .store(.corrupted): .internalError
        case .overloaded, .passwordQueueFull:
            Problem(.serviceUnavailable, code: "overloaded", detail: unavailableText)
        case .staleRequest: Problem(.serviceUnavailable, code: "stale_request", detail: staleText)
        case .tooManyRequests: Problem(.tooManyRequests, code: "too_many_requests", detail: tooManyText)
        case .refused(let reason):
            Problem(
                .unauthorized, code: reason.rawValue, detail: reason.sentence, reauthenticate: reason.reauthenticate)
        case .insufficientUserAuthentication(let requirement): problem(requirement)
        case .invalidCredentials:
            Problem(.unauthorized, code: "invalid_credentials", detail: "The name or the password is wrong.")
        case .wrongPassword(let requirement): wrongPassword(requirement)
        case .identityRefused(.unknownProvider):
            .invalid("provider", "names no identity provider of this server, or the token is not from one")
        case .identityRefused(let reason):
            Problem(.unauthorized, code: "invalid_id_token", detail: reason.sentence)
        case .passkeyRefused(.wrongSignature):
            Problem(.unauthorized, code: "invalid_credentials", detail: passkeyText)
        case .passkeyRefused(let reason): Problem(.badRequest, code: "invalid_passkey", detail: reason.sentence)
        case .identityProviderUnavailable:
            Problem(.serviceUnavailable, code: "identity_provider_unavailable", detail: providerText)
        case .invalidGrant: Problem(.badRequest, code: "invalid_grant", detail: codeText)
        case .clientRefused(let refusal): problem(refusal.code == .invalidGrant ? .invalidGrant : .invalidClient)
        case .login(let refusal): problem(refusal)
        case .loginOver(let cause): Problem(.conflict, code: "session_terminated", detail: cause.sentence)
        case .requestSpent: Problem(.badRequest, code: "invalid_request", detail: spentText)
        case .loginRefused(let reason):
            Problem(.forbidden, code: reason.rawValue, detail: reason.sentence, reauthenticate: reason.reauthenticate)
        case .invalidToken(nil):
            Problem(.unauthorized, code: "invalid_token", detail: "The token is not valid, or no longer.")
        case .invalidToken(let reason?):
            Problem(
                .unauthorized, code: reason.rawValue, detail: reason.sentence, reauthenticate: reason.reauthenticate)
        case .scopeMissing(let scope): Problem(.forbidden, code: "insufficient_scope", detail: scopeText(scope))
        case .proofMissing: problem(.unproven(.malformed, withAccessToken: false))
        case .unproven(let proof): problem(.unproven(proof, withAccessToken: false))
        case .invalidClient: Problem(.badRequest, code: "invalid_client", detail: "The client is unknown.")
        case .unauthorizedClient:
            Problem(.badRequest, code: "unauthorized_client", detail: "The client may not do this.")
        case .originNotAllowed:
            Problem(.forbidden, code: "origin_not_allowed", detail: originText, reauthenticate: false)
        case .grantMissing(let grant):
            Problem(.badRequest, code: "unauthorized_client", detail: grantMissingText(grant))
        case .loginMethodRefused(let method):
            Problem(.forbidden, code: "login_method_not_allowed", detail: methodText(method))
        case .grantClosed(let reauthenticate):
            Problem(
                .badRequest, code: "unauthorized_client", detail: grantClosedText, reauthenticate: reauthenticate)
        case .invalidScope:
            Problem(.badRequest, code: "invalid_scope", detail: "The scope is malformed, or more than can be granted.")
        case .invalidTarget: .invalid("resource", "is unknown, or not allowed for this client")
        // If members contradict each other, the detail is a whole sentence that begins with the member to change.
        case .invalid("settings", let detail), .invalid("client", let detail):
            Problem(
                .badRequest, code: "invalid_request", detail: "\(detail).",
                member: memberToChange(detail))
        case .invalid(let member, let detail): .invalid(member, detail)
        case .emailNotSupported:
            Problem(.badRequest, code: "email_not_supported", detail: emailText, member: "email")
        case .invalidCode(let left): invalidCode(attemptsLeft: left)
        case .verificationOver: Problem(.badRequest, code: "verification_over", detail: verificationText)
        case .signUpClosed: Problem(.forbidden, code: "sign_up_closed", detail: signUpText)
        case .secondFactor(let refusal): problem(refusal)
        case .notFound(let thing): Problem(.notFound, code: "not_found", detail: "There is no such \(thing).")
        case .conflict(let code, let detail): Problem(.conflict, code: code, detail: "Not done: \(detail).")
        }
    }

    /// The member to change in a sentence like "client tv: refresh_after must …".
    private static func memberToChange(_ sentence: String) -> String {
        let words = sentence.split(separator: " ")
        let isOfClient = words.count > 2 && words[0] == "client" && words[1].hasSuffix(":")
        return words.dropFirst(isOfClient ? 2 : 0).first.map(String.init) ?? sentence
    }

    private static func refusal(_ reason: RefusalReason, _ code: ErrorCode) -> OAuthError {
        OAuthError(
            .badRequest,
            ErrorResponse(
                code, description: reason.sentence, reason: reason.rawValue, reauthenticate: reason.reauthenticate))
    }

    /// The domain's errors as errors of RFC 6749 section 5.2.
    static func oauthError(_ error: ServiceError) -> OAuthError {
        switch error {
        case .store(.unavailable), .overloaded, .passwordQueueFull:
            OAuthError(.serviceUnavailable, .temporarilyUnavailable, unavailableText)
        case .staleRequest:
            OAuthError(
                .serviceUnavailable,
                ErrorResponse(.temporarilyUnavailable, description: staleText, reason: "stale_request"))
        case .tooManyRequests: OAuthError(.tooManyRequests, .temporarilyUnavailable, tooManyText)
        case .store(.corrupted): OAuthError(.internalServerError, .serverError, internalText)
        case .refused(let reason), .loginRefused(let reason): refusal(reason, .invalidGrant)
        case .insufficientUserAuthentication(let requirement): oauthError(requirement)
        case .invalidCredentials: OAuthError(.badRequest, .invalidGrant, "The name or the password is wrong.")
        case .wrongPassword(let requirement): oauthError(requirement, description: wrongPasswordText)
        // Any invalid subject token is `invalid_request` (RFC 8693 section 2.2.2).
        case .identityRefused(let reason): OAuthError(.badRequest, .invalidRequest, reason.sentence)
        case .passkeyRefused(let reason): OAuthError(.badRequest, .invalidRequest, reason.sentence)
        case .identityProviderUnavailable: OAuthError(.serviceUnavailable, .temporarilyUnavailable, providerText)
        case .invalidGrant: OAuthError(.badRequest, .invalidGrant, codeText)
        case .clientRefused(let refusal): oauthError(refusal.code == .invalidGrant ? .invalidGrant : .invalidClient)
        case .login(let refusal): oauthError(refusal)
        case .loginOver(.denied): OAuthError(.badRequest, .accessDenied, PhoneLogin.Cause.denied.sentence)
        case .loginOver(let cause): OAuthError(.badRequest, .expiredToken, cause.sentence)
        case .requestSpent: OAuthError(.badRequest, .invalidRequest, spentText)
        case .invalidToken: OAuthError(.unauthorized, .invalidToken, "The token is not valid, or no longer.")
        case .scopeMissing(let scope): OAuthError(.forbidden, .insufficientScope, scopeText(scope))
        case .proofMissing: oauthError(.unproven(.malformed, withAccessToken: false))
        case .unproven(let proof): oauthError(.unproven(proof, withAccessToken: false))
        case .invalidClient:
            OAuthError(.unauthorized, .invalidClient, "The client is unknown, or failed to authenticate.")
        case .unauthorizedClient: OAuthError(.badRequest, .unauthorizedClient, "The client may not do this.")
        case .originNotAllowed:
            OAuthError(
                .forbidden,
                ErrorResponse(
                    .unauthorizedClient, description: originText, reason: "origin_not_allowed", reauthenticate: false))
        case .grantMissing(let grant): OAuthError(.badRequest, .unauthorizedClient, grantMissingText(grant))
        case .loginMethodRefused(let method):
            OAuthError(
                .badRequest,
                ErrorResponse(
                    .unauthorizedClient, description: methodText(method), reason: "login_method_not_allowed"))
        case .grantClosed(let reauthenticate):
            OAuthError(
                .badRequest,
                ErrorResponse(
                    .unauthorizedClient, description: grantClosedText, reason: ErrorCode.unauthorizedClient.rawValue,
                    reauthenticate: reauthenticate))
        case .invalidScope:
            OAuthError(.badRequest, .invalidScope, "The scope is malformed, or more than can be granted.")
        case .invalidTarget: OAuthError(.badRequest, .invalidTarget, targetText)
        case .invalid(let member, let detail): OAuthError(.badRequest, .invalidRequest, "\(member) \(detail).")
        case .emailNotSupported: OAuthError(.badRequest, .invalidRequest, emailText)
        case .invalidCode: OAuthError(.badRequest, .invalidGrant, invalidCodeText)
        case .verificationOver: OAuthError(.badRequest, .invalidGrant, verificationText)
        case .signUpClosed: OAuthError(.badRequest, .unauthorizedClient, signUpText)
        case .secondFactor(let refusal): oauthError(refusal)
        case .notFound(let thing): OAuthError(.badRequest, .invalidRequest, "There is no such \(thing).")
        case .conflict(_, let detail): OAuthError(.badRequest, .invalidRequest, "Not done: \(detail).")
        }
    }

    /// Errors in the form of a request as RFC 9457 problems.
    static func problem(_ problem: RequestProblem) -> Problem {
        switch problem {
        case .invalid(let member, let detail): .invalid(member, detail)
        case .unreadable(let detail): Problem(.badRequest, code: "invalid_request", detail: detail)
        case .unsupportedMediaType:
            Problem(
                .unsupportedMediaType, code: "unsupported_media_type", detail: "The content must be application/json.")
        case .unsupportedContentCoding:
            Problem(
                .unsupportedMediaType, code: "unsupported_content_coding",
                detail: "The content must not have a content coding.")
        case .preconditionFailed:
            Problem(
                .preconditionFailed, code: "precondition_failed", detail: "A condition of the request does not hold.")
        case .unknownCursor:
            Problem(
                .gone, code: "unknown_cursor",
                detail: "The cursor is not of this database. Begin again without one.")
        case .unauthenticated: Problem(.unauthorized, code: "unauthenticated", detail: "Credentials are missing.")
        case .malformedCredentials:
            Problem(.badRequest, code: "invalid_request", detail: "The credentials cannot be read.")
        case .unknownAdminKey: Problem(.unauthorized, code: "invalid_token", detail: "The admin key is not valid.")
        case .unproven(let proof, let withAccessToken):
            Problem(
                withAccessToken ? .unauthorized : .badRequest, code: proof.code.rawValue, detail: proof.sentence)
        case .insufficientScope(let scopes, _, let member):
            Problem(
                .forbidden, code: "insufficient_scope",
                detail: "The admin key may not \(member.map { "set \($0)" } ?? "do this"): it takes the scope "
                    + "\(scopes.map(\.rawValue).joined(separator: " or ")).")
        case .subjectRefused(let reason): Self.problem(.loginRefused(reason))
        case .authorization(let code, let detail): Problem(.badRequest, code: code.rawValue, detail: detail)
        case .refused(_, let problem): Self.problem(problem)
        case .crossSite: Problem(.forbidden, code: "cross_site", detail: crossSiteText)
        case .needsTLS: Problem(.misdirectedRequest, code: "needs_tls", detail: needsTLSText)
        case .unknownHost: Problem(.misdirectedRequest, code: "unknown_host", detail: unknownHostText)
        case .unsupportedGrantType:
            Problem(.badRequest, code: "invalid_request", detail: "This is not supported.")
        }
    }

    /// Errors in the form of a request as errors of RFC 6749 section 5.2.
    static func oauthError(_ problem: RequestProblem) -> OAuthError {
        switch problem {
        case .invalid(let member, let detail): OAuthError(.badRequest, .invalidRequest, "\(member) \(detail).")
        case .unreadable(let detail): OAuthError(.badRequest, .invalidRequest, detail)
        case .unsupportedMediaType:
            OAuthError(.badRequest, .invalidRequest, "The content must be application/x-www-form-urlencoded.")
        case .unsupportedContentCoding:
            OAuthError(.unsupportedMediaType, .invalidRequest, "The content must not have a content coding.")
        case .preconditionFailed:
            OAuthError(.preconditionFailed, .invalidRequest, "A condition of the request does not hold.")
        case .unknownCursor: OAuthError(.gone, .invalidRequest, "The cursor is unknown.")
        case .unauthenticated, .malformedCredentials, .unknownAdminKey:
            OAuthError(.unauthorized, .invalidClient, "The client is unknown, or failed to authenticate.")
        case .unproven(let proof, _): OAuthError(.badRequest, proof.code, proof.sentence)
        case .insufficientScope: OAuthError(.forbidden, .insufficientScope, "The admin key may not do this.")
        case .subjectRefused(let reason): refusal(reason, .invalidRequest)
        // Only the backchannel endpoint refuses so (OpenID Connect CIBA section 13).
        case .authorization(.accessDenied, let detail): OAuthError(.forbidden, .accessDenied, detail)
        case .authorization(let code, let detail): OAuthError(.badRequest, code, detail)
        case .refused(_, let problem): oauthError(problem)
        case .crossSite: OAuthError(.forbidden, .invalidRequest, crossSiteText)
        case .needsTLS: OAuthError(.misdirectedRequest, .invalidRequest, needsTLSText)
        case .unknownHost: OAuthError(.misdirectedRequest, .invalidRequest, unknownHostText)
        case .unsupportedGrantType: OAuthError(.badRequest, .unsupportedGrantType, "The grant_type is not supported.")
        }
    }

    /// Appends the authentication schemes that the route accepts (RFC 9110 section 11.6.1, RFC 6750 section 3, RFC 6749 section
    /// 5.2); those of tokens alone, if a token lacks a scope.
    private func challenge(_ call: Call, _ error: any Error, _ response: inout Response) {
        if call.route.challenge != .basic {
            let (scheme, parameters) = tokenChallenge(call, error)
            let bearer = #"Bearer realm="sojourn""# + (scheme == .bearer ? parameters : "")
            let dpop = #"DPoP realm="sojourn", algs="ES256 EdDSA""# + (scheme == .dpop ? parameters : "")
            // The admin listener offers Bearer alone, because admin keys are never bound to a key. A refused proof puts DPoP
            // first, because some libraries read only the first scheme.
            let isProof = if case RequestProblem.unproven = error { true } else { false }
            let schemes = call.caller.listener != .public ? [bearer] : isProof ? [dpop, bearer] : [bearer, dpop]
            for scheme in schemes { response.fields.append("WWW-Authenticate", scheme) }
        }
        if call.route.challenge != .bearer, response.status == .unauthorized {
            response.fields.append("WWW-Authenticate", #"Basic realm="sojourn", charset="UTF-8""#)
        }
    }
}

extension Endpoints {
    private enum TokenScheme {
        case bearer, dpop
    }

    /// The error of a token, and the scheme of the challenge that carries it, which is that of the request (RFC 6750 section 3,
    /// RFC 9449 section 7.1).
    private func tokenChallenge(_ call: Call, _ error: any Error) -> (TokenScheme, parameters: String) {
        switch error {
        case RequestProblem.unproven(let proof, _):
            return (.dpop, #", error="\#(proof.code.rawValue)", error_description="\#(proof.sentence)""#)
        case ServiceError.insufficientUserAuthentication(let requirement):
            let parameters =
                #", error="\#(ErrorCode.insufficientUserAuthentication.rawValue)", "#
                + #"error_description="\#(RefusalReason.insufficientUserAuthentication.sentence)", "#
                + #"acr_values="\#(requirement.acrValues)", max_age="\#(requirement.ageMax.wholeSeconds)""#
            if case .dpop? = try? call.authorization() { return (.dpop, parameters) }
            return (.bearer, parameters)
        case ServiceError.scopeMissing(let scope):
            let parameters =
                #", error="\#(ErrorCode.insufficientScope.rawValue)", error_description="\#(Self.scopeText(scope))", "#
                + #"scope="\#(scope)""#
            if case .dpop? = try? call.authorization() { return (.dpop, parameters) }
            return (.bearer, parameters)
        case ServiceError.invalidToken, RequestProblem.unknownAdminKey:
            let parameters = #", error="invalid_token", error_description="The token is not valid, or no longer.""#
            if case .dpop? = try? call.authorization() { return (.dpop, parameters) }
            return (.bearer, parameters)
        default: return (.bearer, "")
        }
    }
}

extension IdentityRefusal {
    /// A sentence for developers. It holds nothing that is secret from the holder of the token.
    var sentence: String {
        switch self {
        case .malformed: "The token is not an unambiguous ID token, or it brings its own key."
        case .unknownProvider: "The token is not from an identity provider of this server."
        case .algorithm: "The token is signed with an algorithm that this provider may not use."
        case .unknownKey: "The token is signed with a key that the provider does not publish."
        case .signature: "The signature of the token is not the provider's."
        case .issuer: "The token is from another issuer than this provider."
        case .audience: "The token is not for an app of this server: aud, or azp."
        case .expired: "The token has expired: exp."
        case .tooOld: "The token was issued too long ago: iat."
        case .notYet: "The token is not valid yet: iat, or nbf."
        case .nonce: "The nonce is missing, or not the one in the token."
        case .subject: "The token has no subject of 1 to 255 printable ASCII characters."
        case .replayed: "The token was used before: get a new one from the provider."
        case .anotherUser: "The token is of an identity that is not the session's user's. The session is kept."
        case .noAuthenticationTime:
            "The token does not say when the user authenticated: ask the provider with max_age, or with a nonce."
        case .providerDidNotAsk: "The provider has not asked the user again: auth_time."
        case .declined: "The provider has answered with an error."
        case .codeRefused: "The provider does not exchange its code for tokens."
        }
    }
}
