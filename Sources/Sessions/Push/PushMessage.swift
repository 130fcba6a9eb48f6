internal import Cryptography
internal import JOSE
internal import JSON

/// A message to the app on one device, which only that device can read. The team's own sender carries it.
public struct PushMessage: Hashable, Sendable {
    /// The longest text in bytes: a message of APNs or FCM has at most 4096 with everything around it.
    public static let lengthMax = 3072

    /// The session of the device.
    public let sessionID: Identifier<Session>
    /// The app.
    public let clientID: String
    /// The installation of the app.
    public let deviceID: String
    /// The encrypted message: a compact JWE (RFC 7516).
    public let text: String

    /// The kinds of messages, by the member `type` of their content.
    enum Kind: String, Encodable {
        /// A login waits for the phone.
        case login
    }

    /// What a message says. `iss` and `sid` tell the app that it is the one that is meant.
    struct Content: Encodable {
        let type: Kind
        let iss: String
        let sid: String
        let loginID: String
        let login: String
        let iat: Int64
        let exp: Int64

        enum CodingKeys: String, CodingKey {
            case type, iss, sid
            case loginID = "login_id"
            case login, iat, exp
        }
    }

    /// Encrypts `content` to the key of `session`; nil if the session has none.
    init?(_ content: Content, to session: Session, random: RandomSource) {
        guard let key = session.encryptionKey.flatMap(EncryptionKey.init(text:)), let json = JSONText.compact(content),
            let text = JWE.encrypt(json, to: key.key, random: random), text.utf8.count <= Self.lengthMax
        else { return nil }
        (sessionID, clientID, deviceID) = (session.id, session.clientID, session.device.id)
        self.text = text
    }
}
