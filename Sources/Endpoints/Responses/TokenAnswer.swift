// Shaped for speed: functions with `@inline(never)` keep their variables out of the async frames of a refresh. These frames
// take 6000 bytes instead of 34 000 (`Sessions/Refresh/RefreshService.swift` has the command).

internal import HTTP
internal import OAuth
internal import Sessions

/// The answer with tokens (RFC 6749 section 5.1), which no cache may keep.
enum TokenAnswer {
    /// The answer to a login or a refresh.
    @inline(never)
    static func response(_ grant: TokenGrant) -> Response { response(answer(grant)) }

    /// The answer to the exchange of a code (OpenID Connect Core section 3.1.3.3).
    static func response(_ grant: PageLoginService.Grant) -> Response {
        response(grant.tokens, idToken: grant.idToken)
    }

    /// The answer to a refresh, or a login, with its ID token; nil: it has none.
    @inline(never)
    static func response(_ grant: TokenGrant, idToken: String?) -> Response {
        var answer = answer(grant)
        answer.idToken = idToken
        return response(answer)
    }

    /// The answer to a token exchange (RFC 8693 section 2.2.1): `access_token` holds the token of the requested type.
    static func response(
        _ grant: TokenGrant, as type: TokenExchangeParameters.TokenType, idToken: String?
    ) -> Response {
        var answer = answer(grant)
        answer.idToken = idToken
        answer.issuedTokenType = type.rawValue
        if type == .refreshToken, let refreshToken = answer.refreshToken {
            answer.accessToken = refreshToken
            answer.refreshToken = nil
            answer.tokenType = "N_A"
            answer.expiresAt = min(grant.idleExpiresAt, grant.sessionExpiresAt).secondsSinceEpoch
            answer.expiresIn = answer.expiresAt - answer.issuedAt
        }
        return response(answer)
    }

    private static func answer(_ grant: TokenGrant) -> TokenResponse {
        let session = grant.session
        var answer = answer(
            grant.accessToken, scope: grant.scope, issuedAt: grant.issuedAt, expiresAt: grant.expiresAt,
            isBound: session.keyThumbprint != nil)
        answer.refreshToken = grant.refreshToken
        answer.refreshAfter = grant.refreshAfter.secondsSinceEpoch
        answer.rotationInterval = grant.rotationInterval.wholeSeconds
        if grant.decision == nil { answer.renewal = grant.renewalMethods }
        answer.sessionID = session.id.description
        answer.deviceID = session.device.id
        answer.sessionIdleExpiresAt = grant.idleExpiresAt.secondsSinceEpoch
        answer.sessionExpiresAt = grant.sessionExpiresAt.secondsSinceEpoch
        answer.authenticationMode = session.authenticationMode.rawValue
        answer.user = TokenResponse.User(grant.user, in: grant.scope)
        return answer
    }

    /// The answer to a client that requests a token for itself.
    static func response(
        _ accessToken: String, scope: Scope, issuedAt: Instant, expiresAt: Instant, isBound: Bool
    ) -> Response {
        response(answer(accessToken, scope: scope, issuedAt: issuedAt, expiresAt: expiresAt, isBound: isBound))
    }

    private static func answer(
        _ accessToken: String, scope: Scope, issuedAt: Instant, expiresAt: Instant, isBound: Bool
    ) -> TokenResponse {
        var answer = TokenResponse(
            accessToken: accessToken, expiresIn: (expiresAt - issuedAt).wholeSeconds,
            issuedAt: issuedAt.secondsSinceEpoch, expiresAt: expiresAt.secondsSinceEpoch)
        if isBound { answer.tokenType = "DPoP" }
        // An empty scope is left out, because a scope has at least one token (RFC 6749 section 3.3).
        answer.scope = scope.tokens.isEmpty ? nil : scope.description
        return answer
    }

    private static func response(_ answer: consuming TokenResponse) -> Response {
        var response = Response(.ok, "application/json", answer.json)
        response.fields.append("Cache-Control", "no-store")
        response.fields.append("Pragma", "no-cache")
        return response
    }
}

extension TokenResponse.User {
    /// The members of `user` that the app shows and stores: all of them with the scope `account`, otherwise what the userinfo
    /// endpoint gives for the scope. Access tokens say that a user is anonymous as well.
    init(_ user: User, in scope: Scope) {
        if scope.contains(Scope.account) {
            let profile = user.profile
            self.init(
                userID: user.id.description, username: user.shownUsername, email: profile.email,
                phoneNumber: profile.phoneNumber, displayName: profile.displayName, givenName: profile.givenName,
                familyName: profile.familyName, country: profile.country)
        } else {
            let claims = ScopedClaims(of: user, in: scope)
            self.init(
                userID: user.id.description, username: claims.username, email: claims.email,
                phoneNumber: claims.phoneNumber, displayName: claims.displayName, givenName: claims.givenName,
                familyName: claims.familyName)
        }
        anonymous = user.isAnonymous ? true : nil
    }
}
