internal import FoundationEssentials
internal import JSON

/// What a backend asks of one user by the back channel (OpenID Connect CIBA section 7.1): part of its login, and as JSON in the
/// row.
public struct BackchannelRequest: Codable, Hashable, Sendable {
    private let user: String
    private let scopeText: String?
    /// The APIs of the tokens.
    public let resources: [String]
    /// What the phone and the other device both show, so that the user can compare.
    public let bindingMessage: String?

    enum CodingKeys: String, CodingKey {
        case user = "user_id"
        case scopeText = "scope"
        case resources
        case bindingMessage = "binding_message"
    }

    /// A request to that user.
    public init(to userID: Identifier<User>, scope: Scope?, resources: [String] = [], bindingMessage: String? = nil) {
        (user, scopeText, self.resources) = (userID.description, scope?.description, resources)
        self.bindingMessage = bindingMessage
    }

    /// The request that `json` wrote; nil for anything else.
    public init?(json: [UInt8]) {
        guard let request = try? JSONDecoder().decode(Self.self, from: Data(json)),
            Identifier<User>(request.user) != nil
        else { return nil }
        self = request
    }

    /// The request as JSON.
    public var json: [UInt8] { JSONText.compact(self) ?? [] }

    /// The user who is asked, and the only one whose phone can claim the login.
    public var userID: Identifier<User> { Identifier(user) ?? Identifier(words: (0, 0)) }

    /// The scope; nil: all that the client can be granted.
    public var scope: Scope? { scopeText.flatMap { Scope($0) } }

    /// The longest binding message, in characters.
    public static let messageLengthMax = 40

    /// Whether a phone can show `text` in one line: letters, numbers, punctuation, signs of currency and mathematics, spaces.
    public static func isValid(message text: String) -> Bool {
        let scalars = text.unicodeScalars
        return (1...messageLengthMax).contains(scalars.count)
            && scalars.allSatisfy { scalar in
                switch scalar.properties.generalCategory {
                case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .otherLetter, .nonspacingMark, .spacingMark,
                    .decimalNumber, .letterNumber, .otherNumber, .connectorPunctuation, .dashPunctuation,
                    .openPunctuation, .closePunctuation, .initialPunctuation, .finalPunctuation, .otherPunctuation,
                    .mathSymbol, .currencySymbol:
                    true
                default: scalar == " "
                }
            }
    }
}

extension LoginRules {
    /// How long a request by the back channel can wait for the user. A wish outside is answered with the nearest end.
    public static let backchannelLifetimes = Duration.seconds(30)...Duration.seconds(600)
    /// The number of requests by the back channel that may wait for one user.
    public static let openPushesMax = 3
}
