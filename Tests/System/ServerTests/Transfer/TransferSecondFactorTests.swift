import Cryptography
import Sessions
import Testing

@testable import Transfer
@testable import sojourn

/// Second factors and details move with their users.
@Suite("Export and import: second factors", .timeLimit(.minutes(5)))
struct TransferSecondFactorTests {
    private let transfer: TransferTests

    init() throws { transfer = try TransferTests() }

    @Test("authenticators, recovery codes and details move with every member, and a removed authenticator is left out")
    func roundTrip() async throws {
        try await transfer.withRoute { first, postgres, last in
            let user = try await first.createUser("ada")
            let factors = [
                TOTPFactor(
                    id: Identifier(random: .system), userID: user.id, name: "Phone", sealedSeed: [1, 2, 3],
                    algorithm: "SHA512", digits: 8, period: 60, lastStep: 7, createdAt: user.createdAt,
                    confirmedAt: user.createdAt, lastUsedAt: user.createdAt + .seconds(1)),
                TOTPFactor(
                    id: Identifier(random: .system), userID: user.id, name: "Tablet", sealedSeed: [4],
                    createdAt: user.createdAt, confirmedAt: user.createdAt),
            ]
            let codes = RecoveryCodeSet(
                userID: user.id,
                codes: [
                    RecoveryCode(userID: user.id, hash: [UInt8](repeating: 1, count: 32), usedAt: user.createdAt),
                    RecoveryCode(userID: user.id, hash: [UInt8](repeating: 2, count: 32)),
                ])
            let details = UserDetails(
                userID: user.id, language: "de", secondFactor: .required, wrongFactors: 3,
                wrongFactorAt: user.createdAt, formerEmail: "old@example.org", formerEmailUntil: user.createdAt,
                deleteAt: user.createdAt)
            #expect(try await first.store.importTOTPFactors(factors, .replacing) == [.written, .written])
            #expect(try await first.store.importRecoveryCodes([codes], .replacing) == [.written])
            #expect(try await first.store.importUserDetails([details], .replacing) == [.written])
            _ = try await first.export(to: transfer.folder)

            for stage in [postgres, last] {
                #expect(try await stage.load(transfer.folder).refused.isEmpty)
                let moved = try await stage.store.totpFactors(after: nil, limit: 10)
                #expect(Set(moved) == Set(factors))
                #expect(Set(try await stage.store.recoveryCodes(of: user.id).codes) == Set(codes.codes))
                #expect(try await stage.store.userDetails(after: nil, limit: 10) == [details])
            }
            try await last.administration.removeSecondFactor(factors[1].id, of: .id(user.id), by: .system)
            #expect(try await last.load(transfer.folder).refused.isEmpty)
            #expect(try await last.store.totpFactors(after: nil, limit: 10) == [factors[0]])
        }
    }

    @Test(
        "a line that is no authenticator is refused with its reason",
        arguments: [
            (#""algorithm":"MD5","digits":6,"period":30"#, "'algorithm'"),
            (#""algorithm":"SHA1","digits":9,"period":30"#, "'digits'"),
        ])
    func refused(_ members: String, _ word: String) async throws {
        try await transfer.withRoute { first, _, _ in
            let user = try await first.createUser("ada")
            let id = Identifier<TOTPFactor>(random: .system)
            transfer.folder.write(
                "mine.jsonl",
                #"{"type":"totp","id":"\#(id)",\#(members),"user_id":"\#(user.id)","name":"x","sealed_seed":"AQ","last_step":0,"created_at":1}"#
            )
            let (_, refused) = try await first.load(transfer.folder, "mine.jsonl")
            #expect(refused.count == 1 && refused[0].contains(word))
        }
    }
}
