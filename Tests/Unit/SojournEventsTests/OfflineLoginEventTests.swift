import SojournClient
import SojournEvents
import SojournTestKit
import Testing

struct OfflineLoginEventTests {
    private func post(_ app: App, _ mode: AuthenticationMode? = nil) async -> OfflineLoginResultEvent {
        await OfflineLoginEvent(userIdentifier: App.anna, authenticationMode: mode).post(to: app.sojourn)
    }

    @Test func modeNo_goesOnSilently_andTheServerHasValidatedIt() async throws {
        let app = try await App.signedIn(.no)
        let result = await post(app)
        #expect(result.status == .ok && result.errorCode == 0 && result.recommendedAction == .none)
        #expect(result.userIdentifier == UserIdentifier(tenantId: "shop", userId: "user1"))
        #expect(app.gate.calls.isEmpty)
        try await app.server.revokeAll("anna")
        #expect(await post(app).status == .loginRequired)
    }

    @Test func modeBiometric_asksOnce_andDenialSendsNothing() async throws {
        let app = try await App.signedIn(.biometric)
        let requests = app.server.requestCount
        app.gate.next(.code(25293), .accept)
        let denied = await post(app)
        #expect(denied.status == .failed && denied.errorCode == 802_025_293)
        #expect(denied.authenticationMode == .biometric)
        #expect(denied.recommendedAction == .biometry(.mayRetryWithCountermeasures))
        #expect(app.server.requestCount == requests)
        #expect(await post(app).status == .ok)
        // One for the login.
        #expect(app.gate.promptCount == 3)
    }

    @Test func modePassword_asksForTheLoginInTheSameMode() async throws {
        let app = try await App.signedIn(.password)
        let requests = app.server.requestCount
        let result = await post(app)
        #expect(result.status == .userRequired && result.recommendedAction == .standardLogin(mode: .password))
        #expect(app.server.requestCount == requests)
    }

    @Test func withoutStoredTokens_nothingIsSent() async throws {
        let app = try await App.new()
        let result = await post(app, .password)
        #expect(result.status == .noTokenDataAvailable && result.status.rawValue == "NO_TOKEN_DATA_AVAILABLE")
        #expect(result.recommendedAction == .standardLogin(mode: .password))
        #expect(app.server.requestCount == 0)
        // Nor for another user than that of the stored session.
        let signedIn = try await App.signedIn(.no)
        let requests = signedIn.server.requestCount
        let other = OfflineLoginEvent(userIdentifier: UserIdentifier(tenantId: "shop", userId: "berta"))
        #expect(await other.post(to: signedIn.sojourn).status == .noTokenDataAvailable)
        #expect(signedIn.server.requestCount == requests)
    }

    @Test(arguments: [AuthenticationMode.no, .biometric, .password])
    func failure_recommendsTheLoginInTheModeOfBefore(mode: AuthenticationMode) async throws {
        let app = try await App.signedIn(mode)
        try await app.server.revokeAll("anna")
        let result = await post(app)
        #expect(result.authenticationMode == mode)
        #expect(result.recommendedAction == .standardLogin(mode: mode))
        // And so does the login that follows, with the mode left out.
        let login = LoginWithTokenEvent(userIdentifier: App.anna, accessToken: "anna", authCode: "c", provider: "acme")
        #expect(await login.post(to: app.sojourn).authenticationMode == mode)
        #expect(await app.sojourn.authenticationMode == mode)
    }

    @Test func storedMode_decides_becauseAnEventTakesNoProtectionAway() async throws {
        let app = try await App.signedIn(.biometric)
        app.gate.next(.code(2))
        #expect(await post(app, AuthenticationMode.no).errorCode == 802_000_002)
        #expect(await post(app).authenticationMode == .biometric)
    }

    @Test func repeatedFailures_askTheUser_andASuccessBeginsAnew() async throws {
        let app = try await App.signedIn(.biometric)
        for _ in 0..<3 { app.gate.next(.deny) }
        _ = await post(app)
        _ = await post(app)
        let asked = PresenceAdvice.askUser([.retry, .usePassword, .unlockWithDeviceCredential])
        #expect(await post(app).recommendedAction == .biometry(asked))
        #expect(await post(app).status == .ok)
    }

    @Test(arguments: BiometryPlatform.allCases)
    func fiveDenials_areALockOut_andThePINLeadsOn(platform: BiometryPlatform) async throws {
        let app = try await App.signedIn(.biometric, platform: platform)
        for _ in 0..<5 { app.gate.next(.deny) }
        for _ in 0..<4 { _ = await post(app) }
        #expect(await post(app).errorCode == (platform == .apple ? 802_000_008 : 802_000_007))
        try await app.sojourn.confirmDeviceCredential()
        #expect(await post(app).status == .ok)
    }

    @Test func otherFailures_haveAStatusAndANextStep() async throws {
        let app = try await App.signedIn(.no)
        app.server.clock.advance(by: .seconds(60))
        try await app.server.disable("anna")
        let disabled = await post(app)
        #expect(disabled.status == .loginDisabled && disabled.recommendedAction == .retryLater)
        try await app.server.enable("anna")
        app.server.setReachable(false)
        let unreachable = await post(app)
        #expect(unreachable.status == .notReachable && unreachable.recommendedAction == .retryLater)
        #expect(await OfflineLoginEvent(userIdentifier: App.anna).post(to: nil).status == .notStarted)
    }

    @Test func performOfflineLogin_callsBackOnce_onTheMainThread() async throws {
        let app = try await App.signedIn(.no)
        let results = AsyncStream<OfflineLoginResultEvent>.makeStream()
        app.sojourn.performOfflineLogin(userIdentifier: App.anna) { result in
            MainActor.assertIsolated()
            results.continuation.yield(result)
            return nil
        }
        var iterator = results.stream.makeAsyncIterator()
        #expect(await iterator.next()?.status == .ok)
    }
}
