import Testing

@testable import SojournClient
@testable import SojournTestKit

/// No condition of the Keychain signs a user out.
struct KeychainSessionTests {
    /// What a start shows in each condition of `KeychainStoreTests.conditions`.
    private static func isExpected(_ state: SessionState, in condition: FakeKeychain.Condition) -> Bool {
        switch (condition, state) {
        case (.locked, .locked), (.beforeFirstUnlock, .locked): true
        case (.undecodable, .signedOut(.unreadable)): true
        case (.unsigned, .storeFailed), (.failing, .storeFailed): true
        default: false
        }
    }

    private struct Device {
        let server = FakeServer()
        let keychain = FakeKeychain()

        /// The app after a start.
        func app() -> Sojourn {
            var configuration = SojournConfiguration(server: server.url)
            configuration.renewal = .boundRefreshToken
            return Sojourn(
                configuration, store: keychain.store(), keys: keychain.keys(), transport: server, clock: server.clock)
        }

        /// The app, in which `anna` has signed in.
        static func signedIn() async throws -> (Device, Sojourn) {
            let device = Device()
            try await device.server.createUser("anna", password: "pw")
            let app = device.app()
            try await app.signIn(username: "anna", password: "pw")
            return (device, app)
        }
    }

    @Test("a start in any condition keeps the session", arguments: KeychainStoreTests.conditions.indices)
    func start(index: Int) async throws {
        let (device, _) = try await Device.signedIn()
        let condition = KeychainStoreTests.conditions[index].condition
        device.keychain.condition = condition
        let app = device.app()
        #expect(Self.isExpected(await app.start(), in: condition))
        await #expect { _ = try await app.accessToken() } throws: { error in
            switch error as? SojournError {
            case .locked, .store: true
            default: false
            }
        }
        #expect(device.keychain.itemCount == 2)
        #expect(device.keychain.deletionCount == 0)

        // It goes on without another start.
        device.keychain.condition = .unlocked
        _ = try await app.accessToken()
        guard case .signedIn = app.state else { throw Unexpected(app.state) }
    }

    @Test("a running app in any condition keeps the session", arguments: KeychainStoreTests.conditions.indices)
    func running(index: Int) async throws {
        let (device, app) = try await Device.signedIn()
        device.keychain.condition = KeychainStoreTests.conditions[index].condition
        for _ in 0..<3 {
            device.server.clock.advance(by: .seconds(1800))
            _ = try? await app.accessToken()
            guard case .signedIn = app.state else { throw Unexpected(app.state) }
        }
        #expect(device.keychain.itemCount == 2)
        #expect(device.keychain.deletionCount == 0)

        device.keychain.condition = .unlocked
        device.server.clock.advance(by: .seconds(600))
        _ = try await app.accessToken(.fresh)
        guard case .signedIn(_, .current) = app.state else { throw Unexpected(app.state) }
    }

    @Test(
        "a sign-out in any condition holds, and the server hears of it",
        arguments: KeychainStoreTests.conditions.indices)
    func signOut(index: Int) async throws {
        let (device, app) = try await Device.signedIn()
        device.keychain.condition = KeychainStoreTests.conditions[index].condition
        await app.signOut()
        #expect(app.state == .signedOut(.byUser))
        await #expect(throws: SojournError.self) { _ = try await app.accessToken() }

        device.keychain.condition = .unlocked
        #expect(await app.start() == .signedOut(.byUser))
        await #expect(throws: SojournError.notSignedIn) { _ = try await app.accessToken() }
        #expect(await device.app().start() == .signedOut(.byUser))
    }

    @Test("a login in the condition of an unreadable item takes its place")
    func loginOverUnreadable() async throws {
        let (device, _) = try await Device.signedIn()
        device.keychain.put(KeychainContent(data: [1], version: [2]))
        let app = device.app()
        #expect(await app.start() == .signedOut(.unreadable))
        try await app.signIn(username: "anna", password: "pw")
        guard case .signedIn = app.state else { throw Unexpected(app.state) }
        #expect(device.keychain.accounts.contains { $0.hasPrefix("test.unreadable-") })
    }

    private struct Unexpected: Error {
        var state: SessionState
        init(_ state: SessionState) { self.state = state }
    }
}
