import Cryptography
import JSON
import Repository
import Testing
import WebAuthn

/// SplitMix64: the same numbers from the same seed.
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}

extension [UInt8] {
    /// These bytes after one to three small edits: a bit, a byte, a cut, an insertion, a repetition, a length.
    func mutated(by random: inout SeededNumbers) -> [UInt8] {
        var bytes = self
        for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 2: bytes.removeSubrange(place..<Swift.min(bytes.count, place + Int.random(in: 1...4, using: &random)))
            case 3: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
            case 4: bytes.insert(contentsOf: bytes[place..<Swift.min(bytes.count, place + 8)], at: place)
            default: bytes[place] = [0x5F, 0x9F, 0xBF, 0xFF, 0xBB, 0x1B, 0xFB, 0xA4, 0xA0][place % 9]
            }
        }
        return bytes
    }
}

/// Bytes without a meaning: each is decoded or refused, and neither crashes nor passes for what it was made of. `.ci/fuzz` asks
/// the same of millions of inputs.
@Suite struct MutationTests {
    @Test("mutated attestation objects and client data are read as what they are, or refused", arguments: 0..<8)
    func mutations(_ seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        let inputs = try Vector.all.flatMap { vector in
            try [
                vector.registration.attestationObject, vector.registration.clientDataJSON,
                vector.authentication.authenticatorData,
            ].map { try #require(Hex.decode($0)) }
        }
        for input in inputs { #expect(CeremonyProperties.violation(input) == nil) }
        for round in 0..<Lane.rounds(push: 900, full: 9000) {
            let mutated = inputs[round % inputs.count].mutated(by: &random)
            if let violation = CeremonyProperties.violation(mutated) { Issue.record("\(round): \(violation)") }
        }
    }

    @Test("random bytes are read as what they are, or refused", arguments: 0..<4)
    func noise(_ seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        for round in 0..<Lane.rounds(push: 2000, full: 20_000) {
            let count = Int.random(in: 0..<40, using: &random)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            if let violation = CeremonyProperties.violation(bytes) { Issue.record("\(round): \(violation)") }
        }
    }

    @Test("a mutated registration is the same one, or refused", arguments: 0..<8)
    func registrations(_ seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        for round in 0..<Lane.rounds(push: 60, full: 1500) {
            let vector = Vector.all[round % Vector.all.count]
            let json = try vector.registrationJSON()
            let challenge = try #require(Hex.decode(vector.registration.challenge))
            let name = round % 3 == 0 ? "clientDataJSON" : "attestationObject"
            guard let response = try? RegistrationResponse(Self.mutating(name, of: json, by: &random)),
                let new = try? Vector.relyingParty.register(
                    response, challenge: challenge, algorithms: COSEAlgorithm.allCases, requiresUserVerification: false)
            else { continue }
            #expect(new.id == vector.credentialID)
            // The key is self-certifying: one that parses is on its curve, whatever was changed.
            #expect(try COSEKey(new.publicKey.bytes) == new.publicKey)
        }
    }

    @Test("a mutated assertion is refused, unless the change is one that JSON or base64url hides", arguments: 0..<8)
    func assertions(_ seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        let vector = Vector.all[Int(seed) % 6]
        let new = try Vector.relyingParty.register(
            RegistrationResponse(try vector.registrationJSON()),
            challenge: try #require(Hex.decode(vector.registration.challenge)), requiresUserVerification: false)
        let credential = StoredCredential(
            id: new.id, userHandle: [1], publicKey: new.publicKey)
        let challenge = try #require(Hex.decode(vector.authentication.challenge))
        let json = try vector.assertionJSON()
        for round in 0..<Lane.rounds(push: 60, full: 1500) {
            let name = ["clientDataJSON", "authenticatorData", "signature"][round % 3]
            let mutated = try Self.mutating(name, of: json, by: &random)
            guard mutated != json, let response = try? AssertionResponse(mutated) else { continue }
            #expect(throws: WebAuthnError.self, "\(name) of \(vector.name)") {
                try Vector.relyingParty.authenticate(
                    response, challenge: challenge, credential: credential, requiresUserVerification: false,
                    requiresUserHandle: false)
            }
        }
    }

    private static func mutating(
        _ name: String, of json: [String: JSONValue], by random: inout SeededNumbers
    ) throws -> [String: JSONValue] {
        var json = json
        guard case .object(var members)? = json["response"] else { return json }
        let bytes = try #require(members[name]?.string.flatMap { Base64URL.decode($0) })
        members[name] = .string(Base64URL.encode(bytes.mutated(by: &random)))
        json["response"] = .object(members)
        return json
    }
}
