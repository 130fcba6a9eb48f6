import Cryptography
import HTTP
import JSON
import Testing
import WebAuthnFixture

@testable import Endpoints

/// The proof of presence by a passkey: `POST /v1/me/presence` with `passkey`.
@Suite struct PasskeyPresenceTests {
    private static func options(_ server: EndpointsFixture, _ bearer: String) async -> Answer {
        await server.call(.post, "/v1/me/presence/options", bearer: bearer)
    }

    private static func show(
        _ server: EndpointsFixture, _ credential: [String: JSONValue], _ bearer: String
    ) async -> Answer {
        await server.call(
            .post, "/v1/me/presence", JSONValue.object(["passkey": .object(credential)]).compactText ?? "",
            bearer: bearer)
    }

    private static func challenge(_ server: EndpointsFixture, _ bearer: String) async throws -> [UInt8] {
        let answer = await options(server, bearer)
        #expect(answer.status == 200, "\(answer.text)")
        return try #require(answer.string("publicKey", "challenge").flatMap { Base64URL.decode($0) })
    }

    @Test func itAllowsChangesOfTheAccountAgain() async throws {
        try await EndpointsFixture.withPasskeys { server in
            let tokens = try await server.logIn()
            let authenticator = try await server.passkey(of: tokens)
            server.moveClock(to: 301)
            #expect(await server.call(.post, "/v1/me/passkeys/options", bearer: tokens.access).status == 401)
            let challenge = try await Self.challenge(server, tokens.access)
            let credential = authenticator.assert(challenge)
            let shown = await Self.show(server, credential, tokens.access)
            #expect(shown.status == 200, "\(shown.text)")
            #expect(await server.call(.post, "/v1/me/passkeys/options", bearer: tokens.access).status == 200)
            // Once.
            #expect(await Self.show(server, credential, tokens.access).status == 400)
        }
    }

    @Test func itIsOfThisSessionAndThisUser() async throws {
        try await EndpointsFixture.withPasskeys { server in
            let tokens = try await server.logIn()
            let authenticator = try await server.passkey(of: tokens)
            let other = try Tokens(try await server.logIn(by: authenticator, device: "phone-9"))
            let challenges = [
                try await Self.challenge(server, other.access), try await server.challenge(),
                try await server.challenge(for: tokens.access),
            ]
            for challenge in challenges {
                let answer = await Self.show(server, authenticator.assert(challenge), tokens.access)
                #expect(answer.status == 400, "\(answer.text)")
            }
            // The challenge of a presence begins no session.
            let challenge = try await Self.challenge(server, tokens.access)
            #expect(try await server.logIn(authenticator.assert(challenge)).status == 400)
            var stranger = authenticator
            stranger.key = SigningKey.generate(.es256)
            #expect(await Self.show(server, stranger.assert(challenge), tokens.access).status == 401)
            #expect(await Self.show(server, authenticator.assert(challenge), tokens.access).status == 200)
        }
    }

    @Test("an authenticator that is asked for a passkey by name may leave the user handle out")
    func noHandle() async throws {
        try await EndpointsFixture.withPasskeys { server in
            let tokens = try await server.logIn()
            var authenticator = try await server.passkey(of: tokens)
            authenticator.userHandle = nil
            let challenge = try await Self.challenge(server, tokens.access)
            #expect(await Self.show(server, authenticator.assert(challenge), tokens.access).status == 200)
            // A login finds its user by the handle alone.
            #expect(try await server.logIn(by: authenticator).status == 401)
        }
    }

    @Test("a session with a passkey as its only proof is not told to log in again", arguments: [true, false])
    func noLogin(hasPasskey: Bool) async throws {
        try await EndpointsFixture.withPasskeys { server in
            _ = await server.admin(.post, "/admin/v1/users", #"{"username":"mia"}"#)
            let minted = try Tokens(
                await server.admin(
                    .post, "/admin/v1/users/username:mia/sessions",
                    #"{"device":{"id":"p"},"authentication_mode":"BIOMETRIC"}"#))
            let authenticator = hasPasskey ? try await server.passkey(of: minted) : nil
            _ = await server.admin(.patch, "/admin/v1/clients/mobile", #"{"user_presence_max_age":900}"#)
            server.moveClock(to: 1000)
            let json = await server.call(.post, "/v1/refresh", #"{"refresh_token":"\#(minted.refresh)"}"#)
            #expect(json.status == 401 && json.bool("reauthenticate") == !hasPasskey, "\(json.text)")
            let oauth = await server.form(
                "/oauth/token", "grant_type=refresh_token&client_id=mobile&refresh_token=\(minted.refresh)")
            #expect(oauth.status == 400 && oauth.bool("reauthenticate") == !hasPasskey, "\(oauth.text)")
            guard let authenticator else { return }
            let change = await server.call(.post, "/v1/me/passkeys/options", bearer: minted.access)
            #expect(change.status == 401 && change.bool("reauthenticate") == false)
            let challenge = try await Self.challenge(server, minted.access)
            #expect(await Self.show(server, authenticator.assert(challenge), minted.access).status == 200)
            #expect(await server.refresh(minted.refresh).status == 200)
        }
    }

    @Test("wrong passkeys beside a token count for its session alone")
    func limits() async throws {
        try await EndpointsFixture.withPasskeys { server in
            let tokens = try await server.logIn()
            let authenticator = try await server.passkey(of: tokens)
            let other = try Tokens(try await server.logIn(by: authenticator, device: "phone-2"))
            var limits = RateLimits()
            limits.wrongPasswordsPerAddress = 3
            let limited = RateLimitFixture(server, limits)
            func show(_ body: String, _ bearer: Tokens) async -> Int {
                await limited.json(.post, "/v1/me/presence", body, authorization: "Bearer \(bearer.access)").status
            }
            func right(_ bearer: Tokens) async throws -> String {
                let credential = authenticator.assert(try await Self.challenge(server, bearer.access))
                return try #require(JSONValue.object(["passkey": .object(credential)]).compactText)
            }
            // Strangers of the same address use up the address.
            let login = #"{"device":{"id":"x"},"passkey":{}}"#
            for status in [400, 400, 400, 429] {
                #expect(await limited.json(.post, "/v1/login", login).status == status)
            }
            #expect(await show(try await right(tokens), tokens) == 200)
            for status in [400, 400, 400, 429] { #expect(await show(#"{"passkey":{}}"#, tokens) == status) }
            #expect(await show(try await right(tokens), tokens) == 429)
            #expect(await show(try await right(other), other) == 200)
        }
    }

    @Test func aUserWithoutPasskeysHasNoOptions() async throws {
        try await EndpointsFixture.withPasskeys { server in
            let tokens = try await server.logIn()
            #expect(await Self.options(server, tokens.access).status == 404)
        }
    }
}
