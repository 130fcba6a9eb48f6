import Repository
import Sessions
import Testing

/// What follows from the table, shown by walking every history of a small world around the very function that the server
/// runs; and shown to be able to fail, by breaking each row.
struct RefreshInterleavingTests {
    typealias Rules = LossyNetwork.Rules

    /// Two processes: what one waits and what the other's request may still take stay within the interval.
    private static func pair(sends: Int, duplicates: Int, seconds: Int) -> Rules {
        Rules(
            processes: 2, sends: sends, duplicates: duplicates, seconds: seconds, interval: 3, decisionLimit: 2,
            patience: 2)
    }

    static let honest: [Rules] =
        [
            Rules(),
            Rules(sends: 5, duplicates: 0, seconds: 9),
            Rules(sends: 4, duplicates: 1, seconds: 7, interval: 3, decisionLimit: 3, patience: 3),
            pair(sends: 3, duplicates: 0, seconds: 7),
            pair(sends: 3, duplicates: 1, seconds: 5),
            Rules(sends: 4, duplicates: 1, seconds: 5, sharesKey: true, takesLateAnswers: true),
            Rules(sends: 4, duplicates: 0, seconds: 6, restores: 1),
            Rules(processes: 2, sends: 3, duplicates: 0, seconds: 4, takesLateAnswers: true, isBound: true),
        ] + Lane.cases(push: [], full: large)

    /// The worlds of a million histories and more.
    private static let large: [Rules] = [
        Rules(sends: 5, duplicates: 1, seconds: 8),
        Rules(sends: 4, duplicates: 1, seconds: 8, interval: 3, decisionLimit: 3, patience: 3),
        pair(sends: 4, duplicates: 0, seconds: 8),
        pair(sends: 3, duplicates: 1, seconds: 7),
        Rules(sends: 4, duplicates: 1, seconds: 6, sharesKey: true, takesLateAnswers: true),
        Rules(processes: 2, sends: 4, duplicates: 0, seconds: 4, takesLateAnswers: true, isBound: true),
    ]

    @Test(arguments: honest) func honestClient_isNeverLoggedOut(_ rules: Rules) async {
        let (worlds, violation) = await LossyNetwork.explore(rules)
        #expect(violation == nil)
        #expect(worlds > 1000)
    }

    /// Which broken rows log an honest client out in some history, and in which world.
    static let honestMutants: [(RefreshMutation, Rules)] = [
        (.repeatedRotates, Rules()),
        (.convergedReissues, Rules()),
        (.convergedWithoutMove, Rules(sends: 4, duplicates: 1, seconds: 7)),
        (.sameRequestReissues, Rules(sends: 4, duplicates: 1, seconds: 6, sharesKey: true, takesLateAnswers: true)),
        (.reissuedEnds, Rules()),
        (.confirmedEndsAtOnce, Rules(sends: 5, duplicates: 1, seconds: 7)),
        (.restoredEnds, Rules(sends: 4, duplicates: 0, seconds: 6, restores: 1)),
        (
            .caughtUpEnds,
            Rules(processes: 2, sends: 4, duplicates: 0, seconds: 4, takesLateAnswers: true, isBound: true)
        ),
    ]

    @Test(arguments: honestMutants.indices) func brokenRow_logsAnHonestClientOut(index: Int) async {
        let (mutation, rules) = Self.honestMutants[index]
        #expect(await LossyNetwork.explore(rules, mutation).violation != nil, "\(mutation) must be noticed")
    }

    // MARK: The thief

    /// A thief with a copy of the store and the victim refresh in any order, each more than the interval after the last.
    private struct Theft {
        var session = Sample.session()
        var tokens: [UInt64] = [1, 1]
        var refreshes = [0, 0]
        /// The token that was copied, with the key that lay beside it.
        var copied: UInt64 = 1
        var now: Int64 = 0

        /// Lets one of the two refresh. False: refused.
        mutating func refresh(_ actor: Int, sharesKey: Bool, _ mutation: RefreshMutation?) -> Bool {
            now += 121
            return ask(actor, sharesKey: sharesKey, mutation)
        }

        /// Presents the token of `actor` now.
        mutating func ask(_ actor: Int, sharesKey: Bool, _ mutation: RefreshMutation?) -> Bool {
            let instant = Sample.start + .seconds(now)
            let attempt = RefreshAttempt(
                serial: tokens[actor], clientID: Client.mobileID,
                requestKey: tokens[actor] * 2 + (sharesKey && tokens[actor] == copied ? 0 : UInt64(actor)))
            let decision =
                mutation?.decide(
                    attempt, &session, settings: Sample.settings, now: instant, user: Theft.user,
                    client: Theft.client)
                ?? Sample.policy.renew(
                    attempt, &session, user: Theft.user, client: Theft.client, settings: Sample.settings,
                    now: instant)
            if case .refused = decision { return false }
            tokens[actor] = session.child
            refreshes[actor] += 1
            return true
        }

        static let user = Sample.user()
        static let client = Sample.client()
    }

    /// Whether some order of up to eight refreshes lets both reach `count` with the session alive, after `before`
    /// refreshes of the victim alone and the theft.
    private func bothReach(_ count: Int, before: Int, sharesKey: Bool, _ mutation: RefreshMutation? = nil) -> Bool {
        var first = Theft()
        for _ in 0..<before { _ = first.refresh(0, sharesKey: sharesKey, mutation) }
        first.tokens[1] = first.tokens[0]
        first.copied = first.tokens[0]
        first.refreshes = [0, 0]
        var histories = [first]
        for _ in 0..<8 {
            histories = histories.flatMap { history in
                (0...1).compactMap { actor in
                    var next = history
                    return next.refresh(actor, sharesKey: sharesKey, mutation) ? next : nil
                }
            }
            if histories.contains(where: { $0.refreshes.allSatisfy { $0 >= count } }) { return true }
        }
        return false
    }

    @Test(arguments: 0...3) func thief_isFoundOut_beforeBothHaveRefreshedThreeTimes(before: Int) {
        #expect(!bothReach(3, before: before, sharesKey: true))
    }

    @Test(arguments: 0...3) func thief_isFoundOut_oneTimeSoonerWithoutASharedKey(before: Int) {
        #expect(!bothReach(2, before: before, sharesKey: false))
    }

    @Test(arguments: [RefreshMutation.rotatedRepeats, .reissuedConverges, .reuseIsForgiven])
    func brokenRow_letsTheThiefStay(mutation: RefreshMutation) {
        #expect(bothReach(3, before: 1, sharesKey: false, mutation), "\(mutation) must be noticed")
    }

    /// The requests of a thief that asks all the time.
    struct Poll: Sendable, CustomTestStringConvertible {
        var pause: Int64
        /// Whether the thief stays with the copied token, whatever comes back.
        var isStubborn: Bool
        var testDescription: String { "every \(pause) s, \(isStubborn ? "stubborn" : "taking what comes")" }
    }

    static let polls = [1, 2, 29, 30, 60, 119, 120].flatMap { pause in
        [Poll(pause: pause, isStubborn: true), Poll(pause: pause, isStubborn: false)]
    }

    /// How often the victim has refreshed when the session ends, if it comes every `rest` seconds, the first time after `start`;
    /// nil: the thief is not found out.
    private func refreshesUntilFound(
        _ poll: Poll, start: Int64, rest: Int64, _ mutation: RefreshMutation? = nil
    ) -> Int? {
        var theft = Theft()
        _ = theft.refresh(0, sharesKey: false, mutation)
        theft.tokens[1] = theft.tokens[0]
        theft.copied = theft.tokens[0]
        theft.refreshes = [0, 0]
        let first = theft.now
        for second in 1...(start + 5 * rest) {
            theft.now = first + second
            if second >= start, (second - start) % rest == 0, !theft.ask(0, sharesKey: false, mutation) {
                return theft.refreshes[0]
            }
            guard second % poll.pause == 0 else { continue }
            let stolen = theft.tokens[1]
            if !theft.ask(1, sharesKey: false, mutation) { return theft.refreshes[0] }
            if poll.isStubborn { theft.tokens[1] = stolen }
        }
        return nil
    }

    /// How many refreshes the victim had before the session ended, for every way to ask; nil: some thief stays.
    private func refreshesUntilEachIsFound(_ mutation: RefreshMutation? = nil) -> [Int]? {
        var counts: [Int] = []
        for poll in Self.polls {
            for rest in [480, 500, 3600] as [Int64] {
                for start in [1, 59, 121, 240] as [Int64] {
                    guard let refreshes = refreshesUntilFound(poll, start: start, rest: rest, mutation) else {
                        return nil
                    }
                    counts.append(refreshes)
                }
            }
        }
        return counts
    }

    @Test func thiefThatAsksAllTheTime_isFoundOut_beforeTheVictimsFifthRefresh() {
        #expect(refreshesUntilEachIsFound()?.max() == 4)
    }

    @Test(arguments: [RefreshMutation.repeatedConfirmsNothing, .confirmedConverges, .confirmedMoves])
    func brokenRow_letsAThiefStayThatAsksAllTheTime(mutation: RefreshMutation) {
        let sum = refreshesUntilEachIsFound()?.reduce(0, +) ?? 0
        let sumWhenBroken = refreshesUntilEachIsFound(mutation)?.reduce(0, +) ?? .max
        #expect(sum > 0 && sumWhenBroken > sum, "\(mutation) must be noticed: the thief stays, or stays longer")
    }

    // MARK: Bound sessions

    /// Any sequence of presentations of any serial at any age: a bound session never ends, and converges on one child.
    private func boundSessionSurvives(_ mutation: RefreshMutation?) -> Bool {
        let (user, client) = (Sample.user(), Sample.client())
        var frontier = [(Sample.session(of: user, keyThumbprint: "key"), Int64(0))]
        for _ in 0..<5 {
            var next: [(Session, Int64)] = []
            for (session, now) in frontier {
                for serial in 1...session.child {
                    for pause in [0, 60, 121] as [Int64] {
                        var copy = session
                        let attempt = RefreshAttempt(
                            serial: serial, clientID: Client.mobileID, provenKeyThumbprint: "key")
                        let instant = Sample.start + .seconds(now + pause)
                        let decision =
                            mutation?.decide(
                                attempt, &copy, settings: Sample.settings, now: instant, user: user, client: client
                            )
                            ?? Sample.policy.renew(
                                attempt, &copy, user: user, client: client, settings: Sample.settings,
                                now: instant)
                        if case .refused = decision { return false }
                        // Only the child moves the row on: whatever else is presented gets the same child.
                        if serial != session.child, copy.child != session.child { return false }
                        next.append((copy, now + pause))
                    }
                }
            }
            frontier = next
        }
        return true
    }

    @Test func boundSession_cannotBeEndedByReuse() { #expect(boundSessionSurvives(nil)) }

    @Test(arguments: [RefreshMutation.caughtUpEnds, .boundParentReissues])
    func brokenRow_endsOrForksABoundSession(mutation: RefreshMutation) { #expect(!boundSessionSurvives(mutation)) }

    @Test func everyMutation_isTriedSomewhere() {
        let tried = Set(Self.honestMutants.map(\.0)).union([
            .rotatedRepeats, .reissuedConverges, .reuseIsForgiven, .caughtUpEnds, .boundParentReissues,
            .repeatedConfirmsNothing, .confirmedConverges, .confirmedMoves,
        ])
        #expect(tried == Set(RefreshMutation.allCases))
    }
}
