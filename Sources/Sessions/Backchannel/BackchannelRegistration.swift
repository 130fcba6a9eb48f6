/// How a client hears of the logins that it requests of users (OpenID Connect CIBA section 4).
public struct BackchannelRegistration: Hashable, Sendable {
    /// The ways to the result.
    public enum DeliveryMode: String, CaseIterable, Sendable {
        /// The client asks.
        case poll
        /// The server tells the client that it can ask.
        case ping
    }

    /// The way to the result. A client with `ping` may ask as well.
    public var deliveryMode = DeliveryMode.poll
    /// The receiver of pings; nil: there is none.
    public var notificationEndpoint: String?

    /// A client that asks.
    public init() {}

    /// The error in the registration, as one sentence that begins with the member; nil if it is valid.
    public var problem: String? {
        let member = "backchannel_client_notification_endpoint"
        if let notificationEndpoint, !RedirectURI.isWebPage(notificationEndpoint) {
            return "\(member) must be an https URI, or http with a loopback host, without user and fragment"
        }
        if deliveryMode == .ping, notificationEndpoint == nil {
            return "\(member) must be there for backchannel_token_delivery_mode ping"
        }
        return nil
    }
}
