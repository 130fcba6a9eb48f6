/// The account that an enrolment makes, or to which it adds a device, as an admin has invited it.
public struct Invitation: Codable, Hashable, Sendable {
    /// The way to the user for which an admin has made the invitation.
    public enum Source: String, CaseIterable, Codable, Sendable {
        case qr, link, push
    }

    let user: String
    /// Whether the enrolment makes the account.
    public let isNew: Bool
    /// The username of the new account; nil: the user chooses it, or the account exists.
    public let username: String?
    /// The way to the user.
    public let source: Source
    private let email: String?
    private let phoneNumber: String?
    private let displayName: String?
    private let givenName: String?
    private let familyName: String?
    private let country: String?
    private let isEmailVerified: Bool?

    enum CodingKeys: String, CodingKey {
        case user = "user_id"
        case isNew = "new"
        case username, source, email
        case phoneNumber = "phone_number"
        case displayName = "display_name"
        case givenName = "given_name"
        case familyName = "family_name"
        case country
        case isEmailVerified = "email_verified"
    }

    /// An invitation to a new account, and the id that the account will have.
    public init(newUser id: Identifier<User>, username: String?, profile: User.Profile, source: Source) {
        (user, isNew, self.username, self.source) = (id.description, true, username, source)
        (email, phoneNumber, displayName, country) = (
            profile.email, profile.phoneNumber, profile.displayName, profile.country
        )
        (givenName, familyName) = (profile.givenName, profile.familyName)
        isEmailVerified = profile.isEmailVerified ? true : nil
    }

    /// An invitation of a further device of a user.
    public init(deviceOf id: Identifier<User>, source: Source) {
        (user, isNew, username, self.source) = (id.description, false, nil, source)
        (email, phoneNumber, displayName, country, isEmailVerified) = (nil, nil, nil, nil, nil)
        (givenName, familyName) = (nil, nil)
    }

    /// The user: the present one, or the one that the enrolment makes.
    public var userID: Identifier<User> { Identifier(user) ?? Identifier(words: (0, 0)) }

    /// The profile of the new account.
    public var profile: User.Profile {
        var profile = User.Profile(
            email: email, phoneNumber: phoneNumber, displayName: displayName, givenName: givenName,
            familyName: familyName, country: country)
        profile.isEmailVerified = isEmailVerified ?? false
        return profile
    }

    /// The shortest and the longest time in which a phone has to come.
    public static let lifetimes = Duration.seconds(60)...Duration.seconds(14 * 86_400)
    /// The time in which a phone has to come, if the request does not say.
    public static let defaultLifetime = Duration.seconds(86_400)
}
