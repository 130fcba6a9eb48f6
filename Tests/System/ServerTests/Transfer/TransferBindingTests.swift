import Cryptography
import Locks
import PostgresFixture
import PostgresStore
import Sessions
import Testing

@testable import Transfer
@testable import sojourn

/// Sessions that are worth nothing without a key, the user's presence or a provider's word are worth as much after a move, and
/// as little without.
@Suite("Export and import: what sessions are bound to", .timeLimit(.minutes(5)))
struct TransferBindingTests {
    private let transfer: TransferTests

    init() throws { transfer = try TransferTests() }

    @Test("phones with keys, modes, APIs and identities go on on PostgreSQL and back, and stay bound to them")
    func bindings() async throws {
        try await transfer.withRoute { first, postgres, last in
            var phones = try await BoundPhones("ada", at: first)
            for (source, target) in [(first, postgres), (postgres, last)] {
                transfer.clock.advance(.seconds(4000))
                try await phones.goOn(at: source)
                try await transfer.move(from: source, to: target)
                transfer.clock.advance(.seconds(4000))
                try await phones.goOn(at: target)
            }
        }
    }

    @Test("an export of PostgreSQL says of bound sessions what the one before it said")
    func sameLines() async throws {
        try await transfer.withRoute { first, postgres, last in
            var phones = try await BoundPhones("ada", at: first)
            transfer.clock.advance(.seconds(4000))
            try await phones.goOn(at: first)
            let export = try await first.export(to: transfer.folder)
            #expect(export.contains(#""type":"provider_check""#))
            for target in [postgres, last] {
                try await target.load(transfer.folder)
                let again = try await target.export(to: transfer.folder)
                #expect(Set(transfer.body(again)) == Set(transfer.body(export)))
            }
        }
    }

    @Test("the key for encrypted messages comes along")
    func encryptionKey() async throws {
        try await transfer.withRoute { first, postgres, last in
            let id = try await BoundPhones("ada", at: first).federatedID
            let key = EncryptionKey(AgreementKey.generate().publicKey)?.text
            _ = try await first.store.updateSession(id) { $0.session.encryptionKey = key }
            for (source, target) in [(first, postgres), (postgres, last)] {
                try await transfer.move(from: source, to: target)
                #expect(try await target.store.session(id)?.session.encryptionKey == key)
            }
        }
    }

    @Test(
        "a provider is asked again wherever the session is, with the token that it gave last, and its no counts there")
    func providers() async throws {
        try await transfer.withRoute { first, postgres, last in
            let phones = try await BoundPhones("ada", at: first)
            let provider = AskedProvider()
            var expected = ["theirs-0"]
            for (source, target) in [(first, postgres), (postgres, last)] {
                try await transfer.move(from: source, to: target)
                transfer.clock.advance(TransferFixture.recheckTerms.interval)
                #expect(try await provider.isAsked(by: target) == .confirmed)
                #expect(provider.seen == expected)
                expected.append("theirs-\(expected.count)")
            }
            // An older export turns nothing back.
            try await transfer.move(from: postgres, to: last)
            transfer.clock.advance(TransferFixture.recheckTerms.interval)
            provider.answersNo()
            #expect(try await provider.isAsked(by: last) == .rejected)
            #expect(provider.seen == expected)
            let session = try await last.store.session(phones.federatedID)?.session
            #expect(session?.ending?.reason == .revokedByProvider)
            // Nor does it bring back what has ended.
            try await transfer.move(from: postgres, to: last)
            #expect(try await last.store.providerCheck(of: phones.federatedID) == nil)
        }
    }

    /// The store that a session has left may have been given another token for the one that came along.
    @Test("a no to the token that came along is not believed at once, and without any yes the session ends in time")
    func doubt() async throws {
        try await transfer.withRoute { first, postgres, _ in
            let phones = try await BoundPhones("ada", at: first)
            // A node that has looked knows of all that was due since; of this one it cannot.
            #expect(try await postgres.services.providerChecks.claimDue(of: "acme", limit: 1).isEmpty)
            try await transfer.move(from: first, to: postgres)
            transfer.clock.advance(TransferFixture.recheckTerms.interval)
            let provider = AskedProvider()
            provider.answersNo()
            #expect(try await provider.isAsked(by: postgres) == .lost)
            #expect(try await postgres.store.session(phones.federatedID)?.session.ending == nil)
            transfer.clock.advance(TransferFixture.recheckTerms.outageBudget)
            #expect(try await provider.isAsked(by: postgres) == .lost)
            let session = try await postgres.store.session(phones.federatedID)?.session
            #expect(session?.ending?.reason == .recheckLost)
        }
    }

    @Test("a provider check without its session is told with its line")
    func strayCheck() async throws {
        let id = String(repeating: "0a", count: 16)
        transfer.folder.write(
            "mine.jsonl",
            """
            {"type":"provider_check","session_id":"\(id)","provider":"acme","subject":"s","provider_client_id":"c",\
            "rotates":true,"due_at":1,"confirmed_at":1,"revision":1}
            """)
        try await transfer.withStages(1) { stages in
            let (_, refused) = try await stages[0].load(transfer.folder, "mine.jsonl")
            #expect(refused == ["line 1: there is no session \(id)"])
        }
    }
}

/// A provider that notes which of its tokens come, and changes them with each yes.
private final class AskedProvider: ProviderAsker {
    private struct State {
        var seen: [String] = []
        var saysNo = false
    }

    private let state = Locked(State())

    var seen: [String] { state.withLock { $0.seen } }

    func answersNo() { state.withLock { $0.saysNo = true } }

    func ask(_ question: ProviderQuestion) async -> ProviderAnswer {
        state.withLock { state in
            state.seen.append(question.refreshToken)
            return state.saysNo ? .rejected : .confirmed(refreshToken: "theirs-\(state.seen.count)")
        }
    }

    /// What comes of the one question that is due.
    func isAsked(by stage: TransferFixture) async throws -> RecheckOutcome {
        let due = try await stage.services.providerChecks.claimDue(of: "acme", limit: 10)
        try #require(due.count == 1)
        return try await stage.services.providerChecks.recheck(due[0], TransferFixture.recheckTerms, by: self)
    }
}
