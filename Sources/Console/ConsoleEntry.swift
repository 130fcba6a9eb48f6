public import HTTP
public import Pages
public import Sessions

/// What a browser that is not in the console wants.
public struct ConsoleEntry: Sendable {
    /// What a link lets in.
    public struct Link: Sendable {
        /// The name of the admin key that it makes.
        public let keyName: String
        /// The scope of that key.
        public let scope: AdminKey.Scope
        /// Until when it can be used.
        public let expiresAt: Instant

        /// A link.
        public init(keyName: String, scope: AdminKey.Scope, expiresAt: Instant) {
            (self.keyName, self.scope, self.expiresAt) = (keyName, scope, expiresAt)
        }
    }

    /// What went wrong.
    public enum Message: Sendable {
        case pressAgain, unknownKey, keyWithoutRead, linkExpired
        /// The page keeps a form that was sent after the end of the stay.
        case typedIsKept

        /// The status of the page with the message.
        public var status: Status {
            switch self {
            case .pressAgain, .typedIsKept: .ok
            case .unknownKey: .unprocessable
            case .keyWithoutRead: .forbidden
            case .linkExpired: .gone
            }
        }
    }

    /// The page to which the browser goes on.
    public let path: PagePath
    /// The token of a link that can be used.
    public var token: String?
    /// What the link lets in.
    public var link: Link?
    /// The form that the browser has sent too late.
    public var typed: TypedForm?

    /// The way to `page`; to the first page, unless it is one of the console.
    public init(page: String?, token: String? = nil, link: Link? = nil, typed: TypedForm? = nil) {
        self.typed = typed
        let path = page.flatMap { PagePath(checking: $0) }
        self.path = path.flatMap { $0.text.hasPrefix("/console/") ? $0 : nil } ?? .console
        self.token = token
        self.link = link
    }
}
