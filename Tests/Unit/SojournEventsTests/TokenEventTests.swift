import Foundation
import SojournClient
import SojournEvents
import SojournTestKit
import Testing

/// `LoginWithTokenEvent` and `SetAuthorisationCodeEvent`.
struct TokenEventTests {
    private func login(_ token: String?, _ code: String?, _ mode: AuthenticationMode? = nil) -> LoginWithTokenEvent {
        LoginWithTokenEvent(
            userIdentifier: App.anna, accessToken: token, authCode: code, provider: "acme", authenticationMode: mode)
    }

    @Test("three modes", arguments: [AuthenticationMode.no, .biometric, .password])
    func modes(mode: AuthenticationMode) async throws {
        #expect(["NO", "BIOMETRIC", "PASSWORD"].contains(mode.rawValue))
        let app = try await App.new()
        let result = await login("anna", "code", mode).post(to: app.sojourn)
        #expect(result.status == .ok && result.authenticationMode == mode)
        #expect(await app.sojourn.authenticationMode == mode)
        let code = SetAuthorisationCodeEvent(
            userIdentifier: App.anna, credential: .idToken("anna", provider: "acme"), authenticationMode: mode)
        #expect(await code.post(to: app.sojourn).status == .ok)
        for word in ["no", "FACE", ""] { #expect(AuthenticationMode(rawValue: word) == nil) }
    }

    @Test func fullParameters_areStored_andTheNextEventNeedsNone() async throws {
        let app = try await App.new()
        #expect(await login(nil, nil).post(to: app.sojourn).status == .noTokenDataAvailable)
        #expect(await login("anna", "code").post(to: app.sojourn).status == .ok)
        #expect(try await app.text().contains("sjr_"))
        #expect(await login(nil, nil).post(to: app.restarted().sojourn).status == .ok)
        await app.sojourn.signOut()
        #expect(await login(nil, nil).post(to: app.restarted().sojourn).status == .noTokenDataAvailable)
    }

    @Test func partOfTheParameters_isInvalid_andChangesNothing() async throws {
        let app = try await App.new()
        for event in [login("anna", nil), login(nil, "code")] {
            let result = await event.post(to: app.sojourn)
            #expect(result.status == .invalidParameter && result.recommendedAction == .fix)
        }
        #expect(try await app.text().isEmpty && app.server.requestCount == 0)
    }

    @Test func codeWithoutALoginPage_isRefusedClearly_andSentNowhere() async throws {
        let app = try await App.new()
        let result = await SetAuthorisationCodeEvent(authorisationCode: "c", authenticationMode: .biometric)
            .post(to: app.sojourn)
        #expect(result.status == .invalidParameter && result.recommendedAction == .fix && result.errorCode == 0)
        #expect(app.server.requestCount == 0 && app.gate.calls.isEmpty)
    }

    @Test("a code, in three modes", arguments: [AuthenticationMode.no, .biometric, .password])
    func code(mode: AuthenticationMode) async throws {
        let app = try await App.new()
        let event = SetAuthorisationCodeEvent(
            userIdentifier: App.anna, authorisationCode: try await app.code(), authenticationMode: mode)
        if mode == .biometric {
            app.gate.next(.code(4))
            #expect(await event.post(to: app.restarted().sojourn).status == .failed)
        }
        let restarted = app.restarted()
        let result = await event.post(to: restarted.sojourn)
        #expect(result.status == .ok && result.userIdentifier.userId == "user1")
        #expect(await restarted.sojourn.authenticationMode == mode)
        #expect(await event.post(to: restarted.sojourn).status == .invalidParameter)
    }

    @Test func codeOfAnotherLogin_isRefused() async throws {
        let app = try await App.new()
        _ = try await app.code()
        let event = SetAuthorisationCodeEvent(authorisationCode: "sjc_other", authenticationMode: .no)
        #expect(await event.post(to: app.sojourn).status == .accessDenied)
        #expect(try await !app.text().contains("sjr_"))
    }

    @Test(arguments: [128, 2, 4, 9])
    func interruption_consumesNothing_andTheSameEventCanBePostedAgain(code: Int) async throws {
        let app = try await App.new()
        let event = SetAuthorisationCodeEvent(
            userIdentifier: App.anna, credential: .idToken("anna", provider: "acme"), authenticationMode: .biometric)
        app.gate.next(.code(code))
        let result = await event.post(to: app.sojourn)
        #expect(result.status == .failed && result.errorCode == 802_000_000 + code)
        #expect(result.recommendedAction == .biometry(.mayRetry))
        #expect(try await app.text().isEmpty && app.server.requestCount == 0)
        #expect(await event.post(to: app.sojourn).status == .ok)
        let text = try await app.text()
        #expect(text.contains("sealed") && !text.contains("sja_"))
    }

    @Test func failedOfflineLogin_thenALoginInTheSameMode_storesTheTokensUnderSealAgain() async throws {
        let app = try await App.signedIn(.biometric)
        try await app.server.revokeAll("anna")
        let offline = await OfflineLoginEvent(userIdentifier: App.anna).post(to: app.sojourn)
        guard case .standardLogin(let mode) = offline.recommendedAction else {
            Issue.record("\(offline.recommendedAction)")
            return
        }
        let event = SetAuthorisationCodeEvent(
            userIdentifier: App.anna, credential: .idToken("anna", provider: "acme"), authenticationMode: mode)
        #expect(await event.post(to: app.sojourn).status == .ok)
        #expect(try await !app.text().contains("sja_"))
        #expect(await OfflineLoginEvent(userIdentifier: App.anna).post(to: app.restarted().sojourn).status == .ok)
    }

    /// The ways to log in by the provider's page while biometry is locked.
    enum Fallback: CaseIterable {
        case code, idToken, tokens, pageOfTheSDK

        func logIn(_ app: App, _ mode: AuthenticationMode) async throws -> StatusType {
            switch self {
            case .code:
                let code = try await app.code()
                return await SetAuthorisationCodeEvent(
                    userIdentifier: App.anna, authorisationCode: code, authenticationMode: mode
                ).post(to: app.sojourn).status
            case .idToken:
                return await SetAuthorisationCodeEvent(
                    userIdentifier: App.anna, credential: .idToken("anna", provider: "acme"), authenticationMode: mode
                ).post(to: app.sojourn).status
            case .tokens:
                return await LoginWithTokenEvent(
                    userIdentifier: App.anna, accessToken: "anna", authCode: "c", provider: "acme",
                    authenticationMode: mode
                ).post(to: app.sojourn).status
            case .pageOfTheSDK:
                let redirectURI = try #require(URL(string: "com.example.app:/callback"))
                try await app.server.setRedirectURIs([redirectURI.absoluteString])
                try await app.sojourn.signIn(
                    through: FormLoginPresenter(app.server, username: "anna", password: "pw"),
                    LoginPage(redirectURI: redirectURI), mode: mode)
                return .ok
            }
        }
    }

    @Test("a login while biometry is locked keeps the session and both keys", arguments: Fallback.allCases)
    func lockOut_thenALogin_keepsSessionAndKeys(_ way: Fallback) async throws {
        let app = try await App.signedIn(.biometric)
        let before = try SessionRecord(parsing: Array(try await app.text().utf8))
        let (id, gate) = (try #require(before.session?.sessionID), try #require(before.session?.gateID))
        for _ in 0..<5 { app.gate.next(.deny) }
        for _ in 0..<5 { _ = await OfflineLoginEvent(userIdentifier: App.anna).post(to: app.sojourn) }
        #expect(try await way.logIn(app, .password) == .ok)
        func session() async throws -> StoredSession {
            try #require(try SessionRecord(parsing: Array(try await app.text().utf8)).session)
        }
        let fallback = try await session()
        #expect(fallback.sessionID == id && fallback.gateID == gate && fallback.mode == .password)
        #expect(fallback.keyThumbprint == before.session?.keyThumbprint && fallback.sealed == nil)
        // Biometry is back: its keys are still there, and the session is that of before.
        app.gate.unlockDevice()
        try await app.sojourn.switchMode(to: .biometric)
        let back = try await session()
        #expect(back.sessionID == id && back.gateID == gate && back.sealed != nil)
        #expect(await OfflineLoginEvent(userIdentifier: App.anna).post(to: app.restarted().sojourn).status == .ok)
        // In its own mode a login keeps them too.
        let restarted = app.restarted()
        #expect(try await way.logIn(restarted, .biometric) == .ok)
        let again = try await session()
        #expect(again.sessionID == id && again.gateID == gate && app.gate.enrollmentCount == 1)
    }

    @Test func loginOfAnotherUser_continuesNothing() async throws {
        let app = try await App.signedIn(.biometric)
        try await app.server.createUser("berta", password: "pw")
        let id = try SessionRecord(parsing: Array(try await app.text().utf8)).session?.sessionID
        let result = await login("berta", "c", .password).post(to: app.sojourn)
        #expect(result.status == .ok && result.userIdentifier.userId == "user2")
        let record = try SessionRecord(parsing: Array(try await app.text().utf8))
        #expect(record.session?.sessionID != id && record.session?.account.username == "berta")
    }

    @Test func user_isKnownAfterTheLogin_inTheTenantOfTheEvent() async throws {
        let app = try await App.new()
        let event = SetAuthorisationCodeEvent(
            userIdentifier: UserIdentifier(tenantId: "shop", userId: ""),
            credential: .idToken("anna", provider: "acme"), authenticationMode: .no)
        let result = await event.post(to: app.sojourn)
        #expect(result.userIdentifier == UserIdentifier(tenantId: "shop", userId: "user1"))
        #expect(try await app.sojourn.refreshProfile().userID == "user1")
    }

    @Test func refusals_haveAStatus() async throws {
        let app = try await App.new()
        #expect(await login("unknown", "c").post(to: app.sojourn).status == .accessDenied)
        try await app.server.disable("anna")
        #expect(await login("anna", "c").post(to: app.sojourn).status == .loginDisabled)
        #expect(await login("anna", "c").post(to: nil).status == .notStarted)
        let event = SetAuthorisationCodeEvent(authorisationCode: "c", authenticationMode: .no)
        #expect(await event.post(to: nil).status == .notStarted)
    }
}
