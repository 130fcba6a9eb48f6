/// The rules for a new password (NIST SP 800-63B-4 section 3.1.1.2): a minimum length and no common password. There are no
/// rules of composition and no expiry. Existing passwords remain valid.
public struct PasswordRules: Hashable, Sendable {
    /// The smallest number of characters, counted in code points after normalisation. NIST demands 15 for a password alone, and
    /// 8 for one beside another factor. The default of this server is 8, the smallest value that may be configured.
    public var lengthMin = 8
    /// Words that are refused as passwords: names of the service and of its operator (ASVS 6.2.11).
    public var ownWords: [String] = []
    private static let serviceWords = ["sojourn"]

    /// Creates the default rules.
    public init() {}

    /// The error in a new password of the user with that name, as the end of a sentence that begins with the member; nil if it
    /// is valid.
    public func problem(with password: String, username: String?) -> String? {
        if let problem = PasswordHasher.problem(with: password) { return problem }
        if Text.normalized(password).unicodeScalars.count < lengthMin {
            return "must have at least \(lengthMin) characters"
        }
        let folded = Text.key(password)
        for word in ([username].compactMap(\.self) + Self.serviceWords + ownWords).map(Text.key) where word.count > 2 {
            if Self.isOnlyPadding(folded, around: word) {
                return "must not consist of the username or a name of the service"
            }
        }
        return CommonPasswords.contains(folded) ? "is one of those that are guessed first: choose another" : nil
    }

    /// Returns true if the password consists of the word, once or more, and of digits and signs.
    private static func isOnlyPadding(_ password: String, around word: String) -> Bool {
        password.contains(word) && !password.replacing(word, with: "").contains { $0.isLetter }
    }
}
