import HTTP
import Sessions
import Testing

@testable import Endpoints

/// What a refresh says of its device, the rule of the client for another platform, and the verdict of an attestation.
@Suite struct DeviceDataTests {
    private func logIn(_ stage: EndpointsFixture) async throws -> Tokens {
        let answer = await stage.call(
            .post, "/v1/login",
            #"{"username":"anna","password":"correct horse","device":{"id":"phone-1","platform":"iOS 26","app_version":"1.0"}}"#
        )
        return try Tokens(answer)
    }

    private func device(_ stage: EndpointsFixture, _ tokens: Tokens) async -> [String?] {
        let session = await stage.admin(.get, "/admin/v1/sessions/\(tokens.sessionID)")
        return ["name", "platform", "app_version"].map { session.string("device", $0) }
    }

    @Test func aRefreshRenewsTheDataOfItsDevice() async throws {
        try await EndpointsFixture.with { stage in
            let tokens = try await logIn(stage)
            let json = #"{"refresh_token":"\#(tokens.refresh)","device":{"app_version":"1.1","name":"Kitchen"}}"#
            #expect(await stage.call(.post, "/v1/refresh", json).status == 200)
            #expect(await device(stage, tokens) == ["Kitchen", "iOS 26", "1.1"])
            let form = await stage.refresh(tokens.refresh, more: "&device_app_version=1.2&device_platform=iOS+27")
            #expect(form.status == 200, "\(form.text)")
            #expect(await device(stage, tokens) == ["Kitchen", "iOS 27", "1.2"])
            #expect(await stage.refresh(tokens.refresh).status == 200)
            #expect(await device(stage, tokens) == ["Kitchen", "iOS 27", "1.2"])
            let long = String(repeating: "x", count: 129)
            #expect(await stage.refresh(tokens.refresh, more: "&device_app_version=\(long)").status == 400)
            let unknown = #"{"refresh_token":"\#(tokens.refresh)","device":{"id":"phone-2"}}"#
            #expect(await stage.call(.post, "/v1/refresh", unknown).string("member") == "device.id")
        }
    }

    @Test(arguments: ["ignore", "report", "refuse"])
    func anotherPlatformIsTakenAsTheClientSays(_ rule: String) async throws {
        try await EndpointsFixture.with { stage in
            let changed = await stage.admin(.patch, "/admin/v1/clients/mobile", #"{"app_data":"\#(rule)"}"#)
            #expect(changed.string("app_data") == rule, "\(changed.text)")
            let tokens = try await logIn(stage)
            let answer = await stage.refresh(tokens.refresh, more: "&device_platform=android+16")
            #expect(answer.status == (rule == "refuse" ? 400 : 200), "\(answer.text)")
            #expect(answer.string("reason") == (rule == "refuse" ? "device_mismatch" : nil))
            #expect(await device(stage, tokens)[1] == (rule == "refuse" ? "iOS 26" : "android 16"))
            let events = await stage.admin(.get, "/admin/v1/events").items
                .filter { $0.string("event") == "device_platform_changed" }
            #expect(events.compactMap { $0.string("reason") } == (rule == "report" ? ["iOS 26>android 16"] : []))
            // An update of the same platform is no other one, and the session is kept.
            let same = rule == "refuse" ? "ios+27" : "Android+17"
            #expect(await stage.refresh(tokens.refresh, more: "&device_platform=\(same)").status == 200)
        }
    }

    @Test func theVerdictOfAnAttestationIsInTheToken() async throws {
        try await EndpointsFixture.with { stage in
            let tokens = try await logIn(stage)
            #expect(try Answer.claims(of: tokens.access).string("attestation") == nil)
            let path = "/admin/v1/sessions/\(tokens.sessionID)/attestation"
            let set = await stage.admin(.put, path, #"{"verdict":"genuine"}"#)
            #expect(set.status == 200 && set.string("attestation") == "genuine", "\(set.text)")
            let renewed = try #require(await stage.refresh(tokens.refresh).string("access_token"))
            #expect(try Answer.claims(of: renewed).string("attestation") == "genuine")
            #expect(await stage.admin(.put, path, #"{"verdict":null}"#).string("attestation") == nil)
            let without = try #require(await stage.refresh(tokens.refresh).string("access_token"))
            #expect(try Answer.claims(of: without).string("attestation") == nil)
            #expect(await stage.admin(.put, path, "{}").string("member") == "verdict")
            #expect(await stage.admin(.put, path, #"{"verdict":""}"#).status == 400)
            let claims = #"{"claims":{"attestation":"forged"}}"#
            #expect(await stage.admin(.patch, "/admin/v1/users/username:anna", claims).status == 400)
            #expect(await stage.admin(.delete, "/admin/v1/sessions/\(tokens.sessionID)").status == 204)
            #expect(await stage.admin(.put, path, #"{"verdict":"x"}"#).string("code") == "session_ended")
        }
    }
}
