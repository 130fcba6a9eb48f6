import Foundation
import PostgresFixture
import SojournClient
import SojournTestKit
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A user's life with two phones, through the SDK and over HTTP: two weeks take 24 seconds here.
@Suite("A whole life", .timeLimit(.minutes(5)))
struct WholeLifeTests {
    private static let password = "correct horse battery"

    /// A phone: its folder, its network, and the app that runs on it.
    private final class Phone {
        let folder: PhoneFolder
        private let configuration: SojournConfiguration
        private let plan = Guarded(FaultPlan.none)
        private(set) var app: Sojourn

        init(_ server: URL, device: String) throws {
            folder = try PhoneFolder()
            var configuration = SojournConfiguration(server: server)
            configuration.deviceID = device
            self.configuration = configuration
            app = Self.start(configuration, folder, plan)
        }

        private static func start(
            _ configuration: SojournConfiguration, _ folder: PhoneFolder, _ plan: Guarded<FaultPlan>
        ) -> Sojourn {
            let faults = FaultPlan { request in plan.withLock { $0 }.fault(for: request) }
            let transport = FaultyTransport(URLSessionTransport(), plan: faults, clock: SystemClock())
            return Sojourn(
                configuration, store: FileStore(directory: folder.url()), keys: SoftwareKeys(directory: folder.url()),
                transport: transport, clock: SystemClock())
        }

        /// The app starts anew.
        func restart() { app = Self.start(configuration, folder, plan) }

        /// What happens to requests from now on.
        func meet(_ faults: FaultPlan) { plan.withLock { $0 = faults } }

        func goOffline() { meet(FaultPlan { _ in .loseRequest }) }
        func goOnline() { meet(.none) }

        /// The app comes to the foreground, which renews. Returns false if that has not succeeded within ten seconds.
        func renew() async throws -> Bool {
            let old = try? await app.accessToken()
            await app.start()
            return try await wait { phone in
                guard phone.isCurrent else { return false }
                return try await phone.app.accessToken() != old
            }
        }

        /// The app comes to the foreground, and is told of the end.
        func isTold(_ reason: EndReason) async throws -> Bool {
            await app.start()
            guard try await wait({ $0.endReason == reason }) else { return false }
            await #expect(throws: SojournError.ended(reason)) { try await self.app.accessToken() }
            return true
        }

        /// The app comes to the foreground, and is told that logins are off.
        func isSuspended(_ word: String) async throws -> Bool {
            await app.start()
            return try await wait { phone in
                if case .signedIn(_, .suspended(Suspension(rawValue: word))) = phone.app.state { true } else { false }
            }
        }

        private func wait(_ meets: (Phone) async throws -> Bool) async throws -> Bool {
            for _ in 0..<500 {
                if try await meets(self) { return true }
                try await Task.sleep(for: .milliseconds(20))
            }
            return false
        }

        /// The status of a call to an API.
        func call() async throws -> Int {
            let url = configuration.server.appendingPathComponent("v1/me")
            return try await app.data(for: URLRequest(url: url)).1.statusCode
        }

        var isCurrent: Bool {
            if case .signedIn(_, .current) = app.state { true } else { false }
        }

        var endReason: EndReason? {
            if case .ended(let reason, _, _) = app.state { reason } else { nil }
        }
    }

    @Test("two phones, in every way in which a session goes on and ends", arguments: ["SQLite", "PostgreSQL"])
    func life(database: String) async throws {
        var options = LocalServer.Options()
        options.settings = ServerSettings(rotationInterval: 2, idle: 24, maximum: 3600, refreshAfter: 1)
        if database == "PostgreSQL" { options.database = try PostgresServer.shared.newDatabase() }
        let server = try await LocalServer.start(options)
        try await server.createUser("anna", password: Self.password)
        let phone = try Phone(server.url, device: "phone")
        let tablet = try Phone(server.url, device: "tablet")

        try await logIn(phone, tablet)
        try await keepOn(phone, tablet)
        try await startOffline(phone)
        try await disable(server, phone)
        try await ownSwitch(server, phone, tablet)
        try await logOut(server, phone, tablet)
        try await endByOthers(server, phone, tablet)
        try await endByTime(server, phone, tablet)
    }

    private func signIn(_ phone: Phone, _ password: String = password) async throws {
        let account = try await phone.app.signIn(username: "anna", password: password)
        #expect(account.username == "anna")
        #expect(phone.isCurrent)
    }

    private func logIn(_ phone: Phone, _ tablet: Phone) async throws {
        #expect(await phone.app.start() == .signedOut(.never))
        await #expect(throws: SojournError.self) {
            try await phone.app.signIn(username: "anna", password: "wrong")
        }
        #expect(phone.app.state == .signedOut(.never))
        try await signIn(phone)
        try await signIn(tablet)
        #expect(try await phone.call() == 200)
        #expect(try await Set(phone.app.devices().map(\.id)) == ["phone", "tablet"])
    }

    /// Used once within each two weeks, a session goes on; and a lost answer is no end.
    private func keepOn(_ phone: Phone, _ tablet: Phone) async throws {
        for _ in 0..<3 {
            try await Task.sleep(for: .seconds(3))
            phone.meet(.script([.loseAnswer]))
            #expect(try await phone.renew())
            #expect(try await tablet.renew())
        }
        phone.goOnline()
        #expect(phone.isCurrent && tablet.isCurrent)
        #expect(try await phone.call() == 200)
    }

    /// The app starts without a network: the user is signed in, and the stored token is handed out.
    private func startOffline(_ phone: Phone) async throws {
        phone.goOffline()
        phone.restart()
        guard case .signedIn(let account, _) = await phone.app.start() else {
            Issue.record("not signed in without a network: \(phone.app.state)")
            return
        }
        #expect(account.username == "anna")
        _ = try await phone.app.accessToken()
        phone.goOnline()
        #expect(try await phone.renew())
        #expect(phone.isCurrent)
    }

    /// Logins are disabled by an admin, and enabled again: nothing has ended.
    private func disable(_ server: LocalServer, _ phone: Phone) async throws {
        try await server.disable("anna")
        #expect(try await phone.isSuspended("login_disabled_by_admin"))
        try await server.enable("anna")
        #expect(try await phone.renew())
        #expect(phone.isCurrent)
    }

    /// The user disables logins on all devices for when their tokens expire, and enables them.
    private func ownSwitch(_ server: LocalServer, _ phone: Phone, _ tablet: Phone) async throws {
        // The stored token is handed out while a renewal is refused, but not in its last half minute.
        try await server.change(ServerSettings(idle: 600))
        for each in [phone, tablet] { #expect(try await each.renew()) }
        try await phone.app.setLoginsDisabled(true, effective: .onExpiry)
        #expect(try await phone.app.loginSettings().loginsDisabled)
        #expect(try await tablet.isSuspended("login_disabled_by_user"))
        #expect(try await tablet.call() == 200)
        try await phone.app.setLoginsDisabled(false)
        try await server.change(ServerSettings(idle: 24))
        for each in [phone, tablet] { #expect(try await each.renew()) }
        #expect(tablet.isCurrent)
    }

    /// Logouts, with and without a network, and of one device by the other.
    private func logOut(_ server: LocalServer, _ phone: Phone, _ tablet: Phone) async throws {
        let token = try await tablet.app.accessToken()
        await tablet.app.signOut()
        #expect(tablet.app.state == .signedOut(.byUser))
        #expect(try await hasEnded(token, server))
        #expect(try await phone.renew())

        try await signIn(tablet)
        let second = try await tablet.app.accessToken()
        tablet.goOffline()
        await tablet.app.signOut()
        #expect(tablet.app.state == .signedOut(.byUser))
        tablet.restart()
        #expect(await tablet.app.start() == .signedOut(.byUser))
        await #expect(throws: SojournError.notSignedIn) { try await tablet.app.accessToken() }
        tablet.goOnline()
        tablet.restart()
        await tablet.app.start()
        #expect(try await hasEnded(second, server))

        try await signIn(tablet)
        try await phone.app.endDevice("tablet")
        #expect(try await tablet.isTold(.revokedByUser))
        #expect(tablet.endReason == .revokedByUser)
        try await signIn(tablet)
    }

    /// Whether the server refuses an access token within some seconds: it is told of a logout in the background.
    private func hasEnded(_ token: AccessToken, _ server: LocalServer) async throws -> Bool {
        let deadline = ContinuousClock.now + .seconds(10)
        let client = ContractClient(server: server)
        while ContinuousClock.now < deadline {
            let fields = [HTTPMessageField("Authorization", "\(token.type) \(token.value)")]
            let answer = try await client.send("GET", "/v1/me/devices", fields: fields)
            // A bound token without a proof is refused before its session is looked at, so that an admin is asked.
            if answer.text("code") == "logged_out" { return true }
            let list = JSONValue(parsing: try await server.admin("GET", "users/username:anna/sessions").map { $0 })
            let ended = list?.members?["items"]?.elements?.compactMap { $0.members?.text("ended_reason") } ?? []
            if ended.contains("logged_out"), living(list, device: "tablet") == 0 { return true }
            try await Task.sleep(for: .milliseconds(50))
        }
        return false
    }

    private func living(_ list: JSONValue?, device: String) -> Int {
        (list?.members?["items"]?.elements ?? []).compactMap(\.members).filter { session in
            session["device"]?.members?.text("id") == device && session["ended_reason"] == nil
        }.count
    }

    /// A new password by an admin ends both; a login goes on, on the same store. All devices end at once.
    private func endByOthers(_ server: LocalServer, _ phone: Phone, _ tablet: Phone) async throws {
        try await server.resetPassword("anna", to: "another good password")
        for each in [phone, tablet] {
            #expect(try await each.isTold(.passwordChanged))
            #expect(each.endReason == .passwordChanged)
            each.restart()
            await each.app.start()
            #expect(each.endReason == .passwordChanged)
        }
        for each in [phone, tablet] { try await signIn(each, "another good password") }
        try await phone.app.endAllDevices()
        #expect(try await tablet.isTold(.revokedByUser))
        for each in [phone, tablet] { try await signIn(each, "another good password") }
    }

    /// The tablet is not used for two weeks; the phone is, until its absolute end.
    private func endByTime(_ server: LocalServer, _ phone: Phone, _ tablet: Phone) async throws {
        for _ in 0..<3 {
            try await Task.sleep(for: .seconds(9))
            #expect(try await phone.renew(), "\(phone.app.state)")
        }
        #expect(try await tablet.isTold(.idleExpired))
        #expect(tablet.endReason == .idleExpired)
        #expect(phone.isCurrent)
        try await server.change(ServerSettings(maximum: 25))
        try await Task.sleep(for: .milliseconds(1100))
        #expect(try await phone.isTold(.maxLifetimeReached))
        #expect(phone.endReason == .maxLifetimeReached)
        try await signIn(phone, "another good password")
    }
}
