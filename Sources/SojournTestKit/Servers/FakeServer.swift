public import Foundation
public import SojournClient

/// A server within the test, in virtual time: a transport that answers as the real one does. It keeps the rules of rotation, the
/// reasons of refusals, and the members of answers. It checks no signatures, and knows no limits.
///
/// The suite `ServerContractTests` runs against it and against the real program.
public final class FakeServer: TestServer, Transport {
    struct User {
        var id: String
        var username: String
        var password: String?
        /// The e-mail address, which is verified.
        var email: String?
        var isDisabledByAdmin = false
        /// Whether the user has no name yet; `username` is then a placeholder.
        var isAnonymous = false
        /// `immediate` or `on_expiry`, if the user's own switch is off.
        var ownSwitch: String?
        /// When the account that its user has deleted goes (milliseconds).
        var deleteAt: Int64?
        /// What the user has said of itself.
        var profile: [String: JSONValue] = [:]
    }

    struct World {
        var users: [String: User] = [:]
        var sessions: [String: FakeSession] = [:]
        /// The devices that phones have let in, by what proves them. A session of nil: one that a test says was there.
        var letIn: [String: [(userID: String, sessionID: String?)]] = [:]
        var sessionCount = 0
        var userCount = 0
        /// The sessions by the `Idempotency-Key` of the login that began each.
        var logins: [String: String] = [:]
        /// The redirect URIs of the client.
        var redirectURIs: [String] = []
        /// The requests of login pages, by the hidden value of their form.
        var pages: [String: FakeAuthorization] = [:]
        /// The passkeys by credential ID, and the challenges that were given out and not used.
        var passkeys: [String: FakePasskey] = [:]
        var passkeyChallenges: Set<String> = []
        var challengeCount = 0
        /// The logins with a phone, by ID.
        var phoneLogins: [String: FakeLogin] = [:]
        var loginCount = 0
        /// The authorization codes.
        var codes: [String: FakeCode] = [:]
        var interval: Int64
        var idle: Int64
        var maximum: Int64
        var refreshAfter: Int64
        /// The widest scope of the client, in tokens.
        var scope = ["offline_access", "account"]
        /// Whether a login can make an anonymous user (`anonymous_users` of the client).
        var anonymousUsers = false
        /// The words of `login_methods`; nil: every way.
        var loginMethods: [String]?
        /// The names beside a password (`login_names`).
        var loginNames = ClientSettings.LoginNames.both
        /// How often a session with the mode `BIOMETRIC` asks for its user, in seconds; nil: never.
        var presenceMaxAge: Int64?
        /// Whether users of the client stay logged in (`stay_logged_in`).
        var staysLoggedIn = true
        /// `access_token_lifetime` of the client, in seconds; nil: that of the server.
        var accessTokenLifetime: Int64?
        /// The rules `app_data` and `attestation` of the client.
        var appData = ClientSettings.Rule.ignore
        var attestation = ClientSettings.Rule.ignore
        /// The `jti` of assertions that were used.
        var usedAssertions: Set<String> = []
        /// Whether mails are sent, and with them all calls that need one.
        var sendsMails = false
        var mails: [FakeMail] = []
        /// The proofs of mailboxes, by ID, and what each mailbox has got in a day.
        var verifications: [String: FakeVerification] = [:]
        var mailboxes: [String: (since: Int64, mails: Int)] = [:]
        /// Whether strangers make accounts, and whether they choose a username.
        var takesSignUps = false
        var hasChosenNames = false
        var secondFactorPolicy = ClientSettings.SecondFactorPolicy.ifEnrolled
        /// The authenticator apps by ID; the recovery codes by user and code, and whether each was used.
        var authenticators: [String: FakeAuthenticator] = [:]
        var recoveryCodes: [String: [String: Bool]] = [:]
        /// The wrong codes of each user in a row.
        var wrongFactors: [String: (count: Int, at: Int64)] = [:]
        /// The logins that wait for a second factor, by their token.
        var firstSteps: [String: FakeFirstStep] = [:]
        /// Whether requests that slept on their way are decided all the same. The real server never does.
        var decidesSleepers = false
        /// Whether an older token is refused although its request was sent before the last child was given out. The real server
        /// never does.
        var decidesOvertaken = false
    }

    /// A copy of everything that the server stores.
    public struct Backup: Sendable {
        let world: World
    }

    struct State {
        var world: World
        var isReachable = true
        var requestCount = 0
    }

    /// The clock of the server, and of the test. Nothing sets its wall, which is for the phone.
    public let clock: ManualClock
    let state: Guarded<State>
    private static let start: Int64 = 1_800_000_000
    static let modes = ["NO", "BIOMETRIC", "PASSWORD"]

    /// Creates a server without users.
    public init(clock: ManualClock = ManualClock(), settings: ServerSettings = ServerSettings()) {
        self.clock = clock
        state = Guarded(
            State(
                world: World(
                    interval: settings.rotationInterval ?? 120, idle: settings.idle ?? 1_209_600,
                    maximum: settings.maximum ?? 15_552_000, refreshAfter: settings.refreshAfter ?? 3600)))
    }

    /// Milliseconds since 1970 by the server's clock, which counts whole seconds.
    var now: Int64 {
        let seconds = clock.uptime.components.seconds
        return (Self.start + seconds) * 1000
    }

    /// The URL for `SojournConfiguration.server`. Only this transport reaches it.
    public var url: URL { URL(fileURLWithPath: "/").withServer("https://sojourn.test") }

    /// The server itself.
    public var transport: any Transport { self }

    /// How many requests have come.
    public var requestCount: Int { state.withLock { $0.requestCount } }

    /// Answers a request, at once. `limit` does not matter, because no virtual time passes.
    public func send(_ request: HTTPMessage, within limit: Duration) async throws(TransportFailure) -> HTTPAnswer {
        let now = now
        let answer = state.withLock { state -> HTTPAnswer? in
            guard state.isReachable else { return nil }
            state.requestCount += 1
            return state.world.answer(to: FakeCall(request), at: now)
        }
        guard var answer else { throw .unreachable("the server is down") }
        answer.fields.append(HTTPMessageField("Date", HTTPDate.text(now / 1000)))
        return answer
    }

    /// Switches the server off or on.
    public func setReachable(_ isReachable: Bool) { state.withLock { $0.isReachable = isReachable } }

    /// Breaks the rule that a request which slept on its way is left undecided: `sent_at` does not count.
    package func decideSleepers() { state.withLock { $0.world.decidesSleepers = true } }

    /// Breaks the rule that an older token proves nothing if its request was sent before the last child was given out.
    package func decideOvertaken() { state.withLock { $0.world.decidesOvertaken = true } }

    /// A copy of everything that the server stores.
    public func backup() -> Backup { state.withLock { Backup(world: $0.world) } }

    /// Replaces everything that the server stores.
    public func restore(_ backup: Backup) { state.withLock { $0.world = backup.world } }

    /// Moves the clock.
    public func letPass(_ duration: Duration) async throws { clock.advance(by: duration) }
}

// The calls of an admin.
extension FakeServer {
    func change(
        _ call: String, _ username: String, _ body: (inout World, inout User) -> Void
    ) throws {
        let isKnown = state.withLock { state -> Bool in
            guard var user = state.world.users[username] else { return false }
            body(&state.world, &user)
            state.world.users[username] = user
            return true
        }
        guard isKnown else { throw AdminRefusal(call: call, status: 404, answer: #"{"code":"not_found"}"#) }
    }

    /// Creates a user; without a password the user cannot log in by one.
    public func createUser(_ username: String, password: String? = nil) async throws {
        let isNew = state.withLock { state -> Bool in
            guard state.world.users[username] == nil else { return false }
            state.world.userCount += 1
            state.world.users[username] = User(
                id: "user\(state.world.userCount)", username: username, password: password)
            return true
        }
        guard isNew else {
            throw AdminRefusal(call: "POST /admin/v1/users", status: 409, answer: #"{"code":"username_taken"}"#)
        }
    }

    /// Sets the e-mail address of the user, and that it is verified; nil: none.
    public func setVerifiedEmail(_ address: String?, of username: String) async throws {
        try change("PATCH /admin/v1/users/{user}", username) { _, user in user.email = address }
    }

    /// Opens a session as a backend does that has authenticated the user itself. Returns the token answer, for `Sojourn.adopt`.
    public func openSession(for username: String, device: String) async throws -> Data {
        let now = now
        var answer: HTTPAnswer?
        try change("POST /admin/v1/users/{user}/sessions", username) { world, user in
            answer = world.begin(user, device: device, FakeCall.none, at: now)
        }
        return Data(answer?.body ?? [])
    }

    /// Ends every session of the user.
    public func revokeAll(_ username: String) async throws {
        try change("revoke", username) { world, user in
            world.end("revoked_by_admin", at: self.now) { $0.userID == user.id }
            world.forgetDevices(of: user.id)
        }
    }

    /// Ends every session of every user.
    public func revokeEverything() async throws {
        let now = now
        state.withLock {
            _ = $0.world.end("revoked_by_admin", at: now) { _ in true }
            $0.world.forgetDevices(of: nil)
        }
    }

    /// Disables the user's logins at once. The sessions are kept.
    public func disable(_ username: String) async throws {
        try change("disable", username) { _, user in user.isDisabledByAdmin = true }
    }

    /// Enables the user's logins.
    public func enable(_ username: String) async throws {
        try change("enable", username) { _, user in user.isDisabledByAdmin = false }
    }

    /// Sets the password, which ends every session of the user.
    public func resetPassword(_ username: String, to password: String) async throws {
        try change("password", username) { world, user in
            user.password = password
            world.end("password_changed", at: self.now) { $0.userID == user.id }
            world.forgetDevices(of: user.id)
        }
    }

    /// Deletes the user.
    public func deleteUser(_ username: String) async throws {
        state.withLock { _ = $0.world.users.removeValue(forKey: username) }
    }

    /// Lets logins make anonymous users, or forbids it.
    public func setAnonymousUsers(_ areAllowed: Bool) async throws {
        state.withLock { $0.world.anonymousUsers = areAllowed }
    }

    /// Lets the client use the login page, which returns to these URIs.
    public func setRedirectURIs(_ uris: [String]) async throws {
        state.withLock { $0.world.redirectURIs = uris }
    }

    /// Sets the widest scope of the client.
    public func setScope(_ scope: String) async throws {
        state.withLock { $0.world.scope = scope.split(separator: " ").map(String.init) }
    }

    /// Sets the ways in which users may log in (`login_methods`); nil: every way.
    public func setLoginMethods(_ methods: [String]?) async throws {
        state.withLock { $0.world.loginMethods = methods }
    }

    /// Sets how often sessions with the mode `BIOMETRIC` ask for their user, in seconds; nil: never.
    public func askForUser(every seconds: Int64?) async throws { state.withLock { $0.world.presenceMaxAge = seconds } }

    /// Changes settings of the client, for existing sessions as well.
    public func change(_ settings: ClientSettings) async throws {
        state.withLock { state in
            state.world.takesSignUps = settings.takesSignUps ?? state.world.takesSignUps
            state.world.secondFactorPolicy = settings.secondFactorPolicy ?? state.world.secondFactorPolicy
            state.world.staysLoggedIn = settings.staysLoggedIn ?? state.world.staysLoggedIn
            state.world.accessTokenLifetime = settings.accessTokenLifetime ?? state.world.accessTokenLifetime
            state.world.appData = settings.appData ?? state.world.appData
            state.world.attestation = settings.attestation ?? state.world.attestation
            state.world.loginNames = settings.loginNames ?? state.world.loginNames
        }
    }

    /// Records what the app's backend says of app and device of a session; nil: nothing any more.
    public func setAttestation(_ verdict: String?, ofSession id: String) async throws {
        let isKnown = state.withLock { state in
            state.world.sessions[id]?.attestation = verdict
            return state.world.sessions[id] != nil
        }
        guard isKnown else {
            throw AdminRefusal(call: "PUT attestation", status: 404, answer: #"{"code":"not_found"}"#)
        }
    }

    /// Changes the settings of sessions, for existing sessions as well.
    public func change(_ settings: ServerSettings) async throws {
        state.withLock { state in
            state.world.interval = settings.rotationInterval ?? state.world.interval
            state.world.idle = settings.idle ?? state.world.idle
            state.world.maximum = settings.maximum ?? state.world.maximum
            state.world.refreshAfter = settings.refreshAfter ?? state.world.refreshAfter
        }
    }
}

extension URL {
    /// The URL that `text` spells. It is a constant, so that it cannot be malformed.
    fileprivate func withServer(_ text: String) -> URL { URL(string: text) ?? self }
}
