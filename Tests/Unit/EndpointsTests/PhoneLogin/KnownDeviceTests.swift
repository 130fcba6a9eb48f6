import HTTP
import Locks
import Sessions
import Testing

@testable import Endpoints

/// Devices that the user's phone has let in before, by what proves it: for them alone a second factor can be left out.
struct KnownDeviceTests {
    private static let path = "/oauth/device_authorization"
    private static let isFree = "&second_factor=not_required"

    /// A login that the device with that key asks for.
    private func open(
        _ server: EndpointsFixture, _ device: ProvingDevice?, _ more: String = KnownDeviceTests.isFree
    ) async throws -> DeviceLogin {
        let fields: Fields = device.map { ["DPoP": $0.proof(server, .post, Self.path)] } ?? [:]
        return try await DeviceLogin(server, more, fields: fields)
    }

    /// Lets the device in. The phone is asked for a second factor, or is not.
    @discardableResult
    private func letIn(
        _ login: DeviceLogin, _ phone: Tokens, by device: ProvingDevice?, isAsked: Bool,
        password: String = EndpointsFixture.password, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Tokens {
        let claimed = await login.scan(phone)
        var answer = await login.act("confirm", #"{"number":\#(try await login.number())}"#, phone)
        let input = answer.string("input")
        #expect((input == "WAIT_FOR_SECOND_FACTOR") == isAsked, "\(answer.text)", sourceLocation: sourceLocation)
        // A device that is not known is always asked for one.
        #expect(claimed.bool("browser_known") == true || isAsked, "\(claimed.text)", sourceLocation: sourceLocation)
        if input != nil {
            answer = await login.act("second-factor", #"{"password":"\#(password)"}"#, phone)
        }
        #expect(answer.string("state") == "ACTIVE", "\(answer.text)", sourceLocation: sourceLocation)
        let fields: Fields = device.map { ["DPoP": $0.proof(login.server, .post, "/oauth/token")] } ?? [:]
        let tokens = await login.collect(fields: fields)
        #expect(tokens.status == 200, "\(tokens.text)", sourceLocation: sourceLocation)
        return try Tokens(tokens)
    }

    private func logOut(_ server: EndpointsFixture, _ tokens: Tokens, by device: ProvingDevice) async {
        let answer = await server.call(
            .post, "/v1/logout", #"{"refresh_token":"\#(tokens.refresh)"}"#,
            fields: ["DPoP": device.proof(server, .post, "/v1/logout")])
        #expect(answer.status == 204, "\(answer.text)")
    }

    @Test("a device is known by the key of a session that the user's phone has let in, and by nothing else")
    func device() async throws {
        try await DeviceLogin.with { server, phone in
            let tv = ProvingDevice()
            try await letIn(open(server, tv), phone, by: tv, isAsked: true)
            try await letIn(open(server, tv), phone, by: tv, isAsked: false)
            // The name of the device proves nothing, nor does another key.
            try await letIn(open(server, nil, Self.isFree + "&device_id=tv-1"), phone, by: nil, isAsked: true)
            let other = ProvingDevice()
            try await letIn(open(server, other), phone, by: other, isAsked: true)
            // Another user's phone has not let it in.
            _ = await server.admin(
                .post, "/admin/v1/users", #"{"username":"berta","password":"\#(EndpointsFixture.password)"}"#)
            let answer = await server.call(
                .post, "/v1/login",
                #"{"username":"berta","password":"\#(EndpointsFixture.password)","client_id":"mobile","device":{"id":"b"}}"#
            )
            try await letIn(open(server, tv), try Tokens(answer), by: tv, isAsked: true)
        }
    }

    @Test("the key that a device has proved is the one that comes for the session")
    func keyOfTheRequest() async throws {
        try await DeviceLogin.with { server, phone in
            let (tv, thief) = (ProvingDevice(), ProvingDevice())
            try await letIn(open(server, tv), phone, by: tv, isAsked: true)
            let login = try await open(server, tv)
            _ = await login.scan(phone)
            _ = await login.act("confirm", #"{"number":\#(try await login.number())}"#, phone)
            let stolen: Fields = ["DPoP": thief.proof(server, .post, "/oauth/token")]
            for fields in [Fields(), stolen] {
                #expect(await login.collect(fields: fields).string("error") == "invalid_grant")
            }
            let own: Fields = ["DPoP": tv.proof(server, .post, "/oauth/token")]
            #expect(await login.collect(fields: own).status == 200)
        }
    }

    @Test("a proof that is not good is refused, and opens no login")
    func badProof() async throws {
        try await DeviceLogin.with { server, _ in
            let tv = ProvingDevice()
            let proof = tv.proof(server, .post, Self.path)
            for (value, status) in [
                ("x", 400), (tv.proof(server, .post, "/oauth/token"), 400), (proof, 200), (proof, 400),
            ] {
                let answer = await server.form(Self.path, "client_id=tv&scope=read", fields: ["DPoP": value])
                #expect(answer.status == status, "\(answer.text)")
                if status == 400 { #expect(answer.string("error") == "invalid_dpop_proof", "\(answer.text)") }
            }
        }
    }

    @Test("without a rule of its client the time since the last second factor decides, in every mode of the phone")
    func lastFactor() async throws {
        try await DeviceLogin.with { server, phone in
            let tv = ProvingDevice()
            func letIn(_ more: String = "", isAsked: Bool) async throws {
                try await self.letIn(open(server, tv, more), phone, by: tv, isAsked: isAsked)
            }
            try await letIn(isAsked: true)
            // The server asks never, until an admin says how often.
            server.moveClock(to: 1000)
            try await letIn(isAsked: false)
            _ = await server.admin(.patch, "/admin/v1/clients/mobile", #"{"user_presence_max_age":600}"#)
            try await letIn(Self.isFree, isAsked: false)
            try await letIn(isAsked: true)
            server.moveClock(to: 1599)
            try await letIn(isAsked: false)
            server.moveClock(to: 1600)
            try await letIn(isAsked: true)
            try await letIn(isAsked: false)
            try await letIn("&second_factor=required", isAsked: true)
        }
    }

    @Test("an end that says that the device may be another person's makes it unknown", arguments: ["session", "none"])
    func ends(bond: String) async throws {
        try await DeviceLogin.with { server, phone in
            for report in [#"{"not_me":true}"#, nil] where bond == "session" || report != nil {
                let tv = ProvingDevice()
                let login = try await open(server, tv, Self.isFree + "&bond=\(bond)")
                try await letIn(login, phone, by: tv, isAsked: true)
                let stopped = await login.act("stop", report, phone)
                #expect(stopped.status == 200, "\(stopped.text)")
                try await letIn(open(server, tv), phone, by: tv, isAsked: true)
            }
        }
    }

    @Test("a device that logs itself out stays known")
    func logout() async throws {
        try await DeviceLogin.with { server, phone in
            let tv = ProvingDevice()
            await logOut(server, try await letIn(open(server, tv), phone, by: tv, isAsked: true), by: tv)
            try await letIn(open(server, tv), phone, by: tv, isAsked: false)
        }
    }

    /// What says that devices of the user may be another person's.
    enum Distrust: CaseIterable {
        case passwordChange, passwordByAdmin, passwordReset, endOfDevices, revocation, disabling

        /// The password afterwards.
        var password: String {
            switch self {
            case .passwordChange, .passwordByAdmin, .passwordReset: "battery staple"
            case .endOfDevices, .revocation, .disabling: EndpointsFixture.password
            }
        }

        func happen(_ server: EndpointsFixture, _ phone: Tokens) async throws {
            let user = "/admin/v1/users/\(phone.userID)"
            let new = #""new_password":"\#(password)""#
            let answer: Answer
            switch self {
            case .passwordChange:
                answer = await server.call(
                    .put, "/v1/me/password", #"{"old_password":"\#(EndpointsFixture.password)",\#(new)}"#,
                    bearer: phone.access)
            case .passwordByAdmin: answer = await server.admin(.put, user + "/password", "{\(new)}")
            case .passwordReset:
                let token = try #require(await server.admin(.post, user + "/password-reset").string("reset_token"))
                server.environment.secrets.withLock { _ = $0.insert(token) }
                answer = await server.call(.post, "/v1/password-reset", #"{"reset_token":"\#(token)",\#(new)}"#)
            case .endOfDevices: answer = await server.call(.delete, "/v1/me/devices", bearer: phone.access)
            case .revocation: answer = await server.admin(.post, user + "/revoke")
            case .disabling:
                answer = await server.admin(.post, user + "/disable", #"{"revoke_sessions":true}"#)
                _ = await server.admin(.post, user + "/enable")
            }
            #expect(answer.status < 300, "\(answer.text)")
        }
    }

    @Test(
        "a device that had logged out before is unknown after what makes every device unknown",
        arguments: Distrust.allCases)
    func endedBefore(_ distrust: Distrust) async throws {
        try await DeviceLogin.with { server, phone in
            server.environment.secrets.withLock { _ = $0.insert(distrust.password) }
            let tv = ProvingDevice()
            await logOut(server, try await letIn(open(server, tv), phone, by: tv, isAsked: true), by: tv)
            server.moveClock(to: 60)
            try await distrust.happen(server, phone)
            server.moveClock(to: 120)
            let again = try Tokens(
                await server.call(
                    .post, "/v1/login",
                    #"{"username":"anna","password":"\#(distrust.password)","device":{"id":"phone-1"}}"#))
            try await letIn(open(server, tv), again, by: tv, isAsked: true, password: distrust.password)
            try await letIn(open(server, tv), again, by: tv, isAsked: false)
        }
    }

    // MARK: Browsers

    private static let cookie = "__Host-sojourn-known"

    /// Lets the browser in by the phone, which is asked for a second factor, or is not.
    @discardableResult
    private func letIn(
        _ hosted: PageLoginFixture, _ browser: Browser, _ phone: Tokens, isAsked: Bool,
        password: String = EndpointsFixture.password, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Tokens {
        let waiting = try await PhonePageFixture.begin(hosted, browser)
        let claimed = await waiting.claim(try await waiting.code(), phone)
        let number: String = try #require(await waiting.event().string("data"))
        let body = #"{"number":\#(number)}"#
        let confirmed = await hosted.server.call(
            .post, "/v1/me/logins/\(waiting.id)/confirm", body, bearer: phone.access)
        let input = confirmed.string("input")
        #expect((input == "WAIT_FOR_SECOND_FACTOR") == isAsked, "\(confirmed.text)", sourceLocation: sourceLocation)
        #expect(claimed.bool("browser_known") == !isAsked, "\(claimed.text)", sourceLocation: sourceLocation)
        if input != nil {
            _ = await hosted.server.call(
                .post, "/v1/me/logins/\(waiting.id)/second-factor", #"{"password":"\#(password)"}"#,
                bearer: phone.access)
        }
        let finished = try await waiting.finish()
        let set = finished.response.fields.values("Set-Cookie").first { $0.hasPrefix(Self.cookie) }
        #expect(set?.hasSuffix("; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=34560000") == true, "\(set ?? "-")")
        let code = try #require(try Redirect(finished)["code"])
        return try Tokens(await hosted.exchange(code))
    }

    @Test("a browser that had logged out before is unknown after a change of the password")
    func browserEndedBefore() async throws {
        try await PageLoginFixture.with(#","login_methods":["password","phone"]"#) { hosted in
            let (server, browser) = (hosted.server, Browser(hosted.server))
            let phone = try await server.logIn(device: "phone")
            for isAsked in [true, false] {
                let tokens = try await letIn(hosted, browser, phone, isAsked: isAsked)
                #expect(
                    await server.call(.post, "/v1/logout", #"{"refresh_token":"\#(tokens.refresh)"}"#).status == 204)
            }
            let change = Distrust.passwordChange
            server.environment.secrets.withLock { _ = $0.insert(change.password) }
            server.moveClock(to: 60)
            try await change.happen(server, phone)
            server.moveClock(to: 120)
            try await letIn(hosted, browser, phone, isAsked: true, password: change.password)
            try await letIn(hosted, browser, phone, isAsked: false)
        }
    }

    @Test("a browser is known by a cookie of an earlier login of this user, and by no other")
    func browser() async throws {
        try await PageLoginFixture.with(#","login_methods":["password","phone"]"#) { hosted in
            let server = hosted.server
            let phone = try await server.logIn(device: "phone")
            let (browser, other) = (Browser(server), Browser(server))
            try await letIn(hosted, browser, phone, isAsked: true)
            try await letIn(hosted, browser, phone, isAsked: false)
            try await letIn(hosted, other, phone, isAsked: true)
            // A cookie that this server has not made, or with exchanged parts, shows nothing.
            let value = try #require(browser.cookies[Self.cookie])
            let parts = value.split(separator: ".").map(String.init)
            let strange = try #require(other.cookies[Self.cookie]?.split(separator: ".").last)
            for forged in ["", "x", "~~~", parts[0], parts[0] + ".", "\(parts[0]).\(strange)", value + "x"] {
                let thief = Browser(server)
                thief.plant(Self.cookie, forged)
                try await letIn(hosted, thief, phone, isAsked: true)
            }
            // Another user's phone does not know it, and does not make the first one forget it.
            _ = await server.admin(
                .post, "/admin/v1/users", #"{"username":"berta","password":"\#(EndpointsFixture.password)"}"#)
            let berta = try Tokens(
                await server.call(
                    .post, "/v1/login",
                    #"{"username":"berta","password":"\#(EndpointsFixture.password)","client_id":"mobile","device":{"id":"b"}}"#
                ))
            try await letIn(hosted, browser, berta, isAsked: true)
            try await letIn(hosted, browser, berta, isAsked: false)
            try await letIn(hosted, browser, phone, isAsked: false)
            // An admin that ends all sessions of the user makes it unknown.
            _ = await server.admin(.post, "/admin/v1/users/\(phone.userID)/revoke")
            let again = try await server.logIn(device: "phone")
            try await letIn(hosted, browser, again, isAsked: true)
        }
    }
}
