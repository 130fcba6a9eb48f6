import FoundationEssentials
import Repository
import Sessions
import Testing

/// The rule on second factors over every method, second proof, policy and standing.
struct SecondFactorDecisionTests {
    private typealias Table = FactorPolicyTable

    private struct Case: CustomStringConvertible {
        let method: SecondFactorDecision.Method
        let second: SecondFactorDecision.Second
        let policy: SecondFactorPolicy
        let standing: FactorPolicyTable.Standing

        var decision: SecondFactorDecision { FactorPolicyTable.decide(method, second, policy, standing) }
        var description: String { "\(method) \(second) \(policy) \(standing)" }
    }

    private static let all = SecondFactorDecision.Method.allCases.flatMap { method in
        SecondFactorDecision.Second.allCases.flatMap { second in
            SecondFactorPolicy.allCases.flatMap { policy in
                FactorPolicyTable.Standing.allCases.map {
                    Case(method: method, second: second, policy: policy, standing: $0)
                }
            }
        }
    }

    @Test("The manual prints the table of the rule")
    func manual() throws {
        let page = try String(
            contentsOfFile: Repository.path("Sources/sojourn/Sojourn.docc/Security/SecondFactors.md"), encoding: .utf8)

        #expect(page.contains(Table.markdown), "the table is now:\n\(Table.markdown)")
    }

    @Test("A policy that demands a factor lets only two factors, a recovery code, a backend or an exempt user in")
    func noWayRound() {
        for row in Self.all where row.policy.demandsFactor {
            guard case .start(let mark) = row.decision else { continue }
            let isAllowed =
                mark == .multiFactor || mark == .recoveryCode && row.second == .recoveryCode
                || row.method == .backend || row.standing == .exempt
            #expect(isAllowed, "\(row)")
        }
    }

    @Test("Two factors are a passkey, a trusted provider's word, or a password or provider with a code")
    func multiFactor() {
        for row in Self.all where row.decision == .start(.multiFactor) {
            switch row.method {
            case .passkey, .providerWithFactor: continue
            case .password, .provider: #expect(row.second == .totp, "\(row)")
            case .email, .phone, .invitation, .anonymous, .backend: Issue.record("\(row)")
            }
        }
    }

    @Test("A user with an authenticator is asked for it beside every first proof that takes a code")
    func enrolled() {
        for row in Self.all
        where row.standing == .authenticator && row.second == .nothing && row.policy != .off {
            switch row.method {
            case .password, .provider: #expect(row.decision == .ask, "\(row)")
            case .email: #expect(row.decision == (row.policy.demandsFactor ? .refuse : .ask), "\(row)")
            case .passkey, .providerWithFactor, .phone, .invitation, .anonymous, .backend: continue
            }
        }
    }

    @Test("A password adds a first factor alone, and none beside a passkey")
    func enrolling() {
        for row in Self.all where row.decision == .enrol {
            #expect(row.policy.demandsFactor || row.standing == .required, "\(row)")
            #expect(row.standing == .nothing || row.standing == .required, "\(row)")
        }
    }

    @Test("A stricter policy lets no further login in")
    func monotonic() {
        func isLet(_ decision: SecondFactorDecision) -> Bool { if case .start = decision { true } else { false } }
        for row in Self.all where isLet(row.decision) {
            for weaker in SecondFactorPolicy.allCases where weaker < row.policy {
                let other = Case(method: row.method, second: row.second, policy: weaker, standing: row.standing)
                #expect(isLet(other.decision), "\(row) but not under \(weaker)")
            }
        }
    }
}
