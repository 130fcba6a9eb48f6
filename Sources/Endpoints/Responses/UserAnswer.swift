internal import JSON
internal import Sessions

/// A user as JSON for admins.
struct UserAnswer: Encodable {
    /// A switch that disables logins.
    struct Disabling: Encodable {
        let effective: String
        let since: Int64
        let reason: String?

        init(_ disabling: User.LoginDisabling) {
            effective = disabling.effective.rawValue
            since = disabling.since.secondsSinceEpoch
            reason = disabling.note
        }
    }

    /// Where the names, the address and the password come from.
    struct Sources: Encodable {
        let username: String
        let email: String?
        let password: String?
        let access: String

        init(_ sources: UserSources) {
            username = sources.username.rawValue
            email = sources.email?.rawValue
            password = sources.password?.rawValue
            access = sources.access.rawValue
        }
    }

    let userID: String
    let username: String
    let email: String?
    let emailVerified: Bool
    let phoneNumber: String?
    let displayName: String?
    let givenName: String?
    let familyName: String?
    let country: String?
    let offlineSessionMax: Int64?
    let hasPassword: Bool
    /// True for an anonymous user, whose username is a placeholder, else absent.
    let anonymous: Bool?
    let loginDisabledByAdmin: Disabling?
    let loginDisabledByUser: Disabling?
    /// The end of the lock by wrong passwords, which may have passed. A device with an active session is not locked.
    let lockedUntil: Int64?
    let createdAt: Int64
    /// The claims that every access token of the user carries.
    let claims: [String: JSONValue]?
    /// Only in the answers to making, showing and changing a user.
    let sources: Sources?
    /// The number of sessions that this call ended.
    let revoked: Int?

    init(_ user: User, _ sources: UserSources? = nil, revoked: Int? = nil) {
        userID = user.id.description
        username = user.username
        email = user.profile.email
        emailVerified = user.profile.isEmailVerified
        phoneNumber = user.profile.phoneNumber
        displayName = user.profile.displayName
        givenName = user.profile.givenName
        familyName = user.profile.familyName
        country = user.profile.country
        offlineSessionMax = user.offlineSessionMax?.wholeSeconds
        hasPassword = user.passwordHash != nil
        anonymous = user.isAnonymous ? true : nil
        loginDisabledByAdmin = user.disabledByAdmin.map(Disabling.init)
        loginDisabledByUser = user.disabledByUser.map(Disabling.init)
        lockedUntil = user.wrongPasswords?.lockEnd?.secondsSinceEpoch
        createdAt = user.createdAt.secondsSinceEpoch
        claims = user.claims?.values
        self.sources = sources.map(Sources.init)
        self.revoked = revoked
    }

    enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case username, email
        case emailVerified = "email_verified"
        case phoneNumber = "phone_number"
        case displayName = "display_name"
        case givenName = "given_name"
        case familyName = "family_name"
        case country
        case offlineSessionMax = "offline_session_max"
        case hasPassword = "has_password"
        case loginDisabledByAdmin = "login_disabled_by_admin"
        case loginDisabledByUser = "login_disabled_by_user"
        case lockedUntil = "locked_until"
        case createdAt = "created_at"
        case anonymous, claims, sources, revoked
    }
}
