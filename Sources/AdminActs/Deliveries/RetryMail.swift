internal import HTTP
public import Sessions

/// Lets a mail be tried now, also one of which no attempt would follow.
public struct RetryMail: AdminAct {
    /// See `AdminAct`.
    public static let scope = AdminKey.Scope.support

    /// The mail.
    public var mail: ActSubject

    /// The act on it.
    public init(_ mail: ActSubject) { self.mail = mail }

    /// See `AdminAct`.
    public var call: AdminCall { AdminCall(.post, mail.path(in: "mails", "/retry")) }

    /// See `AdminAct`.
    public var words: [String]? { ["mail", "retry"] + Shell.operands(mail.word) }
}
