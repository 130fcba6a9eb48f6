/// The limits of failed and of expensive calls, each within the period that its configuration key names. 0 switches a limit off. Each node
/// counts for itself.
public struct RateLimits: Hashable, Sendable {
    /// A limit, named by its configuration key.
    public enum Name: String, CaseIterable, Sendable {
        /// Wrong passwords from one address, except beside a session's token or through an authenticated client.
        case wrongPasswordsPerAddress = "limits.wrong_passwords_per_address_per_minute"
        /// Logins of one user on one device.
        case loginsPerDevice = "limits.logins_per_device_per_minute"
        /// Sessions that one user opens on all devices.
        case loginsPerUser = "limits.logins_per_user_per_day"
        /// Anonymous users that one address makes.
        case anonymousLoginsPerAddress = "limits.anonymous_logins_per_address_per_hour"
        /// Logins with a phone that one address requests, except through an authenticated client.
        case loginRequestsPerAddress = "limits.login_requests_per_address_per_minute"
        /// Wrong codes of devices from one address.
        case wrongUserCodesPerAddress = "limits.wrong_user_codes_per_address_per_minute"
        /// Wrong numbers that the phones of one user send.
        case wrongNumbersPerUser = "limits.wrong_numbers_per_user_per_hour"
        /// Mails with codes that one address asks for.
        case verificationsPerAddress = "limits.verifications_per_address_per_minute"
        /// Accounts that one address makes by proofs of mailboxes.
        case signUpsPerAddress = "limits.sign_ups_per_address_per_hour"
        /// Failed password resets from one address.
        case failedResetsPerAddress = "limits.failed_resets_per_address_per_minute"
        /// Failed password resets with tokens of one user.
        case failedResetsPerUser = "limits.failed_resets_per_user_per_minute"
        /// Reset tokens made for one user.
        case resetTokensPerUser = "limits.reset_tokens_per_user_per_minute"
        /// Refused token calls from one address.
        case refusedTokensPerAddress = "limits.refused_tokens_per_address_per_minute"
        /// Refused token calls with one client id: from one address, or by the authenticated client.
        case refusedTokensPerClient = "limits.refused_tokens_per_client_per_minute"
        /// Tokens that one client requests for itself.
        case clientTokensPerClient = "limits.client_tokens_per_client_per_minute"
        /// Refreshes and resumptions of one session.
        case refreshesPerSession = "limits.refreshes_per_session_per_minute"
        /// Refused refreshes and resumptions of one session.
        case refusedTokensPerSession = "limits.refused_tokens_per_session_per_minute"
        /// Refused refreshes and resumptions of all sessions of one user.
        case refusedTokensPerUser = "limits.refused_tokens_per_user_per_minute"

        /// The time in which an empty bucket fills.
        var period: Duration {
            switch self {
            case .loginsPerUser: .seconds(86_400)
            case .anonymousLoginsPerAddress, .wrongNumbersPerUser, .signUpsPerAddress: .seconds(3600)
            default: .seconds(60)
            }
        }
    }

    /// Wrong passwords from one address, except beside a session's token or through an authenticated client.
    public var wrongPasswordsPerAddress = 120
    /// Logins of one user on one device, successful or failed.
    public var loginsPerDevice = 60
    /// Sessions that one user opens in a day on all devices, by password or by one identity. Failed logins and sessions that a
    /// backend opens do not count.
    public var loginsPerUser = 1000
    /// Anonymous users that one address makes in an hour. Logins that fail do not count.
    public var anonymousLoginsPerAddress = 60
    /// Logins with a phone that one address requests in a minute, for devices without authentication.
    public var loginRequestsPerAddress = 60
    /// Wrong codes of devices from one address, on the page where a user types them.
    public var wrongUserCodesPerAddress = 10
    /// Wrong numbers that the phones of one user send in an hour. Beyond, they can let no other device in.
    public var wrongNumbersPerUser = 3
    /// Mails with codes that one address asks for in a minute, for mailboxes with and without an account.
    public var verificationsPerAddress = 10
    /// Accounts that one address makes in an hour by proofs of mailboxes. Sign-ups that fail do not count.
    public var signUpsPerAddress = 20
    /// Failed password resets from one address.
    public var failedResetsPerAddress = 60
    /// Failed password resets with a token that is or was the user's.
    public var failedResetsPerUser = 20
    /// Reset tokens made for one user.
    public var resetTokensPerUser = 3
    /// Refused token calls from one address.
    public var refusedTokensPerAddress = 12_000
    /// Failed client authentications with one client id from one address, and refused requests of one authenticated client.
    public var refusedTokensPerClient = 1200
    /// Tokens that one client requests for itself (RFC 6749 section 4.4), successful or refused.
    public var clientTokensPerClient = 6000
    /// Refreshes and resumptions of one session that are granted. An app has one an hour, and 50 at once when it wakes up.
    public var refreshesPerSession = 1200
    /// Refused refreshes and resumptions of one session.
    public var refusedTokensPerSession = 1200
    /// Refused refreshes and resumptions of all sessions of one user.
    public var refusedTokensPerUser = 6000
    /// The number of leading bits of an IPv6 address that identify one caller.
    public var ipv6PrefixBits = 64

    /// Creates the default limits.
    public init() {}

    /// The number of calls in the period of `limit`; 0 means no limit.
    func count(_ limit: Name) -> Int {
        switch limit {
        case .wrongPasswordsPerAddress: wrongPasswordsPerAddress
        case .loginsPerDevice: loginsPerDevice
        case .loginsPerUser: loginsPerUser
        case .anonymousLoginsPerAddress: anonymousLoginsPerAddress
        case .loginRequestsPerAddress: loginRequestsPerAddress
        case .wrongNumbersPerUser: wrongNumbersPerUser
        case .wrongUserCodesPerAddress: wrongUserCodesPerAddress
        case .verificationsPerAddress: verificationsPerAddress
        case .signUpsPerAddress: signUpsPerAddress
        case .failedResetsPerAddress: failedResetsPerAddress
        case .failedResetsPerUser: failedResetsPerUser
        case .resetTokensPerUser: resetTokensPerUser
        case .refusedTokensPerAddress: refusedTokensPerAddress
        case .refusedTokensPerClient: refusedTokensPerClient
        case .clientTokensPerClient: clientTokensPerClient
        case .refreshesPerSession: refreshesPerSession
        case .refusedTokensPerSession: refusedTokensPerSession
        case .refusedTokensPerUser: refusedTokensPerUser
        }
    }
}
