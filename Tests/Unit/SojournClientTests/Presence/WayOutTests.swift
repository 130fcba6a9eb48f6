import SojournClient
import SojournTestKit
import Testing

/// What leads on when biometry does not: repeated failures, lock-out, other biometry, no biometry.
struct WayOutTests {
    private func failure(_ phone: Phone) async -> SojournError? {
        await UnlockTests.failure { () throws(SojournError) in try await phone.sojourn.unlock() }
    }

    @Test func threeFailuresInARow_askTheUser_andASuccessBeginsAnew() async throws {
        let phone = try await Phone.signedIn(mode: .biometric).other()
        let asked = PresenceAdvice.askUser([.retry, .usePassword, .unlockWithDeviceCredential])
        phone.gate.next(.deny, .code(128), .deny, .deny)
        #expect(UnlockTests.advice(await failure(phone)) == .mayRetryWithCountermeasures)
        // An interruption does not count.
        #expect(UnlockTests.advice(await failure(phone)) == .mayRetry)
        #expect(UnlockTests.advice(await failure(phone)) == .mayRetryWithCountermeasures)
        #expect(UnlockTests.advice(await failure(phone)) == asked)
        #expect(await failure(phone) == nil)
        await phone.sojourn.lock()
        phone.gate.next(.deny)
        #expect(UnlockTests.advice(await failure(phone)) == .mayRetryWithCountermeasures)
    }

    @Test func appsOwnPolicy_decides() async throws {
        let phone = try await Phone.signedIn(mode: .biometric).other {
            $0.presenceFailuresMax = 2
            $0.presenceAdvice = { error, failures in error.code == 50 && failures == 1 ? .disableBiometry : .mayRetry }
        }
        phone.gate.next(.code(50), .code(50))
        #expect(UnlockTests.advice(await failure(phone)) == .disableBiometry)
        #expect(UnlockTests.advice(await failure(phone)) == .mayRetry)
    }

    @Test(arguments: BiometryPlatform.allCases)
    func fiveDenials_lockBiometry_andTheDeviceCredentialUnlocksIt(platform: BiometryPlatform) async throws {
        let phone = try await Phone.signedIn(mode: .biometric, platform: platform).other()
        for _ in 0..<5 { phone.gate.next(.deny) }
        for _ in 0..<4 { _ = await failure(phone) }
        let lockOut = PresenceError(platform, code: platform == .apple ? 8 : 7)
        let advice = PresenceAdvice.askUser([.unlockWithDeviceCredential, .usePassword])
        #expect(await failure(phone) == .presence(PresenceFailure(lockOut, advice)))
        // It is not asked again while it is locked.
        let prompts = phone.gate.promptCount
        #expect(await failure(phone) == .presence(PresenceFailure(lockOut, advice)))
        #expect(phone.gate.promptCount == prompts)

        phone.gate.setDeviceCredential(exists: true, isGiven: false)
        await #expect(throws: SojournError.self) { try await phone.sojourn.confirmDeviceCredential() }
        #expect(await failure(phone) == .presence(PresenceFailure(lockOut, advice)))
        phone.gate.setDeviceCredential(exists: false)
        #expect(UnlockTests.advice(await failure(phone)) == .askUser([.usePassword]))
        await #expect(throws: SojournError.self) { try await phone.sojourn.confirmDeviceCredential() }
        phone.gate.setDeviceCredential(exists: true)
        try await phone.sojourn.confirmDeviceCredential()
        #expect(phone.gate.calls.last == .credential(PresencePrompt.lockedTitle, PresencePrompt.lockedText))
        #expect(await failure(phone) == nil)
    }

    @Test func lockOutIsNotRemembered_becauseTheDeviceCanBeUnlockedElsewhere() async throws {
        let phone = try await Phone.signedIn(mode: .biometric).other()
        for _ in 0..<5 { phone.gate.next(.deny) }
        for _ in 0..<5 { _ = await failure(phone) }
        phone.gate.unlockDevice()
        #expect(await failure(phone) == nil)
    }

    @Test func lockOut_thenThePassword_keepsSessionAndKeys_andLaterBiometryWorks() async throws {
        let signedIn = try await Phone.signedIn(mode: .biometric)
        let session = try #require(signedIn.record?.session?.sessionID)
        let phone = signedIn.other()
        for _ in 0..<5 { phone.gate.next(.deny) }
        for _ in 0..<5 { _ = await failure(phone) }
        let wrong = await UnlockTests.failure { () throws(SojournError) in
            try await phone.sojourn.unlock(password: "wrong")
        }
        guard case .refused(let refusal)? = wrong, refusal.code == "invalid_credentials" else {
            Issue.record("\(String(describing: wrong))")
            return
        }
        #expect(phone.record?.session?.mode == .biometric && phone.record?.session?.isLocked == true)

        try await phone.sojourn.unlock(password: "pw")
        _ = try await phone.sojourn.accessToken()
        #expect(phone.record?.session?.sessionID == session && phone.record?.session?.mode == .password)
        #expect(phone.record?.session?.gateID == "enrollment-1" && phone.gate.enrollmentCount == 1)

        phone.gate.unlockDevice()
        let prompts = phone.gate.promptCount
        try await phone.sojourn.switchMode(to: .biometric)
        #expect(phone.gate.promptCount == prompts + 1 && phone.gate.enrollmentCount == 1)
        #expect(phone.record?.session?.sessionID == session && phone.record?.session?.mode == .biometric)
        #expect(!phone.store.text.contains("sja_"))
        let restarted = phone.other()
        try await restarted.sojourn.unlock()
        _ = try await restarted.sojourn.accessToken()
    }

    @Test func otherBiometry_thenThePassword_thenNewKeys_andTheSameSession() async throws {
        let signedIn = try await Phone.signedIn(mode: .biometric)
        let session = try #require(signedIn.record?.session?.sessionID)
        let phone = signedIn.other()
        phone.gate.changeEnrollment()
        let text = phone.store.text
        #expect(UnlockTests.advice(await failure(phone)) == .enrollAgain)
        // Again and again: it is no loop, and nothing is lost.
        #expect(UnlockTests.advice(await failure(phone)) == .enrollAgain)
        #expect(phone.store.text == text && phone.gate.promptCount == 1)

        try await phone.sojourn.unlock(password: "pw")
        try await phone.sojourn.switchMode(to: .biometric)
        #expect(phone.gate.promptCount == 2 && phone.gate.enrollmentCount == 1)
        #expect(phone.record?.session?.sessionID == session && phone.record?.session?.gateID == "enrollment-2")
        try await phone.other().sojourn.unlock()
        #expect(phone.wire.requests("/v1/login").count == 2)
    }

    @Test func noBiometry_leavesThePassword_andAnotherMode() async throws {
        let phone = try await Phone.signedIn(mode: .biometric).other()
        phone.gate.setObstacle(6)
        #expect(UnlockTests.advice(await failure(phone)) == .disableBiometry)
        #expect(phone.gate.promptCount == 1)
        try await phone.sojourn.switchMode(to: .no, password: "pw")
        #expect(phone.record?.session?.mode == AuthenticationMode.no)
        guard case .signedIn = await phone.other().sojourn.start() else {
            Issue.record("not silent")
            return
        }
    }

    @Test func passwordOfASessionThatHasEnded_beginsAnother() async throws {
        let phone = try await Phone.signedIn(mode: .biometric).other()
        try await phone.server.revokeAll("anna")
        try await phone.sojourn.unlock(password: "pw")
        #expect(phone.record?.session?.sessionID == "session2" && phone.record?.session?.gateID == nil)
        #expect(phone.gate.enrollmentCount == 0)
        try await phone.sojourn.switchMode(to: .biometric)
        #expect(phone.record?.session?.mode == .biometric)
    }

    @Test func idToken_opensASessionOfAProvider() async throws {
        let phone = try await Phone.new()
        try await phone.sojourn.signIn(idToken: "anna", provider: "acme", mode: .biometric)
        let restarted = phone.other()
        phone.gate.changeEnrollment()
        try await restarted.sojourn.unlock(idToken: "anna", provider: "acme")
        #expect(phone.record?.session?.sessionID == "session1")
        _ = try await restarted.sojourn.accessToken()
    }
}
