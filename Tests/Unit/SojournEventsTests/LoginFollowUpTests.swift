import SojournClient
import SojournEvents
import SojournTestKit
import Testing

/// What the vendor's sample app does after a result, in order.
struct LoginFollowUpTests {
    private func offline(_ code: Int?) async throws -> OfflineLoginResultEvent {
        let app = try await App.signedIn(.biometric)
        if let code { app.gate.next(.code(code)) }
        return await OfflineLoginEvent(userIdentifier: App.anna).post(to: app.sojourn)
    }

    private func code(_ code: Int?, user: String = "anna") async throws -> SetAuthorisationCodeResultEvent {
        let app = try await App.new()
        if let code { app.gate.next(.code(code)) }
        return await SetAuthorisationCodeEvent(
            credential: .idToken(user, provider: "acme"), authenticationMode: .biometric
        ).post(to: app.sojourn)
    }

    @Test func success_fetchesTheProfile_thenShowsTheApp() async throws {
        #expect(try await offline(nil).followUp == [.getInformation, .showTabBar])
        #expect(try await code(nil).followUp == [.getInformation, .showTabBar])
    }

    @Test(arguments: [128, 2, 4, 9])
    func interruption_offersToSwitchBiometryOff_thenStartsOver(code: Int) async throws {
        #expect(try await offline(code).followUp == [.offerDisableBiometry, .restartLogin])
    }

    @Test(arguments: [25293, 50, 67811, 8, 25299])
    func otherBiometricError_isShown_thenStartsOver(code: Int) async throws {
        let error = try #require(BiometricError(rawValue: code))
        let alert = LoginFollowUp.alert(title: error.title(), message: error.errorDescription())
        #expect(try await offline(code).followUp == [alert, .restartLogin])
        #expect(try await self.code(code).followUp == [alert, .restartLogin])
    }

    @Test func otherFailure_startsOver() async throws {
        let app = try await App.new()
        let result = await OfflineLoginEvent(userIdentifier: App.anna).post(to: app.sojourn)
        #expect(result.followUp == [.restartLogin])
        // A code that the vendor's table does not have is no biometric error to it.
        #expect(try await offline(7).followUp == [.restartLogin])
        let message = StatusType.accessDenied.activationLoginError
        #expect(
            try await code(nil, user: "unknown").followUp
                == [.alert(title: "KSMSetAuthorisationCodeResultEvent", message: message), .restartLogin])
    }

    @Test func failuresWaitForThePromptToGo() {
        #expect(OfflineLoginResultEvent.failureDelay == .milliseconds(800))
    }

    @Test func eachStatus_hasASentenceOfItsOwn() {
        let sentences = StatusType.allCases.map(\.activationLoginError)
        #expect(Set(sentences).count == StatusType.allCases.count)
        #expect(Set(StatusType.allCases.map(\.rawValue)).isSuperset(of: ["OK", "FAILED", "NO_TOKEN_DATA_AVAILABLE"]))
        for sentence in sentences { #expect(sentence.hasSuffix(".")) }
    }
}
