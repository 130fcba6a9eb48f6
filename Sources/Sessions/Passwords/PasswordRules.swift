/// What a new password must be (NIST SP 800-63B-4 section 3.1.1.2): long enough, and none that an attacker tries first. No
/// rules of composition, and no end by time. Passwords that are in use stay what they are.
public struct PasswordRules: Hashable, Sendable {
    /// The fewest characters, code points after normalisation. NIST asks for 15 where nothing but the password is asked for, and 8
    /// beside another factor; this server's default is 8, the least that may be configured.
    public var lengthMin = 8
    /// Words that are no passwords here: names of the service and of who runs it (ASVS 6.2.11).
    public var ownWords: [String] = []
    private static let serviceWords = ["sojourn"]

    /// The defaults.
    public init() {}

    /// What is wrong with a new password of the user with that name, as the end of a sentence that begins with the
    /// member; nil when it will do.
    public func problem(with password: String, username: String?) -> String? {
        if let problem = PasswordHasher.problem(with: password) { return problem }
        if Text.normalized(password).unicodeScalars.count < lengthMin {
            return "must have at least \(lengthMin) characters"
        }
        let folded = Text.key(password)
        for word in ([username].compactMap(\.self) + Self.serviceWords + ownWords).map(Text.key) where word.count > 2 {
            if Self.isOnlyPadding(folded, around: word) {
                return "must not be made of the username or a name of the service"
            }
        }
        return CommonPasswords.contains(folded) ? "is one of those that are guessed first: choose another" : nil
    }

    /// Whether nothing is left beside the word, once or again, but digits and signs.
    private static func isOnlyPadding(_ password: String, around word: String) -> Bool {
        password.contains(word) && !password.replacing(word, with: "").contains { $0.isLetter }
    }
}
