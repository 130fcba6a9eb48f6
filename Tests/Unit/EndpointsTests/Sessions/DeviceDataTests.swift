import HTTP
import Sessions
import Testing

@testable import Endpoints

/// What a refresh says of its device, the rule of the client for another platform, and the verdict of an attestation.
@Suite struct DeviceDataTests {
    private func logIn(_ server: EndpointsFixture) async throws -> Tokens {
        let answer = await server.call(
            .post, "/v1/login",
            #"{"username":"anna","password":"correct horse","device":{"id":"phone-1","platform":"iOS 26","app_version":"1.0"}}"#
        )
        return try Tokens(answer)
    }

    private func device(_ server: EndpointsFixture, _ tokens: Tokens) async -> [String?] {
        let session = await server.admin(.get, "/admin/v1/sessions/\(tokens.sessionID)")
        return ["name", "platform", "app_version"].map { session.string("device", $0) }
    }

    @Test func aRefreshRenewsTheDataOfItsDevice() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await logIn(server)
            let json = #"{"refresh_token":"\#(tokens.refresh)","device":{"app_version":"1.1","name":"Kitchen"}}"#
            #expect(await server.call(.post, "/v1/refresh", json).status == 200)
            #expect(await device(server, tokens) == ["Kitchen", "iOS 26", "1.1"])
            let form = await server.refresh(tokens.refresh, more: "&device_app_version=1.2&device_platform=iOS+27")
            #expect(form.status == 200, "\(form.text)")
            #expect(await device(server, tokens) == ["Kitchen", "iOS 27", "1.2"])
            #expect(await server.refresh(tokens.refresh).status == 200)
            #expect(await device(server, tokens) == ["Kitchen", "iOS 27", "1.2"])
            let long = String(repeating: "x", count: 129)
            #expect(await server.refresh(tokens.refresh, more: "&device_app_version=\(long)").status == 400)
            let unknown = #"{"refresh_token":"\#(tokens.refresh)","device":{"id":"phone-2"}}"#
            #expect(await server.call(.post, "/v1/refresh", unknown).string("member") == "device.id")
        }
    }

    @Test(arguments: ["ignore", "report", "refuse"])
    func anotherPlatformIsTakenAsTheClientSays(_ rule: String) async throws {
        try await EndpointsFixture.with { server in
            let changed = await server.admin(.patch, "/admin/v1/clients/mobile", #"{"app_data":"\#(rule)"}"#)
            #expect(changed.string("app_data") == rule, "\(changed.text)")
            let tokens = try await logIn(server)
            let answer = await server.refresh(tokens.refresh, more: "&device_platform=android+16")
            #expect(answer.status == (rule == "refuse" ? 400 : 200), "\(answer.text)")
            #expect(answer.string("reason") == (rule == "refuse" ? "device_mismatch" : nil))
            #expect(await device(server, tokens)[1] == (rule == "refuse" ? "iOS 26" : "android 16"))
            let events = await server.admin(.get, "/admin/v1/events").items
                .filter { $0.string("event") == "device_platform_changed" }
            #expect(events.compactMap { $0.string("reason") } == (rule == "report" ? ["iOS 26>android 16"] : []))
            // An update of the same platform is no other one, and the session is kept.
            let same = rule == "refuse" ? "ios+27" : "Android+17"
            #expect(await server.refresh(tokens.refresh, more: "&device_platform=\(same)").status == 200)
        }
    }

    @Test("a refresh that does not name its platform is refused where another one is, by every way to renew")
    func aPlatformThatIsNotNamed() async throws {
        try await EndpointsFixture.with { server in
            let rules = #"{"app_data":"refuse","grant_types":["login","refresh_token","\#(GuardedPhone.jwtBearer)"]}"#
            #expect(await server.admin(.patch, "/admin/v1/clients/mobile", rules).status == 200)
            let key = ProvingDevice()
            let login = await server.call(
                .post, "/v1/login",
                #"{"username":"anna","password":"correct horse","device":{"id":"phone-1","platform":"iOS 26"},"#
                    + #""device_key":\#(key.jwk)}"#)
            let tokens = try Tokens(login)
            func resume(_ more: String) async -> Answer {
                let assertion = key.assertion(server, tokens)
                return await server.form(
                    "/oauth/token",
                    "grant_type=\(GuardedPhone.jwtBearer)&client_id=mobile&assertion=\(assertion)\(more)")
            }
            let json = #"{"refresh_token":"\#(tokens.refresh)"}"#
            for refused in [
                await server.refresh(tokens.refresh), await resume(""), await server.call(.post, "/v1/refresh", json),
                await server.refresh(tokens.refresh, more: "&device_app_version=2"),
            ] {
                let word = refused.string("reason") ?? refused.string("code")
                #expect(word == "device_mismatch" && refused.bool("reauthenticate") == false, "\(refused.text)")
            }
            #expect(await server.refresh(tokens.refresh, more: "&device_platform=iOS+27").status == 200)
            #expect(await resume("&device_platform=iOS+27").status == 200)
            // A login from elsewhere does not continue the session.
            let elsewhere = await server.call(
                .post, "/v1/login",
                #"{"username":"anna","password":"correct horse","device":{"id":"phone-1","platform":"Android 16"},"#
                    + #""session_id":"\#(tokens.sessionID)"}"#)
            #expect(elsewhere.status == 200 && elsewhere.string("session_id") != tokens.sessionID, "\(elsewhere.text)")
        }
    }

    @Test("a client's rule enforces the verdict of the attestation", arguments: ["ignore", "report", "refuse"])
    func theVerdictIsEnforced(_ rule: String) async throws {
        try await EndpointsFixture.with { server in
            let changed = await server.admin(.patch, "/admin/v1/clients/mobile", #"{"attestation":"\#(rule)"}"#)
            #expect(changed.string("attestation") == rule, "\(changed.text)")
            let tokens = try await logIn(server)
            func judge(_ verdict: String) async {
                let path = "/admin/v1/sessions/\(tokens.sessionID)/attestation"
                #expect(await server.admin(.put, path, #"{"verdict":"\#(verdict)"}"#).status == 200)
            }
            var token = tokens.refresh
            for (step, verdict) in [nil, "rooted", "genuine"].enumerated() {
                if let verdict { await judge(verdict) }
                server.moveClock(to: Int64(step + 1) * 1000)
                let answer = await server.refresh(token)
                let isRefused = rule == "refuse" && verdict != "genuine"
                #expect(answer.status == (isRefused ? 400 : 200), "\(answer.text)")
                #expect(answer.string("reason") == (isRefused ? "device_mismatch" : nil))
                token = answer.string("refresh_token") ?? token
                // The same token again brings no second event.
                if !isRefused { #expect(await server.refresh(token).status == 200) }
            }
            let events = await server.admin(.get, "/admin/v1/events").items
                .filter { $0.string("event") == "attestation_missed" }
            #expect(events.map { $0.string("reason") } == (rule == "report" ? [nil, "rooted"] : []))
        }
    }

    @Test func theVerdictOfAnAttestationIsInTheToken() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await logIn(server)
            #expect(try Answer.claims(of: tokens.access).string("attestation") == nil)
            let path = "/admin/v1/sessions/\(tokens.sessionID)/attestation"
            let set = await server.admin(.put, path, #"{"verdict":"genuine"}"#)
            #expect(set.status == 200 && set.string("attestation") == "genuine", "\(set.text)")
            let renewed = try #require(await server.refresh(tokens.refresh).string("access_token"))
            #expect(try Answer.claims(of: renewed).string("attestation") == "genuine")
            #expect(await server.admin(.put, path, #"{"verdict":null}"#).string("attestation") == nil)
            let without = try #require(await server.refresh(tokens.refresh).string("access_token"))
            #expect(try Answer.claims(of: without).string("attestation") == nil)
            #expect(await server.admin(.put, path, "{}").string("member") == "verdict")
            #expect(await server.admin(.put, path, #"{"verdict":""}"#).status == 400)
            let claims = #"{"claims":{"attestation":"forged"}}"#
            #expect(await server.admin(.patch, "/admin/v1/users/username:anna", claims).status == 400)
            #expect(await server.admin(.delete, "/admin/v1/sessions/\(tokens.sessionID)").status == 204)
            #expect(await server.admin(.put, path, #"{"verdict":"x"}"#).string("code") == "session_ended")
        }
    }
}
