import Dispatch
import Repository
import Sessions
import SojournClient
import Testing

/// What follows from the rules of a login session and of the server together, shown by walking every history of a small world
/// around the very code of both; and shown to be able to fail, by breaking each rule.
struct LoginSessionWalkTests {
    typealias Rules = LoginSessionWorld.Rules

    static let worlds: [Rules] =
        [
            Rules(requests: 4, looks: 1, stops: 1),
            Rules(secondFactor: .required, requests: 4, looks: 1, wrongFactors: 1),
            Rules(startsByHand: true, requests: 4, looks: 1, rivals: 1),
            Rules(secondFactor: .required, skipsConfirmation: true, requests: 3, looks: 1, minutes: 2, expiries: 1),
            Rules(bond: .none, requests: 3, looks: 2, duplicates: 1, wrongNumbers: 1),
            Rules(requests: 3, looks: 1, cancels: 1, restarts: 1),
            Rules(secondFactor: .required, skipsConfirmation: true, requests: 3, looks: 1, wrongNumbers: 1),
            Rules(secondFactor: .required, skipsConfirmation: true, isAppLogin: true, requests: 3, looks: 1),
        ] + Lane.cases(push: [], full: large)

    private static let large: [Rules] = [
        Rules(
            secondFactor: .required, skipsConfirmation: true, requests: 4, looks: 2, duplicates: 1, wrongFactors: 1),
        Rules(
            secondFactor: .required, skipsConfirmation: true, isAppLogin: true, requests: 5, looks: 2, wrongFactors: 1),
        Rules(secondFactor: .required, requests: 5, looks: 1, wrongFactors: 1, stops: 1),
        Rules(secondFactor: .required, requests: 5, looks: 1, duplicates: 1, wrongFactors: 1),
        Rules(requests: 4, looks: 2, minutes: 2, rivals: 1, stops: 1),
    ]

    @Test(arguments: worlds) func everyHistory_keepsTheRules(rules: Rules) async {
        let (worlds, violation) = await LoginSessionWorld.explore(rules)
        #expect(violation == nil)
        #expect(worlds > 500)
    }

    /// A proof without an answer, a second one, and a look that tells what the first has led to.
    private static let twoAttempts = Rules(
        secondFactor: .required, skipsConfirmation: true, requests: 4, looks: 2, wrongFactors: 1)

    /// Which broken rule is noticed in which world.
    static let mutants: [(LoginSessionMutation, Rules)] = [
        (.hasNewKeys, Rules(secondFactor: .required, skipsConfirmation: true, requests: 4, wrongFactors: 1)),
        (.takesOlderAnswers, Rules(requests: 3, looks: 2)),
        (.endsBlindly, Rules(requests: 4, stops: 1)),
        (.sendsAfterStop, Rules(requests: 4, stops: 1)),
        (.silenceIsRefusal, Rules(requests: 3)),
        (.callEndsAlone, twoAttempts), (.countsUnsent, twoAttempts),
        (
            .tellsAppLoginByLooks,
            Rules(secondFactor: .required, skipsConfirmation: true, isAppLogin: true, requests: 3, looks: 2)
        ),
        (.losesCauses, Rules(secondFactor: .required, skipsConfirmation: true, requests: 3, looks: 2, wrongNumbers: 1)),
        (.statusOvertakes, Rules(secondFactor: .required, skipsConfirmation: true, requests: 3, looks: 1)),
    ]

    @Test(arguments: mutants.indices) func brokenRule_isNoticed(index: Int) async {
        let (mutation, rules) = Self.mutants[index]
        #expect(await LoginSessionWorld.explore(rules, mutation).violation != nil, "\(mutation) must be noticed")
    }

    @Test func everyMutation_isTried() {
        #expect(Set(Self.mutants.map(\.0)) == Set(LoginSessionMutation.allCases))
    }
}

extension LoginSessionWorld {
    /// Walks every history, on a thread of its own: this takes long, and the threads that tasks share are few. Returns how many
    /// worlds there are, and the first violation with its world.
    static func explore(
        _ rules: Rules, _ mutation: LoginSessionMutation? = nil
    ) async -> (worlds: Int, violation: String?) {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: walk(rules, mutation)) }
        }
    }

    private static func walk(_ rules: Rules, _ mutation: LoginSessionMutation?) -> (worlds: Int, violation: String?) {
        let first = LoginSessionWorld(rules, mutation)
        // Worlds are told apart by 64 bits of hash, as in `RenewalWalkTests`.
        var seen: Set<Int> = [first.hashValue]
        var frontier = [first]
        while let world = frontier.popLast() {
            for next in world.successors(mutation) where seen.insert(next.hashValue).inserted {
                if let violation = next.violation { return (seen.count, "\(violation): \(next)") }
                frontier.append(next)
            }
        }
        return (seen.count, nil)
    }
}
