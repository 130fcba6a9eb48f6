import SojournClient
import SojournEvents

/// The vendor's `performOfflineLogin`, and what the sample app does with the result.
func offlineLogin(of user: UserIdentifier, by sojourn: Sojourn, in screens: some LoginScreens) {
    sojourn.performOfflineLogin(userIdentifier: user) { result in
        Task {
            if result.status != .ok { try? await Task.sleep(for: OfflineLoginResultEvent.failureDelay) }
            for step in result.followUp { await screens.show(step) }
        }
        return nil
    }
}

/// A login after the identity provider's page, in the mode that the result has recommended.
func login(after result: OfflineLoginResultEvent, idToken: String, by sojourn: Sojourn) async -> StatusType {
    guard case .standardLogin(let mode) = result.recommendedAction else { return result.status }
    let event = SetAuthorisationCodeEvent(
        userIdentifier: result.userIdentifier, credential: .idToken(idToken, provider: "acme"),
        authenticationMode: mode)
    return await event.post(to: sojourn).status
}

/// The screens of the app.
protocol LoginScreens: Sendable {
    func show(_ step: LoginFollowUp) async
}
