// A request with `prompt=none` of a client that lives in the browser: some libraries send one each quarter of an hour, to see
// whether the user is still there. Its tokens belong to the session that lives there, because a new session for each would fill
// the list of the user's devices.

extension AuthorizationRequest {
    /// Whether the request can be answered by tokens of a session that exists: it shows no page, and asks for no access of its own
    /// beyond the presence of the user (OpenID Connect Core section 11).
    func mayJoin(_ client: Client) -> Bool {
        isSilent && !(scope.flatMap { Scope($0) } ?? client.scope).tokens.contains("offline_access")
    }
}

extension PageLoginCompletion {
    /// Notes in `kept` the latest session of the client that lives in the browser and grants what `kept` asks for, if there is one.
    /// An answer by a phone joins no session but one which this phone has let in, because that ends with the phone as well. A mode
    /// other than `NO` asks for the user, and this request does not.
    func noteSessionToJoin(
        in kept: inout AuthorizationRequest, of request: AuthorizationRequest, letInBy phoneLogin: PhoneLogin?,
        by policy: RefreshPolicy, at now: Instant
    ) {
        guard let client, request.mayJoin(client) else { return }
        let scope = kept.scope.flatMap { Scope($0) } ?? client.scope
        let joined = clientSessions.first { record in
            let session = record.session
            return session.clientID == client.id && session.userID == user.id
                && session.keyThumbprint == request.keyThumbprint && session.scope.contains(scope)
                && Set(request.resources) == Set(session.resources) && session.authenticationMode == .no
                && !policy.isUnconfirmed(session, at: now)
                && (phoneLogin?.mayAnswer(for: session) ?? true) && policy.ending(of: record, at: now) == nil
        }
        kept.joinedSession = joined?.session.id.description
    }
}

extension PhoneLogin {
    /// Whether a session in the browser depends on the phone as one that this login lets in would.
    fileprivate func mayAnswer(for session: Session) -> Bool {
        session.isByPhone && session.phoneID == (isLoggedIn ? claim?.sessionID : nil)
    }
}

extension CodeExchange {
    /// Grants tokens of the session that lives in the browser. It gets no refresh token, because the client has one, and goes on
    /// as after a refresh. A session that has ended since the login refuses the code.
    mutating func join(
        _ request: CodeExchangeRequest, for resources: ResourceRequirement, of client: Client, by policy: RefreshPolicy,
        at now: Instant
    ) -> Result<TokenGrant.Entitlement, ServiceError> {
        guard let session = started, session.clientID == client.id, session.userID == opening.user.id,
            session.keyThumbprint == request.login.keyThumbprint, opening.user.loginRefusal == nil,
            session.authenticationMode == .no, !policy.isUnconfirmed(session, at: now),
            policy.ending(of: record(of: session), at: now) == nil
        else { return .failure(.invalidGrant) }
        for (name, key) in [("device_key", request.login.deviceKey), ("presence_key", request.login.presenceKey)]
        where key != nil {
            return .failure(.invalid(member: name, detail: "is for a login that starts a session"))
        }
        do throws(ServiceError) {
            let audience = try resources.audience(for: client, granted: session.resources)
            try request.login.proof?.use(for: client.dpop)
            var renewed = session
            let precision = opening.settings.sessions.rotationInterval / 4
            if now >= session.renewedAt + max(precision, .seconds(1)) { renewed.renewedAt = now }
            if renewed != session { self.renewed = renewed }
            login.codeUsedAt = now
            login.codeRequest = request.key
            return .success(
                TokenGrant.Entitlement(
                    session: renewed, user: opening.user, client: client, settings: opening.settings,
                    scope: client.standing(grantedScope(in: session)), audience: audience,
                    bondEnd: session.phoneID == nil ? nil : policy.bondEnd(of: record(of: session)),
                    hasRefreshToken: false))
        } catch { return .failure(error) }
    }

    /// The record of a session of the client, with the phone on which it depends.
    func record(of session: Session) -> SessionRecord {
        var record = SessionRecord(
            session: session, user: opening.user, client: opening.client, settings: opening.settings)
        record.phone = startedPhone
        return record
    }
}
