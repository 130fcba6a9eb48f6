internal import Cryptography
internal import JSON

/// What the client says of a ceremony (section 5.8.1). Members beyond those that are checked are ignored, as the specification
/// demands, because clients add new ones.
public struct ClientData: Sendable {
    /// The longest text. Clients write a few hundred bytes.
    public static let lengthMax = 4096

    /// The JSON text. The authenticator signs the digest of its bytes.
    public let json: [UInt8]
    /// `type`.
    public let type: String
    /// `challenge`, decoded. It proves nothing before the ceremony has compared it.
    public let challenge: [UInt8]
    /// `origin`.
    public let origin: String
    /// `crossOrigin`: whether the ceremony ran in a frame of another origin than its parents.
    public let isCrossOrigin: Bool
    /// `topOrigin`, the origin of the top frame of a cross-origin ceremony.
    public let topOrigin: String?

    /// Reads client data.
    public init(_ json: [UInt8]) throws(WebAuthnError) {
        guard json.count <= Self.lengthMax else { throw .tooLong }
        // A byte order mark is no part of the text (section 7.1, step 5); the digest covers it.
        let text = json.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(json.dropFirst(3)) : json
        guard let members = try? StrictJSON.object(text), let type = members["type"]?.string,
            let challenge = members["challenge"]?.string.flatMap({ Base64URL.decode($0) }),
            let origin = members["origin"]?.string
        else { throw .malformedClientData }
        switch members["crossOrigin"] {
        case nil: isCrossOrigin = false
        case .bool(let truth): isCrossOrigin = truth
        default: throw .malformedClientData
        }
        switch members["topOrigin"] {
        case nil: topOrigin = nil
        case .string(let origin): topOrigin = origin
        default: throw .malformedClientData
        }
        self.json = json
        self.type = type
        self.challenge = challenge
        self.origin = origin
    }

    /// SHA-256 of the text.
    var hash: [UInt8] { sha256(json) }
}
