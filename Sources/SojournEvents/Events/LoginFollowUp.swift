/// A step of the vendor's sample app after a result. The app carries the steps out, in order.
public enum LoginFollowUp: Hashable, Sendable {
    /// `triggerGetInformation()`, in the background: `Sojourn.refreshProfile()`.
    case getInformation
    /// `showTabBar()`, on the main thread.
    case showTabBar
    /// `showDisableBiometryAlert`, which offers a mode without biometry.
    case offerDisableBiometry
    /// An alert.
    case alert(title: String, message: String)
    /// `restartLogin()`: the login from its beginning.
    case restartLogin
}

extension OfflineLoginResultEvent {
    /// How long the sample app waits before the steps of a failure, so that the system's prompt is gone.
    public static let failureDelay = Duration.milliseconds(800)

    /// What `handleOfflineLoginresult` does.
    public var followUp: [LoginFollowUp] {
        if status == .ok { return [.getInformation, .showTabBar] }
        guard let error = BiometricError(errorCode: errorCode) else { return [.restartLogin] }
        if error.isCanceled { return [.offerDisableBiometry, .restartLogin] }
        return [.alert(title: error.title(), message: error.errorDescription()), .restartLogin]
    }
}

extension SetAuthorisationCodeResultEvent {
    /// What `setAuthorizationResult` does. There is no `getAstClientData` before the next login: a login needs no data of the server.
    public var followUp: [LoginFollowUp] {
        if status == .ok { return [.getInformation, .showTabBar] }
        if let error = BiometricError(errorCode: errorCode) {
            return [.alert(title: error.title(), message: error.errorDescription()), .restartLogin]
        }
        return [
            .alert(title: "KSMSetAuthorisationCodeResultEvent", message: status.activationLoginError), .restartLogin,
        ]
    }
}
