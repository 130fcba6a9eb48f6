internal import Sessions

/// The members of a client for logins that it requests of users, in a body that creates or changes the client.
struct BackchannelMembers: Sendable {
    static let names = [
        "backchannel_token_delivery_mode", "backchannel_client_notification_endpoint",
        "backchannel_user_code_parameter",
    ]

    private let deliveryMode: BackchannelRegistration.DeliveryMode?
    private let notificationEndpoint: String??

    init(_ members: Members) throws {
        try members.refuseNull("backchannel_token_delivery_mode", "backchannel_user_code_parameter")
        deliveryMode = try members.word(
            "backchannel_token_delivery_mode", as: BackchannelRegistration.DeliveryMode.self)
        notificationEndpoint = try members.change("backchannel_client_notification_endpoint", members.string)
        if try members.bool("backchannel_user_code_parameter") == true {
            throw members.refused("backchannel_user_code_parameter", "must be false: user codes are not supported")
        }
    }

    /// Sets the members that the body names; the domain validates them.
    func apply(to backchannel: inout BackchannelRegistration) {
        if let deliveryMode { backchannel.deliveryMode = deliveryMode }
        if let notificationEndpoint { backchannel.notificationEndpoint = notificationEndpoint }
    }
}
