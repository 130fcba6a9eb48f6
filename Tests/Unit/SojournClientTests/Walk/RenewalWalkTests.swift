import Dispatch
import Repository
import SojournClient
import Testing

/// What follows from the rules of the SDK and the server together, shown by walking every history of a small world around the
/// very code of both; and shown to be able to fail, by breaking each rule.
struct RenewalWalkTests {
    typealias Rules = PhoneWorld.Rules

    /// Two processes: what one waits and what the other's request may still take stay within the interval.
    private static func pair(_ edit: (inout Rules) -> Void = { _ in }) -> Rules {
        var rules = Rules(processes: 2, sends: 3, seconds: 4, interval: 2, decisionLimit: 1, patience: 1)
        edit(&rules)
        return rules
    }

    private static func one(_ edit: (inout Rules) -> Void = { _ in }) -> Rules {
        var rules = Rules(sends: 3, seconds: 5)
        edit(&rules)
        return rules
    }

    static let honest: [Rules] =
        [
            one { ($0.duplicates, $0.kills, $0.seconds) = (1, 1, 4) },
            one { ($0.failures, $0.seconds) = (2, 4) },
            one { $0.restores = 1 },
            one { ($0.logins, $0.seconds) = (1, 3) },
            one { ($0.freeze, $0.saysSentAt, $0.interval) = (3, true, 4) },
            pair(),
        ] + Lane.cases(push: [], full: large)

    private static let large: [Rules] = [
        one { ($0.sends, $0.seconds, $0.kills, $0.failures, $0.duplicates) = (4, 7, 1, 1, 1) },
        pair { ($0.decisionLimit, $0.interval, $0.seconds) = (2, 3, 5) },
        pair { ($0.sends, $0.seconds) = (4, 6) },
        pair { ($0.kills, $0.seconds) = (1, 5) },
        pair { ($0.failures, $0.seconds) = (1, 5) },
        pair { $0.duplicates = 1 },
        pair { $0.logins = 1 },
        pair { ($0.freeze, $0.saysSentAt, $0.interval, $0.seconds) = (3, true, 4, 5) },
    ]

    @Test(arguments: honest) func honestUser_isNeverLoggedOut(rules: Rules) async {
        let (worlds, violation) = await PhoneWorld.explore(rules)
        #expect(violation == nil)
        #expect(worlds > 1000)
    }

    /// Which broken rule logs an honest user out in some history, and in which world.
    static let mutants: [(DriverMutation, Rules)] = [
        (.writesBlindly, one { ($0.logins, $0.seconds) = (1, 3) }),
        (.endsBlindly, one { ($0.logins, $0.seconds) = (1, 3) }),
        (.presentsUnstored, one { ($0.failures, $0.kills) = (1, 1) }),
        (.retriesFromMemory, pair { ($0.sends, $0.seconds) = (4, 2) }),
        (.takesLateAnswers, pair()),
        (.storesLate, pair()),
        (.randomKey, one { ($0.sends, $0.seconds, $0.duplicates) = (4, 6, 1) }),
        (.endsOnAnyRefusal, one { ($0.freeze, $0.saysSentAt, $0.interval) = (3, true, 4) }),
    ]

    @Test(arguments: mutants.indices) func brokenRule_logsAnHonestUserOut(index: Int) async {
        let (mutation, rules) = Self.mutants[index]
        #expect(await PhoneWorld.explore(rules, mutation).violation != nil, "\(mutation) must be noticed")
    }

    /// No process can look at the clock and write in one step, so that a frozen one may store late whatever it does. Then only the
    /// server can know that a request was overtaken.
    @Test(arguments: [pair { $0.saysSentAt = true }, pair { ($0.saysSentAt, $0.sends, $0.seconds) = (true, 4, 5) }])
    func tokenThatIsStoredLate_endsNothing_becauseTheOvertakenRequestSaysWhenItWasSent(rules: Rules) async {
        let (worlds, violation) = await PhoneWorld.explore(rules, .storesLate)
        #expect(violation == nil)
        #expect(worlds > 1000)
    }

    @Test func everyMutation_isTried() {
        #expect(Set(Self.mutants.map(\.0)) == Set(DriverMutation.allCases))
    }

    // MARK: What no client can help

    /// Hazards of sessions that are not bound to a key: what the server, or a key, has to take away.
    static let hazards: [Rules] = [
        // A request that sleeps in the phone. With `sent_at` the server refuses it undecided.
        pair { ($0.freeze, $0.seconds) = (2, 2) },
        // A backup of the phone's store.
        one { ($0.storeRestores, $0.seconds) = (1, 3) },
    ]

    @Test(arguments: hazards) func hazard_endsAnUnboundSession_andNoBoundOne(rules: Rules) async {
        #expect(await PhoneWorld.explore(rules).violation != nil)
        var bound = rules
        bound.isBound = true
        #expect(await PhoneWorld.explore(bound).violation == nil)
    }
}

extension PhoneWorld {
    /// Walks every history, on a thread of its own: this takes long, and the threads that tasks share are few. Returns how many
    /// worlds there are, and the first one in which an honest user was logged out.
    static func explore(
        _ rules: Rules, _ mutation: DriverMutation? = nil
    ) async -> (worlds: Int, violation: PhoneWorld?) {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: walk(rules, mutation)) }
        }
    }

    private static func walk(_ rules: Rules, _ mutation: DriverMutation?) -> (worlds: Int, violation: PhoneWorld?) {
        let first = PhoneWorld(rules)
        // Worlds are told apart by 64 bits of hash, because comparing and copying them takes most of the time. Two of a million
        // have the same hash with a chance of one in 30 million, and the seed is another one in each run.
        var seen: Set<Int> = [first.hashValue]
        var frontier = [first]
        while let world = frontier.popLast() {
            for next in world.successors(mutation) where seen.insert(next.hashValue).inserted {
                if next.violation != nil { return (seen.count, next) }
                frontier.append(next)
            }
        }
        return (seen.count, nil)
    }
}
