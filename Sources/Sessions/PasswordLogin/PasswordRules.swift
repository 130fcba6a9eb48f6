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

    /// A rule that a new password does not fulfil.
    public enum Problem: Hashable, Sendable {
        /// Too few characters.
        case tooShort(min: Int)
        /// The username, or a name of the service.
        case isName
        /// One of those that are guessed first.
        case tooCommon
        /// What `PasswordHasher` cannot take, as the end of a sentence.
        case unusable(String)

        /// The end of a sentence that begins with the member.
        var sentence: String {
            switch self {
            case .tooShort(let min): "must have at least \(min) characters"
            case .isName: "must not consist of the username or a name of the service"
            case .tooCommon: "is one of those that are guessed first: choose another"
            case .unusable(let sentence): sentence
            }
        }
    }

    /// The error in a new password of the user with that name, as the end of a sentence that begins with the member; nil if it
    /// is valid.
    public func problem(with password: String, username: String?) -> String? {
        brokenRule(by: password, username: username)?.sentence
    }

    /// The rule that a new password of the user with that name does not fulfil; nil if it is valid.
    public func brokenRule(by password: String, username: String?) -> Problem? {
        if Text.normalized(password).unicodeScalars.count < lengthMin, !password.utf8.contains(0) {
            return .tooShort(min: lengthMin)
        }
        if let problem = PasswordHasher.problem(with: password) { return .unusable(problem) }
        let folded = Text.folded(password)
        for word in ([username].compactMap(\.self) + Self.serviceWords + ownWords).map(Text.folded)
        where word.count > 2 {
            if Self.isOnlyPadding(folded, around: word) { return .isName }
        }
        return CommonPasswords.contains(folded) ? .tooCommon : nil
    }

    /// Returns true if the password consists of the word, once or more, and of digits and signs.
    private static func isOnlyPadding(_ password: String, around word: String) -> Bool {
        password.contains(word) && !password.replacing(word, with: "").contains { $0.isLetter }
    }
}
