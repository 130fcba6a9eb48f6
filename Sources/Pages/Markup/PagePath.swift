internal import Glibc
internal import HTTP

/// A path of this server, with its query: what a form submits to, where an image or a link of our own lies. It begins
/// with one slash, so that no browser reads another host in it.
public struct PagePath: Hashable, Sendable {
    /// `/login?r=…`
    public let text: String

    private init(text: String) { self.text = text }

    /// A constant path, with a query whose values are percent-encoded.
    ///
    /// - Precondition: `path` begins with a slash and no second one.
    public init(_ path: StaticString, _ query: KeyValuePairs<StaticString, String> = [:]) {
        let path = "\(path)"
        precondition(Self.isPath(path), "a path of this server")
        text = path + Self.suffix(query)
    }

    /// A path that was received or configured; nil if it is none of this server's: it does not begin with exactly one slash,
    /// or has white space, quotes, backslashes or other characters outside RFC 3986.
    public init?(checking path: String) {
        guard Self.isPath(path) else { return nil }
        text = path
    }

    /// The path with one more segment, percent-encoded, and with a query. An empty or a dot segment becomes `_`, because
    /// browsers resolve these.
    public func appending(_ segment: String, _ query: KeyValuePairs<StaticString, String> = [:]) -> PagePath {
        let isResolved = ["", ".", ".."].contains(segment)
        return PagePath(
            text: text + "/" + (isResolved ? "_" : PercentEncoding.encode(segment)) + Self.suffix(query))
    }

    /// The path with what its page carries, if there is something.
    public func carrying(_ request: String?) -> PagePath {
        request.map { PagePath(text: text + Self.suffix(["r": $0])) } ?? self
    }

    private static func suffix(_ query: KeyValuePairs<StaticString, String>) -> String {
        query.isEmpty ? "" : "?" + query.map { "\($0)=\(PercentEncoding.encode($1))" }.joined(separator: "&")
    }

    private static func isPath(_ text: String) -> Bool {
        text.hasPrefix("/") && !text.hasPrefix("//") && text.utf8.allSatisfy(PageURL.isURLByte)
    }
}

extension PagePath {
    /// The byte before each path in the body of a page. UTF-8 has no such byte, so that no text has one.
    static let mark: UInt8 = 0xFF

    /// Replaces the mark before each path in the body of a page by `base`, the path below which browsers see this server:
    /// `/auth`, or nothing. `Endpoints` does so for every page that it answers.
    public static func place(_ body: inout [UInt8], below base: String) {
        guard var mark = nextMark(body, 0) else { return }
        var (placed, start) = ([UInt8](), 0)
        placed.reserveCapacity(body.count + 64 * base.utf8.count)
        while true {
            placed += body[start..<mark]
            placed += base.utf8
            start = mark + 1
            guard let next = nextMark(body, start) else { break }
            mark = next
        }
        body = placed + body[start...]
    }

    private static func nextMark(_ bytes: [UInt8], _ start: Int) -> Int? {
        unsafe bytes.withUnsafeBytes { all in
            guard let base = all.baseAddress, start < all.count,
                let found = unsafe memchr(base + start, Int32(mark), all.count - start)
            else { return nil }
            return unsafe UnsafeRawPointer(found) - base
        }
    }

    /// A logo, by the digest of the picture.
    public static func logo(_ digest: String) -> PagePath { PagePath("/assets/logo").appending(digest) }
    /// Shows the login page (GET).
    public static let login = PagePath("/login")
    /// Shows the login page of a sealed request (GET).
    public static func loginPage(_ sealed: String) -> PagePath { PagePath("/login", ["r": sealed]) }
    /// Takes username and password.
    public static let loginPassword = PagePath("/login/password")
    /// Takes the assertion of a passkey.
    public static let loginPasskey = PagePath("/login/passkey")
    /// Takes the code of the second factor.
    public static let loginFactor = PagePath("/login/factor")
    /// Adds a passkey after a login, or not, and goes on to the app.
    public static let loginOffer = PagePath("/login/offer")
    /// Goes on with the account of the browser's session.
    public static let loginAccount = PagePath("/login/account")
    /// Begins a login with the phone.
    public static let loginPhone = PagePath("/login/phone")
    /// Signs a browser in by the nonce of a login inside an app.
    public static let loginApp = PagePath("/login/app")
    /// Ends a session that a phone has let in and that its user does not know.
    public static let notMe = PagePath("/not-me")
    /// Asks for and takes the user code of RFC 8628.
    public static let device = PagePath("/device")
    /// Takes the decision about a device.
    public static let deviceDecision = PagePath("/device/decision")
    /// Asks for and takes a logout (OpenID Connect RP-Initiated Logout).
    public static let logout = PagePath("/oauth/logout")
    /// Asks for and takes a new password, by a reset token.
    public static let reset = PagePath("/reset")
    /// Asks for the mailbox of a forgotten password.
    public static let forgot = PagePath("/forgot")
    /// Asks for the code of a forgotten password.
    public static let forgotCode = PagePath("/forgot/code")
    /// Asks for the mailbox of a new account.
    public static let signUp = PagePath("/sign-up")
    /// Asks for the code of a new account.
    public static let signUpCode = PagePath("/sign-up/code")
    /// Asks for the password or the passkey of a new account.
    public static let signUpFinish = PagePath("/sign-up/finish")
    /// Asks for the mailbox of a login by e-mail.
    public static let loginEmail = PagePath("/login/email")
    /// Asks for the code of a login by e-mail.
    public static let loginEmailCode = PagePath("/login/email/code")
    /// Proves a mailbox by the link of a mail.
    public static let proofLink = PagePath("/v")
    /// Ends what was begun with a mailbox, by the link of a mail.
    public static let cancelLink = PagePath("/cancel")
    /// Takes back a change, by the link of a mail.
    public static let undoLink = PagePath("/undo")
    /// The devices of the account.
    public static let account = PagePath("/account")
    /// The events of the session of an account page.
    public static let accountEvents = PagePath("/account/events")
    /// Ends sessions.
    public static let accountEnd = PagePath("/account/end")
    /// Password and login switch.
    public static let accountSecurity = PagePath("/account/security")
    /// Takes a new password.
    public static let accountPassword = PagePath("/account/password")
    /// Pauses logins, and resumes them.
    public static let accountLogins = PagePath("/account/logins")
    /// Adds, names and removes passkeys.
    public static let accountPasskeys = PagePath("/account/passkeys")
    /// Adds and removes second factors.
    public static let accountFactors = PagePath("/account/factors")
    /// The profile of the account.
    public static let accountProfile = PagePath("/account/profile")
    /// Asks for the new mailbox of the account.
    public static let accountEmail = PagePath("/account/email")
    /// Asks for the code of the new mailbox.
    public static let accountEmailCode = PagePath("/account/email/code")
    /// Deletes the account.
    public static let accountDelete = PagePath("/account/delete")
    /// The history of the account.
    public static let accountActivity = PagePath("/account/activity")
}

/// The names of the fields that forms send. The raw values are on the wire.
public enum FormField: String, CaseIterable, Sendable {
    /// The token against cross-site request forgery.
    case csrf
    /// The sealed authorization request.
    case request = "r"
    /// What the user typed as name: a username or an e-mail address.
    case username
    /// The current password.
    case password
    case newPassword = "new_password"
    /// `1`: keep the browser signed in.
    case remember
    /// The code of a second factor, or of a mail.
    case code
    /// The id of an authenticator app.
    case factor
    /// The sealed first step of a login.
    case loginToken = "login_token"
    /// The JSON of a passkey's assertion, or of its registration.
    case credential
    /// `1`: the browser can make passkeys.
    case offer
    /// The reset token.
    case token
    /// The user code of RFC 8628.
    case userCode = "user_code"
    /// `approve` or `decline`.
    case decision
    /// The id of the session to end.
    case session
    /// `one`, `others` or `all`: the sessions to end. Without it, `session` names the one.
    case which
    /// `1`: pause logins; `0`: resume them.
    case pause
    /// The credential ID of a passkey.
    case passkey
    /// The name of a passkey.
    case name
    /// `add`, `rename` or `remove`: what happens to the passkey.
    case act
    /// `immediate` or `on_expiry`.
    case effective
    /// `1`: end every session as well.
    case endSessions = "end_sessions"
    /// `1`: the form was shown again, because the browser did not show the cookie of its page.
    case again
    /// A mailbox.
    case email
    /// `1`: the box of a question is ticked.
    case confirmed
    case displayName = "display_name"
    case givenName = "given_name"
    case familyName = "family_name"
    case phoneNumber = "phone_number"
    /// ISO 3166-1 alpha-2.
    case country
}

extension HTML.StringInterpolation {
    /// Appends the name of a field as the value of an attribute.
    mutating func appendInterpolation(_ field: FormField) { appendInterpolation(field.rawValue) }
}
