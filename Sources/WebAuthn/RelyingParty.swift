internal import Cryptography

/// The site or the family of apps for which credentials are made, and what it accepts.
public struct RelyingParty: Hashable, Sendable {
    /// The ceremonies.
    enum Ceremony: String {
        case registration = "webauthn.create"
        case assertion = "webauthn.get"
    }

    /// Whether ceremonies may run in frames of other sites.
    public enum Framing: Hashable, Sendable {
        /// They may not.
        case refused
        /// They may, below one of these top origins. A client that does not say the top origin is accepted.
        case allowed(topOrigins: [String])
    }

    /// The RP ID: a domain, which authenticators bind credentials to.
    public let id: String
    /// The name that the authenticator shows.
    public let name: String
    /// The origins, compared as texts: `https://` with a host, or an app's, such as `android:apk-key-hash:…`.
    public let origins: [String]
    /// Whether ceremonies may run in frames.
    public let framing: Framing
    private let idHash: [UInt8]

    /// A relying party.
    public init(id: String, name: String, origins: [String], framing: Framing = .refused) {
        self.id = id
        self.name = name
        self.origins = origins
        self.framing = framing
        idHash = sha256(Array(id.utf8))
    }

    /// Checks the client data of a ceremony (section 7.1 steps 6 to 11, section 7.2 steps 11 to 15).
    func check(_ clientData: ClientData, _ ceremony: Ceremony, challenge: [UInt8]) throws(WebAuthnError) {
        guard clientData.type == ceremony.rawValue else { throw .wrongType }
        guard constantTimeEqual(clientData.challenge, challenge) else { throw .wrongChallenge }
        guard origins.contains(clientData.origin) else { throw .wrongOrigin }
        guard clientData.isCrossOrigin || clientData.topOrigin != nil else { return }
        guard case .allowed(let topOrigins) = framing, clientData.topOrigin.map(topOrigins.contains) ?? true else {
            throw .crossOrigin
        }
    }

    /// Checks the authenticator data of a ceremony (section 7.1 steps 14 to 18, section 7.2 steps 16 to 20).
    func check(_ data: AuthenticatorData, requiresUserVerification: Bool) throws(WebAuthnError) {
        guard data.rpIDHash == idHash else { throw .wrongRelyingParty }
        guard data.flags.contains(.userPresent) else { throw .userNotPresent }
        guard !requiresUserVerification || data.flags.contains(.userVerified) else { throw .userNotVerified }
        guard data.flags.contains(.backupEligible) || !data.flags.contains(.backedUp) else {
            throw .backupContradiction
        }
    }
}
