internal import Cryptography
internal import HTTP
internal import Sessions
internal import Telemetry

/// The doors that somebody might try to break by trying often.
///
/// What succeeds is never limited, however many share an address: where work has to be kept away (hashing passwords),
/// a token is taken before and given back after success; where refusing costs next to nothing (tokens with a bad MAC), only the
/// refusal takes one, and a refresh that succeeds never comes here.
struct RateLimiter: Sendable {
    /// Who is refused by what was presented, if it was theirs.
    enum Holder: Hashable {
        /// A session, by a token that we made or an assertion that its key has signed.
        case session(Identifier<Session>)
        /// Who comes with a token of another system that was a user's.
        case foreignToken(String)
    }

    private struct LoginKey: Hashable {
        let username: String
        let deviceID: String
    }

    /// Who has not proved to be a client, and could be anybody: nothing of it is held against the client elsewhere.
    private struct ClaimedClient: Hashable {
        let id: String?
        let network: CallerNetwork?
    }

    /// Without those that are off.
    private let buckets: [RateLimits.Name: TokenBuckets]
    private let ipv6PrefixBits: Int
    private let stopwatch: @Sendable () -> Int64
    private let refusals: [RateLimits.Name: Counter]

    init(_ limits: RateLimits, _ registry: MetricsRegistry, stopwatch: @escaping @Sendable () -> Int64) {
        let names = RateLimits.Name.allCases
        buckets = Dictionary(
            uniqueKeysWithValues: names.compactMap { name in
                TokenBuckets(limits.count(name), within: name.period).map { (name, $0) }
            })
        ipv6PrefixBits = limits.ipv6PrefixBits
        self.stopwatch = stopwatch
        let counters = registry.counters(
            "sojourn_too_many_requests_total", help: "Calls answered with 429, by the limit that they met.",
            labels: [MetricLabel("limit", values: names.map(\.rawValue))])
        refusals = Dictionary(uniqueKeysWithValues: names.map { ($0, counters[$0.rawValue]) })
    }

    /// Takes a token; refuses with the time until there is one.
    private func take(_ key: some Hashable, _ limit: RateLimits.Name) throws(ServiceError) {
        if let wait = buckets[limit]?.take(key, at: stopwatch()) { throw refusal(limit, wait) }
    }

    private func refusal(_ limit: RateLimits.Name, _ wait: Int64) -> ServiceError {
        refusals[limit]?.increment()
        return .tooManyRequests(retryAfter: .nanoseconds(wait))
    }

    /// Nil for a caller on this machine, through a Unix socket.
    private func network(_ caller: Caller) -> CallerNetwork? {
        caller.remoteAddress.map { CallerNetwork($0, ipv6PrefixBits: ipv6PrefixBits) }
    }

    /// Whose wrong logins count together; nil: those of nobody else. A client that has proved itself is one address for many people:
    /// five who mistype would stop all the others. Each of them has the delays and the lock of their name.
    private func guesser(_ call: Call) -> CallerNetwork? { call.isOfProvenClient ? nil : network(call.caller) }

    /// Runs what proves a password by itself, if the caller has not been wrong too often. A password that comes with a good token
    /// of a session is not limited here: the session has its own tries, and whoever shares its address would otherwise stop it.
    func password<Value>(
        in call: Call, _ body: () async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        try await attempt(guesser(call), .wrongPasswordsPerAddress, body) { $0 == .invalidCredentials }
    }

    /// Runs a login by an ID token, if the caller has not been refused too often.
    func identity<Value>(
        in call: Call, _ body: () async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        try await attempt(guesser(call), .wrongPasswordsPerAddress, body) {
            if case .identityRefused = $0 { true } else { false }
        }
    }

    /// Runs a reset of a password, if the caller has not come with wrong tokens too often. A wrong token names a user as well,
    /// but is held against no user: it would keep the owner of the right one out, and no limit makes 256 random bits safer.
    func reset<Value>(
        from caller: Caller, _ body: () async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        try await attempt(network(caller), .failedResetsPerAddress, body) {
            if case .invalid(member: "reset_token", _) = $0 { true } else { false }
        }
    }

    /// Runs the part of it that hashes the password, for whoever holds a token of the user.
    func reset<Value>(
        of userID: Identifier<User>, _ body: () async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        try await attempt(userID, .failedResetsPerUser, body) { if case .invalid = $0 { true } else { false } }
    }

    /// Runs what makes a reset token, which replaces the one that the user was sent before.
    func resetToken<Value>(
        of userID: Identifier<User>, _ body: () async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        try take(userID, .resetTokensPerUser)
        do throws(ServiceError) { return try await body() } catch {
            buckets[.resetTokensPerUser]?.giveBack(userID)
            throw error
        }
    }

    /// Runs `body` with a token of `key`, which stays taken if it fails with an error that counts.
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
            // A server that is overloaded must not be held against who asked.
            if !counts(error) { buckets[limit]?.giveBack(key) }
            throw error
        }
    }

    /// Lets a login of a user on a device pass, or refuses it: an app that logs in again and again instead of refreshing. For who has
    /// started too many sessions no password is hashed; that somebody does so under this name is all that a stranger learns by it.
    func admitLogin(username: String, deviceID: String) throws(ServiceError) {
        let name = Text.key(username)
        try take(LoginKey(username: name, deviceID: deviceID), .loginsPerDevice)
        let wait = buckets[.loginsPerUser]?.wait(for: name, at: stopwatch())
        if let wait { throw refusal(.loginsPerUser, wait) }
    }

    /// Runs what starts a session of a user who has shown to be that: nobody else can use up what is theirs. Sessions are not
    /// limited, but how fast they come: to end one for another would log somebody out.
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

    /// What to answer to a token call that was refused with `error`: that, or 429.
    func refusal(_ error: any Error, of call: Call) -> any Error {
        guard call.route.countsRefusals, let error = error as? ServiceError else { return error }
        switch error {
        case .refused, .invalidClient, .invalidToken, .unauthorizedClient, .grantClosed: break
        default: return error
        }
        guard let network = network(call.caller) else { return error }
        do throws(ServiceError) {
            try take(network, .refusedTokensPerAddress)
            return error
        } catch { return error }
    }

    /// The same, to a refresh or a resumption, of a user if that is known. The holder's own limit is met first: who asks on and on
    /// with one token uses up no more of its user's than that.
    func refusal(_ error: ServiceError, to holder: Holder?, of userID: Identifier<User>?) -> ServiceError {
        switch error {
        case .refused, .userAbsent, .unauthorizedClient, .grantClosed, .invalidScope, .invalidTarget: break
        default: return error
        }
        do throws(ServiceError) {
            if let holder { try take(holder, .refusedTokensPerSession) }
            if let userID { try take(userID, .refusedTokensPerUser) }
            return error
        } catch { return error }
    }

    /// The same, to who has failed to prove to be the client with that id. A client that succeeds never comes here, be it from
    /// the same address: there are 256 random bits in its secret, or more in its key, which no limit makes safer.
    func refusal(_ error: ServiceError, toClaimed clientID: String?, from caller: Caller) -> ServiceError {
        guard error == .invalidClient else { return error }
        do throws(ServiceError) {
            try take(ClaimedClient(id: clientID, network: network(caller)), .refusedTokensPerClient)
            return error
        } catch { return error }
    }

    /// The same, to a client that has proved itself, of what it asked for by itself.
    func refusal(_ error: ServiceError, to client: Client) -> ServiceError {
        switch error {
        case .unauthorizedClient, .invalidScope, .invalidTarget, .proofMissing: break
        default: return error
        }
        do throws(ServiceError) {
            try take(client.id, .refusedTokensPerClient)
            return error
        } catch { return error }
    }

    /// Lets a client have a token for itself, or refuses it: one that asks again and again instead of keeping it. No session
    /// waits for such a token.
    func admitClientToken(_ client: Client) throws(ServiceError) { try take(client.id, .clientTokensPerClient) }
}
