import Cryptography
import JSON

@testable import WebAuthn

/// What must hold for all bytes that an authenticator or a client can send, for the tests and for the fuzzer. Every reader of
/// `WebAuthn` gets the same bytes: what one of them refuses is often a part of what another one takes.
enum CeremonyProperties {
    /// The first thing that does not hold for `bytes`; nil when all is well.
    static func violation(_ bytes: [UInt8]) -> String? {
        cbor(bytes) ?? key(bytes) ?? authenticatorData(bytes) ?? attestation(bytes) ?? clientData(bytes)
    }

    /// A value that was decoded has no other encoding, up to the order of its keys, and ends where it ended before.
    private static func cbor(_ bytes: [UInt8]) -> String? {
        guard let value = try? CBOR.decode(bytes) else { return nil }
        let encoded = value.encoded
        guard encoded.count == bytes.count else { return "CBOR of \(bytes.count) bytes, encoded \(encoded.count)" }
        guard (try? CBOR.decode(encoded)) == value else { return "\(value), encoded and decoded again" }
        guard (try? CBOR.decode(bytes + [0])) == nil else { return "a byte is left over behind \(value)" }
        guard bytes.count < CBOR.lengthMax else { return nil }
        let prefix = try? CBOR.decodePrefix((bytes + [0])[...])
        return prefix?.value == value && prefix?.end == bytes.count ? nil : "\(value) before another byte"
    }

    /// A key takes up all of its bytes, and judges any signature without an end of the process.
    private static func key(_ bytes: [UInt8]) -> String? {
        guard let key = try? COSEKey(bytes) else { return nil }
        guard key.bytes == bytes else { return "other bytes than the key's" }
        _ = key.key.isValidASN1Signature(Array(bytes.suffix(72)), for: bytes)
        return fault(of: key)
    }

    private static func fault(of key: COSEKey) -> String? {
        guard key.bytes.count <= COSEKey.lengthMax else { return "a key of \(key.bytes.count) bytes" }
        return key.key.algorithms == [key.algorithm.verification] ? nil : "\(key.algorithm): \(key.key.algorithms)"
    }

    private static func authenticatorData(_ bytes: [UInt8]) -> String? {
        (try? AuthenticatorData(bytes)).flatMap { fault(of: $0, in: bytes) }
    }

    /// Authenticator data is what was read of it, one part behind the other, and nothing else.
    private static func fault(of data: AuthenticatorData, in bytes: [UInt8]) -> String? {
        let count = stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: data.signCount >> $0) }
        var written = data.rpIDHash + [data.flags.rawValue] + count
        guard (data.credential != nil) == data.flags.contains(.attestedCredential) else { return "the flag AT" }
        if let credential = data.credential {
            let (id, key) = (credential.id, credential.publicKey)
            guard (1...AuthenticatorData.credentialIDMax).contains(id.count) else { return "an ID of \(id.count)" }
            if let fault = fault(of: key) { return fault }
            written += credential.aaguid + [UInt8(id.count >> 8), UInt8(id.count & 0xFF)] + id + key.bytes
        }
        guard bytes.starts(with: written) else { return "\(written), read of \(bytes)" }
        guard data.flags.contains(.extensions) else {
            return written.count == bytes.count ? nil : "something is left over behind \(written)"
        }
        if case .map? = try? CBOR.decode(Array(bytes[written.count...])) { return nil }
        return "extensions that are no map"
    }

    /// A registration is accepted with the key and for the site that its authenticator data names, and only with a user there.
    private static func attestation(_ bytes: [UInt8]) -> String? {
        guard let inner = (try? AttestationObject(bytes))?.authenticatorData,
            let data = try? AuthenticatorData(inner)
        else { return nil }
        if let fault = fault(of: data, in: inner) { return fault }
        guard let credential = data.credential, let new = registered(bytes, credential.id) else { return nil }
        guard data.rpIDHash == sha256(Array("example.org".utf8)), data.flags.contains([.userPresent, .userVerified]),
            new.id == credential.id, new.publicKey == credential.publicKey
        else { return "a registration that no authenticator has made: \(new)" }
        return nil
    }

    /// What the server keeps of an attestation object for the credential `id`, if all else is right.
    private static func registered(_ object: [UInt8], _ id: [UInt8]) -> NewCredential? {
        let challenge = [UInt8](repeating: 1, count: 32)
        let clientData =
            #"{"type":"webauthn.create","challenge":"\#(Base64URL.encode(challenge))","origin":"https://example.org"}"#
        let name = JSONValue.string(Base64URL.encode(id))
        let members: [String: JSONValue] = [
            "id": name, "rawId": name, "type": .string("public-key"),
            "response": .object([
                "clientDataJSON": .string(Base64URL.encode(Array(clientData.utf8))),
                "attestationObject": .string(Base64URL.encode(object)),
            ]),
        ]
        let site = RelyingParty(id: "example.org", name: "Example", origins: ["https://example.org"])
        return try? site.register(RegistrationResponse(members), challenge: challenge)
    }

    /// Client data keeps its text, which an authenticator signs, and its members are those that any reader of JSON finds.
    private static func clientData(_ bytes: [UInt8]) -> String? {
        guard let data = try? ClientData(bytes) else { return nil }
        guard data.json == bytes, data.hash == sha256(bytes) else { return "another text than the client's" }
        guard let value = JSONValue(text: bytes) else { return "client data that is no JSON" }
        guard value["type"]?.string == data.type, value["origin"]?.string == data.origin,
            value["challenge"]?.string == Base64URL.encode(data.challenge),
            (value["crossOrigin"]?.bool ?? false) == data.isCrossOrigin, value["topOrigin"]?.string == data.topOrigin
        else { return "\(value), read as \(data)" }
        return nil
    }
}

extension CBOR {
    /// The one form that `decode` takes, but for the order of the keys.
    var encoded: [UInt8] {
        switch self {
        case .integer(let number): Self.encoded(number)
        case .bytes(let bytes): Self.head(2, UInt64(bytes.count)) + bytes
        case .text(let text): Self.encoded(text)
        case .array(let elements): elements.reduce(Self.head(4, UInt64(elements.count))) { $0 + $1.encoded }
        case .map(let entries):
            entries.reduce(Self.head(5, UInt64(entries.count))) { $0 + $1.key.encoded + $1.value.encoded }
        case .bool(let truth): [truth ? 0xF5 : 0xF4]
        case .null: [0xF6]
        }
    }

    fileprivate static func encoded(_ number: Int64) -> [UInt8] {
        number < 0 ? head(1, UInt64(-1 - number)) : head(0, UInt64(number))
    }

    fileprivate static func encoded(_ text: String) -> [UInt8] { head(3, UInt64(text.utf8.count)) + Array(text.utf8) }

    private static func head(_ major: UInt8, _ argument: UInt64) -> [UInt8] {
        let (low, count): (UInt8, Int) =
            switch argument {
            case ..<24: (UInt8(argument), 0)
            case ..<0x100: (24, 1)
            case ..<0x1_0000: (25, 2)
            case ..<0x1_0000_0000: (26, 4)
            default: (27, 8)
            }
        return [major << 5 | low]
            + (0..<count).reversed().map { UInt8(truncatingIfNeeded: argument >> UInt64($0 * 8)) }
    }
}

extension CBOR.Key {
    fileprivate var encoded: [UInt8] {
        switch self {
        case .integer(let number): CBOR.encoded(number)
        case .text(let text): CBOR.encoded(text)
        }
    }
}
