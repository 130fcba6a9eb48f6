import Cryptography
import FoundationEssentials
import JSON
import Testing

@testable import JOSE

/// The JWS and JWK vectors of Wycheproof, every one.
@Suite struct WycheproofTests {
    struct File: Decodable {
        struct Group: Decodable {
            struct Case: Decodable {
                let tcId: Int
                let valid: Bool
                let jws: String
            }
            let comment: String
            let jwks: JSONValue
            let tests: [Case]
        }
        let groups: [Group]

        static func named(_ name: String) throws -> File {
            let folder = URL(filePath: #filePath).deletingLastPathComponent().path
            return try JSONDecoder().decode(
                File.self, from: Data(contentsOf: URL(filePath: folder + "/Wycheproof/\(name).json")))
        }
    }

    /// Whether a reader that has these keys believes the text: what `verify` does, without type and claims, which the
    /// vectors do not have.
    private func believes(_ jws: String, _ keys: JSONValue) throws -> Bool {
        guard let set = try? JSONDecoder().decode(JWKSet.self, from: JSONEncoder().encode(keys)),
            let parsed = try? JWT.parse(jws), let key = set.verificationKey(kid: parsed.header.kid)
        else { return false }
        do { try parsed.verifySignature(key) } catch { return false }
        return true
    }

    /// The sound keys of algorithms that are not verified here: what is signed with them is refused, as all else.
    private static let otherAlgorithms = ["HS", "ES521"]

    private func isForOthers(_ group: File.Group) -> Bool {
        guard case .object(let set) = group.jwks, case .array(let keys)? = set["keys"] else { return false }
        return keys.allSatisfy { key in
            guard case .object(let members) = key, let alg = members["alg"]?.string else { return false }
            return Self.otherAlgorithms.contains { alg.hasPrefix($0) }
        }
    }

    /// Valid as signatures, by an algorithm (PS384) that the key, which says PS256, is not for.
    private static let mismatched = [346, 350]

    @Test(arguments: [("json_web_signature", 401, 32), ("json_web_key", 26, 1)])
    func everyVectorIsBelievedOrRefusedAsItSays(_ name: String, _ count: Int, _ believed: Int) throws {
        var seen = 0
        var accepted = 0
        for group in try File.named(name).groups {
            let isForOthers = isForOthers(group)
            for vector in group.tests {
                let isOfKey = name != "json_web_signature" || !Self.mismatched.contains(vector.tcId)
                let expected = vector.valid && !isForOthers && isOfKey
                let outcome = try believes(vector.jws, group.jwks)
                #expect(outcome == expected, "\(name) \(vector.tcId) \(group.comment)")
                seen += 1
                if outcome { accepted += 1 }
            }
        }
        #expect(seen == count)
        // So many are for keys and algorithms of ours: a reader that refuses everything does not pass.
        #expect(accepted == believed)
    }
}
