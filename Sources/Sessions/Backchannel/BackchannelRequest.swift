internal import Cryptography
internal import FoundationEssentials
internal import JSON

/// What a backend asks of one user by the back channel (OpenID Connect CIBA section 7.1): part of the request of its login.
public struct BackchannelRequest: Codable, Hashable, Sendable {
    let user: String
    private let scopeText: String?
    /// The APIs of the tokens.
    public let resources: [String]
    /// What the phone and the other device both show, so that the user can compare.
    public let bindingMessage: String?
    private let token: String?

    enum CodingKeys: String, CodingKey {
        case user = "user_id"
        case scopeText = "scope"
        case resources
        case bindingMessage = "binding_message"
        case token
    }

    /// A request to that user.
    ///
    /// - Parameter sealedToken: the encrypted token for pings; nil: the client asks for the result.
    public init(
        to userID: Identifier<User>, scope: Scope?, resources: [String] = [], bindingMessage: String? = nil,
        sealedToken: [UInt8]? = nil
    ) {
        (user, scopeText, self.resources) = (userID.description, scope?.description, resources)
        self.bindingMessage = bindingMessage
        token = sealedToken.map { Base64URL.encode($0) }
    }

    /// The request as JSON.
    public var json: [UInt8] { JSONText.compact(self) ?? [] }

    /// The asked user. Only phones of this user can claim the login.
    public var userID: Identifier<User> { Identifier(user) ?? Identifier(words: (0, 0)) }

    /// The encrypted token for pings; nil: the client asks for the result.
    public var sealedToken: [UInt8]? { token.flatMap { Base64URL.decode($0) } }

    /// The longest token for pings, in characters.
    public static let tokenLengthMax = 1024

    /// Whether `text` can be sent as a bearer token (RFC 6750 section 2.1).
    public static func isValid(token text: String) -> Bool {
        let core = text.utf8.reversed().drop { $0 == UInt8(ascii: "=") }
        return (1...tokenLengthMax).contains(text.utf8.count) && !core.isEmpty
            && core.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                    UInt8(ascii: "~"), UInt8(ascii: "+"), UInt8(ascii: "/"):
                    true
                default: false
                }
            }
    }

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

extension PhoneLoginRules {
    /// How long a request by the back channel can wait for the user. A wish outside is answered with the nearest end.
    public static let backchannelLifetimes = Duration.seconds(30)...Duration.seconds(600)
    /// The number of requests by the back channel that may wait for one user.
    public static let openPushesMax = 3
}
