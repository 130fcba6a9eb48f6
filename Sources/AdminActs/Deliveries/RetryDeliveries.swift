internal import HTTP
public import Sessions

/// Tries again at once what has failed at the node, without waiting any longer.
public struct RetryDeliveries: AdminAct {
    /// See `AdminAct`.
    public static let scope = AdminKey.Scope.support

    /// The act.
    public init() {}

    /// See `AdminAct`.
    public var call: AdminCall { AdminCall(.post, "/deliveries/retry") }

    /// See `AdminAct`.
    public var words: [String]? { ["webhook", "retry"] }
}
