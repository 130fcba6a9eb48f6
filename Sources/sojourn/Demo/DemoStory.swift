import HTTP
import JSON
import Sessions

/// The story: the whole plan of "The App: Logging In/Out User Experience", played by one user with two devices. Each
/// chapter describes a step, shows the calls, and stops with a sentence if the server answers differently.
struct DemoStory {
    let world: DemoWorld
    var phone: DemoDevice
    var tablet: DemoDevice
    var password = "correct horse battery staple"
    private var chapter = 0

    init(_ world: DemoWorld) {
        self.world = world
        phone = DemoDevice(world, id: "phone-7f3a", name: "Anna's phone")
        tablet = DemoDevice(world, id: "tablet-19c2", name: "Anna's tablet")
    }

    /// Plays every chapter.
    mutating func play() throws {
        try logIn()
        try stayLoggedIn()
        try loseAnAnswer()
        try race()
        try catchAThief()
        try logOut()
        try disableAndEnable()
        try ownSwitch()
        try resetPassword()
        try idle()
        try absoluteEnd()
        try explain()
    }

    private mutating func logIn() throws {
        begin("Anna logs in on two devices")
        say("An admin makes the account; the password goes into a slow hash (scrypt).")
        try call(
            "POST /admin/v1/users", 201,
            try world.admin(
                .post, "/users",
                .object([
                    "username": .string("anna"), "password": .string(password),
                    "display_name": .string("Anna"), "email": .string("anna@example.org"),
                ])))
        try call("POST /v1/login       phone", 200, try phone.logIn(password: password))
        try call("POST /v1/login       tablet", 200, try tablet.logIn(password: password))
        try expect(phone.sessionID != tablet.sessionID, "each device has a session and a refresh token of its own")
        try expect(phone.expiresAt - phone.issuedAt == 1_209_600, "the access token is valid for two weeks")
        try call("POST /v1/login       wrong password", 401, try phone.logIn(password: "guess"))
    }

    private mutating func stayLoggedIn() throws {
        begin("An hour passes, then a week: no password is needed")
        world.pass(.seconds(3601))
        say("More than an hour since the token was issued: before its next call the app renews it, silently.")
        let before = phone.expiresAt
        try call("POST /v1/refresh     phone", 200, try phone.refresh())
        try expect(
            phone.expiresAt == phone.issuedAt + 14 * 86400 && phone.expiresAt > before + 3600,
            "the two weeks begin anew: the window rolls")
        world.pass(.seconds(7 * 86400))
        try call("POST /v1/refresh     phone, a week later", 200, try phone.refresh())
        try call("POST /v1/refresh     tablet, a week later", 200, try tablet.refresh())
    }

    private mutating func loseAnAnswer() throws {
        begin("An answer is lost in a tunnel")
        world.pass(.seconds(7200))
        try call(
            "POST /v1/refresh     phone: the server renews, the answer never arrives", 200,
            try phone.refresh(losingAnswer: true))
        world.pass(.seconds(3 * 86400))
        say("Three days later the phone still has the old refresh token. Other servers log Anna out here.")
        try call("POST /v1/refresh     phone, with the old token", 200, try phone.refresh())
    }

    private mutating func race() throws {
        begin("The app and its widget refresh at the same moment")
        world.pass(.seconds(3700))
        var widget = phone
        try call("POST /v1/refresh     app", 200, try phone.refresh())
        try call("POST /v1/refresh     widget, with the same token", 200, try widget.refresh())
        try expect(phone.refreshToken == widget.refreshToken, "both got the same new token: they converge")
    }

    private mutating func catchAThief() throws {
        begin("A thief copies the tablet's token")
        var thief = tablet
        world.pass(.seconds(3700))
        try call("POST /v1/refresh     tablet", 200, try tablet.refresh())
        world.pass(.seconds(3700))
        try call("POST /v1/refresh     tablet", 200, try tablet.refresh())
        world.pass(.seconds(600))
        try call("POST /v1/refresh     thief, with the copy", 401, try thief.refresh(), "refresh_token_reused")
        try call("POST /v1/refresh     tablet", 401, try tablet.refresh(), "refresh_token_reused")
        try expect(try !tablet.isLetIn(), "the tablet's session is over, for both")
        try expect(try phone.isLetIn(), "the phone is not touched")
        try call("POST /v1/login       tablet, by Anna", 200, try tablet.logIn(password: password))
    }

    private mutating func logOut() throws {
        begin("Anna logs out on the tablet")
        try call("POST /v1/logout      tablet", 204, try world.app(.post, "/v1/logout", bearer: tablet.accessToken))
        try expect(try !tablet.isLetIn(), "the tablet's access token is refused from this moment on")
        try call("POST /v1/refresh     tablet", 401, try tablet.refresh(), "logged_out")
        try call("POST /v1/refresh     phone", 200, try phone.refresh())
        try call("POST /v1/login       tablet", 200, try tablet.logIn(password: password))
    }

    private mutating func disableAndEnable() throws {
        begin("Support disables Anna's logins, and enables them again")
        try call(
            "POST /admin/v1/users/username:anna/disable", 200,
            try world.admin(.post, "/users/username:anna/disable", .object(["reason": .string("lost phone?")])))
        try expect(try !phone.isLetIn() && !tablet.isLetIn(), "no device is let in any more")
        try call("POST /v1/refresh     phone", 401, try phone.refresh(), "login_disabled_by_admin")
        try call("POST /v1/login       phone", 403, try phone.logIn(password: password), "login_disabled_by_admin")
        try call(
            "POST /admin/v1/users/username:anna/enable", 200,
            try world.admin(.post, "/users/username:anna/enable"))
        say("A disable blocks; it ends nothing.")
        try call("POST /v1/refresh     phone, with the same token as before", 200, try phone.refresh())
        try call("POST /v1/refresh     tablet", 200, try tablet.refresh())
    }

    private mutating func ownSwitch() throws {
        begin("Anna throws her own switch: no logins, effective when her tokens expire")
        try call(
            "PUT /v1/me/login-settings", 200,
            try world.app(
                .put, "/v1/me/login-settings", bearer: phone.accessToken,
                .object(["logins_disabled": .bool(true), "effective": .string("on_expiry")])))
        try call("POST /v1/refresh     tablet", 401, try tablet.refresh(), "login_disabled_by_user")
        try expect(try phone.isLetIn(), "what was issued before serves until it expires")
        try call(
            "PUT /v1/me/login-settings", 200,
            try world.app(
                .put, "/v1/me/login-settings", bearer: phone.accessToken,
                .object(["logins_disabled": .bool(false)])))
        try call("POST /v1/refresh     tablet", 200, try tablet.refresh())
    }

    private mutating func resetPassword() throws {
        begin("Anna forgets her password")
        let reset = try world.admin(.post, "/users/username:anna/password-reset")
        try call("POST /admin/v1/users/username:anna/password-reset", 200, reset)
        password = "a new one, better kept"
        try call(
            "POST /v1/password-reset", 204,
            try world.app(
                .post, "/v1/password-reset",
                .object(["reset_token": reset.body["reset_token"] ?? .null, "new_password": .string(password)])))
        try call("POST /v1/refresh     phone", 401, try phone.refresh(), "password_changed")
        try call("POST /v1/refresh     tablet", 401, try tablet.refresh(), "password_changed")
        try call("POST /v1/login       phone", 200, try phone.logIn(password: password))
        try call("POST /v1/login       tablet", 200, try tablet.logIn(password: password))
    }

    private mutating func idle() throws {
        begin("The tablet lies in a drawer for two weeks")
        for _ in 0..<14 {
            world.pass(.seconds(86400))
            guard try phone.refresh().status == 200 else { throw DemoWorld.Surprise(line: "the phone was refused") }
        }
        say("The phone was used every day.")
        try call("POST /v1/refresh     tablet, after two weeks", 401, try tablet.refresh(), "idle_expired")
    }

    private mutating func absoluteEnd() throws {
        begin("Half a year: the end that no refresh moves")
        var days = 14
        var answer = try phone.refresh()
        while answer.status == 200, days < 400 {
            world.pass(.seconds(86400))
            days += 1
            answer = try phone.refresh()
        }
        try call("POST /v1/refresh     phone, day \(days) after the login", 401, answer, "max_lifetime_reached")
        try expect(days == 180, "the login of day 0 ended on day 180 (offline_session_max)")
        say("The app knew the day from the first answer on (session_expires_at) and could ask in good time.")
    }

    private mutating func explain() throws {
        begin("Why was I logged out?")
        let sessions = try world.admin(.get, "/users/username:anna/sessions")
        try call("GET /admin/v1/users/username:anna/sessions", 200, sessions)
        for session in sessions.body["items"]?.elements ?? [] {
            let device = session["device"]?["name"]?.string ?? ""
            let reason = session["ended_reason"]?.string ?? "active"
            say("  \(device.padded(to: 14)) \(reason)")
        }
        say("Every ending has its reason and keeps it for 30 days: 'sojourn session explain' tells it in sentences.")
    }
}

extension DemoStory {
    private mutating func begin(_ title: String) {
        chapter += 1
        Terminal.write("\n\(chapter). \(title)\n")
    }

    private func say(_ line: String) { Terminal.write("   \(line)") }

    /// Shows a call and its answer, which must be the expected one.
    private func call(_ line: String, _ status: Int, _ answer: DemoWorld.Answer, _ code: String? = nil) throws {
        let told = answer.body["code"]?.string
        Terminal.write("   \(line.padded(to: 76)) → \(answer.status)\(told.map { " " + $0 } ?? "")")
        if answer.status != status || (code != nil && told != code) {
            throw DemoWorld.Surprise(line: "expected \(status)\(code.map { " " + $0 } ?? "")")
        }
    }

    /// Checks a promise of the server, and prints it.
    private func expect(_ isSo: Bool, _ line: String) throws {
        if !isSo { throw DemoWorld.Surprise(line: "not so: \(line)") }
        Terminal.write("   ✓ \(line)")
    }
}
