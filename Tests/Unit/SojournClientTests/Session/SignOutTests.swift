import SojournClient
import SojournTestKit
import Testing

/// What happens when a user signs out, or another one signs in, while something is under way.
struct SignOutTests {
    @Test func lateTokens_afterASignOut_touchNothing() async throws {
        let phone = try await Phone.signedIn()
        let gate = Gate()
        phone.wire.next(Wire.holdAnswer(gate))
        phone.clock.advance(by: .seconds(3700))
        let caller = Task { try await phone.sojourn.accessToken(.fresh) }
        await until("the renewal is under way") { await gate.waiting == 1 }
        await phone.sojourn.signOut()
        #expect(phone.sojourn.state == .signedOut(.byUser))
        await gate.open()
        await #expect(throws: SojournError.notSignedIn) { try await caller.value }
        #expect(phone.record?.session == nil && phone.record?.isSignedOut == true)
        #expect(phone.sojourn.state == .signedOut(.byUser))
    }

    @Test func lateTokens_afterAnotherUsersLogin_touchNothing() async throws {
        let phone = try await Phone.signedIn()
        let gate = Gate()
        phone.wire.next(Wire.holdAnswer(gate))
        phone.clock.advance(by: .seconds(3700))
        let caller = Task { try await phone.sojourn.accessToken(.fresh) }
        await until("the renewal is under way") { await gate.waiting == 1 }
        try await phone.sojourn.signIn(username: "berta", password: "pw")
        let stored = phone.record?.session
        await gate.open()
        // Anna's caller does not get Berta's token.
        await #expect(throws: SojournError.cancelled) { try await caller.value }
        #expect(phone.record?.session == stored && stored?.account.username == "berta")
    }

    @Test func lateRefusal_endsOnlyTheSessionThatWasPresented() async throws {
        let phone = try await Phone.signedIn()
        let gate = Gate()
        try await phone.server.revokeAll("anna")
        phone.wire.next(Wire.holdAnswer(gate))
        phone.clock.advance(by: .seconds(3700))
        let caller = Task { try await phone.sojourn.accessToken(.fresh) }
        await until("the renewal is under way") { await gate.waiting == 1 }
        try await phone.sojourn.signIn(username: "berta", password: "pw")
        await gate.open()
        await #expect(throws: SojournError.cancelled) { try await caller.value }
        #expect(phone.record?.session?.ending == nil)
        guard case .signedIn(let account, .current) = phone.sojourn.state else {
            Issue.record("\(phone.sojourn.state)")
            return
        }
        #expect(account.username == "berta")
    }

    @Test func cancelling99Of100Callers_cancelsNothing() async throws {
        let phone = try await Phone.signedIn()
        let gate = Gate()
        phone.wire.next(Wire.holdAnswer(gate))
        phone.clock.advance(by: .seconds(3700))
        let callers = (0..<100).map { _ in Task { try await phone.sojourn.accessToken(.fresh) } }
        await until("the renewal is under way") { await gate.waiting == 1 }
        await whileOthersRun()
        for caller in callers.dropLast() { caller.cancel() }
        for caller in callers.dropLast() {
            await #expect(throws: SojournError.cancelled) { try await caller.value }
        }
        await gate.open()
        let token = try await callers[99].value
        #expect(token.value == phone.record?.session?.accessToken)
        #expect(phone.wire.renewals.count == 1)
    }

    @Test func renewal_goesOn_whenItsOnlyCallerIsCancelled() async throws {
        let phone = try await Phone.signedIn()
        let gate = Gate()
        phone.wire.next(Wire.holdAnswer(gate))
        phone.clock.advance(by: .seconds(3700))
        let old = phone.record?.session?.accessToken
        let caller = Task { try await phone.sojourn.accessToken(.fresh) }
        await until("the renewal is under way") { await gate.waiting == 1 }
        caller.cancel()
        await #expect(throws: SojournError.cancelled) { try await caller.value }
        await gate.open()
        await until("the tokens are stored") { phone.record?.session?.accessToken != old }
    }

    // MARK: Offline

    @Test func signOutOffline_isLocalAtOnce_andTheDebtIsPaidOnceAfterARestart() async throws {
        let phone = try await Phone.signedIn()
        let token = try #require(phone.record?.session?.refreshToken)
        phone.server.setReachable(false)
        let isWritten = await phone.sojourn.signOut()
        #expect(isWritten && phone.sojourn.state == .signedOut(.byUser))
        #expect(phone.record?.debts.map(\.token) == [token])
        await #expect(throws: SojournError.notSignedIn) { try await phone.sojourn.accessToken() }
        #expect(await !phone.sojourn.settle(within: .seconds(5)))
        #expect(phone.wire.logouts.count == 2)
        // After a new start, and with the network back.
        let restarted = phone.other()
        phone.server.setReachable(true)
        #expect(await restarted.sojourn.start() == .signedOut(.byUser))
        await until("the debt is paid") { phone.record?.debts.isEmpty == true }
        #expect(phone.wire.logouts.count == 3)
        let again = phone.other()
        await again.sojourn.start()
        await whileOthersRun()
        #expect(phone.wire.logouts.count == 3)
        #expect(phone.wire.logouts.last.map { String(decoding: $0.body, as: UTF8.self).contains(token) } == true)
    }

    @Test func loginIsNotHindered_byADebt() async throws {
        let phone = try await Phone.signedIn()
        phone.server.setReachable(false)
        await phone.sojourn.signOut()
        #expect(await !phone.sojourn.settle(within: .seconds(5)))
        phone.server.setReachable(true)
        try await phone.sojourn.signIn(username: "anna", password: "pw")
        await until("the debt is paid") { phone.record?.debts.isEmpty == true }
        // The debt was that of the old session: the new one goes on.
        phone.clock.advance(by: .seconds(3700))
        _ = try await phone.sojourn.accessToken(.fresh)
    }

    @Test func sessionOfTheUserBefore_isLoggedOut_whenAnotherUserLogsIn() async throws {
        let phone = try await Phone.signedIn()
        let token = try #require(phone.record?.session?.refreshToken)
        try await phone.sojourn.signIn(username: "berta", password: "pw")
        await until("the debt is paid") { phone.record?.debts.isEmpty == true }
        #expect(phone.wire.logouts.map { String(decoding: $0.body, as: UTF8.self) }.contains { $0.contains(token) })
    }

    @Test func storeThatCannotBeWritten_isSignedOutAllTheSame_andWrittenLater() async throws {
        let phone = try await Phone.signedIn()
        phone.store.fail(writes: .failed(5, "disk"))
        let isWritten = await phone.sojourn.signOut()
        #expect(!isWritten && phone.sojourn.state == .signedOut(.byUser))
        await #expect(throws: SojournError.notSignedIn) { try await phone.sojourn.accessToken() }
        #expect(phone.sojourn.state == .signedOut(.byUser))
        phone.store.fail(writes: nil)
        await #expect(throws: SojournError.notSignedIn) { try await phone.sojourn.accessToken() }
        #expect(phone.record?.session == nil)
        #expect(phone.sojourn.state == .signedOut(.byUser))
    }

    @Test func loginThatIsOvertakenByASignOut_leavesNoSession() async throws {
        let phone = try await Phone.new()
        let gate = Gate()
        phone.wire.next(Wire.holdAnswer(gate))
        let login = Task { try await phone.sojourn.signIn(username: "anna", password: "pw") }
        await until("the login is under way") { await gate.waiting == 1 }
        await phone.sojourn.signOut()
        await gate.open()
        await #expect(throws: SojournError.cancelled) { try await login.value }
        #expect(phone.record?.session == nil)
        await until("the server is told") { phone.record?.debts.isEmpty == true && phone.wire.logouts.count == 1 }
    }

    @Test func cookiesOfProviders_areCleared_afterLoginAndSignOut() async throws {
        let cleared = Guarded(0)
        let phone = try await Phone.new { $0.clearProviderCookies = { cleared.withLock { $0 += 1 } } }
        try await phone.sojourn.signIn(idToken: "anna", provider: "google", nonce: "n")
        #expect(cleared.withLock { $0 } == 1)
        await phone.sojourn.signOut()
        #expect(cleared.withLock { $0 } == 2)
    }

    @Test func forgottenDevice_isNew() async throws {
        let phone = try await Phone.signedIn(renewal: .boundRefreshToken)
        let old = phone.record?.deviceID
        try await phone.sojourn.forgetDevice()
        #expect(phone.record == nil && phone.sojourn.state == .signedOut(.never))
        #expect(try await phone.keys.key(.device) == nil)
        #expect(phone.wire.logouts.count == 1)
        try await phone.sojourn.signIn(username: "anna", password: "pw")
        #expect(phone.record?.deviceID != old)
    }
}
