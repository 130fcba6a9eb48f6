import Cryptography
import PostgresFixture
import Sessions
import StoreConformance
import Testing

@testable import PostgresStore

/// What a request for a mail costs the database, seen from between store and server.
@Suite("PostgreSQL: the cost of a request for a mail", .timeLimit(.minutes(2))) struct VerificationCostTests {
    /// The mailboxes that a stranger may want to tell apart.
    private enum Mailbox: String, CaseIterable {
        case unknown, verified, unverified, passwordless, disabled

        var email: String { "\(self)@example.org" }

        /// The user that has it; nil: none.
        func user(at start: Instant) -> User? {
            if self == .unknown { return nil }
            var user = User(id: Identifier(random: .system), username: "user-\(self)", createdAt: start)
            user.profile.email = email
            user.profile.isEmailVerified = self != .unverified && self != .passwordless
            user.passwordHash = self == .passwordless ? nil : "$scrypt$ln=17,r=8,p=1$c2FsdA$aGFzaA"
            if self == .disabled { user.disabledByAdmin = User.LoginDisabling(effective: .immediate, since: start) }
            return user
        }
    }

    private struct Cost: Hashable {
        let trips: Int
        let statements: Int
    }

    @Test("a request for a mail, and a code, cost every mailbox the same round trips and statements")
    func cost() async throws {
        let server = try PostgresServer.shared
        let tap = try WireTap(before: server)
        let store = try openStore(tap.url(try server.newDatabase()))
        let start = Instant(secondsSinceEpoch: 1_800_000_000)
        for user in Mailbox.allCases.compactMap({ $0.user(at: start) }) {
            #expect(try await store.insertUser(user, from: .admin, events: []))
        }
        let context = try VerificationContext.make(store, at: start)
        let verifications = Services(context).verifications
        func cost(_ body: () async throws -> Void) async throws -> Cost {
            let before = (tap.syncCount, tap.statementCount)
            try await body()
            return Cost(trips: tap.syncCount - before.0, statements: tap.statementCount - before.1)
        }
        for purpose in [Verification.Purpose.signUp, .signIn, .reset] {
            var costs: [String: Set<Cost>] = [:]
            // The first round prepares statements and opens connections.
            for round in 0..<3 {
                for mailbox in Mailbox.allCases {
                    var request = VerificationRequest(purpose, email: mailbox.email, language: "en")
                    (request.knownDevice, request.idempotencyKey) = ("phone", "\(round)")
                    let asked = request
                    var handle: VerificationHandle?
                    let ask = try await cost { handle = try await verifications.ask(asked, from: .system).handle }
                    let known = try #require(handle)
                    let code = try await cost {
                        _ = try? await verifications.prove(known, code: "wrong", from: .system)
                    }
                    let again = try await cost { _ = try await verifications.ask(asked, from: .system) }
                    if round == 0 { continue }
                    costs["ask", default: []].insert(ask)
                    costs["code", default: []].insert(code)
                    costs["again", default: []].insert(again)
                }
            }
            for (call, seen) in costs { #expect(seen.count == 1, "\(purpose), \(call): \(seen)") }
            #expect(costs.count == 3)
        }
        await store.close()
    }
}

/// A domain that sends mails, over a store.
private enum VerificationContext {
    static func make(_ store: any Store, at now: Instant) throws -> ServiceContext {
        let rootKeys = try #require(RootKeys([.random()]))
        let clock = WallClock { now }
        let keys = SigningKeys(
            store: store, rootKeys: rootKeys, algorithm: .eddsa, rotation: .seconds(2_592_000),
            absoluteMaximum: .seconds(31_536_000), generate: TestSigningKeys.generator())
        var rules = AccountRules()
        rules.signUp = .open
        return ServiceContext(
            store: store, policy: RefreshPolicy(absoluteMaximum: .seconds(31_536_000)), rootKeys: rootKeys,
            signingKeys: keys, passwords: PasswordHasher(scrypt: try #require(Scrypt(logN: 1, r: 1, p: 1))),
            clock: clock, issuer: "http://issuer.example", audience: "http://api.example", mails: MailWaker(),
            accountRules: rules)
    }
}
