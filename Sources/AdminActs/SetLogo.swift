internal import HTTP
public import Sessions

/// Sets or removes the logo of a client.
public struct SetLogo: AdminAct {
    /// See `AdminAct`.
    public static let scope = AdminKey.Scope.owner

    /// The client.
    public var client: ActSubject
    /// The picture; nil: the logo is removed.
    public var picture: [UInt8]?

    /// The act on a client.
    public init(_ picture: [UInt8]?, of client: ActSubject) { (self.picture, self.client) = (picture, client) }

    /// See `AdminAct`.
    public var call: AdminCall { AdminCall(setting: picture, at: client.path(in: "clients", "/logo")) }

    /// See `AdminAct`.
    public var words: [String]? {
        ["client", "logo"]
            + (picture == nil
                ? ["--remove"] + Shell.operands(client.word) : Shell.operands(client.word, AdminCall.pictureFile))
    }
}

extension AdminCall {
    /// The name of the file in printed commands.
    static let pictureFile = "logo.png"

    /// The call that sets the picture at a path, or deletes it.
    init(setting picture: [UInt8]?, at path: String) {
        self = picture.map { AdminCall(.put, path, picture: $0) } ?? AdminCall(.delete, path)
    }
}
