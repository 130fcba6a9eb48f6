public import Foundation
public import SojournClient

/// An authenticator for tests: it keeps passkeys on P-256 in memory, and signs without a prompt. Its signatures are real,
/// so that a real server accepts them too.
public final class SoftwarePasskeys: PasskeyAuthenticator {
    private struct Credential {
        var relyingParty: String
        var id: Data
        var userHandle: Data
        var key: any DeviceKey
    }

    private struct State {
        var credentials: [Credential] = []
        var refusal: PasskeyError?
    }

    private let origin: String
    private let state = Guarded(State())

    /// An authenticator whose client data names `origin`, for example `https://sojourn.test`.
    public init(origin: String) { self.origin = origin }

    /// Lets every prompt end with that error; nil: the user agrees again.
    public func refuse(with error: PasskeyError?) { state.withLock { $0.refusal = error } }

    /// The credential IDs, the oldest first.
    public var credentialIDs: [Data] { state.withLock { $0.credentials.map(\.id) } }

    /// Signs by the newest passkey that may sign.
    public func assertion(for request: PasskeyAssertionRequest) async throws(PasskeyError) -> PasskeyAssertion {
        let (refusal, found) = state.withLock { state in
            (
                state.refusal,
                state.credentials.last {
                    $0.relyingParty == request.relyingParty
                        && (request.allowedCredentials.isEmpty || request.allowedCredentials.contains($0.id))
                }
            )
        }
        if let refusal { throw refusal }
        guard let found else { throw .cancelled }
        let clientData = clientData("webauthn.get", request.challenge)
        let data = Self.authenticatorData(request.relyingParty, flags: 0x1D)
        let signed = data + SmallCrypto.sha256(clientData)
        do throws(KeyError) {
            return PasskeyAssertion(
                credentialID: found.id, clientDataJSON: Data(clientData), authenticatorData: Data(data),
                signature: Data(Self.der(try await found.key.sign(signed))), userHandle: found.userHandle)
        } catch { throw .failed("\(error)") }
    }

    /// Makes a passkey.
    public func registration(
        for request: PasskeyRegistrationRequest
    ) async throws(PasskeyError) -> PasskeyRegistration {
        let (refusal, isKnown) = state.withLock { state in
            (state.refusal, state.credentials.contains { request.excludedCredentials.contains($0.id) })
        }
        if let refusal { throw refusal }
        if isKnown { throw .alreadyRegistered }
        let key: any DeviceKey
        do throws(KeyError) { key = try await SoftwareKeys.temporary().makeKey(.device) } catch {
            throw .failed("\(error)")
        }
        let id = SmallCrypto.randomBytes(count: 16)
        let attested = [UInt8](repeating: 0, count: 16) + [0, 16] + id + Self.coseKey(key.publicKey)
        let data = Self.authenticatorData(request.relyingParty, flags: 0x5D) + attested
        // A CBOR map of `fmt`, `attStmt` and `authData` (WebAuthn Level 3 section 6.5.4).
        let object =
            [0xA3, 0x63] + Array("fmt".utf8) + [0x64] + Array("none".utf8) + [0x67] + Array("attStmt".utf8)
            + [0xA0, 0x68] + Array("authData".utf8) + [0x58, UInt8(data.count)] + data
        let credential = Credential(
            relyingParty: request.relyingParty, id: Data(id), userHandle: request.userID, key: key)
        state.withLock { $0.credentials.append(credential) }
        return PasskeyRegistration(
            credentialID: Data(id), clientDataJSON: Data(clientData("webauthn.create", request.challenge)),
            attestationObject: Data(object))
    }

    private func clientData(_ type: String, _ challenge: Data) -> [UInt8] {
        let challenge = Base64URL.encode(Array(challenge))
        return Array(#"{"type":"\#(type)","challenge":"\#(challenge)","origin":"\#(origin)","crossOrigin":false}"#.utf8)
    }

    /// The digest of the relying party, the flags, and a counter that stays 0.
    private static func authenticatorData(_ relyingParty: String, flags: UInt8) -> [UInt8] {
        SmallCrypto.sha256(Array(relyingParty.utf8)) + [flags, 0, 0, 0, 0]
    }

    /// The key as COSE has it (RFC 9053 section 7.1.1).
    private static func coseKey(_ key: PublicJWK) -> [UInt8] {
        [0xA5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20] + key.x + [0x22, 0x58, 0x20] + (key.y ?? [])
    }

    /// A signature of 64 bytes in the form of ASN.1, which WebAuthn takes.
    private static func der(_ signature: [UInt8]) -> [UInt8] {
        func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
            let digits = Array(bytes.drop { $0 == 0 })
            let padded = (digits.first ?? 0x80) >= 0x80 ? [0] + digits : digits
            return [0x02, UInt8(padded.count)] + padded
        }
        let body = integer(signature.prefix(32)) + integer(signature.suffix(32))
        return [0x30, UInt8(body.count)] + body
    }
}
