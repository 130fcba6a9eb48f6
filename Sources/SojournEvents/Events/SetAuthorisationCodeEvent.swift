public import SojournClient

/// Logs a user in after a login at the identity provider's page.
public struct SetAuthorisationCodeEvent: Hashable, Sendable {
    /// What the login at the provider brought.
    public enum Credential: Hashable, Sendable {
        /// An authorization code. The server takes none: the status is `NOT_SUPPORTED`, the user is not asked for biometry, and the
        /// code is sent nowhere, so that it can still be used.
        case authorisationCode(String)
        /// An ID token of that provider.
        case idToken(String, provider: String)
    }

    /// Whose session it is.
    public var userIdentifier: UserIdentifier
    /// What the login at the provider brought.
    public var credential: Credential
    /// How the app guards the session.
    public var authenticationMode: AuthenticationMode

    /// Creates an event with an authorization code.
    public init(
        userIdentifier: UserIdentifier = UserIdentifier(), authorisationCode: String,
        authenticationMode: AuthenticationMode
    ) {
        self.init(
            userIdentifier: userIdentifier, credential: .authorisationCode(authorisationCode),
            authenticationMode: authenticationMode)
    }

    /// Creates an event.
    public init(
        userIdentifier: UserIdentifier = UserIdentifier(), credential: Credential,
        authenticationMode: AuthenticationMode
    ) {
        self.userIdentifier = userIdentifier
        self.credential = credential
        self.authenticationMode = authenticationMode
    }

    /// Carries the event out.
    public func post(to sojourn: Sojourn?) async -> SetAuthorisationCodeResultEvent {
        guard let sojourn else {
            return SetAuthorisationCodeResultEvent(.notStarted(userIdentifier, authenticationMode))
        }
        switch credential {
        case .authorisationCode:
            return SetAuthorisationCodeResultEvent(
                LoginOutcome(.notSupported, userIdentifier, authenticationMode, .fix))
        case .idToken(let token, let provider):
            return SetAuthorisationCodeResultEvent(
                await sojourn.outcome(ofLoginBy: token, provider, authenticationMode, userIdentifier))
        }
    }
}

/// The result of `SetAuthorisationCodeEvent`.
public struct SetAuthorisationCodeResultEvent: LoginResult, Hashable {
    /// The outcome of the event.
    public let outcome: LoginOutcome

    init(_ outcome: LoginOutcome) { self.outcome = outcome }
}
