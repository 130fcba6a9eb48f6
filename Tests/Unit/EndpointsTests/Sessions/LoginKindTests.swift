import Cryptography
import HTTP
import JOSE
import Sessions
import Synchronization
import Testing

@testable import Endpoints

/// What every login can say of how its session is guarded, by whatever it shows the user.
@Suite struct LoginKindTests {
    private static let exchange = "urn:ietf:params:oauth:grant-type:token-exchange"
    private static let idToken = "urn:ietf:params:oauth:token-type:id_token"
    private static let grants = #"["login","password","refresh_token","\#(GuardedPhone.jwtBearer)","\#(exchange)"]"#

    enum Kind: CaseIterable {
        case passwordInJSON, idTokenInJSON, passwordGrant, exchange, minted

        /// Whether the user has a password: the provider's has none.
        var hasPassword: Bool { self != .idTokenInJSON && self != .exchange }

        /// A login in the client `own` with these members, or parameters of the same names.
        fileprivate func logIn(_ world: ProviderFixture, _ more: [(name: String, json: String)]) async throws -> Answer
        {
            let server = world.server
            let json = more.map { #","\#($0.name)":\#($0.json)"# }.joined()
            let form = more.map { member in
                let isText = member.json.hasPrefix("\"")
                let text = isText ? String(member.json.dropFirst().dropLast()) : member.json
                return "&\(member.name)=" + text.replacing("\"", with: "%22")
            }.joined()
            let base = #"{"client_id":"own","device":{"id":"phone-1"}"#
            switch self {
            case .passwordInJSON:
                return await server.call(
                    .post, "/v1/login",
                    base + #","username":"anna","password":"\#(EndpointsFixture.password)"\#(json)}"#)
            case .idTokenInJSON:
                return await server.call(
                    .post, "/v1/login",
                    base + #","provider":"acme","id_token":"\#(try world.newToken())"\#(json)}"#)
            case .passwordGrant:
                return await server.form(
                    "/oauth/token",
                    "grant_type=password&client_id=own&username=anna&password=correct+horse" + form)
            case .exchange:
                return await server.form(
                    "/oauth/token",
                    "grant_type=\(LoginKindTests.exchange)&client_id=own&subject_token=\(try world.newToken())"
                        + "&subject_token_type=\(LoginKindTests.idToken)" + form)
            case .minted:
                return await server.admin(.post, "/admin/v1/users/username:anna/sessions", base + json + "}")
            }
        }
    }

    private static func with(_ body: (ProviderFixture) async throws -> Void) async throws {
        try await ProviderFixture.with { world in
            _ = try await world.server.makeClient(
                #"{"client_id":"own","grant_types":\#(grants),"user_presence_max_age":600}"#)
            try await body(world)
        }
    }

    @Test(arguments: Kind.allCases) func keysAndModeAreForEveryKindOfLogin(_ kind: Kind) async throws {
        try await Self.with { world in
            let (server, device, finger) = (world.server, ProvingDevice(), ProvingDevice(.eddsa))
            let tokens = try Tokens(
                try await kind.logIn(
                    world,
                    [
                        ("authentication_mode", #""BIOMETRIC""#), ("device_key", device.jwk),
                        ("presence_key", finger.jwk),
                    ]))
            #expect(tokens.answer.string("authentication_mode") == "BIOMETRIC")
            let session = await server.admin(.get, "/admin/v1/sessions/\(tokens.sessionID)")
            #expect(session.string("authentication_mode") == "BIOMETRIC")
            #expect(session.bool("activation_pending") == true)
            server.moveClock(to: 600)
            let resume = "grant_type=\(GuardedPhone.jwtBearer)&client_id=own&assertion="
            let absent = await server.form("/oauth/token", resume + device.assertion(server, tokens))
            #expect(absent.string("error") == "insufficient_user_authentication", "\(absent.text)")
            let present = await server.form(
                "/oauth/token",
                resume + device.assertion(server, tokens) + "&user_assertion=\(finger.assertion(server, tokens))")
            #expect(present.status == 200, "\(present.text)")
        }
    }

    @Test(arguments: Kind.allCases) func whatIsNoKeyOrModeIsRefused(_ kind: Kind) async throws {
        try await Self.with { world in
            for (name, json) in [
                ("device_key", "{}"), ("presence_key", #"{"kty":"RSA"}"#), ("authentication_mode", #""FACE""#),
                ("presence_key", ProvingDevice().jwk),
            ] {
                let answer = try await kind.logIn(world, [(name, json)])
                #expect(answer.status == 400, "\(name)")
                #expect(answer.string("error") ?? answer.string("code") == "invalid_request", "\(answer.text)")
                let text = answer.string("error_description") ?? answer.string("detail") ?? ""
                #expect(text.hasPrefix(name), "\(answer.text)")
            }
        }
    }

    /// A user with a password, or one that logs in at an identity provider, can meet the mode `PASSWORD`.
    @Test(arguments: Kind.allCases) func theModePASSWORDIsForUsersWithCredentials(_ kind: Kind) async throws {
        try await Self.with { world in
            let answer = try await kind.logIn(world, [("authentication_mode", #""PASSWORD""#)])
            #expect(answer.status == 200, "\(answer.text)")
            let tokens = try Tokens(try await kind.logIn(world, []))
            let changed = await world.server.call(
                .put, "/v1/me/authentication-mode", #"{"authentication_mode":"PASSWORD"}"#, bearer: tokens.access)
            #expect(changed.status == 200, "\(changed.text)")
            world.server.moveClock(to: 4000)
            let asked = await world.server.refresh(tokens.refresh, more: "&client_id=own")
            #expect(asked.string("acr_values") == (kind.hasPassword ? "password" : "id_token"), "\(asked.text)")
        }
    }

    /// A user with neither would be asked for a password for ever.
    @Test func theModePASSWORDIsNotForUsersWithoutCredentials() async throws {
        try await Self.with { world in
            let (server, sessions) = (world.server, "/admin/v1/users/username:bert/sessions")
            #expect(await server.admin(.post, "/admin/v1/users", #"{"username":"bert"}"#).status == 201)
            let answer = await server.admin(.post, sessions, #"{"authentication_mode":"PASSWORD"}"#)
            #expect(answer.status == 400, "\(answer.text)")
            #expect(answer.string("detail") == "authentication_mode PASSWORD is not for a user without a password.")
            let tokens = try Tokens(await server.admin(.post, sessions))
            let changed = await server.call(
                .put, "/v1/me/authentication-mode", #"{"authentication_mode":"PASSWORD"}"#, bearer: tokens.access)
            #expect(changed.status == 409 && changed.string("code") == "password_missing", "\(changed.text)")
            let session = await server.admin(.get, "/admin/v1/sessions/\(tokens.sessionID)")
            #expect(session.string("authentication_mode") == "NO")
        }
    }

    /// A token for one API (RFC 8707) is asked for at the token endpoint; elsewhere nothing is passed over in silence.
    @Test(arguments: [Kind.passwordInJSON, .idTokenInJSON, .minted])
    func theJSONCallsKnowNoResource(_ kind: Kind) async throws {
        try await Self.with { world in
            let answer = try await kind.logIn(world, [("resource", #""\#(EndpointsFixture.audience)""#)])
            #expect(answer.status == 400)
            #expect(answer.string("member") == "resource")
        }
    }
}

extension ProviderFixture {
    /// An ID token that was not used before.
    fileprivate func newToken() throws -> String {
        try provider.token(
            #"{"jti":"\#(ProvingDevice().thumbprint)"}"#, at: server.environment.now.load(ordering: .relaxed))
    }
}
