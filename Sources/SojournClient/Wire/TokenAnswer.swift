/// The answer to a login or a renewal (RFC 6749 §5.1).
///
/// It is read without further checks, because a rotated refresh token must be stored whatever else the answer says.
package struct TokenAnswer: Hashable, Sendable {
    package var accessToken: String
    package var tokenType = "Bearer"
    package var issuedAt: Int64
    package var expiresAt: Int64
    package var refreshToken: String?
    package var refreshAfter: Int64?
    package var sessionID: String?
    package var deviceID: String?
    package var sessionIdleExpiresAt: Int64?
    package var sessionExpiresAt: Int64?
    package var rotationInterval: Int64?
    /// How the session can be renewed, as a login says it; empty: not at all.
    package var renewal: [String]?
    package var mode: AuthenticationMode?
    package var user: [String: JSONValue]?
    /// The `nonce` of the ID token (OpenID Connect Core §2); nil without one. Its signature does not matter, because the answer comes
    /// from the server itself (§3.1.3.7).
    package var idTokenNonce: String?

    /// An answer with the members that every one has.
    package init(accessToken: String, issuedAt: Int64, expiresAt: Int64) {
        (self.accessToken, self.issuedAt, self.expiresAt) = (accessToken, issuedAt, expiresAt)
    }

    /// The tokens that `session` has, for the confirmation of a session that nothing renews.
    package init(confirming session: StoredSession) {
        self.init(accessToken: session.accessToken, issuedAt: session.issuedAt, expiresAt: session.expiresAt)
        (tokenType, refreshAfter) = (session.tokenType, session.refreshAfter)
    }

    /// Reads an answer; nil unless it is a JSON object with an access token and the time of its issue. A member of a wrong type
    /// counts as absent.
    package init?(parsing body: [UInt8]) {
        guard let members = JSONValue(parsing: body)?.members, let accessToken = members.text("access_token"),
            let issuedAt = members.integer("issued_at")
        else { return nil }
        let lifetime = members.integer("expires_in") ?? 3600
        self.init(
            accessToken: accessToken, issuedAt: issuedAt,
            expiresAt: members.integer("expires_at") ?? issuedAt + min(max(lifetime, 0), 1 << 40))
        tokenType = members.text("token_type") ?? "Bearer"
        refreshToken = members.text("refresh_token")
        refreshAfter = members.integer("refresh_after")
        sessionID = members.text("session_id")
        deviceID = members.text("device_id")
        sessionIdleExpiresAt = members.integer("session_idle_expires_at")
        sessionExpiresAt = members.integer("session_expires_at")
        rotationInterval = members.integer("rotation_interval")
        renewal = members["renewal"]?.elements.map { $0.compactMap(\.text) }
        mode = members.text("authentication_mode").flatMap(AuthenticationMode.init)
        user = members["user"]?.members
        idTokenNonce = members.text("id_token").flatMap(CompactJWS.claims)?.text("nonce")
    }
}
