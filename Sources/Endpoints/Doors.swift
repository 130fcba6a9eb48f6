internal import Cryptography
internal import HTTP
internal import Sessions
internal import Telemetry

/// How often may be tried in a minute what costs much, or could be guessing. 0: without limit. Each node counts for itself.
public struct DoorLimits: Hashable, Sendable {
    /// A limit, by the key of the configuration that sets it.
    public enum Name: String, CaseIterable, Sendable {
        /// Wrong passwords from one address.
        case wrongPasswordsPerAddress = "limits.wrong_passwords_per_address_per_minute"
        /// Logins of one user on one device.
        case loginsPerDevice = "limits.logins_per_device_per_minute"
        /// Password resets from one address that came to nothing.
        case failedResetsPerAddress = "limits.failed_resets_per_address_per_minute"
        /// Refused token calls from one address.
        case refusedTokensPerAddress = "limits.refused_tokens_per_address_per_minute"
        /// Refused refreshes of one session.
        case refusedTokensPerSession = "limits.refused_tokens_per_session_per_minute"
    }

    /// Wrong passwords from one address.
    public var wrongPasswordsPerAddress = 120
    /// Logins of one user on one device, right or wrong.
    public var loginsPerDevice = 60
    /// Password resets from one address that came to nothing.
    public var failedResetsPerAddress = 60
    /// Refused token calls from one address.
    public var refusedTokensPerAddress = 12_000
    /// Refused refreshes of one session.
    public var refusedTokensPerSession = 1200
    /// How many leading bits of an IPv6 address count as one address.
    public var ipv6PrefixBits = 64

    /// The defaults.
    public init() {}
}

/// The doors that somebody might try to break by trying often.
///
/// What succeeds is never limited, however many share an address: where work has to be kept away (hashing passwords),
/// a token is taken before and given back after success; where refusing costs next to nothing (tokens with a bad MAC), only the
/// refusal takes one, and a refresh that succeeds never comes here.
struct Doors: Sendable {
    private struct Key: Hashable {
        let username: String
        let deviceID: String
    }

    private let wrongPasswords: TokenBuckets?
    private let logins: TokenBuckets?
    private let failedResets: TokenBuckets?
    private let refusedTokens: TokenBuckets?
    private let refusedSessions: TokenBuckets?
    private let ipv6PrefixBits: Int
    private let stopwatch: @Sendable () -> Int64
    private let refusals: [DoorLimits.Name: Counter]

    init(_ limits: DoorLimits, _ registry: MetricsRegistry, stopwatch: @escaping @Sendable () -> Int64) {
        wrongPasswords = TokenBuckets(perMinute: limits.wrongPasswordsPerAddress)
        logins = TokenBuckets(perMinute: limits.loginsPerDevice)
        failedResets = TokenBuckets(perMinute: limits.failedResetsPerAddress)
        refusedTokens = TokenBuckets(perMinute: limits.refusedTokensPerAddress)
        refusedSessions = TokenBuckets(perMinute: limits.refusedTokensPerSession)
        ipv6PrefixBits = limits.ipv6PrefixBits
        self.stopwatch = stopwatch
        let counters = registry.counters(
            "sojourn_too_many_requests_total", help: "Calls answered with 429, by the limit that they met.",
            labels: [MetricLabel("limit", values: DoorLimits.Name.allCases.map(\.rawValue))])
        refusals = Dictionary(uniqueKeysWithValues: DoorLimits.Name.allCases.map { ($0, counters[$0.rawValue]) })
    }

    /// Takes a token; refuses with the time until there is one.
    private func take(
        _ key: some Hashable, _ buckets: TokenBuckets?, _ limit: DoorLimits.Name
    ) throws(ServiceError) {
        guard let wait = buckets?.take(key, at: stopwatch()) else { return }
        refusals[limit]?.increment()
        throw .tooManyRequests(retryAfter: .nanoseconds(wait))
    }

    /// Nil for a caller on this machine, through a Unix socket.
    private func network(_ caller: Caller) -> CallerNetwork? {
        caller.remoteAddress.map { CallerNetwork($0, ipv6PrefixBits: ipv6PrefixBits) }
    }

    /// Runs what proves a password, if the caller has not been wrong too often.
    func password<Value>(
        from caller: Caller, _ body: () async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        try await attempt(from: caller, wrongPasswords, .wrongPasswordsPerAddress, body) { $0 == .invalidCredentials }
    }

    /// Runs a login by an ID token, if the caller has not been refused too often.
    func identity<Value>(
        from caller: Caller, _ body: () async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        try await attempt(from: caller, wrongPasswords, .wrongPasswordsPerAddress, body) {
            if case .identityRefused = $0 { true } else { false }
        }
    }

    /// Runs what shows that the user is there: what holds no password is no guess, and costs nothing here.
    func evidence<Value>(
        _ evidence: PresenceEvidence, from caller: Caller, _ body: () async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        evidence.password == nil ? try await body() : try await password(from: caller, body)
    }

    /// Runs a reset of a password, which hashes it before the token is compared, inside a transaction.
    func reset<Value>(
        from caller: Caller, _ body: () async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        try await attempt(from: caller, failedResets, .failedResetsPerAddress, body) {
            if case .invalid(member: "reset_token", _) = $0 { true } else { false }
        }
    }

    private func attempt<Value>(
        from caller: Caller, _ buckets: TokenBuckets?, _ limit: DoorLimits.Name,
        _ body: () async throws(ServiceError) -> Value,
        counts: (ServiceError) -> Bool
    ) async throws(ServiceError) -> Value {
        guard let buckets, let network = network(caller) else { return try await body() }
        try take(network, buckets, limit)
        do throws(ServiceError) {
            let value = try await body()
            buckets.giveBack(network)
            return value
        } catch {
            // A server that is overloaded must not be held against who asked.
            if !counts(error) { buckets.giveBack(network) }
            throw error
        }
    }

    /// Lets a login of a user on a device pass, or refuses it: an app that logs in again and again instead of refreshing.
    func admitLogin(username: String, deviceID: String) throws(ServiceError) {
        guard let logins else { return }
        try take(Key(username: Text.key(username), deviceID: deviceID), logins, .loginsPerDevice)
    }

    /// What to answer to a token call that was refused with `error`: that, or 429.
    func refusal(_ error: any Error, of call: Call) -> any Error {
        guard call.route.countsRefusals, let error = error as? ServiceError else { return error }
        switch error {
        case .refused, .invalidClient, .invalidToken, .unauthorizedClient: break
        default: return error
        }
        guard let network = network(call.caller) else { return error }
        do throws(ServiceError) {
            try take(network, refusedTokens, .refusedTokensPerAddress)
            return error
        } catch { return error }
    }

    /// The same, to a refresh of a session.
    func refusal(_ error: ServiceError, ofSession sessionID: Identifier<Session>?) -> ServiceError {
        guard case .refused = error, let sessionID else { return error }
        do throws(ServiceError) {
            try take(sessionID, refusedSessions, .refusedTokensPerSession)
            return error
        } catch { return error }
    }
}
