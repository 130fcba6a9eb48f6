internal import Cryptography

// What stands in the links of the page of a login.
extension PhoneLoginService {
    /// The code at the end of what a picture, a link or a message of the login says now.
    public func code(of login: PhoneLogin, _ kind: PhoneLoginCode.Kind) -> String {
        context.loginCodes.text(PhoneLoginCode(handle: login.request.handle ?? [], kind: kind), at: context.clock.now)
    }

    /// The URL to which the app leads the user of its own device, once that user has approved a login by a link: the page of the
    /// browser that waits, or the return URI of the app that waits, with the token. Nil for every other login. The phone alone gets
    /// it, so that the sender of the link cannot finish the login.
    public func returnURL(of login: PhoneLogin) -> String? {
        guard login.claim?.arrival == .linked, login.state == .approved else { return nil }
        let token = context.loginCodes.token(.back, of: login.id)
        if login.kind == .authorize { return context.url("/login/return?l=\(login.id)&t=\(token)") }
        return login.request.returnURI.map { uri in
            "\(uri)\(uri.contains("?") ? "&" : "?")login_id=\(login.id)&return_token=\(token)"
        }
    }

    /// Whether `token` is the one in the URL of a login.
    public func isReturnToken(_ token: String, of id: Identifier<Session>) -> Bool {
        context.loginCodes.isToken(token, .back, of: id)
    }

    /// Whether `token` is the one in the link that ends a session.
    public func isNotMeToken(_ token: String, of id: Identifier<Session>) -> Bool {
        context.loginCodes.isToken(token, .notMe, of: id)
    }

    /// The living sessions that a phone has let in with that one, which is the first unless it is over.
    public func sessions(letInWith id: Identifier<Session>) async throws(ServiceError) -> [SessionRecord] {
        let now = context.clock.now
        let found = try await inStore(await store.sessions(letInWith: id))
        let living = found.sessions.filter { context.policy.ending(of: $0, at: now) == nil }
        return living.filter { $0.session.id == id } + living.filter { $0.session.id != id }
    }

    /// The user says that another person asked for a session that a phone has let in: ends it with all others of the phone
    /// login. Returns those that have ended.
    public func report(_ id: Identifier<Session>, from origin: Origin) async throws(ServiceError) -> [SessionRecord] {
        let before = try await sessions(letInWith: id)
        let found = try await inStore(await store.sessions(letInWith: id))
        for login in found.logins { _ = try await act(.report, on: login.id, from: origin) }
        if found.logins.isEmpty { _ = try await logout.end(id, .notMe, from: origin) }
        let left = Set(try await sessions(letInWith: id).map(\.session.id))
        return before.filter { !left.contains($0.session.id) }
    }

    /// The session with that id; nil if it is over.
    public func livingSession(_ id: Identifier<Session>) async throws(ServiceError) -> SessionRecord? {
        let now = context.clock.now
        let found = try await inStore(await store.wholeSession(id))
        guard let found, context.policy.ending(of: found, at: now) == nil else { return nil }
        return found
    }
}

extension ServiceContext {
    /// The URL of a path of this server, as browsers and clients see it: below the path of the issuer.
    public func url(_ path: String) -> String {
        (issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer) + path
    }

    /// The page on which the user of a session that a phone has let in ends it without logging in.
    public func notMeURL(of id: Identifier<Session>) -> String {
        url("/not-me?s=\(id)&t=\(loginCodes.token(.notMe, of: id))")
    }
}
