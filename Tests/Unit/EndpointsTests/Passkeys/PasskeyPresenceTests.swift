import Cryptography
import HTTP
import JSON
import Testing
import WebAuthnFixture

@testable import Endpoints

/// The proof of presence by a passkey: `POST /v1/me/presence` with `passkey`.
@Suite struct PasskeyPresenceTests {
    private static func options(_ stage: EndpointsFixture, _ bearer: String) async -> Answer {
        await stage.call(.post, "/v1/me/presence/options", bearer: bearer)
    }

    private static func show(
        _ stage: EndpointsFixture, _ credential: [String: JSONValue], _ bearer: String
    ) async -> Answer {
        await stage.call(
            .post, "/v1/me/presence", JSONValue.object(["passkey": .object(credential)]).compactText ?? "",
            bearer: bearer)
    }

    private static func challenge(_ stage: EndpointsFixture, _ bearer: String) async throws -> [UInt8] {
        let answer = await options(stage, bearer)
        #expect(answer.status == 200, "\(answer.text)")
        return try #require(answer.string("publicKey", "challenge").flatMap { Base64URL.decode($0) })
    }

    @Test func itAllowsChangesOfTheAccountAgain() async throws {
        try await EndpointsFixture.withPasskeys { stage in
            let tokens = try await stage.logIn()
            let authenticator = try await stage.passkey(of: tokens)
            stage.moveClock(to: 301)
            #expect(await stage.call(.post, "/v1/me/passkeys/options", bearer: tokens.access).status == 401)
            let challenge = try await Self.challenge(stage, tokens.access)
            let credential = authenticator.assert(challenge)
            let shown = await Self.show(stage, credential, tokens.access)
            #expect(shown.status == 200, "\(shown.text)")
            #expect(await stage.call(.post, "/v1/me/passkeys/options", bearer: tokens.access).status == 200)
            // Once.
            #expect(await Self.show(stage, credential, tokens.access).status == 400)
        }
    }

    @Test func itIsOfThisSessionAndThisUser() async throws {
        try await EndpointsFixture.withPasskeys { stage in
            let tokens = try await stage.logIn()
            let authenticator = try await stage.passkey(of: tokens)
            let other = try Tokens(try await stage.logIn(by: authenticator, device: "phone-9"))
            let challenges = [
                try await Self.challenge(stage, other.access), try await stage.challenge(),
                try await stage.challenge(for: tokens.access),
            ]
            for challenge in challenges {
                let answer = await Self.show(stage, authenticator.assert(challenge), tokens.access)
                #expect(answer.status == 400, "\(answer.text)")
            }
            // The challenge of a presence logs nobody in.
            let challenge = try await Self.challenge(stage, tokens.access)
            #expect(try await stage.logIn(authenticator.assert(challenge)).status == 400)
            var stranger = authenticator
            stranger.key = SigningKey.generate(.es256)
            #expect(await Self.show(stage, stranger.assert(challenge), tokens.access).status == 401)
            #expect(await Self.show(stage, authenticator.assert(challenge), tokens.access).status == 200)
        }
    }

    @Test func aUserWithoutPasskeysHasNoOptions() async throws {
        try await EndpointsFixture.withPasskeys { stage in
            let tokens = try await stage.logIn()
            #expect(await Self.options(stage, tokens.access).status == 404)
        }
    }
}
