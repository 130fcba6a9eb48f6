import Cryptography
import Federation
import HTTP
import HTTPClient
import JSON
import Sessions
import Synchronization
import Telemetry
import Testing
import WebAuthnFixture

@testable import Endpoints

/// A way in which a client gets a session, or goes on with one.
enum WayIn: CaseIterable {
    case passwordInJSON, passkeyInJSON, idTokenInJSON, anonymousInJSON
    case continuedByPassword, continuedByIDToken
    case passwordGrant, tokenExchange
    case pagePassword, pagePasskey, pageProvider, pagePhone
    case device, typedCode, backchannel, app
    case invitation
    case minted, refreshed, resumed

    /// The word of `login_methods` for it; nil: no user is authenticated by it.
    var method: Client.LoginMethod? {
        switch self {
        case .passwordInJSON, .continuedByPassword, .passwordGrant, .pagePassword: .password
        case .passkeyInJSON, .pagePasskey: .passkey
        case .idTokenInJSON, .continuedByIDToken, .tokenExchange, .pageProvider: .provider("acme")
        case .anonymousInJSON: .anonymous
        case .pagePhone, .device, .typedCode, .backchannel, .app: .phone
        case .invitation: .invitation
        case .minted, .refreshed, .resumed: nil
        }
    }

    /// The grant that it needs; nil: none.
    var grant: Client.GrantType? {
        switch self {
        case .passwordInJSON, .passkeyInJSON, .idTokenInJSON, .anonymousInJSON: .login
        case .passwordGrant: .password
        case .tokenExchange: .tokenExchange
        case .pagePassword, .pagePasskey, .pageProvider, .pagePhone: .authorizationCode
        case .device, .typedCode, .app: .deviceCode
        case .backchannel: .backchannel
        case .refreshed: .refreshToken
        case .resumed: .jwtBearer
        case .continuedByPassword, .continuedByIDToken, .invitation, .minted: nil
        }
    }

    /// The client that gets the session.
    var client: String {
        switch self {
        case .device, .typedCode, .app: "tv"
        case .backchannel: "backend"
        default: "shop"
        }
    }

    /// Whether a client with these `login_methods` takes it.
    func isTaken(with methods: [Client.LoginMethod]?) -> Bool {
        guard let method else { return true }
        // The login page has the phone only if an admin has named it.
        return methods?.contains(method) ?? (self != .pagePhone)
    }
}

/// A server with clients that have every grant, and a user with a password, a passkey and a phone.
struct WaysIn {
    /// A moment on the way: before its first request, or before the last one, which opens the session.
    enum Moment: CaseIterable { case before, meanwhile }

    private static let grants = Client.GrantType.allCases.filter { ![.clientCredentials, .backchannel].contains($0) }

    let hosted: PageLoginFixture
    let provider: FakeProvider
    let phone: Tokens
    let authenticator: SoftAuthenticator
    let backend: String
    var server: EndpointsFixture { hosted.server }

    /// Gives `body` the server. Two providers are configured; both have a page.
    static func with(_ body: (WaysIn) async throws -> Void) async throws {
        let providers = [FakeProvider(), FakeProvider("globex")]
        defer { for provider in providers { provider.stop() } }
        let known = providers.map { provider in
            var configuration = provider.configuration
            var redirect = IdentityProvider.Redirect(clientID: "web", title: provider.name)
            redirect.clientSecret = "secret"
            configuration.redirect = redirect
            return configuration
        }
        try await PageLoginFixture.with(
            #","anonymous_users":true"#,
            identities: { clock, logger in
                IdentityProviders(
                    known, client: HTTPClient(HTTPClient.Options()), clock: clock, metrics: MetricsRegistry(),
                    logger: logger)
            }, passkeys: PasskeyPolicy(rpID: "example.org", origins: ["https://example.org"])
        ) { hosted in
            try await DeviceLogin.makeClient(hosted.server)
            let backend = try await BackchannelLogin.makeClient(hosted.server, "backend")
            let phone = try await hosted.server.logIn()
            let ways = WaysIn(
                hosted: hosted, provider: providers[0], phone: phone,
                authenticator: try await hosted.server.passkey(of: phone), backend: backend)
            try await ways.giveGrants()
            try await body(ways)
        }
    }

    /// Sets `login_methods` of all clients.
    func allow(_ methods: [Client.LoginMethod]?) async throws {
        let list = methods.map { JSONValue.array($0.map { .string($0.rawValue) }) } ?? .null
        for client in ["shop", "tv", "backend"] { try await change(client, ["login_methods": list]) }
    }

    /// Gives the clients all grants that they can have, without one.
    func giveGrants(without grant: Client.GrantType? = nil) async throws {
        func list(_ grants: [Client.GrantType]) -> [String: JSONValue] {
            // A client of the login page has to have the grant refresh_token.
            let removed: [Client.GrantType] =
                grant == .refreshToken ? [.refreshToken, .authorizationCode] : [grant].compactMap(\.self)
            return ["grant_types": .array(grants.filter { !removed.contains($0) }.map { .string($0.rawValue) })]
        }
        try await change("shop", list(Self.grants))
        try await change("tv", list([.deviceCode, .refreshToken]))
        try await change("backend", list([.backchannel, .refreshToken]))
    }

    private func change(_ client: String, _ members: [String: JSONValue]) async throws {
        let answer = await server.admin(
            .patch, "/admin/v1/clients/\(client)", JSONValue.object(members).compactText ?? "")
        try #require(answer.status == 200, "\(answer.text)")
    }

    /// Goes that way on a device of its own, while `change` happens at one of the moments. Returns the last answer: that with the
    /// tokens, or the refusal.
    func go(
        _ way: WayIn, device: String, _ change: (Moment) async throws -> Void
    ) async throws -> Answer {
        switch way {
        case .passwordInJSON:
            try await each(change)
            return await logIn(device, Self.password)
        case .passkeyInJSON:
            try await change(.before)
            let credential = authenticator.assert(try await server.challenge())
            try await change(.meanwhile)
            return await logIn(device, #""passkey":\#(JSONValue.object(credential).compactText ?? "")"#)
        case .idTokenInJSON:
            try await each(change)
            return await logIn(device, try idToken())
        case .anonymousInJSON:
            try await each(change)
            return await logIn(device, #""anonymous":true"#)
        case .continuedByPassword, .continuedByIDToken:
            func proof() throws -> String { way == .continuedByPassword ? Self.password : try idToken() }
            let id = try Tokens(await logIn(device, try proof())).sessionID
            try await each(change)
            let answer = await logIn(device, try proof() + #","session_id":"\#(id)""#)
            #expect(answer.string("session_id") ?? id == id)
            return answer
        case .passwordGrant, .tokenExchange, .minted, .refreshed, .resumed:
            return try await goWithoutPage(way, device, change)
        case .pagePassword, .pagePasskey, .pageProvider, .pagePhone:
            try await change(.before)
            let answer = try await answerOfPage(way)
            guard answer.field("Location")?.contains("code=") == true else { return answer }
            let code = try #require(Redirect(answer)["code"])
            try await change(.meanwhile)
            return await hosted.exchange(code, ["device_id": device])
        case .device, .typedCode, .backchannel, .app: return try await goByPhone(way, device, change)
        case .invitation: return try await enrol(device, change)
        }
    }

    private static let password = #""username":"anna","password":"\#(EndpointsFixture.password)""#

    private func each(_ change: (Moment) async throws -> Void) async throws {
        for moment in Moment.allCases { try await change(moment) }
    }

    private var now: Int64 { server.environment.now.load(ordering: .relaxed) }

    private func newToken() throws -> String {
        try provider.token(#"{"jti":"\#(ProvingDevice().thumbprint)"}"#, at: now)
    }

    private func idToken() throws -> String { #""provider":"acme","id_token":"\#(try newToken())""# }

    private func logIn(_ device: String, _ members: String) async -> Answer {
        await server.call(
            .post, "/v1/login", #"{"client_id":"shop","device":{"id":"\#(device)"},\#(members)}"#)
    }

    private func token(_ grant: Client.GrantType, _ device: String, _ form: String) async -> Answer {
        await server.form(
            "/oauth/token", "grant_type=\(grant.rawValue)&client_id=shop&device_id=\(device)&\(form)")
    }

    private func goWithoutPage(
        _ way: WayIn, _ device: String, _ change: (Moment) async throws -> Void
    ) async throws -> Answer {
        let key = ProvingDevice()
        var session: Tokens?
        if way == .refreshed || way == .resumed {
            session = try Tokens(await logIn(device, Self.password + #","device_key":\#(key.jwk)"#))
        }
        try await each(change)
        switch (way, session) {
        case (.refreshed, let session?):
            return await token(.refreshToken, device, "refresh_token=\(session.refresh)")
        case (.resumed, let session?):
            return await token(.jwtBearer, device, "assertion=\(key.assertion(server, session))")
        case (.passwordGrant, _): return await token(.password, device, "username=anna&password=correct+horse")
        case (.tokenExchange, _):
            let type = "urn:ietf:params:oauth:token-type:id_token"
            return await token(
                .tokenExchange, device, "subject_token=\(try newToken())&subject_token_type=\(type)")
        default:
            return await server.admin(
                .post, "/admin/v1/users/username:anna/sessions",
                #"{"client_id":"shop","device":{"id":"\#(device)"}}"#)
        }
    }

    /// What the login page answers to its form, which a browser has made up if the page does not have it.
    private func answerOfPage(_ way: WayIn) async throws -> Answer {
        let browser = Browser(server)
        let asked = await browser.get(PageLoginFixture.url())
        guard let location = asked.field("Location"), location.hasPrefix(EndpointsFixture.issuer + "/login?r=") else {
            return asked
        }
        _ = await browser.get(location)
        let requests = server.endpoints.context.requests
        let flow = try #require(browser.cookies["__Host-sojourn-flow"].flatMap { FlowSecret($0) })
        var carried = try #require(requests.open(String(location.drop { $0 != "=" }.dropFirst())))
        carried.browser = flow.browser
        let sealed = try #require(requests.seal(carried))
        func send(_ path: String, _ form: [String: String]) async -> Answer {
            let hidden = ["r": sealed, "csrf": flow.formToken(path, sealed)]
            return await browser.post(path, hidden.merging(form) { $1 })
        }
        switch way {
        case .pagePasskey:
            let options = try server.endpoints.services.passkeys.loginOptions(on: carried)
            let challenge = try #require(options["challenge"]?.string.flatMap { Base64URL.decode($0) })
            let credential = JSONValue.object(authenticator.assert(challenge)).compactText ?? ""
            return await send("/login/passkey", ["credential": credential])
        case .pageProvider:
            let sent = await browser.get("/login/provider?name=acme&r=\(sealed)")
            guard sent.status == 303 else { return sent }
            let scene = ProviderOnPageTests.Scene(login: hosted, provider: provider, browser: browser)
            let request = try Redirect(sent)
            try scene.answer(request)
            return await scene.comeBack(request)
        case .pagePhone:
            let began = await send("/login/phone", [:])
            guard let location = began.field("Location"), location.contains("/login/phone/") else { return began }
            let waiting = PhonePageFixture(
                hosted: hosted, browser: browser, path: String(location.dropFirst(EndpointsFixture.issuer.count)))
            try await waiting.approveByScan(phone)
            return try await waiting.finish()
        default:
            return await send("/login/password", ["username": "anna", "password": EndpointsFixture.password])
        }
    }

    private func goByPhone(
        _ way: WayIn, _ device: String, _ change: (Moment) async throws -> Void
    ) async throws -> Answer {
        try await change(.before)
        switch way {
        case .backchannel:
            let opened = await BackchannelLogin.request(server, backend)
            guard opened.status == 200 else { return opened }
            let login = try BackchannelLogin(server, backend, opened: opened)
            try await login.approve(phone)
            try await change(.meanwhile)
            return await login.collect("&device_id=\(device)")
        case .app:
            func call(_ json: String) async -> Answer {
                await server.call(.post, "/v1/me/app-login", json, bearer: phone.access)
            }
            let opened = await call(#"{"client_id":"tv"}"#)
            guard let id = opened.string("login", "login_id") else { return opened }
            let proved = await call(#"{"login_id":"\#(id)","password":"\#(EndpointsFixture.password)"}"#)
            let nonce = try #require(proved.string("web_nonce"), "\(proved.text)")
            try await change(.meanwhile)
            return await server.form(
                "/oauth/token",
                "grant_type=\(DeviceLogin.grant)&client_id=tv&device_code=\(nonce)&device_id=\(device)")
        default:
            let opened = await server.form("/oauth/device_authorization", "client_id=tv&scope=read")
            guard opened.status == 200 else { return opened }
            let login = try DeviceLogin(server, opened: opened)
            if way == .device { try await login.approve(phone) } else { try await type(login) }
            try await change(.meanwhile)
            return await login.collect("&device_id=\(device)")
        }
    }

    /// Lets a device in by the code that it shows, in a browser.
    private func type(_ login: DeviceLogin) async throws {
        let pages = AccountPages(server)
        _ = try await pages.open()
        let code: String = try #require(login.opened.string("user_code"))
        let typing = try await pages.open("/device?user_code=\(code)")
        let review = AccountPage(try await pages.send("/device", of: typing, ["user_code": code]))
        let done = try await pages.send("/device/decision", of: review, ["user_code": code, "decision": "approve"])
        #expect(done.status == 200, "\(done.text)")
    }

    private func enrol(_ device: String, _ change: (Moment) async throws -> Void) async throws -> Answer {
        try await change(.before)
        let made = await server.admin(
            .post, "/admin/v1/invitations", #"{"client_id":"shop","username":"\#(device)"}"#)
        guard made.status == 201 else { return made }
        let invited = try await InvitedPhone(server, made, key: device)
        #expect(await invited.act("confirm").status == 200)
        try await change(.meanwhile)
        return await invited.finish(#""password":"a brand new horse""#)
    }
}
