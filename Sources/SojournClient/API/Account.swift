/// A device on which the user is signed in.
public struct Device: Hashable, Sendable, Identifiable {
    /// The device ID.
    public var id: String
    /// The name of the device for people.
    public var name: String?
    /// For example `iOS 18.1`.
    public var platform: String?
    /// The version of the app.
    public var appVersion: String?
    /// In Unix seconds of the server.
    public var lastSeenAt: Int64
    /// Whether it is this device.
    public var isCurrent: Bool

    /// Creates a device.
    public init(
        id: String, name: String? = nil, platform: String? = nil, appVersion: String? = nil, lastSeenAt: Int64,
        isCurrent: Bool
    ) {
        self.id = id
        self.name = name
        self.platform = platform
        self.appVersion = appVersion
        self.lastSeenAt = lastSeenAt
        self.isCurrent = isCurrent
    }
}

/// The user's own switch for logins.
public struct LoginSettings: Hashable, Sendable {
    /// When the switch takes effect on devices that are signed in.
    public enum Effect: String, Hashable, Sendable {
        /// At once.
        case immediate
        /// When their access tokens expire.
        case onExpiry = "on_expiry"
    }

    /// Whether new logins and renewals are refused, on all devices.
    public var loginsDisabled: Bool
    /// Nil while logins are on.
    public var effective: Effect?

    /// Creates settings.
    public init(loginsDisabled: Bool, effective: Effect? = nil) {
        self.loginsDisabled = loginsDisabled
        self.effective = effective
    }
}
