internal import HTTP
internal import JSON
public import Sessions

/// Makes a signing key.
public struct RotateSigningKey: AdminAct {
    /// See `AdminAct`.
    public static let scope = AdminKey.Scope.owner

    /// Whether it signs at once, and not a day later.
    public var immediately: Bool

    /// The act.
    public init(immediately: Bool) { self.immediately = immediately }

    /// See `AdminAct`.
    public var call: AdminCall { AdminCall(.post, "/keys/rotate", ["immediately": .bool(immediately)]) }

    /// See `AdminAct`.
    public var words: [String]? { ["key", "rotate"] + (immediately ? ["--immediately"] : []) }
}
