public import Foundation
public import SojournClient

/// What tests do with a server, whether it is `LocalServer` or `FakeServer`: the calls of an admin, and time.
public protocol TestServer: Sendable {
    /// The URL for `SojournConfiguration.server`.
    var url: URL { get }
    /// Carries requests to the server.
    var transport: any Transport { get }

    /// Creates a user; without a password the user cannot log in by one.
    func createUser(_ username: String, password: String?) async throws
    /// Sets the e-mail address of the user, and that it is verified; nil: none.
    func setVerifiedEmail(_ address: String?, of username: String) async throws
    /// Opens a session as a backend does that has authenticated the user itself. Returns the token answer, for `Sojourn.adopt`.
    func openSession(for username: String, device: String) async throws -> Data
    /// Ends every session of the user.
    func revokeAll(_ username: String) async throws
    /// Ends every session of every user.
    func revokeEverything() async throws
    /// Disables the user's logins at once. The sessions are kept.
    func disable(_ username: String) async throws
    /// Enables the user's logins.
    func enable(_ username: String) async throws
    /// Sets the password, which ends every session of the user.
    func resetPassword(_ username: String, to password: String) async throws
    func deleteUser(_ username: String) async throws
    /// Lets logins of the client `mobile` make anonymous users, or forbids it. At first it is forbidden.
    func setAnonymousUsers(_ areAllowed: Bool) async throws
    /// Lets the client `mobile` use the login page, which returns to these URIs. At first there are none.
    func setRedirectURIs(_ uris: [String]) async throws
    /// Sets the widest scope of the client `mobile`. At first it is `offline_access account`.
    func setScope(_ scope: String) async throws
    /// Sets the ways in which users of the client `mobile` may log in (`login_methods`); nil: every way, as at first.
    func setLoginMethods(_ methods: [String]?) async throws
    /// Sets how often sessions of the client `mobile` with a mode other than `NO` ask for their user (`user_presence_max_age`), in
    /// seconds; nil: as often as the mode itself says.
    func askForUser(every seconds: Int64?) async throws
    /// Records what the app's backend says of app and device of a session (`genuine`); nil: nothing any more.
    func setAttestation(_ verdict: String?, ofSession id: String) async throws
    /// Changes settings of the client `mobile`, for existing sessions as well.
    func change(_ settings: ClientSettings) async throws
    /// Changes the settings of sessions, for existing sessions as well.
    func change(_ settings: ServerSettings) async throws
    /// Requests a login, as a device does that has to be logged in with the help of a phone.
    func requestLogin(_ request: TestLoginRequest) async throws -> TestLogin
    /// The number that the device shows; nil while it shows the picture, or if none is needed.
    func number(of login: TestLogin) async throws -> Int?
    /// Lets the device come for its session. Returns the answer with its tokens, for `Sojourn.adopt`; nil: the user has not let it
    /// in, or it has come before.
    ///
    /// - Parameter returnURL: what the app on the phone has opened (`LoginDetails.returnURL`). A login by a link takes it.
    func collect(_ login: TestLogin, device: String, returnURL: URL?) async throws -> Data?
    /// The code of a mail to a mailbox that is none of `known`, as soon as it has come.
    func mailedCode(to email: String, besides known: [String]) async throws -> String
    /// Lets time pass: `FakeServer` moves its clock, `LocalServer` waits.
    func letPass(_ duration: Duration) async throws
}
