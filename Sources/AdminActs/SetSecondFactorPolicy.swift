internal import HTTP
internal import JSON
public import Sessions

/// Sets the policy of second factors for all clients.
public struct SetSecondFactorPolicy: AdminAct {
    /// See `AdminAct`.
    public static let scope = AdminKey.Scope.owner

    /// The policy.
    public var policy: SecondFactorPolicy

    /// The act with that policy.
    public init(_ policy: SecondFactorPolicy) { self.policy = policy }

    /// See `AdminAct`.
    public var call: AdminCall {
        AdminCall(.put, "/settings/second-factor", ["second_factor_policy": .string(policy.rawValue)])
    }

    /// See `AdminAct`.
    public var words: [String]? { ["settings", "second-factor", policy.rawValue] }
}
