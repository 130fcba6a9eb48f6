import Cryptography
import HTTP
import JSON
import SQLiteStore
import Sessions
import Testing

@testable import Endpoints

/// What is good for one use is used up for every node (RFC 7523 section 3, point 7; OpenID Connect Core section 9), each way
/// that a node can be shown it.
@Suite struct ReplayTests {
    @Test func anIDTokenStartsOneSession_atWhateverNode() async throws {
        try await ProviderFixture.with { world in
            let other = ProviderFixture(
                server: try await world.server.anotherNode(), provider: world.provider, other: world.other)
            for (first, second) in [(world, other), (other, world)] {
                let token = try world.provider.token(#"{"jti":"\#(Base64URL.encode(randomBytes(count: 9)))"}"#)
                #expect(await first.present(token).status == 200)
                for node in [first, second] {
                    let again = await node.present(token, device: "tablet")
                    #expect(again.status == 401)
                    #expect(again.text.contains("used before"), "\(again.text)")
                }
            }
        }
    }

    @Test func anAssertionOfADeviceResumesOnce_atWhateverNode() async throws {
        try await EndpointsFixture.with { server in
            let other = try await server.anotherNode()
            let phone = try await GuardedPhone(server, .no)
            let form = "grant_type=\(GuardedPhone.jwtBearer)&client_id=mobile&assertion="
            for (first, second) in [(server, other), (other, server)] {
                let assertion = phone.device.assertion(server, phone.tokens)
                #expect(await first.form("/oauth/token", form + assertion).status == 200)
                for node in [first, second] {
                    #expect(await node.form("/oauth/token", form + assertion).string("reason") == "invalid_assertion")
                }
            }
        }
    }

    @Test func anAssertionOfAClientCountsOnce_atAnyNode() async throws {
        try await Assertions.with { world in
            let other = Assertions(server: try await world.server.anotherNode(), key: world.key)
            for (number, (first, second)) in [(world, other), (other, world)].enumerated() {
                let assertion = world.assertion(jti: "\(number)")
                #expect(await first.ask(assertion).status == 200)
                for node in [first, second] { #expect(await node.ask(assertion).string("error") == "invalid_client") }
            }
        }
    }

    @Test func anAssertionOfThePresenceKeyShowsTheUserOnce_atWhateverNode() async throws {
        try await EndpointsFixture.with { server in
            let other = try await server.anotherNode()
            let phone = try await GuardedPhone(server, .biometric, ageMax: 60)
            server.moveClock(to: 61)
            // Good for longer than what it shows.
            let touch = phone.finger.assertion(server, phone.tokens) {
                $0.claims["exp"] = "\(EndpointsFixture.start + 361)"
            }
            #expect(await server.refresh(phone.tokens.refresh, more: "&user_assertion=\(touch)").status == 200)
            server.moveClock(to: 61 + 59)
            #expect(await other.refresh(phone.tokens.refresh).status == 200)
            server.moveClock(to: 61 + 60)
            for node in [server, other] {
                let answer = await node.refresh(phone.tokens.refresh, more: "&user_assertion=\(touch)")
                #expect(answer.string("error") == "insufficient_user_authentication", "\(answer.text)")
            }
        }
    }
}
