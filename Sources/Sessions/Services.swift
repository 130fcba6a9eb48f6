/// The services of the domain, each with one job, over one context.
public struct Services: Sendable {
    /// The shared context.
    public let context: ServiceContext
    /// Renews access tokens by refresh tokens.
    public let refresh: RefreshService
    /// Resumes sessions by device keys.
    public let deviceKeys: DeviceKeyService
    /// Starts sessions.
    public let login: PasswordLoginService
    /// Starts sessions by the ID tokens of identity providers.
    public let federation: FederationService
    /// Makes anonymous users, and names them.
    public let anonymousUsers: AnonymousUserService
    /// Registers passkeys, and starts sessions by them.
    public let passkeys: PasskeyService
    /// Asks identity providers about running sessions.
    public let providerChecks: ProviderCheckService
    /// Completes logins on the server's page, and exchanges their codes.
    public let pageLogin: PageLoginService
    /// Logs devices in with the help of a phone.
    public let phoneLogins: PhoneLoginService
    /// Ends sessions.
    public let logout: LogoutService
    /// Checks access tokens, and introspects tokens of every kind.
    public let accessTokens: AccessTokenVerifier
    /// Authenticates clients.
    public let clients: ClientAuthenticator
    /// Issues access tokens to clients for themselves.
    public let clientCredentials: ClientCredentialsService
    /// Keeps the streams of security events to clients.
    public let eventStreams: EventStreamService
    /// Signs tokens with the present keys of all nodes.
    public let signer: TokenSigner
    /// Proves mailboxes.
    public let verifications: VerificationService
    /// Makes accounts by proofs of mailboxes.
    public let signUp: SignUpService
    /// Changes of a user's own account.
    public let accounts: AccountService
    /// Adds and removes second factors.
    public let secondFactors: SecondFactorService
    /// The calls of admins.
    public let administration: Administration

    /// The services of `context`. Requests that wait read the time by `now`, and wait by `sleep`.
    public init(
        _ context: ServiceContext, now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now },
        sleep: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
    ) {
        self.context = context
        secondFactors = SecondFactorService(context)
        signer = TokenSigner(context)
        let passwords = PasswordVerifier(context)
        let foreignTokens = ForeignTokenService(context)
        providerChecks = ProviderCheckService(context)
        login = PasswordLoginService(context, signer, passwords, providerChecks)
        passkeys = PasskeyService(context, login)
        let presence = UserPresenceService(context, passwords, passkeys)
        refresh = RefreshService(context, signer, presence, providerChecks, foreignTokens)
        deviceKeys = DeviceKeyService(context, refresh, providerChecks)
        federation = FederationService(context, login)
        logout = LogoutService(context, refresh, foreignTokens)
        pageLogin = PageLoginService(context, signer, logout, federation)
        let watch = PhoneLoginWatch(now: now, sleep: sleep)
        phoneLogins = PhoneLoginService(context, signer, presence, logout, passwords, watch: watch)
        verifications = VerificationService(context, login, watch)
        accessTokens = AccessTokenVerifier(context, signer)
        clients = ClientAuthenticator(context)
        clientCredentials = ClientCredentialsService(context, signer)
        eventStreams = EventStreamService(context, now: now, sleep: sleep)
        accounts = AccountService(context, passwords, presence, federation, verifications)
        signUp = SignUpService(context, login, verifications, accounts, passkeys)
        anonymousUsers = AnonymousUserService(context, login, federation, accounts)
        administration = Administration(context, accounts, logout, passkeys)
    }
}
