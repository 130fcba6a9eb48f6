/// Why a response is refused. A closed set; each case has one sentence, and the sentence holds nothing of the response.
public enum WebAuthnError: Error, Hashable, Sendable, CaseIterable {
    /// A member of the response is missing, has another type, or is no base64url.
    case malformedResponse
    /// The response is longer than any authenticator makes it.
    case tooLong
    /// `id`, `rawId` and the credential ID in the authenticator data differ.
    case credentialIDMismatch
    /// The client data is no JSON object with `type`, `challenge` and `origin`.
    case malformedClientData
    /// `type` is that of the other ceremony.
    case wrongType
    /// The challenge is not the one that was given out.
    case wrongChallenge
    /// The origin is not one of this relying party.
    case wrongOrigin
    /// The ceremony ran in a frame of another site.
    case crossOrigin
    /// A byte string is not the CBOR that authenticators write.
    case malformedCBOR
    /// The attestation object lacks a member, has another one, or its statement does not have the form of its format.
    case malformedAttestation
    /// The authenticator data is too short, too long, or contradicts its flags.
    case malformedAuthenticatorData
    /// The authenticator data is for another relying party.
    case wrongRelyingParty
    /// The authenticator did not test that a user is present.
    case userNotPresent
    /// The authenticator did not verify the user, by a PIN or biometry.
    case userNotVerified
    /// The credential is backed up, although it cannot be.
    case backupContradiction
    /// The public key is not a valid key of a known type.
    case malformedKey
    /// The algorithm of the public key was not offered.
    case unsupportedAlgorithm
    /// The assertion names another user than the owner of the credential.
    case wrongUser
    /// The signature is not one of the credential's key over this authenticator data and client data.
    case wrongSignature

    /// The refusal as a sentence.
    public var sentence: String {
        switch self {
        case .malformedResponse: "A member of the credential is missing, has another type, or is not base64url."
        case .tooLong: "The credential is too long."
        case .credentialIDMismatch: "The credential IDs of the response differ."
        case .malformedClientData: "clientDataJSON is not a JSON object with type, challenge and origin."
        case .wrongType: "The type in clientDataJSON is that of the other ceremony."
        case .wrongChallenge:
            "The challenge is not one that this server gave out for this call, has expired, or was used."
        case .wrongOrigin: "The origin is not one of passkeys.origins."
        case .crossOrigin: "The ceremony ran in a frame of another site."
        case .malformedCBOR: "A byte string is not canonical CBOR."
        case .malformedAttestation: "The attestation object does not have the form of its format."
        case .malformedAuthenticatorData: "The authenticator data contradicts its flags or its length."
        case .wrongRelyingParty: "The authenticator data is for another rp_id."
        case .userNotPresent: "The authenticator did not test that a user is present."
        case .userNotVerified: "The authenticator did not verify the user by a PIN or biometry."
        case .backupContradiction: "The credential says that it is backed up and that it cannot be."
        case .malformedKey: "The public key is not a valid COSE key."
        case .unsupportedAlgorithm: "The algorithm of the public key was not offered."
        case .wrongUser: "The user handle is not that of the credential's owner."
        case .wrongSignature: "The signature is invalid."
        }
    }
}
