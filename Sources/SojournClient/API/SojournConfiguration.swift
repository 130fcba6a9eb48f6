public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// The settings of a `Sojourn`.
public struct SojournConfiguration: Sendable {
    /// How a session is renewed.
    public enum Renewal: Hashable, Sendable {
        /// By a refresh token alone.
        case refreshToken
        /// By a refresh token that is bound to the device key (RFC 9449). Recommended.
        case boundRefreshToken
        /// By the device key alone (RFC 7523), for a client without the refresh grant. No refresh token is stored.
        case deviceKey
    }

    /// The server's public URL, equal to its `server.issuer`: `https`, or `http` on a loopback address.
    public var server: URL
    /// The client ID.
    public var clientID = "mobile"
    /// One user is signed in per slot. Apps with several users at once use several slots.
    public var slot = "default"
    /// How sessions are renewed. A session keeps the way with which it began.
    public var renewal = Renewal.boundRefreshToken
    /// The device ID, if the app has one of its own (ROL-12); nil: the SDK makes one and keeps it.
    public var deviceID: String?
    /// The device's name in the user's list of devices.
    public var deviceName: String?
    /// For example `iOS 18.1`. Each login and each renewal names it: a client with `app_data` refuses another platform.
    public var platform: String?
    /// The version of the app, which each login and each renewal names.
    public var appVersion: String?
    /// The language of mails to users without a language of their own, for example `de`; nil: the server's.
    public var language: String?
    /// The scope to ask for at a login; nil: everything that the client may have. Without `account` the calls about the account are
    /// refused with `insufficient_scope`, and the user's data are what the scope discloses.
    public var scope: String?
    /// APIs to ask for at a login (RFC 8707).
    public var resources: [String] = []
    /// Whether this process renews. An extension may leave that to the app.
    public var mayRenew = true
    /// How long one attempt may take. The server's rotation interval lowers it, if that is short.
    public var patience: Duration = .seconds(20)
    /// How long a call waits for a renewal that is due while the stored token is still good.
    public var renewalWait: Duration = .seconds(3)
    /// The service of the items in the Keychain, on Apple platforms.
    public var keychainService = "sojourn"
    /// The access group of the items, so that extensions and other apps of the team share the session; nil: the app's own.
    public var keychainAccessGroup: String?
    /// Called after a login and after a sign-out with the hosts of identity providers, so that the app deletes their cookies
    /// (seed 003: another attempt must not log in automatically).
    public var clearProviderCookies: (@Sendable () async -> Void)?

    /// Awaited before every prompt for the user's presence: true when the app is in the foreground and shows its screen. False
    /// gives the prompt up.
    public var readyForUser: @Sendable () async -> Bool = { true }
    /// How long an unlock lasts; nil: until `lock()`, or until the process ends.
    public var unlockLasts: Duration?
    /// After how many failures of biometry in a row the user is asked how to go on.
    public var presenceFailuresMax = 3
    /// The app's own next step after a failure; nil: that of the table. The number counts the failures in a row.
    public var presenceAdvice: (@Sendable (PresenceError, _ failures: Int) -> PresenceAdvice?)?

    /// Sends the requests of `Sojourn.data(for:)` to the app's own APIs.
    public var perform: @Sendable (URLRequest) async throws -> (Data, URLResponse) = { request in
        try await URLSession.shared.data(for: request)
    }

    /// The settings for a server.
    public init(server: URL) { self.server = server }
}
