internal import Cryptography
internal import HTTP
internal import Sessions
internal import Telemetry

/// Limits the rate of failed and of expensive calls, by address, device, user, session and client.
///
/// Successful calls from a shared address are never limited. Where the work itself is expensive (hashing a password), the
/// limiter takes a token before the work and gives it back after success. Where a refusal costs little (a token with a bad
/// MAC), only the refusal takes a token. A successful refresh meets one limit, that of its session.
struct RateLimiter: Sendable {
    /// The credential of a refused refresh or resumption, if it was once genuine.
    enum Credential: Hashable {
        /// A token of a session, or an assertion signed with the session's key.
        case session(Identifier<Session>)
        /// A token of another system that belonged to a user.
        case foreignToken(String)
    }

    private struct LoginKey: Hashable {
        let username: String
        let deviceID: String
    }

    /// A client id that the request claims without proof, together with the address. The key includes the address, because a
    /// failed claim must not count against the client elsewhere.
    private struct ClaimedClient: Hashable {
        let id: String?
        let network: CallerNetwork?
    }

    /// The buckets of all limits that are switched on.
    private let buckets: [RateLimits.Name: TokenBuckets]
    /// The buckets of `refreshesPerSession`, apart from the others because every refresh takes a token.
    private let refreshes: TokenBuckets?
    private let ipv6PrefixBits: Int
    private let stopwatch: @Sendable () -> Int64
    private let refusals: [RateLimits.Name: Counter]
    /// The polls of devices and backends that wait for a user.
    private let polls = PollPaces(Endpoints.pollInterval)

    init(_ limits: RateLimits, _ registry: MetricsRegistry, stopwatch: @escaping @Sendable () -> Int64) {
        let names = RateLimits.Name.allCases
        buckets = Dictionary(
            uniqueKeysWithValues: names.compactMap { name in
                TokenBuckets(limits.count(name), within: name.period).map { (name, $0) }
            })
        refreshes = buckets[.refreshesPerSession]
        ipv6PrefixBits = limits.ipv6PrefixBits
        self.stopwatch = stopwatch
        let counters = registry.counters(
            "sojourn_too_many_requests_total", help: "Calls answered with 429, by the limit that they met.",
            labels: [MetricLabel("limit", values: names.map(\.rawValue))])
        refusals = Dictionary(uniqueKeysWithValues: names.map { ($0, counters[$0.rawValue]) })
    }

    /// Takes a token of `key`. Throws `tooManyRequests` with the time until the next token.
    private func take(_ key: some Hashable, _ limit: RateLimits.Name) throws(ServiceError) {
        if let wait = buckets[limit]?.take(key, at: stopwatch()) { throw refusal(limit, wait) }
    }

    private func refusal(_ limit: RateLimits.Name, _ wait: Int64) -> ServiceError {
        refusals[limit]?.increment()
        return .tooManyRequests(retryAfter: .nanoseconds(wait))
    }

    /// The network of the caller; nil for a caller on this machine, through a Unix socket.
    private func network(_ caller: Caller) -> CallerNetwork? {
        caller.remoteAddress.map { CallerNetwork($0, ipv6PrefixBits: ipv6PrefixBits) }
    }

    /// The network against which failed logins count; nil if none. An authenticated client is one address for many users, so
    /// that the mistakes of a few would refuse all the others. The delays and the lock of each username apply all the same.
    private func countedNetwork(_ call: Call) -> CallerNetwork? { call.isOfProvenClient ? nil : network(call.caller) }

    /// Runs `body`, which verifies a password, unless the address has sent too many wrong ones. One that gets no place among those
    /// that wait to be hashed counts as well, because otherwise a flood would cost its senders nothing. A password beside a valid token
    /// of a session is not limited here, because the session has a limit of its own, and other users of the address could
    /// otherwise block it.
    func password<Value>(
        in call: Call, _ body: () async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        try await attempt(countedNetwork(call), .wrongPasswordsPerAddress, body) {
            $0 == .invalidCredentials || $0 == .passwordQueueFull
        }
    }

    /// Runs the naming of an anonymous user, unless the address has sent too many wrong passwords and usernames of other users,
    /// because the answer tells whether a username exists.
    func naming<Value>(
        in call: Call, _ body: () async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        try await attempt(countedNetwork(call), .wrongPasswordsPerAddress, body) {
            switch $0 {
            case .conflict, .identityRefused, .passwordQueueFull: true
            default: false
            }
        }
    }

    /// Runs a login that makes an anonymous user, unless the address has made too many. A login that fails does not count.
    func anonymousLogin<Value>(
        in call: Call, _ body: () async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        try await newAccount(in: call, .anonymousLoginsPerAddress, body)
    }

    /// Runs a sign-up, unless the address has made too many accounts. A sign-up that fails does not count.
    func signUp<Value>(in call: Call, _ body: () async throws(ServiceError) -> Value) async throws(ServiceError)
        -> Value
    {
        try await newAccount(in: call, .signUpsPerAddress, body)
    }

    private func newAccount<Value>(
        in call: Call, _ limit: RateLimits.Name, _ body: () async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        guard let network = countedNetwork(call) else { return try await body() }
        try take(network, limit)
        do throws(ServiceError) { return try await body() } catch {
            buckets[limit]?.giveBack(network)
            throw error
        }
    }

    /// Runs a request for a mail with a code, unless the address has asked for too many. Every mailbox counts, known or not.
    func verification<Value>(
        in call: Call, _ body: () async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        if let network = countedNetwork(call) { try take(network, .verificationsPerAddress) }
        return try await body()
    }

    /// Runs a login by an ID token, unless the address has been refused too often. A user who declines at the provider does not
    /// count.
    func identity<Value>(
        in call: Call, _ body: () async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        try await attempt(countedNetwork(call), .wrongPasswordsPerAddress, body) {
            if case .identityRefused(let reason) = $0 { reason != .declined } else { false }
        }
    }

    /// Runs a login by a passkey, unless the address has been refused too often.
    func passkey<Value>(
        in call: Call, _ body: () async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        try await attempt(countedNetwork(call), .wrongPasswordsPerAddress, body) {
            if case .passkeyRefused = $0 { true } else { false }
        }
    }

    /// Runs what verifies a passkey beside the token of a session, unless that session has been refused too often. No address
    /// counts, because others at the same address could block the session's user.
    func passkey<Value>(
        beside session: Identifier<Session>, _ body: () async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        try await attempt(session, .wrongPasswordsPerAddress, body) {
            if case .passkeyRefused = $0 { true } else { false }
        }
    }

    /// Runs a password reset, unless the address has sent too many wrong tokens. A wrong token also names a user, but does not
    /// count against that user, because it would block the owner of the right token, and 256 random bits need no limit.
    func reset<Value>(
        from caller: Caller, _ body: () async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        try await attempt(network(caller), .failedResetsPerAddress, body) {
            switch $0 {
            case .invalid(member: "reset_token", _), .passwordQueueFull: true
            default: false
            }
        }
    }

    /// Runs the part of a password reset that hashes the password, for the holder of a reset token of the user.
    func reset<Value>(
        of userID: Identifier<User>, _ body: () async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        try await attempt(userID, .failedResetsPerUser, body) { if case .invalid = $0 { true } else { false } }
    }

    /// Runs the creation of a reset token, which replaces the user's previous one.
    func resetToken<Value>(
        of userID: Identifier<User>, _ body: () async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        try take(userID, .resetTokensPerUser)
        do throws(ServiceError) { return try await body() } catch {
            buckets[.resetTokensPerUser]?.giveBack(userID)
            throw error
        }
    }

    /// Runs a request for a login with a phone, which writes a row, unless the address has sent too many.
    func loginRequest<Value>(
        _ client: Client, in call: Call, _ body: () async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        if client.isPublic, let network = network(call.caller) { try take(network, .loginRequestsPerAddress) }
        return try await body()
    }

    /// Admits a login with the phone from the login page, which writes a row for a browser without authentication.
    func admitPhoneLogin(from caller: Caller) throws(ServiceError) {
        if let network = network(caller) { try take(network, .loginRequestsPerAddress) }
    }

    /// Runs the claim of an invitation, unless the address has sent too many wrong codes.
    func invitationCode<Value>(
        from caller: Caller, _ body: () async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        try await attempt(network(caller), .wrongUserCodesPerAddress, body) { $0 == .notFound("invitation") }
    }

    /// Runs the end of an enrolment, which hashes a password, unless the address has sent too many that were refused.
    func enrolment<Value>(
        in call: Call, _ body: () async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        try await attempt(countedNetwork(call), .wrongPasswordsPerAddress, body) {
            switch $0 {
            case .conflict, .login(.wrongFactor), .invalid, .invalidToken, .passwordQueueFull: true
            default: false
            }
        }
    }

    /// Looks for the login of a code that a user has typed, unless the address has sent too many wrong ones.
    func userCode<Value>(
        from caller: Caller, _ body: () async throws(ServiceError) -> Value?
    ) async throws(ServiceError) -> Value? {
        do throws(ServiceError) {
            return try await attempt(network(caller), .wrongUserCodesPerAddress) { () async throws(ServiceError) in
                guard let value = try await body() else { throw .notFound("login") }
                return value
            } counts: {
                $0 == .notFound("login")
            }
        } catch {
            guard case .notFound = error else { throw error }
            return nil
        }
    }

    /// Whether a device or a backend asks for the result of a login sooner than it may.
    func isTooSoon(pollFor secret: String) -> Bool { polls.isTooSoon(secret, at: stopwatch()) }

    /// Runs an act of a phone on a login, unless the user has typed too many wrong numbers.
    func loginNumber<Value>(
        of userID: Identifier<User>, _ body: () async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        try await attempt(userID, .wrongNumbersPerUser, body) { $0 == .login(.wrongNumber) }
    }

    /// Runs `body` with a token of `key`. The limiter keeps the token if `body` fails with an error that counts, and gives it
    /// back otherwise.
    private func attempt<Key: Hashable, Value>(
        _ key: Key?, _ limit: RateLimits.Name, _ body: () async throws(ServiceError) -> Value,
        counts: (ServiceError) -> Bool
    ) async throws(ServiceError) -> Value {
        guard let key else { return try await body() }
        try take(key, limit)
        do throws(ServiceError) {
            let value = try await body()
            buckets[limit]?.giveBack(key)
            return value
        } catch {
            // An error such as overload does not count, because the caller did not cause it.
            if !counts(error) { buckets[limit]?.giveBack(key) }
            throw error
        }
    }

    /// Admits a login of a user on a device, or refuses it, because some apps log in repeatedly instead of refreshing. No
    /// password is hashed for a user with too many new sessions. A stranger learns only that the name has reached this limit.
    func admitLogin(username: String, deviceID: String) throws(ServiceError) {
        let name = Text.key(username)
        try take(LoginKey(username: name, deviceID: deviceID), .loginsPerDevice)
        let wait = buckets[.loginsPerUser]?.wait(for: name, at: stopwatch())
        if let wait { throw refusal(.loginsPerUser, wait) }
    }

    /// Admits the login of a user that was found by another name than the username: the limits count users, not names.
    func admitLogin(as user: User, named typed: String, deviceID: String) throws(ServiceError) {
        if Text.key(typed) != Text.key(user.username) {
            try admitLogin(username: user.username, deviceID: deviceID)
        }
    }

    /// Runs the opening of a session of an authenticated user, so that others cannot use up the user's limit. The limit counts
    /// new sessions per day and not existing sessions, because ending one to admit another would log the user out.
    func session<Value>(
        of username: String, _ body: () async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        let name = Text.key(username)
        try take(name, .loginsPerUser)
        do throws(ServiceError) { return try await body() } catch {
            buckets[.loginsPerUser]?.giveBack(name)
            throw error
        }
    }

    /// Returns the error to answer to a refused token call: `error`, or `tooManyRequests` if the address has had too many
    /// refusals.
    func refusal(_ error: any Error, of call: Call) -> any Error {
        guard call.route.countsRefusals, let error = error as? ServiceError else { return error }
        switch error {
        case .refused, .invalidClient, .clientRefused, .invalidGrant, .invalidToken, .unauthorizedClient,
            .grantMissing, .loginMethodRefused, .grantClosed:
            break
        default: return error
        }
        guard let network = network(call.caller) else { return error }
        do throws(ServiceError) {
            try take(network, .refusedTokensPerAddress)
            return error
        } catch { return error }
    }

    /// Returns the error to answer to a refused refresh or resumption: `error`, or `tooManyRequests`. The limit of the session
    /// comes first, so that repeated requests with one token use up no more of the user's limit than the session's allows.
    func refusal(_ error: ServiceError, to credential: Credential?, of userID: Identifier<User>?) -> ServiceError {
        switch error {
        case .refused, .insufficientUserAuthentication, .identityRefused, .unauthorizedClient, .grantMissing,
            .grantClosed, .invalidScope, .invalidTarget:
            break
        default: return error
        }
        do throws(ServiceError) {
            if let credential { try take(credential, .refusedTokensPerSession) }
            if let userID { try take(userID, .refusedTokensPerUser) }
            return error
        } catch { return error }
    }

    /// Admits a refresh or resumption of a session, or refuses it, because some clients refresh in a loop.
    func admitRefresh(of id: Identifier<Session>) throws(ServiceError) {
        if let wait = refreshes?.take(id, at: stopwatch()) { throw refusal(.refreshesPerSession, wait) }
    }

    /// Gives the token of a refresh back that failed with `error`, so that a copy of an old token cannot use up those of its
    /// session.
    func giveBackRefresh(of id: Identifier<Session>?, after error: ServiceError) {
        if case .tooManyRequests = error { return }
        if let id { refreshes?.giveBack(id) }
    }

    /// Returns the error to answer to a failed client authentication: `error`, or `tooManyRequests`. A successful one never
    /// reaches this limit, not even from the same address, because a secret has 256 random bits and a key more, so that no
    /// limit makes them safer.
    func refusal(_ error: ServiceError, toClaimed clientID: String?, from caller: Caller) -> ServiceError {
        guard error.isInvalidClient else { return error }
        do throws(ServiceError) {
            try take(ClaimedClient(id: clientID, network: network(caller)), .refusedTokensPerClient)
            return error
        } catch { return error }
    }

    /// Returns the error to answer to a refused request of an authenticated client: `error`, or `tooManyRequests`.
    func refusal(_ error: ServiceError, to client: Client) -> ServiceError {
        switch error {
        case .unauthorizedClient, .grantMissing, .loginMethodRefused, .invalidScope, .invalidTarget, .proofMissing:
            break
        default: return error
        }
        do throws(ServiceError) {
            try take(client.id, .refusedTokensPerClient)
            return error
        } catch { return error }
    }

    /// Admits a token for the client itself, or refuses it, because some clients request tokens repeatedly instead of keeping
    /// one. No session depends on such a token.
    func admitClientToken(_ client: Client) throws(ServiceError) { try take(client.id, .clientTokensPerClient) }
}
