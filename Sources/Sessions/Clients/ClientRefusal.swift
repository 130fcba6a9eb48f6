/// What a refused client sent and what was expected of it. It is for the log alone, so that an admin finds the wrong setting; the
/// answer to the client does not have it. It holds no secret: of a verifier, its length and its alphabet.
public struct ClientRefusal: Error, Hashable, Sendable {
    /// The error in the answer (RFC 6749 section 5.2).
    public enum Code: Sendable {
        case invalidClient, invalidGrant
    }

    /// The error in the answer.
    public let code: Code
    /// The id of the client; nil if the request names none.
    public let clientID: String?
    /// What the request had.
    public let sent: String
    /// What the server expected in its place.
    public let expected: String

    /// The refusal of the client with that id. An id that has the form of a secret is left out, because some configurations
    /// confuse the two.
    public init(_ code: Code, of clientID: String?, sent: String, expected: String) {
        let isSecret = clientID.map { $0.hasPrefix(Self.secretPrefix) || !Device.isValid(id: $0) } ?? false
        self.code = code
        self.clientID = isSecret ? nil : clientID
        self.sent = sent
        self.expected = expected
    }

    /// The start of every secret of a client.
    static let secretPrefix = "sjc_"

    /// The longest text of a request that the log repeats.
    private static let textLengthMax = 256

    /// A text of the request as the log repeats it.
    public static func quoted(_ text: String) -> String {
        text.utf8.count <= textLengthMax ? text : String(decoding: text.utf8.prefix(textLengthMax), as: UTF8.self) + "…"
    }
}

extension ServiceError {
    /// True if the client is unknown or failed to authenticate.
    public var isInvalidClient: Bool {
        switch self {
        case .invalidClient: true
        case .clientRefused(let refusal): refusal.code == .invalidClient
        default: false
        }
    }

    /// What the client sent and what was expected, if the error says it.
    public var clientRefusal: ClientRefusal? {
        if case .clientRefused(let refusal) = self { refusal } else { nil }
    }
}
