import Cryptography
import Federation
import HTTPClient
import HostileServer
import Testing

/// What other providers sign with: each algorithm of the allow-list by its own key alone, and nothing that only looks like it.
@Suite struct ForeignAlgorithmTests {
    /// What a login by `token` is answered, while the provider publishes these keys and is allowed these algorithms.
    private func status(
        of token: String, publishing keys: String, allowing algorithms: [VerificationAlgorithm]
    ) async throws -> Int {
        var status = 0
        try await ProviderFixture.with({
            $0.issuer = ForeignAlgorithm.issuer
            $0.algorithms = algorithms
            $0.keysURL = OutboundURL(($0.discoveryURL?.origin ?? "") + "/keys", plainLoopback: true)
            $0.discoveryURL = nil
        }) { world in
            world.provider.change { $0.keys = [.json(#"{"keys":[\#(keys)]}"#)] }
            status = await world.present(token).status
        }
        return status
    }

    private func algorithm(_ name: String) throws -> VerificationAlgorithm {
        try #require(VerificationAlgorithm(rawValue: name))
    }

    @Test(arguments: ForeignAlgorithm.all)
    func isVerified_whereItIsAllowed_byAKeyThatSaysSoOrNothing(_ row: ForeignAlgorithm) async throws {
        let own = try algorithm(row.name)
        let others = VerificationAlgorithm.allCases.filter { $0 != own }
        for alg in [row.name, nil] {
            #expect(try await status(of: row.token(), publishing: row.jwk(alg: alg), allowing: [own]) == 200)
        }
        #expect(try await status(of: row.token(), publishing: row.jwk(alg: nil), allowing: others) == 401)
    }

    /// The key is for another algorithm, or on another curve, or the header says another one than it was signed with.
    @Test(arguments: ForeignAlgorithm.all)
    func noOtherKeyOrHeader_isTakenForIt(_ row: ForeignAlgorithm) async throws {
        let all = VerificationAlgorithm.allCases
        for other in all where other.rawValue != row.name {
            let name = other.rawValue
            #expect(
                try await status(of: row.token(), publishing: row.jwk(alg: name), allowing: all) == 401, "key \(name)")
            #expect(
                try await status(of: row.token(alg: name), publishing: row.jwk(alg: nil), allowing: all) == 401,
                "header \(name)")
        }
        for alg in ["", #","alg":"\#(row.name)""#] {
            let key = "{\(ForeignAlgorithm.p256)\(alg)}"
            #expect(try await status(of: row.token(), publishing: key, allowing: all) == 401)
        }
    }

    /// Edge values of r and s, other lengths, and for PSS another salt or another hash in MGF1.
    @Test(arguments: ForeignAlgorithm.all)
    func whatIsNoSignature_isRefused(_ row: ForeignAlgorithm) async throws {
        let signature = try #require(Base64URL.decode(row.signature))
        let half = signature.count / 2
        let zeros = [UInt8](repeating: 0, count: half)
        let bad: [[UInt8]] = [
            [], zeros + zeros, signature.prefix(half) + zeros, zeros + signature.suffix(half),
            [UInt8](repeating: 0xFF, count: signature.count), signature.dropLast(), signature + [0], [0] + signature,
            signature.suffix(half) + signature.prefix(half),
        ]
        let texts = bad.map { Base64URL.encode($0) } + (row.name == "PS256" ? ForeignAlgorithm.otherPSS : [])
        for text in texts {
            #expect(
                try await status(
                    of: row.token(signature: text), publishing: row.jwk(alg: nil), allowing: [algorithm(row.name)])
                    == 401, "\(text)")
        }
    }
}
