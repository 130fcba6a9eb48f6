import HTTP
import Sessions
import Testing

@testable import Endpoints

/// Devices that the user's phone has let in before, by what proves it: for them alone a second factor can be left out.
struct KnownDeviceTests {
    private static let path = "/oauth/device_authorization"
    private static let isFree = "&second_factor=not_required"

    /// A login that the device with that key asks for.
    private func open(
        _ stage: EndpointsFixture, _ device: ProvingDevice?, _ more: String = KnownDeviceTests.isFree
    ) async throws -> DeviceLogin {
        let fields: Fields = device.map { ["DPoP": $0.proof(stage, .post, Self.path)] } ?? [:]
        return try await DeviceLogin(stage, more, fields: fields)
    }

    /// Lets the device in. The phone is asked for a second factor, or is not.
    private func letIn(
        _ login: DeviceLogin, _ phone: Tokens, by device: ProvingDevice?, isAsked: Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let claimed = await login.scan(phone)
        var answer = await login.act("confirm", #"{"number":\#(try await login.number())}"#, phone)
        let input = answer.string("input")
        #expect((input == "WAIT_FOR_SECOND_FACTOR") == isAsked, "\(answer.text)", sourceLocation: sourceLocation)
        // A device that is not known is always asked for one.
        #expect(claimed.bool("browser_known") == true || isAsked, "\(claimed.text)", sourceLocation: sourceLocation)
        if input != nil {
            answer = await login.act("second-factor", #"{"password":"\#(EndpointsFixture.password)"}"#, phone)
        }
        #expect(answer.string("state") == "ACTIVE", "\(answer.text)", sourceLocation: sourceLocation)
        let fields: Fields = device.map { ["DPoP": $0.proof(login.stage, .post, "/oauth/token")] } ?? [:]
        let tokens = await login.collect(fields: fields)
        #expect(tokens.status == 200, "\(tokens.text)", sourceLocation: sourceLocation)
    }

    @Test("a device is known by the key of a session that the user's phone has let in, and by nothing else")
    func device() async throws {
        try await DeviceLogin.with { stage, phone in
            let tv = ProvingDevice()
            try await letIn(open(stage, tv), phone, by: tv, isAsked: true)
            try await letIn(open(stage, tv), phone, by: tv, isAsked: false)
            // The name of the device proves nothing, nor does another key.
            try await letIn(open(stage, nil, Self.isFree + "&device_id=tv-1"), phone, by: nil, isAsked: true)
            let other = ProvingDevice()
            try await letIn(open(stage, other), phone, by: other, isAsked: true)
            // Another user's phone has not let it in.
            _ = await stage.admin(
                .post, "/admin/v1/users", #"{"username":"berta","password":"\#(EndpointsFixture.password)"}"#)
            let answer = await stage.call(
                .post, "/v1/login",
                #"{"username":"berta","password":"\#(EndpointsFixture.password)","client_id":"mobile","device":{"id":"b"}}"#
            )
            try await letIn(open(stage, tv), try Tokens(answer), by: tv, isAsked: true)
        }
    }

    @Test("the key that a device has proved is the one that comes for the session")
    func keyOfTheRequest() async throws {
        try await DeviceLogin.with { stage, phone in
            let (tv, thief) = (ProvingDevice(), ProvingDevice())
            try await letIn(open(stage, tv), phone, by: tv, isAsked: true)
            let login = try await open(stage, tv)
            _ = await login.scan(phone)
            _ = await login.act("confirm", #"{"number":\#(try await login.number())}"#, phone)
            let stolen: Fields = ["DPoP": thief.proof(stage, .post, "/oauth/token")]
            for fields in [Fields(), stolen] {
                #expect(await login.collect(fields: fields).string("error") == "invalid_grant")
            }
            let own: Fields = ["DPoP": tv.proof(stage, .post, "/oauth/token")]
            #expect(await login.collect(fields: own).status == 200)
        }
    }

    @Test("a proof that is not good is refused, and opens no login")
    func badProof() async throws {
        try await DeviceLogin.with { stage, _ in
            let tv = ProvingDevice()
            let proof = tv.proof(stage, .post, Self.path)
            for (value, status) in [
                ("x", 400), (tv.proof(stage, .post, "/oauth/token"), 400), (proof, 200), (proof, 400),
            ] {
                let answer = await stage.form(Self.path, "client_id=tv&scope=read", fields: ["DPoP": value])
                #expect(answer.status == status, "\(answer.text)")
                if status == 400 { #expect(answer.string("error") == "invalid_dpop_proof", "\(answer.text)") }
            }
        }
    }

    @Test("without a rule of its client the time since the last second factor decides, in every mode of the phone")
    func lastFactor() async throws {
        try await DeviceLogin.with { stage, phone in
            let tv = ProvingDevice()
            func letIn(_ more: String = "", isAsked: Bool) async throws {
                try await self.letIn(open(stage, tv, more), phone, by: tv, isAsked: isAsked)
            }
            try await letIn(isAsked: true)
            // The server asks never, until an admin says how often.
            stage.moveClock(to: 1000)
            try await letIn(isAsked: false)
            _ = await stage.admin(.patch, "/admin/v1/clients/mobile", #"{"user_presence_max_age":600}"#)
            try await letIn(Self.isFree, isAsked: false)
            try await letIn(isAsked: true)
            stage.moveClock(to: 1599)
            try await letIn(isAsked: false)
            stage.moveClock(to: 1600)
            try await letIn(isAsked: true)
            try await letIn(isAsked: false)
            try await letIn("&second_factor=required", isAsked: true)
        }
    }

    @Test("an end that says that the device may be another person's makes it unknown", arguments: ["session", "none"])
    func ends(bond: String) async throws {
        try await DeviceLogin.with { stage, phone in
            for report in [#"{"not_me":true}"#, nil] where bond == "session" || report != nil {
                let tv = ProvingDevice()
                let login = try await open(stage, tv, Self.isFree + "&bond=\(bond)")
                try await letIn(login, phone, by: tv, isAsked: true)
                let stopped = await login.act("stop", report, phone)
                #expect(stopped.status == 200, "\(stopped.text)")
                try await letIn(open(stage, tv), phone, by: tv, isAsked: true)
            }
        }
    }

    @Test("a device that logs itself out stays known")
    func logout() async throws {
        try await DeviceLogin.with { stage, phone in
            let tv = ProvingDevice()
            let login = try await open(stage, tv)
            try await login.approve(phone)
            let fields: Fields = ["DPoP": tv.proof(stage, .post, "/oauth/token")]
            let tokens = try Tokens(await login.collect(fields: fields))
            let proof: Fields = ["DPoP": tv.proof(stage, .post, "/v1/logout")]
            #expect(
                await stage.call(.post, "/v1/logout", #"{"refresh_token":"\#(tokens.refresh)"}"#, fields: proof).status
                    == 204)
            try await letIn(open(stage, tv), phone, by: tv, isAsked: false)
        }
    }

    // MARK: Browsers

    private static let cookie = "__Host-sojourn-known"

    /// Lets the browser in by the phone, which is asked for a second factor, or is not.
    private func letIn(
        _ hosted: HostedLogin, _ browser: Browser, _ phone: Tokens, isAsked: Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let waiting = try await PhonePageFixture.begin(hosted, browser)
        let claimed = await waiting.claim(try await waiting.code(), phone)
        let number: String = try #require(await waiting.event().string("data"))
        let body = #"{"number":\#(number)}"#
        let confirmed = await hosted.stage.call(
            .post, "/v1/me/logins/\(waiting.id)/confirm", body, bearer: phone.access)
        let input = confirmed.string("input")
        #expect((input == "WAIT_FOR_SECOND_FACTOR") == isAsked, "\(confirmed.text)", sourceLocation: sourceLocation)
        #expect(claimed.bool("browser_known") == !isAsked, "\(claimed.text)", sourceLocation: sourceLocation)
        if input != nil {
            _ = await hosted.stage.call(
                .post, "/v1/me/logins/\(waiting.id)/second-factor", #"{"password":"\#(EndpointsFixture.password)"}"#,
                bearer: phone.access)
        }
        let finished = try await waiting.finish()
        let set = finished.response.fields.values("Set-Cookie").first { $0.hasPrefix(Self.cookie) }
        #expect(set?.hasSuffix("; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=34560000") == true, "\(set ?? "-")")
        let code = try #require(try Redirect(finished)["code"])
        #expect(await hosted.exchange(code).status == 200)
    }

    @Test("a browser is known by a cookie of an earlier login of this user, and by no other")
    func browser() async throws {
        try await HostedLogin.with(#","login_methods":["password","phone"]"#) { hosted in
            let stage = hosted.stage
            let phone = try await stage.logIn(device: "phone")
            let (browser, other) = (Browser(stage), Browser(stage))
            try await letIn(hosted, browser, phone, isAsked: true)
            try await letIn(hosted, browser, phone, isAsked: false)
            try await letIn(hosted, other, phone, isAsked: true)
            // A cookie that this server has not made, or with exchanged parts, shows nothing.
            let value = try #require(browser.cookies[Self.cookie])
            let parts = value.split(separator: ".").map(String.init)
            let strange = try #require(other.cookies[Self.cookie]?.split(separator: ".").last)
            for forged in ["", "x", "~~~", parts[0], parts[0] + ".", "\(parts[0]).\(strange)", value + "x"] {
                let thief = Browser(stage)
                thief.plant(Self.cookie, forged)
                try await letIn(hosted, thief, phone, isAsked: true)
            }
            // Another user's phone does not know it, and does not make the first one forget it.
            _ = await stage.admin(
                .post, "/admin/v1/users", #"{"username":"berta","password":"\#(EndpointsFixture.password)"}"#)
            let berta = try Tokens(
                await stage.call(
                    .post, "/v1/login",
                    #"{"username":"berta","password":"\#(EndpointsFixture.password)","client_id":"mobile","device":{"id":"b"}}"#
                ))
            try await letIn(hosted, browser, berta, isAsked: true)
            try await letIn(hosted, browser, berta, isAsked: false)
            try await letIn(hosted, browser, phone, isAsked: false)
            // An admin that ends all sessions of the user makes it unknown.
            _ = await stage.admin(.post, "/admin/v1/users/\(phone.userID)/revoke")
            let again = try await stage.logIn(device: "phone")
            try await letIn(hosted, browser, again, isAsked: true)
        }
    }
}
