import Cryptography
import FoundationEssentials
import JSON
import Repository
import Testing
import WebAuthn

/// A vector of section 16: a registration, and an assertion of the same credential.
struct Vector: Decodable, Sendable, CustomTestStringConvertible {
    struct Registration: Decodable, Sendable {
        let challenge: String
        let clientDataJSON: String
        let attestationObject: String
    }
    struct Authentication: Decodable, Sendable {
        let challenge: String
        let authenticatorData: String
        let clientDataJSON: String
        let signature: String
    }

    let name: String
    let registration: Registration
    let authentication: Authentication
    var testDescription: String { name }

    static let all: [Vector] = {
        let file = URL(filePath: Repository.path("Tests/Unit/WebAuthnTests/Vectors/level3.json"))
        return (try? JSONDecoder().decode([Vector].self, from: Data(contentsOf: file))) ?? []
    }()

    static let relyingParty = RelyingParty(
        id: "example.org", name: "Example", origins: ["https://example.org"],
        framing: .allowed(topOrigins: ["https://example.com"]))

    /// The bytes of the credential ID in the attestation object, which ends with the COSE key: fifteen vectors, one layout.
    var credentialID: [UInt8] {
        let object = Hex.decode(registration.attestationObject) ?? []
        let hash = sha256(Array("example.org".utf8))
        let start = object.indices.first { object[$0...].starts(with: hash) } ?? 0
        let count = Int(object[start + 53]) << 8 | Int(object[start + 54])
        return Array(object[(start + 55)..<(start + 55 + count)])
    }

    func registrationJSON() throws -> [String: JSONValue] {
        try json([
            "clientDataJSON": registration.clientDataJSON, "attestationObject": registration.attestationObject,
        ])
    }

    func assertionJSON() throws -> [String: JSONValue] {
        try json([
            "clientDataJSON": authentication.clientDataJSON, "authenticatorData": authentication.authenticatorData,
            "signature": authentication.signature,
        ])
    }

    private func json(_ members: [String: String]) throws -> [String: JSONValue] {
        let id = JSONValue.string(Base64URL.encode(credentialID))
        let response = try members.mapValues { JSONValue.string(Base64URL.encode(try #require(Hex.decode($0)))) }
        return ["id": id, "rawId": id, "type": .string("public-key"), "response": .object(response)]
    }
}

/// The vectors of the specification.
@Suite struct VectorTests {
    @Test("there are fifteen vectors") func count() {
        #expect(Vector.all.count == 15)
        #expect(Set(Vector.all.map(\.name)).count == 15)
    }

    @Test("every vector is accepted, but for Ed448", arguments: Vector.all)
    func ceremonies(_ vector: Vector) throws {
        let challenge = try #require(Hex.decode(vector.registration.challenge))
        let response = try RegistrationResponse(try vector.registrationJSON())
        func register() throws(WebAuthnError) -> NewCredential {
            try Vector.relyingParty.register(
                response, challenge: challenge, algorithms: COSEAlgorithm.allCases, requiresUserVerification: false)
        }
        guard vector.name != "packed.Ed448" else {
            #expect(throws: WebAuthnError.unsupportedAlgorithm) { try register() }
            return
        }
        let new = try register()
        #expect(new.id == vector.credentialID)
        #expect(new.aaguid?.count == 16)
        #expect(new.publicKey.key.algorithms == [new.publicKey.algorithm.verification])
        #expect(new.isBackupEligible || !new.isBackedUp)
        let outcome = try Vector.relyingParty.authenticate(
            AssertionResponse(try vector.assertionJSON()),
            challenge: try #require(Hex.decode(vector.authentication.challenge)),
            credential: StoredCredential(
                id: new.id, userHandle: [1], publicKey: try COSEKey(new.publicKey.bytes)),
            requiresUserVerification: false, requiresUserHandle: false)
        #expect(outcome.oddities(afterCount: new.signCount, isBackupEligible: new.isBackupEligible) == [])
        #expect(outcome.isBackupEligible == new.isBackupEligible)
        #expect(outcome.signCount == 0)
    }

    @Test("the offered algorithms are ES256, EdDSA and RS256", arguments: Vector.all)
    func offered(_ vector: Vector) throws {
        let isOffered = !["packed.ES384", "packed.ES512", "packed.Ed448"].contains(vector.name)
        let accepted = try? Vector.relyingParty.register(
            RegistrationResponse(try vector.registrationJSON()),
            challenge: try #require(Hex.decode(vector.registration.challenge)), requiresUserVerification: false)
        #expect((accepted != nil) == isOffered)
    }

    @Test("a flipped bit in what is signed is refused", arguments: Vector.all.filter { $0.name != "packed.Ed448" })
    func flippedBits(_ vector: Vector) throws {
        let new = try Vector.relyingParty.register(
            RegistrationResponse(try vector.registrationJSON()),
            challenge: try #require(Hex.decode(vector.registration.challenge)), algorithms: COSEAlgorithm.allCases,
            requiresUserVerification: false)
        let challenge = try #require(Hex.decode(vector.authentication.challenge))
        for (name, text) in [
            ("authenticatorData", vector.authentication.authenticatorData),
            ("signature", vector.authentication.signature),
        ] {
            var bytes = try #require(Hex.decode(text))
            bytes[bytes.count - 1] ^= 1
            var json = try vector.assertionJSON()
            guard case .object(var members) = json["response"] else { return }
            members[name] = .string(Base64URL.encode(bytes))
            json["response"] = .object(members)
            #expect(throws: WebAuthnError.wrongSignature) {
                try Vector.relyingParty.authenticate(
                    AssertionResponse(json), challenge: challenge,
                    credential: StoredCredential(
                        id: new.id, userHandle: [1], publicKey: new.publicKey),
                    requiresUserVerification: false, requiresUserHandle: false)
            }
        }
    }
}
