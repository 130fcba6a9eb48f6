import Cryptography
import JSON
import WebAuthn
import WebAuthnFixture

/// A registration or an assertion as the peers get it, and what this server says of it.
struct DifferentialCase: Sendable {
    static let challenge = [UInt8](repeating: 9, count: 32)

    let name: String
    /// The members for `peers.py`, binary values in hexadecimal.
    let members: [String: String]
    /// Nil if the ceremony is accepted.
    let refusal: WebAuthnError?

    /// A line for `peers.py`.
    var line: String { JSONValue.object(members.mapValues { .string($0) }).compactText ?? "" }

    /// Fixed keys, so that the same seed gives the same bytes.
    private static func authenticator(_ algorithm: SignatureAlgorithm) -> SoftAuthenticator {
        var authenticator = SoftAuthenticator(algorithm, userHandle: [1])
        let der =
            algorithm == .eddsa
            ? "302e020100300506032b657004220420" + String(repeating: "07", count: 32)
            : "3041020100301306072a8648ce3d020106082a8648ce3d030107042730250201010420"
                + String(repeating: "07", count: 32)
        if let key = SigningKey(pkcs8DER: Hex.decode(der) ?? []) { authenticator.key = key }
        return authenticator
    }

    /// Those of the tables, right but for one thing, and `count` of each ceremony with mutated bytes.
    static func all(seed: UInt64, count: Int) -> [DifferentialCase] {
        var random = SeededNumbers(seed: seed)
        var cases: [DifferentialCase] = []
        for wrong in WrongRegistration.all {
            var edited = authenticator(.es256)
            wrong.edit(&edited)
            cases.append(registration(wrong.name, edited.register(challenge)))
        }
        for wrong in WrongAssertion.all {
            let right = authenticator(.es256)
            var edited = right
            wrong.edit(&edited)
            cases.append(assertion(wrong.name, edited.assert(challenge), of: right))
        }
        for round in 0..<count {
            let varied = authenticator(round % 2 == 0 ? .es256 : .eddsa).varied(by: &random)
            let json = varied.register(challenge)
            let part = ["clientDataJSON", "attestationObject", nil][round % 3]
            cases.append(
                registration(
                    "\(part ?? "varied") \(round)", part.map { mutating($0, of: json, by: &random) } ?? json))
        }
        for round in 0..<count {
            let varied = authenticator(round % 2 == 0 ? .es256 : .eddsa).varied(by: &random)
            let json = round % 4 == 3 ? varied.assert(challenge) : mutated(varied, round, by: &random)
            cases.append(assertion("\(round)", json, of: varied))
        }
        return cases
    }

    private static func mutating(
        _ part: String, of json: [String: JSONValue], by random: inout SeededNumbers
    ) -> [String: JSONValue] {
        var json = json
        guard case .object(var response)? = json["response"] else { return json }
        let bytes = response[part]?.string.flatMap { Base64URL.decode($0) } ?? []
        response[part] = .string(Base64URL.encode(bytes.mutated(by: &random)))
        json["response"] = .object(response)
        return json
    }

    /// An assertion with mutated bytes, which are then signed, so that the signature is not what refuses it; every third time
    /// the signature is mutated.
    private static func mutated(
        _ authenticator: SoftAuthenticator, _ round: Int, by random: inout SeededNumbers
    ) -> [String: JSONValue] {
        let json = authenticator.assert(challenge)
        if round % 3 == 2 { return mutating("signature", of: json, by: &random) }
        var (data, clientData) = (
            authenticator.authenticatorData(isNew: false), authenticator.clientData("webauthn.get", challenge)
        )
        if round % 3 == 0 { data = data.mutated(by: &random) } else { clientData = clientData.mutated(by: &random) }
        let raw = authenticator.key.sign(data + sha256(clientData))
        guard case .object(var response)? = json["response"] else { return json }
        response["authenticatorData"] = .string(Base64URL.encode(data))
        response["clientDataJSON"] = .string(Base64URL.encode(clientData))
        response["signature"] = .string(
            Base64URL.encode(authenticator.key.algorithm == .es256 ? SoftAuthenticator.der(raw) : raw))
        var changed = json
        changed["response"] = .object(response)
        return changed
    }

    private static func registration(_ name: String, _ json: [String: JSONValue]) -> DifferentialCase {
        var refusal: WebAuthnError?
        do throws(WebAuthnError) {
            _ = try RegistrationTests.site.register(RegistrationResponse(json), challenge: challenge)
        } catch { refusal = error }
        return DifferentialCase(
            name: "registration: " + name, members: members("registration", json), refusal: refusal)
    }

    private static func assertion(
        _ name: String, _ json: [String: JSONValue], of authenticator: SoftAuthenticator
    ) -> DifferentialCase {
        let key = SoftAuthenticator.coseKey(authenticator.key.publicKey)
        var refusal: WebAuthnError?
        do throws(WebAuthnError) {
            _ = try RegistrationTests.site.authenticate(
                AssertionResponse(json), challenge: challenge,
                credential: StoredCredential(
                    id: authenticator.credentialID, userHandle: [1], publicKey: try COSEKey(key)))
        } catch { refusal = error }
        var members = members("assertion", json)
        members["publicKey"] = Hex.encode(key)
        return DifferentialCase(name: "assertion: " + name, members: members, refusal: refusal)
    }

    private static func members(_ kind: String, _ json: [String: JSONValue]) -> [String: String] {
        func hex(_ value: JSONValue?) -> String {
            Hex.encode(value?.string.flatMap { Base64URL.decode($0) } ?? [])
        }
        var members = ["kind": kind, "challenge": Hex.encode(challenge), "id": hex(json["id"])]
        guard case .object(let response)? = json["response"] else { return members }
        for name in ["clientDataJSON", "attestationObject", "authenticatorData", "signature"] {
            members[name] = hex(response[name])
        }
        return members
    }
}

extension SoftAuthenticator {
    /// This authenticator with other flags, counter, model, credential ID and extensions, and mostly the user verified.
    func varied(by random: inout SeededNumbers) -> SoftAuthenticator {
        var varied = self
        varied.flags = [0x05, 0x0D, 0x1D, 0x27, 0x05, 0x1D, 0x15, 0x01][Int.random(in: 0..<8, using: &random)]
        varied.signCount = [0, 1, .max][Int.random(in: 0..<3, using: &random)]
        varied.aaguid = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
        let count = [1, 16, 32, 64, 1023][Int.random(in: 0..<5, using: &random)]
        varied.credentialID = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
        if Bool.random(using: &random) {
            varied.extensions = EncodedCBOR.map([(EncodedCBOR.text("credProtect"), EncodedCBOR.integer(2))])
        }
        if Bool.random(using: &random) { varied.moreClientData = #","crossOrigin":false,"later":[1]"# }
        return varied
    }
}
