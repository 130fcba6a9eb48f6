import SojournClient
import SojournTestKit
import Testing

/// A session in the mode `BIOMETRIC`: the gate, then the tokens, then the network.
struct UnlockTests {
    static func failure(_ body: () async throws(SojournError) -> Void) async -> SojournError? {
        do throws(SojournError) {
            try await body()
            return nil
        } catch { return error }
    }

    static func advice(_ error: SojournError?) -> PresenceAdvice? {
        if case .presence(let failure)? = error { failure.advice } else { nil }
    }

    @Test func login_asksOnce_beforeAnythingIsSent_andRegistersTheKey() async throws {
        let phone = try await Phone.new()
        phone.gate.holdPrompts { [wire = phone.wire] in #expect(wire.requests().isEmpty) }
        try await phone.sojourn.signIn(username: "anna", password: "pw", mode: .biometric, reason: "Keep me.")
        #expect(phone.gate.calls == [.prompt("Keep me.")])
        let login = try #require(JSONValue(parsing: phone.wire.requests("/v1/login")[0].body)?.members)
        #expect(
            login["presence_key"]?.members?.text("crv") == "P-256" && login.text("authentication_mode") == "BIOMETRIC")
        // Its first signature ends the activation.
        #expect(phone.wire.requests("/v1/me/presence").count == 1)
        #expect(phone.record?.session?.gateID == "enrollment-1")
        guard case .signedIn = phone.sojourn.state else {
            Issue.record("\(phone.sojourn.state)")
            return
        }
        _ = try await phone.sojourn.accessToken()
        #expect(phone.gate.promptCount == 1)
    }

    @Test func tokens_areNeverStoredInClear() async throws {
        let phone = try await Phone.signedIn(mode: .biometric)
        for _ in 0..<3 {
            #expect(phone.record?.session?.isLocked == true)
            #expect(!phone.store.text.contains("sja_") && !phone.store.text.contains("sjr_"))
            #expect(phone.store.text.contains("anna"))
            phone.clock.advance(by: .seconds(3700))
            _ = try await phone.sojourn.accessToken(.fresh)
        }
        #expect(phone.wire.renewals.count == 3)
        // Otherwise the test above looks for the wrong words.
        let silent = try await Phone.signedIn()
        #expect(silent.store.text.contains("sja_") && silent.store.text.contains("sjr_"))
    }

    @Test func start_sendsNothing_untilTheUserHasUnlocked() async throws {
        let phone = try await Phone.signedIn(mode: .biometric)
        let restarted = phone.other()
        let before = phone.wire.requests().count
        guard case .presenceRequired(let requirement, let account) = await restarted.sojourn.start() else {
            Issue.record("\(restarted.sojourn.state)")
            return
        }
        #expect(requirement.ways == ["presence", "password", "id_token"] && account.username == "anna")
        await #expect(throws: SojournError.presenceRequired(requirement)) { try await restarted.sojourn.accessToken() }
        #expect(phone.wire.requests().count == before && phone.gate.promptCount == 1)

        phone.gate.holdPrompts { [wire = phone.wire] in #expect(wire.requests().count == before) }
        try await restarted.sojourn.unlock(reason: "Open.")
        phone.gate.holdPrompts(nil)
        #expect(phone.gate.calls.last == .prompt("Open.") && phone.gate.promptCount == 2)
        // The server has seen the presence, and has validated the session.
        #expect(phone.wire.renewals.last?.form["user_assertion"] != nil)
        guard case .signedIn(_, .current) = restarted.sojourn.state else {
            Issue.record("\(restarted.sojourn.state)")
            return
        }
        // Open until it is locked: no further prompt.
        try await restarted.sojourn.unlock()
        _ = try await restarted.sojourn.accessToken()
        #expect(phone.gate.promptCount == 2)
        await restarted.sojourn.lock()
        await #expect(throws: SojournError.presenceRequired(requirement)) { try await restarted.sojourn.accessToken() }
        try await restarted.sojourn.unlock()
        #expect(phone.gate.promptCount == 3 && phone.gate.openCount == 2)
    }

    @Test(arguments: [128, 2, 4, 9, 1004, 25293, 50, 10, 1, 7, 5, 6, 8, 4711])
    func gateThatFails_sendsNothing_andChangesNothing(code: Int) async throws {
        let phone = try await Phone.signedIn(mode: .biometric)
        let restarted = phone.other()
        let state = await restarted.sojourn.start()
        let (text, requests) = (phone.store.text, phone.wire.requests().count)
        phone.gate.next(.code(code))
        let error = await Self.failure { () throws(SojournError) in try await restarted.sojourn.unlock() }
        let expected = PresenceError(.apple, code: code)
        #expect(error == .presence(PresenceFailure(expected, expected.kind.advice())))
        #expect(phone.store.text == text && phone.wire.requests().count == requests)
        #expect(restarted.sojourn.state == state)
        try await restarted.sojourn.unlock()
        _ = try await restarted.sojourn.accessToken()
    }

    @Test func loginThatIsCancelled_sendsNothing_andCanBeTriedAgain() async throws {
        let phone = try await Phone.signedIn()
        let text = phone.store.text
        let requests = phone.wire.requests().count
        phone.gate.next(.code(4))
        let error = await Self.failure { () throws(SojournError) in
            try await phone.sojourn.signIn(idToken: "anna", provider: "acme", mode: .biometric)
        }
        #expect(Self.advice(error) == .mayRetry)
        #expect(phone.store.text == text && phone.wire.requests().count == requests)
        #expect(phone.gate.enrollmentCount == 0)
        try await phone.sojourn.signIn(idToken: "anna", provider: "acme", mode: .biometric)
    }

    @Test func loginThatIsRefused_leavesTheOldKeys() async throws {
        let phone = try await Phone.signedIn(mode: .biometric)
        await #expect(throws: SojournError.self) {
            try await phone.sojourn.signIn(username: "anna", password: "wrong", mode: .biometric)
        }
        #expect(phone.gate.enrollmentCount == 1)
        try await phone.other().sojourn.unlock()
        // A login that succeeds goes on with them; of a session that has ended it replaces them.
        try await phone.sojourn.signIn(username: "anna", password: "pw", mode: .biometric)
        #expect(phone.gate.enrollmentCount == 1 && phone.record?.session?.gateID == "enrollment-1")
        try await phone.server.revokeAll("anna")
        await phone.sojourn.start()
        #expect(await phone.sojourn.settle(within: .seconds(5)))
        try await phone.sojourn.signIn(username: "anna", password: "pw", mode: .biometric)
        #expect(phone.gate.enrollmentCount == 1 && phone.record?.session?.gateID == "enrollment-2")
    }

    @Test func promptsAreShared_andWaitForTheApp() async throws {
        let ready = Gate()
        let phone = try await Phone.signedIn(mode: .biometric)
        let restarted = phone.other {
            $0.readyForUser = {
                await ready.pass(); return true
            }
        }
        let unlocks = (0..<5).map { _ in Task { try await restarted.sojourn.unlock() } }
        await until("an unlock waits for the app") { await ready.waiting > 0 }
        await whileOthersRun()
        #expect(phone.gate.promptCount == 1)
        await ready.open()
        for unlock in unlocks { try await unlock.value }
        #expect(phone.gate.promptCount == 2 && phone.wire.renewals.count == 1)
        let busy = phone.other { $0.readyForUser = { false } }
        await #expect(throws: SojournError.cancelled) { try await busy.sojourn.unlock() }
        #expect(phone.gate.promptCount == 2)
    }

    @Test func unlockWorksWithoutTheNetwork_unlessTheServerAsksForTheUser() async throws {
        let phone = try await Phone.signedIn(mode: .biometric)
        let restarted = phone.other()
        phone.server.setReachable(false)
        try await restarted.sojourn.unlock()
        _ = try await restarted.sojourn.accessToken()
    }

    @Test func unlockLapses() async throws {
        let phone = try await Phone.signedIn(mode: .biometric) { $0.unlockLasts = .seconds(60) }
        phone.clock.advance(by: .seconds(59))
        _ = try await phone.sojourn.accessToken()
        phone.clock.advance(by: .seconds(1))
        await #expect(throws: SojournError.self) { try await phone.sojourn.accessToken() }
        guard case .presenceRequired = phone.sojourn.state else {
            Issue.record("\(phone.sojourn.state)")
            return
        }
        #expect(phone.gate.openCount == 0)
    }

    @Test func renewalUnderWay_isStoredUnderSeal_whenTheAppLocks() async throws {
        let phone = try await Phone.signedIn(mode: .biometric)
        phone.clock.advance(by: .seconds(3700))
        let gate = Gate()
        phone.wire.next(Wire.holdAnswer(gate))
        let token = Task { try await phone.sojourn.accessToken(.fresh) }
        await until("the renewal is under way") { await gate.waiting == 1 }
        let sealed = phone.record?.session?.sealed
        await phone.sojourn.lock()
        await gate.open()
        await #expect(throws: SojournError.self) { try await token.value }
        #expect(phone.record?.session?.sealed != sealed && !phone.store.text.contains("sja_"))
        try await phone.sojourn.unlock()
    }

    @Test func signOut_removesTheKeys_andTellsTheServer() async throws {
        let phone = try await Phone.signedIn(mode: .biometric)
        #expect(await phone.sojourn.signOut())
        await until("the server is told") { phone.record?.debts.isEmpty == true }
        #expect(phone.wire.logouts.count == 1)
        #expect(phone.gate.enrollmentCount == 0 && phone.gate.openCount == 0 && phone.record?.session == nil)
    }

    @Test func withoutAGate_biometryIsMisconfigured() async throws {
        let server = FakeServer()
        try await server.createUser("anna", password: "pw")
        let sojourn = Sojourn(
            SojournConfiguration(server: server.url), store: MemoryStore(), keys: TestKeys(), transport: server,
            clock: server.clock)
        await #expect(throws: SojournError.misconfigured("biometry needs a PresenceGate")) {
            try await sojourn.signIn(username: "anna", password: "pw", mode: .biometric)
        }
        #expect(server.requestCount == 0)
    }
}
