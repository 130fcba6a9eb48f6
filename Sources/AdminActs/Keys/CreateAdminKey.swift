internal import HTTP
internal import JSON
public import Sessions

/// Makes an admin key.
public struct CreateAdminKey: AdminAct {
    /// See `AdminAct`.
    public static let scope = AdminKey.Scope.owner

    /// The name.
    public var name: String
    /// Its scope; nil: that of the server.
    public var keyScope: AdminKey.Scope? = nil
    /// The seconds of its life; nil: it has no end.
    public var lifetime: Int64? = nil

    /// A key of that name.
    public init(_ name: String) { self.name = name }

    /// See `AdminAct`.
    public var call: AdminCall {
        var body: [String: JSONValue] = ["name": .string(name)]
        body["scope"] = keyScope.map { .string($0.rawValue) }
        body["expires_in"] = lifetime.map { .integer($0) }
        return AdminCall(.post, "/admin-keys", body)
    }

    /// See `AdminAct`.
    public var words: [String]? {
        let scope = keyScope.map { ["--scope", $0.rawValue] } ?? []
        let end = lifetime.map { ["--expires-in", DurationText.text($0)] } ?? []
        return ["admin-key", "create"] + scope + end + Shell.operands(name)
    }
}
