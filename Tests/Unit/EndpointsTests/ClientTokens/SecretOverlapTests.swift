import HTTP
import Sessions
import Testing

@testable import Endpoints

/// Two valid secrets of a client, for an overlap that the admin chooses.
@Suite struct SecretOverlapTests {
    private static let path = "/admin/v1/clients/backend"

    private func status(_ world: ClientTokenFixture, _ secret: String?) async -> Int {
        await world.server.form("/oauth/token", ClientTokenFixture.grant, basic: world.basic("backend", secret)).status
    }

    @Test("the secret before is accepted until the overlap ends, and no token ends with it")
    func overlap() async throws {
        try await ClientTokenFixture.with { world in
            let token = try await world.token()
            let rotated = await world.change(#"{"rotate_secret":true,"secret_overlap":600}"#)
            let new = try #require(rotated.string("client_secret"))
            #expect(rotated.integer("earlier_secret_expires_at") == EndpointsFixture.start + 600)
            for secret in [nil, new] { #expect(await status(world, secret) == 200) }
            #expect(await world.server.call(.get, "/v1/verify", bearer: token).status == 200)
            world.server.moveClock(to: 599)
            #expect(await status(world, nil) == 200)
            world.server.moveClock(to: 600)
            #expect(await status(world, nil) == 401)
            #expect(await status(world, new) == 200)
            #expect(await world.server.call(.get, "/v1/verify", bearer: token).status == 200)
        }
    }

    @Test("an overlap ends sooner, or later, by another word of the admin; its early end is that of the tokens")
    func changedOverlap() async throws {
        try await ClientTokenFixture.with { world in
            let token = try await world.token()
            _ = await world.change(#"{"rotate_secret":true,"secret_overlap":600}"#)
            #expect(await world.change(#"{"client_name":"Back"}"#).integer("earlier_secret_expires_at") != nil)
            #expect(
                await world.change(#"{"secret_overlap":1200}"#).integer("earlier_secret_expires_at")
                    == EndpointsFixture.start + 1200)
            world.server.moveClock(to: 700)
            #expect(await status(world, nil) == 200)
            let ended = await world.change(#"{"secret_overlap":0}"#)
            #expect(ended.integer("earlier_secret_expires_at") == nil)
            #expect(await status(world, nil) == 401)
            #expect(await world.server.call(.get, "/v1/verify", bearer: token).status == 401)
            #expect(await world.server.admin(.patch, Self.path, #"{"secret_overlap":0}"#).status == 400)
        }
    }

    @Test("never more than two secrets are accepted, and a new one without an overlap ends both others")
    func twoAtMost() async throws {
        try await ClientTokenFixture.with { world in
            let second = await world.change(#"{"rotate_secret":true,"secret_overlap":600}"#).string("client_secret")
            let third = await world.change(#"{"rotate_secret":true,"secret_overlap":600}"#).string("client_secret")
            #expect(await status(world, nil) == 401)
            for secret in [second, third] { #expect(await status(world, secret) == 200) }
            let fourth = await world.change(#"{"rotate_secret":true}"#).string("client_secret")
            for secret in [nil, second, third] { #expect(await status(world, secret) == 401) }
            #expect(await status(world, fourth) == 200)
        }
    }

    @Test("an overlap needs a new secret and an end within 30 days, and ends with the last secret")
    func refusals() async throws {
        try await ClientTokenFixture.with { world in
            for body in [
                #"{"secret_overlap":60}"#, #"{"rotate_secret":true,"secret_overlap":2592001}"#,
                #"{"rotate_secret":true,"secret_overlap":-1}"#,
            ] {
                let answer = await world.server.admin(.patch, Self.path, body)
                #expect(answer.status == 400 && answer.text.contains("secret_overlap"), "\(body) \(answer.text)")
            }
            #expect(await status(world, nil) == 200)
            _ = await world.change(#"{"rotate_secret":true,"secret_overlap":2592000}"#)
            let open = await world.change(#"{"token_endpoint_auth_method":"none","grant_types":["refresh_token"]}"#)
            #expect(open.integer("earlier_secret_expires_at") == nil)
            _ = await world.change(
                #"{"token_endpoint_auth_method":"client_secret_basic","grant_types":["client_credentials"]}"#)
            #expect(await status(world, nil) == 401)
        }
    }

    @Test("the console gives the old secret the time that the form names")
    func console() async throws {
        try await ConsoleBrowser.with { browser, server in
            let old = try #require(
                try await server.makeClient(
                    #"{"client_id":"api","token_endpoint_auth_method":"client_secret_basic","grant_types":["client_credentials"]}"#
                ))
            let path = "/console/clients/api"
            let wrong = try await browser.act(
                await browser.get(path), path, ["act": "rotate-secret", "secret_overlap": "soon"])
            #expect(wrong.words.contains("must be a duration with a unit"), "\(wrong.words)")
            let page = try await browser.act(
                await browser.get(path), path, ["act": "rotate-secret", "secret_overlap": "2d"])
            #expect(page.words.contains("accepted until"), "\(page.words)")
            #expect(
                await server.form("/oauth/token", ClientTokenFixture.grant, basic: "api:\(old)").status == 200)
        }
    }
}
