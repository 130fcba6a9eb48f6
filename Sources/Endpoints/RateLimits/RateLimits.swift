/// How often may be tried in a minute, or a day, what costs much, or could be guessing. 0: without limit. Each node counts for itself.
public struct RateLimits: Hashable, Sendable {
    /// A limit, by the key of the configuration that sets it.
    public enum Name: String, CaseIterable, Sendable {
        /// Wrong passwords from one address, but for those that come with a session's token, or by a client that has proved itself.
        case wrongPasswordsPerAddress = "limits.wrong_passwords_per_address_per_minute"
        /// Logins of one user on one device.
        case loginsPerDevice = "limits.logins_per_device_per_minute"
        /// Sessions that one user starts, on whatever devices.
        case loginsPerUser = "limits.logins_per_user_per_day"
        /// Password resets from one address that came to nothing.
        case failedResetsPerAddress = "limits.failed_resets_per_address_per_minute"
        /// Password resets with a token of one user that came to nothing.
        case failedResetsPerUser = "limits.failed_resets_per_user_per_minute"
        /// Reset tokens made for one user.
        case resetTokensPerUser = "limits.reset_tokens_per_user_per_minute"
        /// Refused token calls from one address.
        case refusedTokensPerAddress = "limits.refused_tokens_per_address_per_minute"
        /// Refused token calls in the name of one client: from one address, or by the client itself.
        case refusedTokensPerClient = "limits.refused_tokens_per_client_per_minute"
        /// Tokens that one client gets for itself.
        case clientTokensPerClient = "limits.client_tokens_per_client_per_minute"
        /// Refused refreshes and resumptions of one session.
        case refusedTokensPerSession = "limits.refused_tokens_per_session_per_minute"
        /// Refused refreshes and resumptions of all sessions of one user.
        case refusedTokensPerUser = "limits.refused_tokens_per_user_per_minute"

        /// How long an empty bucket takes to fill.
        var period: Duration { self == .loginsPerUser ? .seconds(86_400) : .seconds(60) }
    }

    /// Wrong passwords from one address, but for those that come with a session's token, or by a client that has proved itself.
    public var wrongPasswordsPerAddress = 120
    /// Logins of one user on one device, right or wrong.
    public var loginsPerDevice = 60
    /// Sessions that one user starts in a day, by passwords or by one identity, on whatever devices. What a stranger tries is none, nor
    /// is what a backend mints.
    public var loginsPerUser = 1000
    /// Password resets from one address that came to nothing.
    public var failedResetsPerAddress = 60
    /// Password resets that came to nothing although the token was, or had been, the user's.
    public var failedResetsPerUser = 20
    /// Reset tokens made for one user.
    public var resetTokensPerUser = 3
    /// Refused token calls from one address.
    public var refusedTokensPerAddress = 12_000
    /// Failed proofs of being one client, from one address; and what a client is refused that has proved itself.
    public var refusedTokensPerClient = 1200
    /// Tokens that one client gets for itself (RFC 6749 section 4.4), or is refused.
    public var clientTokensPerClient = 6000
    /// Refused refreshes and resumptions of one session.
    public var refusedTokensPerSession = 1200
    /// Refused refreshes and resumptions of all sessions of one user.
    public var refusedTokensPerUser = 6000
    /// How many leading bits of an IPv6 address count as one address.
    public var ipv6PrefixBits = 64

    /// The defaults.
    public init() {}

    /// How often in its period; 0: without limit.
    func count(_ limit: Name) -> Int {
        switch limit {
        case .wrongPasswordsPerAddress: wrongPasswordsPerAddress
        case .loginsPerDevice: loginsPerDevice
        case .loginsPerUser: loginsPerUser
        case .failedResetsPerAddress: failedResetsPerAddress
        case .failedResetsPerUser: failedResetsPerUser
        case .resetTokensPerUser: resetTokensPerUser
        case .refusedTokensPerAddress: refusedTokensPerAddress
        case .refusedTokensPerClient: refusedTokensPerClient
        case .clientTokensPerClient: clientTokensPerClient
        case .refusedTokensPerSession: refusedTokensPerSession
        case .refusedTokensPerUser: refusedTokensPerUser
        }
    }
}
