import Foundation
import SojournClient

/// The story: the whole plan of "The App: Logging In/Out User Experience", played by one user with two devices. Each chapter
/// describes a step, shows the requests, and stops with a sentence if anything else happens.
struct DemoStory {
    let world: DemoWorld
    let phone: DemoPhone
    private let tablet: DemoPhone
    private(set) var password = "correct horse battery staple"
    private var chapter = 0

    private static let day = Duration.seconds(86400)

    init(_ world: DemoWorld) async throws {
        self.world = world
        phone = try DemoPhone("phone", in: world)
        tablet = try DemoPhone("tablet", in: world, renewal: .refreshToken)
        await phone.sojourn.start()
        await tablet.sojourn.start()
    }

    /// Plays every chapter.
    mutating func play() async throws {
        try await logIn()
        try await stayLoggedIn()
        try await loseAnswers()
        try await race()
        try await catchAThief()
        try await logOut()
        try await letInADesktop()
        try await disableAndEnable()
        try await ownSwitch()
        try await resetPassword()
        try await idle()
        try await absoluteEnd()
        try await signUpByMail()
        try explain()
    }

    private mutating func logIn() async throws {
        begin("Anna logs in on two devices")
        say("An admin makes the account; the password goes into a slow hash (scrypt).")
        let account = ["username": "anna", "password": password, "display_name": "Anna", "email": "anna@example.org"]
        try admin("POST", "/users", account, 201)
        say("The phone binds its session to a key of its own, the SDK's default. The tablet's app does without.")
        try await signIn(phone)
        let token = try await phone.sojourn.accessToken()
        try expect(token.expiresAt - world.now == 1_209_600, "the access token is valid for two weeks")
        try await signIn(tablet)
        try await failed("a wrong password is refused, and the session goes on") {
            _ = try await tablet.sojourn.signIn(username: "anna", password: "guess")
        }
        try expect(isSignedIn(tablet), "the tablet is signed in as before")
    }

    private mutating func stayLoggedIn() async throws {
        begin("An hour passes, then a week: no password is needed")
        let first = try await phone.sojourn.accessToken()
        world.pass(.seconds(first.expiresAt - 14 * 86400 + 3600 - world.now))
        try expect(try await phone.sojourn.accessToken() == first, nil)
        say("An hour since the token was issued: the SDK sends nothing.")
        world.pass(.seconds(1))
        say("One second more: before its next call the SDK renews it, silently.")
        let second = try await phone.sojourn.accessToken()
        try expect(
            second.expiresAt == world.now + 14 * 86400 && second.expiresAt > first.expiresAt,
            "the two weeks begin anew: the window rolls")
        world.pass(.seconds(7 * 86400))
        try await use(phone)
        try await use(tablet)
    }

    private mutating func loseAnswers() async throws {
        begin("In a tunnel, every answer is lost")
        world.pass(.seconds(7200))
        phone.network.become(.losesAnswers)
        let token = try await phone.sojourn.accessToken()
        phone.network.become(.good)
        try expect(token.expiresAt > world.now, "the app goes on with the token that it has")
        world.pass(.seconds(3 * 86400))
        say("The server has renewed, and the phone never heard of it. Other servers log Anna out three days later.")
        try await use(phone)
    }

    private mutating func race() async throws {
        begin("The app and its widget renew at the same moment")
        world.pass(.seconds(3700))
        let widget = phone.process("widget")
        async let one = phone.sojourn.accessToken(.fresh)
        async let other = widget.sojourn.accessToken(.fresh)
        _ = try await (one, other)
        try expect(isSignedIn(phone) && isSignedIn(widget), "both go on: they present one token, and get one token")
    }

    private mutating func catchAThief() async throws {
        begin("A thief copies what the tablet has stored")
        let thief = try await tablet.thief(in: world)
        for _ in 0..<2 {
            world.pass(.seconds(3700))
            try await use(tablet)
        }
        let token = try await tablet.sojourn.accessToken()
        world.pass(.seconds(600))
        try await failed("the copy is spent") { _ = try await thief.sojourn.accessToken(.fresh) }
        try expect(try !tablet.isLetIn(with: token, in: world), "the tablet's session is over, for both")
        try await failed("the tablet hears why") { _ = try await tablet.sojourn.accessToken(.renewed(after: token)) }
        try expect(isEnded(tablet, .refreshTokenReused) && isSignedIn(phone), "the phone is not touched")
        try await signIn(tablet)
        say("And if the phone is copied?")
        let other = try await phone.thief(in: world)
        world.pass(.seconds(3700))
        try await failed("a copy without the key cannot renew") { _ = try await other.sojourn.accessToken(.fresh) }
        try await use(phone)
    }

    private mutating func logOut() async throws {
        begin("Anna logs out on the tablet")
        let token = try await tablet.sojourn.accessToken()
        let isStored = await tablet.sojourn.signOut()
        try expect(
            isStored && tablet.sojourn.state == .signedOut(.byUser), "the tablet is signed out at once, also offline")
        // The SDK tells the server in the background, as soon as it can.
        for _ in 0..<500 where try tablet.isLetIn(with: token, in: world) {
            try await Task.sleep(for: .milliseconds(10))
        }
        try expect(try !tablet.isLetIn(with: token, in: world), "its access token is refused, once the server is told")
        try await use(phone)
        try await signIn(tablet)
    }

    private mutating func disableAndEnable() async throws {
        begin("Support disables Anna's logins, and enables them again")
        try admin("POST", "/users/username:anna/disable", ["reason": "lost phone?"])
        world.pass(.seconds(3700))
        try await failed("a renewal is refused") { _ = try await phone.sojourn.accessToken(.fresh) }
        try await failed("and so is a login") { try await signIn(tablet) }
        try expect(isSignedIn(phone), "the SDK keeps its session: a disable blocks, and ends nothing")
        try admin("POST", "/users/username:anna/enable")
        world.pass(.seconds(600))
        try await use(phone)
        try await use(tablet)
    }

    private mutating func ownSwitch() async throws {
        begin("Anna throws her own switch: no logins, effective when her tokens expire")
        _ = try await phone.sojourn.setLoginsDisabled(true, effective: .onExpiry)
        world.pass(.seconds(3700))
        let token = try await tablet.sojourn.accessToken()
        try expect(try tablet.isLetIn(with: token, in: world), "what was issued before serves until it expires")
        _ = try await phone.sojourn.setLoginsDisabled(false)
        world.pass(.seconds(600))
        try await use(tablet)
        try await use(phone)
    }

    private mutating func resetPassword() async throws {
        begin("Anna forgets her password")
        let reset = try admin("POST", "/users/username:anna/password-reset")
        password = "a new one, better kept"
        let answer = try world.app(
            "POST", "/v1/password-reset", ["reset_token": reset["reset_token"] ?? "", "new_password": password])
        Self.tell("POST /v1/password-reset", "page", "\(answer.status)")
        world.pass(.seconds(3700))
        for device in [phone, tablet] {
            try await failed("the \(device.name) is told why") { _ = try await device.sojourn.accessToken(.fresh) }
            try expect(isEnded(device, .passwordChanged), "its session is over")
            try await signIn(device)
        }
    }

    private mutating func idle() async throws {
        begin("The tablet lies in a drawer for two weeks")
        phone.network.setPrinted(false)
        for _ in 0..<14 {
            world.pass(Self.day)
            try await use(phone)
        }
        say("The phone was used every day.")
        try await failed("the tablet was not") { _ = try await tablet.sojourn.accessToken(.fresh) }
        try expect(isEnded(tablet, .idleExpired), "two idle weeks end a session")
    }

    private mutating func absoluteEnd() async throws {
        begin("Half a year: the end that no renewal moves")
        var days = 14
        while isSignedIn(phone), days < 400 {
            world.pass(Self.day)
            days += 1
            if case .failure(let error as SojournError) = await Self.result({ try await use(phone) }) {
                guard case .ended = error else { throw error }
            }
        }
        try expect(isEnded(phone, .maxLifetimeReached), "the phone's session reached its longest lifetime")
        try expect(days == 180, "the login of day 0 ended on day 180 (offline_session_max)")
        say("The app knew the day from the first answer on (session_expires_at) and could ask in good time.")
    }

    private mutating func explain() throws {
        begin("Why was I logged out?")
        for session in try admin("GET", "/users/username:anna/sessions").items {
            let device = session.object("device")?["name"] ?? ""
            say("  \(device.padded(to: 14)) \(session["ended_reason"] ?? "active")")
        }
        say("Every ending has its reason and keeps it for 30 days: 'sojourn session explain' tells it in sentences.")
    }
}

extension DemoStory {
    mutating func begin(_ title: String) {
        chapter += 1
        SojournDemo.say("\n\(chapter). \(title)\n")
    }

    func say(_ line: String) { SojournDemo.say("   \(line)") }

    /// Prints a request and its answer.
    static func tell(_ request: String, _ sender: String, _ answer: String) {
        SojournDemo.say("   \(sender.padded(to: 7)) \(request.padded(to: 52)) → \(answer)")
    }

    /// The user types the password, which takes half a minute.
    func signIn(_ device: DemoPhone) async throws {
        world.pass(.seconds(30))
        try await device.sojourn.signIn(username: "anna", password: password)
    }

    /// The app makes a call. Its token is renewed when that is due, or the demonstration ends.
    private func use(_ device: DemoPhone) async throws {
        let token = try await device.sojourn.accessToken(.fresh)
        try expect(token.expiresAt > world.now, nil)
    }

    @discardableResult
    func admin(
        _ method: String, _ path: String, _ body: (any Encodable)? = nil, _ status: Int = 200
    ) throws -> DemoWorld.Answer {
        let answer = try world.admin(method, path, body)
        Self.tell("\(method) /admin/v1\(path)", "admin", "\(answer.status)")
        try expect(answer.status == status, nil)
        return answer
    }

    private static func result(_ act: () async throws -> Void) async -> Result<Void, any Error> {
        do { return .success(try await act()) } catch { return .failure(error) }
    }

    /// Prints the SDK's error of an act that must fail.
    func failed(_ line: String, _ act: () async throws -> Void) async throws {
        switch await Self.result(act) {
        case .success: throw Surprise(description: "not so: \(line)")
        case .failure(let error): say("✓ \(line): \(Self.words(for: error))")
        }
    }

    private static func words(for error: any Error) -> String {
        switch error as? SojournError {
        case .ended(let reason): ".ended(\(reason.rawValue))"
        case .suspended(let suspension): ".suspended(\(suspension.rawValue))"
        case .refused(let refusal): ".refused(\(refusal.code))"
        case let error?: ".\(error)"
        case nil: "\(error)"
        }
    }

    /// Checks a promise, and prints it.
    func expect(_ isSo: Bool, _ line: String?) throws {
        if !isSo { throw Surprise(description: "not so: \(line ?? "the last step")") }
        if let line { say("✓ \(line)") }
    }

    private func isSignedIn(_ device: DemoPhone) -> Bool {
        if case .signedIn = device.sojourn.state { true } else { false }
    }

    private func isEnded(_ device: DemoPhone, _ reason: EndReason) -> Bool {
        if case .ended(reason, _, _) = device.sojourn.state { true } else { false }
    }
}
