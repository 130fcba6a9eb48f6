import Foundation
import SojournClient
import SojournTestKit
import Testing

/// Passkeys of the SDK, by an authenticator in software.
struct PasskeyTests {
    private let passkeys = SoftwarePasskeys(origin: "https://sojourn.test")

    private func refusal(_ error: SojournError?) -> String? {
        if case .refused(let refusal) = error { refusal.code } else { error.map { "\($0)" } }
    }

    /// A phone of a user with a passkey, signed out.
    private func phone(
        _ renewal: SojournConfiguration.Renewal = .refreshToken
    ) async throws -> (phone: Phone, passkey: Passkey) {
        let phone = try await Phone.new(renewal: renewal)
        _ = try await phone.sojourn.signIn(username: "anna", password: "pw")
        let passkey = try await phone.sojourn.addPasskey(by: passkeys, name: "This phone")
        await phone.sojourn.signOut()
        return (phone, passkey)
    }

    @Test(arguments: [SojournConfiguration.Renewal.refreshToken, .boundRefreshToken, .deviceKey])
    func login_byAPasskey_startsASession(renewal: SojournConfiguration.Renewal) async throws {
        let (phone, passkey) = try await phone(renewal)
        let account = try await phone.sojourn.signIn(passkey: passkeys)
        #expect(account.username == "anna")
        #expect(passkey.name == "This phone" && passkey.isBackedUp && passkey.lastUsedAt == nil)
        let list = try await phone.sojourn.passkeys()
        #expect(list.map(\.id) == [passkey.id])
        #expect(list.first?.lastUsedAt != nil)
        _ = try await phone.sojourn.accessToken(.renewed(after: try await phone.sojourn.accessToken()))
    }

    @Test func loginThatTheUserDeclines_isCancelled_andChangesNothing() async throws {
        let (phone, _) = try await phone()
        passkeys.refuse(with: .cancelled)
        let error = await #expect(throws: SojournError.self) { try await phone.sojourn.signIn(passkey: passkeys) }
        #expect(error == .cancelled)
        passkeys.refuse(with: .failed("no entitlement"))
        let failure = await #expect(throws: SojournError.self) { try await phone.sojourn.signIn(passkey: passkeys) }
        #expect(failure == .misconfigured("no entitlement"))
        passkeys.refuse(with: nil)
        _ = try await phone.sojourn.signIn(passkey: passkeys)
    }

    @Test func login_byAnUnknownPasskey_isRefused() async throws {
        let (phone, passkey) = try await phone()
        _ = try await phone.sojourn.signIn(passkey: passkeys)
        try await phone.sojourn.removePasskey(passkey.id)
        #expect(try await phone.sojourn.passkeys().isEmpty)
        await phone.sojourn.signOut()
        let error = await #expect(throws: SojournError.self) { try await phone.sojourn.signIn(passkey: passkeys) }
        #expect(refusal(error) == "invalid_credentials")
        // One that the authenticator does not have is no login at all.
        let none = SoftwarePasskeys(origin: "https://sojourn.test")
        await #expect(throws: SojournError.cancelled) { try await phone.sojourn.signIn(passkey: none) }
    }

    @Test func registration_needsAPresentUser_andHappensOnce() async throws {
        let phone = try await Phone.new()
        _ = try await phone.sojourn.signIn(username: "anna", password: "pw")
        _ = try await phone.sojourn.addPasskey(by: passkeys)
        let again = await #expect(throws: SojournError.self) { try await phone.sojourn.addPasskey(by: passkeys) }
        #expect(refusal(again) == "passkey_exists")
        phone.server.clock.advance(by: .seconds(301))
        let other = SoftwarePasskeys(origin: "https://sojourn.test")
        let error = await #expect(throws: SojournError.self) { try await phone.sojourn.addPasskey(by: other) }
        guard case .presenceRequired = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        // The passkey itself is the proof, and the session goes on meanwhile.
        try await phone.sojourn.showPresence(passkey: passkeys)
        _ = try await phone.sojourn.addPasskey(by: other)
        #expect(try await phone.sojourn.passkeys().count == 2)
    }

    @Test func demandOfARenewal_isAnsweredByAPasskey_withTheStoredToken() async throws {
        let phone = try await Phone.signedIn(mode: .biometric)
        _ = try await phone.sojourn.addPasskey(by: passkeys)
        try await phone.server.askForUser(every: 900)
        phone.clock.advance(by: .seconds(3700))
        for _ in 0..<2 {
            let error = await #expect(throws: SojournError.self) { try await phone.sojourn.accessToken(.fresh) }
            guard case .presenceRequired? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
        try await phone.sojourn.showPresence(passkey: passkeys)
        // The wait after the demand is over as well.
        _ = try await phone.sojourn.accessToken(.fresh)
        guard case .signedIn = phone.sojourn.state else {
            Issue.record("\(phone.sojourn.state)")
            return
        }
        #expect(phone.record?.session?.sessionID == "session1")
    }

    @Test func presence_byAPasskeyOfAnother_isRefused() async throws {
        let (phone, _) = try await phone()
        _ = try await phone.sojourn.signIn(passkey: passkeys)
        let stranger = SoftwarePasskeys(origin: "https://sojourn.test")
        await #expect(throws: SojournError.cancelled) { try await phone.sojourn.showPresence(passkey: stranger) }
    }
}
