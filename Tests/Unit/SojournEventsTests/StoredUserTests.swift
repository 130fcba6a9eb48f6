import Foundation
import SojournClient
import SojournEvents
import SojournTestKit
import Testing

/// Kii's stored credentials.
struct StoredUserTests {
    @Test func credentials_areRestoredWithoutTheServer() async throws {
        let app = try await App.signedIn(.no)
        let requests = app.server.requestCount
        _ = try await app.sojourn.authenticateWithStoredCredentials()
        // A request that was begun would be there by then.
        for _ in 0..<200 { await Task.yield() }
        #expect(app.server.requestCount == requests)
        app.server.setReachable(false)
        let user = try await app.sojourn.authenticateWithStoredCredentials()
        #expect(user.account.username == "anna" && user.account.userID == "user1")
        #expect(app.server.requestCount == requests)
        await #expect(throws: SojournError.self) { try await user.refresh() }
        app.server.setReachable(true)
        app.server.clock.advance(by: .seconds(120))
        #expect(try await user.refresh().account == user.account)
        #expect(app.server.requestCount > requests)
    }

    @Test func anEndOnTheServer_deletesNothing_andLogOutDoes() async throws {
        let app = try await App.signedIn(.no)
        try await app.server.revokeAll("anna")
        let user = try await app.sojourn.authenticateWithStoredCredentials()
        await #expect(throws: SojournError.ended(.revokedByAdmin)) { try await user.refresh() }
        let restarted = app.restarted()
        #expect(try await restarted.sojourn.authenticateWithStoredCredentials().account == user.account)
        #expect(await user.logOut())
        #expect(try await !app.text().contains("anna"))
        for sojourn in [app.sojourn, app.restarted().sojourn] {
            await #expect(throws: StoredCredentialsError.noStoredCredentials) {
                try await sojourn.authenticateWithStoredCredentials()
            }
        }
    }

    @Test func logOut_worksWithoutTheServer_andItIsToldLater() async throws {
        let app = try await App.signedIn(.no)
        let user = try await app.sojourn.authenticateWithStoredCredentials()
        app.server.setReachable(false)
        #expect(await user.logOut())
        #expect(try await !app.text().contains("anna"))
        app.server.setReachable(true)
        let login = try await app.restarted().sojourn.signIn(username: "anna", password: "pw")
        #expect(login == user.account)
    }

    @Test func unreadableCredentials_areAnErrorOfTheirOwn_andALoginStoresNewOnes() async throws {
        let server = FakeServer()
        try await server.createUser("anna", password: "pw")
        let app = App(server, MemoryStore(Array("not a record".utf8)), FakeGate())
        do {
            _ = try await app.sojourn.authenticateWithStoredCredentials()
            Issue.record("restored")
        } catch {
            guard case .unreadable = error else {
                Issue.record("\(error)")
                return
            }
            #expect(error.recommendedAction == .standardLogin(mode: .no))
        }
        try await app.sojourn.signIn(username: "anna", password: "pw")
        #expect(try await app.restarted().sojourn.authenticateWithStoredCredentials().account.username == "anna")
        // The bytes that could not be read are kept.
        #expect(app.store.unreadable == [Array("not a record".utf8)])
    }

    @Test func lockedDevice_isNoLogout() async throws {
        let keychain = FakeKeychain()
        let server = FakeServer()
        try await server.createUser("anna", password: "pw")
        func app() -> Sojourn {
            Sojourn(
                SojournConfiguration(server: server.url), store: keychain.store(), keys: keychain.keys(),
                transport: server, clock: server.clock)
        }
        try await app().signIn(username: "anna", password: "pw")
        keychain.condition = .beforeFirstUnlock
        let sojourn = app()
        await #expect(throws: StoredCredentialsError.unreadable(.locked)) {
            try await sojourn.authenticateWithStoredCredentials()
        }
        #expect(StoredCredentialsError.unreadable(.locked).recommendedAction == .retryLater)
        keychain.condition = .unlocked
        #expect(try await sojourn.authenticateWithStoredCredentials().account.username == "anna")
    }

    @Test func callbacks_areCalledOnce_withAUserOrAnError() async throws {
        let app = try await App.signedIn(.no)
        let results = AsyncStream<(StoredUser?, (any Error)?)>.makeStream()
        app.sojourn.authenticate { results.continuation.yield(($0, $1)) }
        var iterator = results.stream.makeAsyncIterator()
        let user = try #require(await iterator.next()?.0)
        user.refresh { results.continuation.yield(($0, $1)) }
        #expect(await iterator.next()?.0?.account == user.account)
        await user.logOut()
        app.sojourn.authenticate { results.continuation.yield(($0, $1)) }
        let (nobody, error) = try #require(await iterator.next())
        #expect(nobody == nil && error as? StoredCredentialsError == .noStoredCredentials)
        user.refresh { results.continuation.yield(($0, $1)) }
        #expect(await iterator.next()?.1 as? SojournError == .notSignedIn)
    }

    @Test func userWithoutCredentials_isStoredWhenTheSessionIsTakenOver() async throws {
        let app = try await App.new()
        // The app's backend makes the user, and a session for it.
        try await app.server.createUser("pseudo-1")
        let device = try await app.sojourn.deviceIdentity().deviceID
        let answer = try await app.server.openSession(for: "pseudo-1", device: device)
        await #expect(throws: StoredCredentialsError.noStoredCredentials) {
            try await app.sojourn.authenticateWithStoredCredentials()
        }
        try await app.sojourn.adopt(tokenAnswer: answer)
        let user = try await app.restarted().sojourn.authenticateWithStoredCredentials()
        #expect(try await user.refresh().account.username == "pseudo-1")
    }

    @Test func everySuccess_writes_andNoFailureDoes() async throws {
        let app = try await App.new()
        await #expect(throws: SojournError.self) { try await app.sojourn.signIn(username: "anna", password: "no") }
        #expect(try await !app.text().contains("access_token"))
        try await app.sojourn.signIn(username: "anna", password: "pw")
        let first = try await app.text()
        app.server.setReachable(false)
        app.server.clock.advance(by: .seconds(3700))
        _ = try? await app.sojourn.authenticateWithStoredCredentials()
        #expect(try await app.text() == first)
        app.server.setReachable(true)
        _ = try await app.sojourn.accessToken(.fresh)
        #expect(try await app.text() != first)
    }

    @Test func profile_isCodable() throws {
        let account = Account(userID: "u", username: "anna", email: "a@b.example", country: "DE")
        #expect(try JSONDecoder().decode(Account.self, from: JSONEncoder().encode(account)) == account)
    }
}
