public import SojournClient

/// Logs a user in by what the identity provider has issued, or goes on with the stored session if the event has no tokens.
public struct LoginWithTokenEvent: Hashable, Sendable {
    /// The user of the session.
    public var userIdentifier: UserIdentifier
    /// The ID token of the provider; nil: the stored session goes on.
    public var accessToken: String?
    /// The code that came with it. Both or neither: the ID token alone is sent.
    public var authCode: String?
    /// The identity provider, as the server knows it.
    public var provider: String
    /// How the app guards the session; nil: as before, or `NO`.
    public var authenticationMode: AuthenticationMode?

    /// Creates an event.
    public init(
        userIdentifier: UserIdentifier, accessToken: String? = nil, authCode: String? = nil, provider: String = "",
        authenticationMode: AuthenticationMode? = nil
    ) {
        self.userIdentifier = userIdentifier
        self.accessToken = accessToken
        self.authCode = authCode
        self.provider = provider
        self.authenticationMode = authenticationMode
    }

    /// Carries the event out. With tokens, the session is stored. With one of them alone the status is `INVALID_PARAMETER`, and
    /// store and server see nothing of it.
    public func post(to sojourn: Sojourn?) async -> LoginWithTokenResultEvent {
        let fallback = authenticationMode ?? .no
        guard let sojourn else { return LoginWithTokenResultEvent(.notStarted(userIdentifier, fallback)) }
        guard let accessToken, authCode != nil else {
            guard accessToken == nil, authCode == nil else {
                return LoginWithTokenResultEvent(LoginOutcome(.invalidParameter, userIdentifier, fallback, .fix))
            }
            let event = OfflineLoginEvent(userIdentifier: userIdentifier, authenticationMode: authenticationMode)
            return LoginWithTokenResultEvent(await event.post(to: sojourn).outcome)
        }
        return LoginWithTokenResultEvent(
            await sojourn.outcome(ofLoginBy: accessToken, provider, authenticationMode, userIdentifier))
    }
}

/// The result of `LoginWithTokenEvent`.
public struct LoginWithTokenResultEvent: LoginResult, Hashable {
    /// The outcome of the event.
    public let outcome: LoginOutcome

    init(_ outcome: LoginOutcome) { self.outcome = outcome }
}

extension Sojourn {
    /// A login by an ID token, in the words of the events.
    func outcome(
        ofLoginBy idToken: String, _ provider: String, _ mode: AuthenticationMode?, _ user: UserIdentifier
    ) async -> LoginOutcome {
        var mode = mode
        if mode == nil {
            _ = await restore()
            mode = authenticationMode
        }
        do throws(SojournError) {
            let account = try await signIn(idToken: idToken, provider: provider, mode: mode ?? .no)
            return LoginOutcome(account, user, mode ?? .no)
        } catch { return LoginOutcome(error, user, mode ?? .no) }
    }
}
