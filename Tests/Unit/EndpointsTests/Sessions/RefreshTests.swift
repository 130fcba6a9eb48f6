import HTTP
import Sessions
import Testing

@Suite struct RefreshTests {
    @Test func bothCallsAnswerAlike() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            let form = await server.refresh(tokens.refresh, more: "&client_id=mobile")
            let json = await server.call(.post, "/v1/refresh", #"{"refresh_token":"\#(tokens.refresh)"}"#)
            #expect(form.status == 200)
            #expect(json.status == 200)
            // Only a login says how the client can renew.
            #expect(form.names == tokens.answer.names.subtracting(["renewal"]))
            #expect(json.names == form.names)
            #expect(tokens.answer.strings("renewal") == ["refresh_token"])
            #expect(form.integer("rotation_interval") == 120)
            for answer in [form, json] {
                #expect(answer.string("refresh_token") == tokens.refresh)
                #expect(answer.string("session_id") == tokens.sessionID)
                #expect(answer.string("user", "username") == "anna")
                #expect(answer.string("access_token") != tokens.access)
                #expect(answer.field("Cache-Control") == "no-store")
                #expect(answer.field("Pragma") == "no-cache")
            }
        }
    }

    @Test func rotatesFromTheRotationIntervalOn() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            server.moveClock(to: 119)
            #expect(await server.refresh(tokens.refresh).string("refresh_token") == tokens.refresh)
            server.moveClock(to: 120)
            let rotated = try #require(await server.refresh(tokens.refresh).string("refresh_token"))
            #expect(rotated != tokens.refresh)
            // The answer was lost: the parent brings the same child, a fresh access token beside it.
            server.moveClock(to: 239)
            #expect(await server.refresh(tokens.refresh).string("refresh_token") == rotated)
            server.moveClock(to: 400)
            let reissued = try #require(await server.refresh(tokens.refresh).string("refresh_token"))
            #expect(reissued != rotated)
            #expect(await server.refresh(rotated).string("reason") == "refresh_token_reused")
        }
    }

    @Test func theSameIdempotencyKeyBringsTheSameChildHoweverLate() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            server.moveClock(to: 200)
            let rotated = await server.refresh(tokens.refresh, fields: ["Idempotency-Key": "a-1"])
            server.moveClock(to: 5000)
            let again = await server.refresh(tokens.refresh, fields: ["Idempotency-Key": "a-1"])
            #expect(again.string("refresh_token") == rotated.string("refresh_token"))
            let json = await server.call(
                .post, "/v1/refresh", #"{"refresh_token":"\#(tokens.refresh)"}"#, fields: ["Idempotency-Key": "a-1"])
            #expect(json.string("refresh_token") == rotated.string("refresh_token"))
        }
    }

    @Test func refusesAnImpossibleIdempotencyKey() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            let impossible: [Fields] = [
                ["Idempotency-Key": ""], ["Idempotency-Key": "a b"], ["Idempotency-Key": "ä"],
                ["Idempotency-Key": String(repeating: "k", count: 256)],
                ["Idempotency-Key": "a", "idempotency-key": "a"],
            ]
            for fields in impossible {
                #expect(await server.refresh(tokens.refresh, fields: fields).string("error") == "invalid_request")
                let json = await server.call(
                    .post, "/v1/refresh", #"{"refresh_token":"\#(tokens.refresh)"}"#, fields: fields)
                #expect(json.status == 400)
                #expect(json.string("member") == "Idempotency-Key")
            }
            let longest: Fields = ["Idempotency-Key": String(repeating: "k", count: 255)]
            #expect(await server.refresh(tokens.refresh, fields: longest).status == 200)
        }
    }

    @Test func aScopeCanBeNarrowedAndNotWidened() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn(more: #","scope":"read""#)
            #expect(tokens.answer.string("scope") == "read")
            #expect(await server.refresh(tokens.refresh).string("scope") == "read")
            for scope in ["read+write", "admin", "re%22ad", "read++write"] {
                let answer = await server.refresh(tokens.refresh, more: "&scope=\(scope)")
                #expect(answer.status == 400)
                #expect(answer.string("error") == "invalid_scope")
                #expect(!answer.names.contains("reauthenticate"))
            }
            let wide = try await server.logIn(device: "tablet")
            #expect(await server.refresh(wide.refresh, more: "&scope=write").string("scope") == "write")
            // Narrowing is for one access token: the session keeps what was granted.
            #expect(await server.refresh(wide.refresh, more: "&scope=").string("scope") == EndpointsFixture.scope)
        }
    }

    @Test func aClientThatLostTheGrantRefreshesNothingAndLosesNothing() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            let path = "/admin/v1/clients/\(Client.mobileID)"
            #expect(await server.admin(.patch, path, #"{"grant_types": ["password"]}"#).status == 200)
            let refused = await server.form(
                "/oauth/token", "grant_type=refresh_token&client_id=mobile&refresh_token=\(tokens.refresh)")
            #expect(refused.status == 400)
            #expect(refused.string("error") == "unauthorized_client")
            #expect(await server.admin(.patch, path, #"{"grant_types": ["refresh_token"]}"#).status == 200)
            #expect(await server.refresh(tokens.refresh).status == 200)
        }
    }

    /// What the app shall do then: log in again if that gives what goes on, else keep what it has.
    @Test(
        arguments: [
            (nil, #""password""#, false), (nil, #""\#(DeviceKeyTests.grant)""#, true),
            (ProvingDevice(), #""\#(DeviceKeyTests.grant)""#, false), (ProvingDevice(), #""password""#, false),
        ] as [(ProvingDevice?, String, Bool)])
    func aClientThatLostTheGrantIsToldWhetherALoginHelps(_ key: ProvingDevice?, _ grants: String, _ helps: Bool)
        async throws
    {
        try await EndpointsFixture.with { server in
            let path = "/admin/v1/clients/\(Client.mobileID)"
            let both = #"{"grant_types": ["refresh_token", "login", "\#(DeviceKeyTests.grant)"]}"#
            #expect(await server.admin(.patch, path, both).status == 200)
            let tokens = try await server.logIn(more: key.map { #","device_key":\#($0.jwk)"# } ?? "")
            #expect(await server.admin(.patch, path, #"{"grant_types": [\#(grants)]}"#).status == 200)
            let grant = await server.refresh(tokens.refresh)
            #expect(grant.string("error") == "unauthorized_client")
            #expect(grant.string("reason") == "unauthorized_client")
            let json = await server.call(.post, "/v1/refresh", #"{"refresh_token":"\#(tokens.refresh)"}"#)
            #expect(json.string("code") == "unauthorized_client")
            for answer in [grant, json] {
                #expect(answer.status == 400)
                #expect(answer.bool("reauthenticate") == helps)
            }
        }
    }

    @Test func aSingleTokenClientRefreshesAndLogsOutWithItsOneString() async throws {
        try await EndpointsFixture.with { server in
            _ = try await server.makeClient(#"{"client_id":"one","token_style":"single"}"#)
            let tokens = try await server.logIn(client: "one")
            #expect(tokens.refresh.isEmpty)
            server.moveClock(to: 3600)
            let bearer = await server.call(.post, "/v1/refresh", bearer: tokens.access)
            #expect(bearer.status == 200)
            let second = try #require(bearer.string("access_token"))
            #expect(!bearer.names.contains("refresh_token"))
            let form = await server.refresh(second, more: "&client_id=one")
            #expect(form.status == 200)
            let device = await server.call(
                .post, "/v1/refresh", #"{"device_id":"another"}"#, bearer: second)
            #expect(device.string("code") == "device_mismatch")
            #expect(await server.call(.post, "/v1/logout", bearer: second).status == 204)
            #expect(await server.call(.post, "/v1/refresh", bearer: second).string("code") == "logged_out")
        }
    }

    @Test func aRollingTokenOfAnotherClientRefreshesNothing() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            let answer = await server.call(.post, "/v1/refresh", bearer: tokens.access)
            #expect(answer.status == 401)
            #expect(answer.string("code") == "malformed")
        }
    }

    @Test func theJSONCallTakesOneTokenInOneWay() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            let none = await server.call(.post, "/v1/refresh")
            #expect(none.status == 400)
            #expect(none.string("member") == "refresh_token")
            let both = await server.call(
                .post, "/v1/refresh", #"{"refresh_token":"\#(tokens.refresh)"}"#, bearer: tokens.access)
            #expect(both.status == 400)
            let repeated = await server.call(
                .post, "/v1/refresh", fields: ["Authorization": "Bearer a", "authorization": "Bearer b"])
            #expect(repeated.status == 400)
        }
    }
}
