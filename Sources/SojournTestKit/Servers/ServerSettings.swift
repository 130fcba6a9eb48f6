/// Settings of a server's sessions, in seconds; nil leaves a value as it is.
public struct ServerSettings: Hashable, Sendable {
    /// How long a refresh token and its parent are answered with the same child (`rotation_interval`, also called W).
    public var rotationInterval: Int64?
    /// The rolling window: the time without a refresh after which a session ends.
    public var idle: Int64?
    /// The maximum lifetime of a session.
    public var maximum: Int64?
    /// The age from which an app renews its access token.
    public var refreshAfter: Int64?

    /// Creates settings.
    public init(
        rotationInterval: Int64? = nil, idle: Int64? = nil, maximum: Int64? = nil, refreshAfter: Int64? = nil
    ) {
        self.rotationInterval = rotationInterval
        self.idle = idle
        self.maximum = maximum
        self.refreshAfter = refreshAfter
    }
}

/// A call of an admin that the server refused.
public struct AdminRefusal: Error, Hashable, Sendable {
    /// The call, for example `POST /admin/v1/users`.
    public let call: String
    /// The status of the answer.
    public let status: Int
    /// The content of the answer.
    public let answer: String
}
