public import Foundation

/// Keeps passkeys (WebAuthn), and signs with them after it has verified the user by biometry or a PIN.
///
/// `PlatformPasskeys` is the one of Apple platforms.
public protocol PasskeyAuthenticator: Sendable {
    /// Signs a challenge with a passkey that the user chooses.
    func assertion(for request: PasskeyAssertionRequest) async throws(PasskeyError) -> PasskeyAssertion
    /// Makes a passkey.
    func registration(for request: PasskeyRegistrationRequest) async throws(PasskeyError) -> PasskeyRegistration
}

/// Why an authenticator gives no answer.
public enum PasskeyError: Error, Hashable, Sendable {
    /// The user has closed the prompt, or has no passkey.
    case cancelled
    /// The authenticator has a passkey of the user already.
    case alreadyRegistered
    /// The authenticator cannot be used; the text is for developers.
    case failed(String)
}

/// What the server wants signed.
public struct PasskeyAssertionRequest: Hashable, Sendable {
    /// The relying party (RP ID): a domain that is associated with the app.
    public var relyingParty: String
    /// What to sign.
    public var challenge: Data
    /// The credential IDs that may sign; none: any of the relying party.
    public var allowedCredentials: [Data] = []
}

/// The passkey that the server wants made.
public struct PasskeyRegistrationRequest: Hashable, Sendable {
    /// The relying party (RP ID): a domain that is associated with the app.
    public var relyingParty: String
    /// What to sign.
    public var challenge: Data
    /// The user handle.
    public var userID: Data
    /// The name by which the user recognizes the account.
    public var userName: String
    /// The credential IDs that the user has already.
    public var excludedCredentials: [Data] = []
}

/// A signature of a passkey.
public struct PasskeyAssertion: Hashable, Sendable {
    /// The credential ID.
    public var credentialID: Data
    /// The client data, as it was signed.
    public var clientDataJSON: Data
    /// The authenticator data, as it was signed.
    public var authenticatorData: Data
    /// The signature.
    public var signature: Data
    /// The user handle.
    public var userHandle: Data

    /// An assertion of its parts.
    public init(credentialID: Data, clientDataJSON: Data, authenticatorData: Data, signature: Data, userHandle: Data) {
        self.credentialID = credentialID
        self.clientDataJSON = clientDataJSON
        self.authenticatorData = authenticatorData
        self.signature = signature
        self.userHandle = userHandle
    }

    /// `AuthenticationResponseJSON` (WebAuthn Level 3 §5.1).
    package var json: [String: JSONValue] {
        PasskeyOptions.credential(
            credentialID,
            [
                "clientDataJSON": clientDataJSON, "authenticatorData": authenticatorData, "signature": signature,
                "userHandle": userHandle,
            ])
    }
}

/// A new passkey.
public struct PasskeyRegistration: Hashable, Sendable {
    /// The credential ID.
    public var credentialID: Data
    /// The client data.
    public var clientDataJSON: Data
    /// The attestation object, which holds the public key.
    public var attestationObject: Data

    /// A registration of its parts.
    public init(credentialID: Data, clientDataJSON: Data, attestationObject: Data) {
        self.credentialID = credentialID
        self.clientDataJSON = clientDataJSON
        self.attestationObject = attestationObject
    }

    /// `RegistrationResponseJSON` (WebAuthn Level 3 §5.1).
    package var json: [String: JSONValue] {
        PasskeyOptions.credential(
            credentialID, ["clientDataJSON": clientDataJSON, "attestationObject": attestationObject])
    }
}
