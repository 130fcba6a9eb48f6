internal import HTTP
public import Sessions

/// Sets or removes the logo of the service.
public struct SetServiceLogo: AdminAct {
    /// See `AdminAct`.
    public static let scope = AdminKey.Scope.owner

    /// The picture; nil: the logo is removed.
    public var picture: [UInt8]?

    /// The act.
    public init(_ picture: [UInt8]?) { self.picture = picture }

    /// See `AdminAct`.
    public var call: AdminCall { AdminCall(setting: picture, at: "/logo") }

    /// See `AdminAct`.
    public var words: [String]? { ["settings", "logo", picture == nil ? "--remove" : AdminCall.pictureFile] }
}
