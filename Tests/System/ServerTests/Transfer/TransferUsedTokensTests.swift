import Sessions
import Testing

@testable import Transfer
@testable import sojourn

/// What was used once before a move is not used once more after it.
@Suite("Export and import: used tokens", .timeLimit(.minutes(5)))
struct TransferUsedTokensTests {
    private let transfer: TransferTests

    init() throws { transfer = try TransferTests() }

    private func token(_ number: Int, of owner: String = "", for seconds: Int = 300) -> OneTimeToken {
        OneTimeToken(
            owner.isEmpty ? .identityToken : .clientAssertion, of: owner, id: "\(number)",
            goodUntil: transfer.clock.wall.now + .seconds(seconds), at: transfer.clock.wall.now)
    }

    @Test("ID tokens and assertions that were used are used after a move, there and back, until they expire")
    func used() async throws {
        try await transfer.withRoute { first, postgres, last in
            let tokens = (0..<1100).map { token($0) } + [token(1, of: "backend")]
            #expect(try await first.store.use(tokens + [token(5000, for: 10)]).allSatisfy(\.self))
            transfer.clock.advance(.seconds(10))
            let export = try await first.export(to: transfer.folder)
            for target in [postgres, last] {
                let (importer, refused) = try await target.load(transfer.folder)
                #expect(refused.isEmpty && importer.counts[.usedToken] == 1101 && importer.keptCount == 0)
                #expect(try await target.load(transfer.folder).0.keptCount >= 1101)
                #expect(Set(transfer.body(try await target.export(to: transfer.folder))) == Set(transfer.body(export)))
                for used in [tokens[0], tokens[1099], tokens[1100]] {
                    #expect(try await !target.store.use(used))
                }
                #expect(try await target.store.use(token(2, of: "backend", for: 5)))
            }
            transfer.clock.advance(.seconds(290))
            #expect(try await !first.export(to: transfer.folder).contains(#""type":"used_token""#))
            #expect(try await last.store.use(token(0)))
        }
    }

    @Test("a malformed used token is refused with its line")
    func wrongLine() async throws {
        let lines = try await TransferRefusalTests().refused(
            #"{"type":"used_token","sha256":"00","good_until":1}"#)
        #expect(lines == ["line 1: 'sha256' must be 64 hexadecimal digits"])
    }
}
