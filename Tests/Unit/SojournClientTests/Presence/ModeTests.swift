import SojournClient
import SojournTestKit
import Testing

/// The three modes, and the ways between them.
struct ModeTests {
    static let modes: [AuthenticationMode] = [.no, .biometric, .password]
    static let pairs = modes.flatMap { from in modes.map { (from, $0) } }

    @Test("from each mode to each, and back", arguments: pairs)
    func change(from: AuthenticationMode, to: AuthenticationMode) async throws {
        let phone = try await Phone.signedIn(mode: from)
        let session = phone.record?.session?.sessionID
        try await phone.sojourn.switchMode(to: to)
        #expect(phone.record?.session?.mode == to)
        #expect((phone.record?.session?.sealed != nil) == (to == .biometric))
        #expect(phone.store.text.contains("sja_") == (to != .biometric))
        _ = try await phone.sojourn.accessToken()
        try await phone.sojourn.switchMode(to: from)
        #expect(phone.record?.session?.mode == from && phone.record?.session?.sessionID == session)
        _ = try await phone.sojourn.accessToken()
        // One enrollment at most, and no more prompts than unlocks.
        #expect(phone.gate.enrollmentCount <= 1 && phone.gate.promptCount <= 2)
        guard case .signedIn = phone.sojourn.state else {
            Issue.record("\(phone.sojourn.state)")
            return
        }
    }

    @Test func passwordMode_neverUsesAStoredTokenByItself() async throws {
        let phone = try await Phone.signedIn(mode: .password)
        _ = try await phone.sojourn.accessToken()
        let restarted = phone.other()
        let requests = phone.wire.requests().count
        guard case .presenceRequired(let requirement, _) = await restarted.sojourn.start() else {
            Issue.record("\(restarted.sojourn.state)")
            return
        }
        #expect(requirement.ways == ["password", "id_token"])
        await #expect(throws: SojournError.presenceRequired(requirement)) { try await restarted.sojourn.accessToken() }
        await #expect(throws: SojournError.presenceRequired(requirement)) { try await restarted.sojourn.unlock() }
        #expect(phone.wire.requests().count == requests && phone.gate.promptCount == 0)
        try await restarted.sojourn.unlock(password: "pw")
        _ = try await restarted.sojourn.accessToken()
        #expect(phone.record?.session?.sessionID == "session1" && phone.record?.session?.mode == .password)
    }

    @Test func cancelledPrompt_changesNoMode() async throws {
        let phone = try await Phone.signedIn()
        let (text, requests) = (phone.store.text, phone.wire.requests().count)
        phone.gate.next(.code(128))
        await #expect(throws: SojournError.self) { try await phone.sojourn.switchMode(to: .biometric) }
        #expect(phone.store.text == text && phone.wire.requests().count == requests)
        #expect(phone.gate.enrollmentCount == 0)
    }

    @Test func changeThatTheServerRefuses_changesNothing() async throws {
        let phone = try await Phone.signedIn(mode: .password)
        phone.clock.advance(by: .seconds(301))
        let text = phone.store.text
        let error = await UnlockTests.failure { () throws(SojournError) in
            try await phone.sojourn.switchMode(to: .biometric)
        }
        guard case .presenceRequired(let requirement)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(requirement.ways == ["password"])
        #expect(phone.store.text == text && phone.gate.enrollmentCount == 0 && phone.gate.openCount == 0)
        guard case .signedIn = phone.sojourn.state else {
            Issue.record("\(phone.sojourn.state)")
            return
        }
        try await phone.sojourn.switchMode(to: .biometric, password: "pw")
        #expect(phone.record?.session?.mode == .biometric)
    }

    @Test func lostAnswer_leavesTheModeThatWasStored() async throws {
        let phone = try await Phone.signedIn()
        phone.wire.next(Wire.loseAnswer)
        await #expect(throws: SojournError.self) { try await phone.sojourn.switchMode(to: .biometric) }
        #expect(phone.record?.session?.mode == AuthenticationMode.no && phone.gate.enrollmentCount == 0)
        try await phone.sojourn.switchMode(to: .biometric)
        #expect(phone.record?.session?.mode == .biometric)
        try await phone.other().sojourn.unlock()
    }

    @Test func modeCannotBeChanged_duringAnActivation() async throws {
        let phone = try await Phone.new()
        let shown = Gate()
        phone.gate.holdPrompts { await shown.pass() }
        let login = Task { try await phone.sojourn.signIn(username: "anna", password: "pw", mode: .biometric) }
        await until("the prompt is shown") { await shown.waiting == 1 }
        let error = await UnlockTests.failure { () throws(SojournError) in
            try await phone.sojourn.switchMode(to: .password)
        }
        guard case .refused(let refusal)? = error, refusal.code == "activation_pending" else {
            Issue.record("\(String(describing: error))")
            return
        }
        await shown.open()
        _ = try await login.value
        try await phone.sojourn.switchMode(to: .password)
    }

    @Test func activationThatFailed_isMadeUpForByTheNextUnlock() async throws {
        let phone = try await Phone.new()
        phone.wire.next(Wire.pass, Wire.loseRequest)
        try await phone.sojourn.signIn(username: "anna", password: "pw", mode: .biometric)
        let restarted = phone.other()
        try await restarted.sojourn.unlock()
        try await restarted.sojourn.switchMode(to: .password)
        #expect(phone.record?.session?.mode == .password)
    }

    @Test func stateNamesTheMode_inWhichTheUserLogsInAgain() async throws {
        let phone = try await Phone.signedIn(mode: .biometric)
        try await phone.server.revokeAll("anna")
        let restarted = phone.other()
        await #expect(throws: SojournError.ended(.revokedByAdmin)) { try await restarted.sojourn.unlock() }
        guard case .ended(.revokedByAdmin, let account, .biometric) = restarted.sojourn.state else {
            Issue.record("\(restarted.sojourn.state)")
            return
        }
        #expect(account.username == "anna")
    }
}
