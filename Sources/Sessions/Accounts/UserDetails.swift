/// What few users have. Logins and calls of the account read it, and no refresh does.
public struct UserDetails: Hashable, Sendable {
    /// Whether a second factor is asked of a user, whatever settings and client say.
    public enum SecondFactorRequirement: String, CaseIterable, Sendable {
        /// Every login asks for one.
        case required
        /// No policy asks for one. A factor that the user has is asked for still.
        case exempt
    }

    /// The user.
    public let userID: Identifier<User>
    /// The language of pages and mails; nil: unknown.
    public var language: String?
    /// The user's own rule; nil: as in client and settings.
    public var secondFactor: SecondFactorRequirement?
    /// Wrong codes of second factors since the last right one.
    public var wrongFactors: Int
    /// The time of the last of them.
    public var wrongFactorAt: Instant?
    /// The verified address before the last change, which its owner can undo.
    public var formerEmail: String?
    /// The first instant at which the change cannot be undone any more.
    public var formerEmailUntil: Instant?
    /// The time at which the user is deleted, as the user has wished; nil: never.
    public var deleteAt: Instant?

    /// Details with the values of a row; by default, of no row.
    public init(
        userID: Identifier<User>, language: String? = nil, secondFactor: SecondFactorRequirement? = nil,
        wrongFactors: Int = 0, wrongFactorAt: Instant? = nil, formerEmail: String? = nil,
        formerEmailUntil: Instant? = nil, deleteAt: Instant? = nil
    ) {
        (self.userID, self.language, self.secondFactor) = (userID, language, secondFactor)
        (self.wrongFactors, self.wrongFactorAt) = (wrongFactors, wrongFactorAt)
        (self.formerEmail, self.formerEmailUntil, self.deleteAt) = (formerEmail, formerEmailUntil, deleteAt)
    }

    /// Whether the user has none of them.
    public var isEmpty: Bool { self == UserDetails(userID: userID) }
}

/// The requests about the details of users.
public protocol UserDetailsReader {
    /// The details of a user; nil: none.
    func userDetails(_ userID: Identifier<User>) -> Answer<UserDetails?>

    /// Every row, in the order of the ids.
    func userDetails(after userID: Identifier<User>?, limit: Int) -> Answer<[UserDetails]>

    /// The users that are to be deleted at `instant`, at most `limit`.
    func usersToDelete(at instant: Instant, limit: Int) -> Answer<[Identifier<User>]>
}

/// The requests and writes about the details of users inside a transaction.
public protocol UserDetailsTransaction: UserDetailsReader {
    /// The details of a user, for update; empty ones if there are none.
    func userDetailsForUpdate(_ userID: Identifier<User>) -> Answer<UserDetails>

    /// Writes the details of a user. Empty ones are deleted.
    func write(_ details: UserDetails)
}

extension StoreTransaction {
    /// Deletes a user's details, second factors and mails, and ends the verifications, because the user is deleted.
    func deleteAccountRows(of userID: Identifier<User>) {
        write(UserDetails(userID: userID))
        deleteTOTPFactors(of: userID)
        deleteRecoveryCodes(of: userID)
        deleteMails(of: userID)
        endVerifications(of: userID, at: now)
    }
}
