internal import HTTP
public import Sessions

/// What an admin does by one call of the admin API. The console makes its forms from acts, and the command line its calls, so that
/// both do the same, and what the console prints is what its form does.
public protocol AdminAct: Sendable {
    /// The scope that the call needs.
    static var scope: AdminKey.Scope { get }
    /// The call, which is run, and printed as `curl`.
    var call: AdminCall { get }
    /// The words of `sojourn` that do the same; nil: none do.
    var words: [String]? { get }
    /// What these read from the standard input, because it is a secret, or long.
    var input: String? { get }
}

extension AdminAct {
    /// Most acts read nothing.
    public var input: String? { nil }

    /// The line of a shell with the words and the input; nil: no words do the same.
    public var line: String? {
        let read = input.map { "printf %s \(Shell.quoted($0)) | " } ?? ""
        return words.map { read + Shell.line(["sojourn"] + $0) }
    }

    /// The lines of a shell that do what the act does, each by itself. An act that changes nothing has none.
    public func commands(at baseURL: String) -> [String] {
        call.body?.isEmpty == true ? [] : [Shell.curl(call, at: baseURL)] + [line].compactMap(\.self)
    }
}

/// The acts.
public enum Acts {
    /// Every act, once.
    public static let all: [any AdminAct.Type] = [
        CreateUser.self, EditUser.self, DisableUser.self, EnableUser.self, UnlockUser.self, EndUserSessions.self,
        MakeResetLink.self, RemovePasskey.self, RemoveSecondFactor.self, RequireSecondFactor.self, DeleteUser.self,
        EndSession.self, RemovePIN.self, PhoneLoginEnding.self,
        CreateClient.self, EditClient.self, RotateClientSecret.self, DeleteClient.self,
        CreateAdminKey.self, DeleteAdminKey.self, RotateSigningKey.self, WithdrawSigningKey.self,
        RetryDeliveries.self, TestWebhook.self, SetStreamStatus.self, VerifyStream.self, DeleteStream.self,
        RetryMail.self,
        ChangeSettings.self, SetSecondFactorPolicy.self, ChangeBranding.self, SetLogo.self, SetServiceLogo.self,
    ]
}

/// What an act is about.
public struct ActSubject: Hashable, Sendable {
    /// The segment of the path that names it.
    let segment: String
    /// The word by which a command names it.
    let word: String

    private init(segment: String, word: String) { (self.segment, self.word) = (segment, word) }

    /// Something that both name by its id.
    public init(_ id: String) { self.init(segment: id, word: id) }

    /// A user. Commands use the username where it needs no quoting and is taken for nothing else, and the id elsewhere.
    public init(_ user: User) {
        let name = user.username
        let isPlain =
            Shell.quoted(name) == name && Identifier<User>(name) == nil && !name.hasPrefix("-")
            && !name.hasPrefix(Self.namePrefix)
        self.init(segment: user.id.description, word: isPlain ? name : user.id.description)
    }

    /// The user that a word of the command line names: a username or an id; `username:NAME` for a name that looks like an id.
    public init(userNamed word: String) {
        let isReference = Identifier<User>(word) != nil || word.hasPrefix(Self.namePrefix)
        self.init(segment: isReference ? word : Self.namePrefix + word, word: word)
    }

    private static let namePrefix = "username:"

    /// The path of something below `collection`.
    func path(in collection: String, _ rest: String = "") -> String {
        "/\(collection)/\(PercentEncoding.encode(segment))\(rest)"
    }
}
