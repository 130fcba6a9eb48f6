public import SojournClient

/// Logs a user in after a login at the identity provider's page.
public struct SetAuthorisationCodeEvent: Hashable, Sendable {
    /// What the login at the provider brought.
    public enum Credential: Hashable, Sendable {
        /// An authorization code of the server's login page, to which `Sojourn.beginSignIn` has given the URL. The app has checked
        /// `state` and `iss` of the answer. Without such a login the status is `INVALID_PARAMETER`, the user is not asked for
        /// biometry, and the code is sent nowhere.
        case authorisationCode(String)
        /// An ID token of that provider.
        case idToken(String, provider: String)
    }

    /// The user of the session.
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
        case .authorisationCode(let code):
            return SetAuthorisationCodeResultEvent(
                await sojourn.outcome(ofLoginByCode: code, authenticationMode, userIdentifier))
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

extension Sojourn {
    /// A login by an authorization code, in the words of the events.
    func outcome(
        ofLoginByCode code: String, _ mode: AuthenticationMode, _ user: UserIdentifier
    ) async -> LoginOutcome {
        do throws(SojournError) {
            return LoginOutcome(try await signIn(authorizationCode: code, mode: mode), user, mode)
        } catch .refused(let refusal) where refusal.code == "no_login_pending" {
            return LoginOutcome(.invalidParameter, user, mode, .fix)
        } catch { return LoginOutcome(error, user, mode) }
    }
}
