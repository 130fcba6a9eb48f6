import Testing

@testable import Sessions

@Suite("Clean-up of sessions") struct CleanUpTests {
    /// The places of a walk along the sessions 1, 2 and 3, one in each step, with a change after some steps.
    private static func places(changesAfter changes: Set<Int>) -> [UInt64] {
        func id(_ number: UInt64) -> Identifier<Session> { Identifier(words: (high: 0, low: number)) }
        var state = CleanUp(lease: Lease(holder: "", heldUntil: Instant(secondsSinceEpoch: 0)))
        state.walkedTo = id(0)
        var places: [UInt64] = []
        while let place = state.walkedTo?.words.low, places.count < 20 {
            // As the stores do it.
            if changes.contains(places.count) { state.walkEnd = state.walkedTo }
            state.walk(to: place < 3 ? id(place + 1) : nil, isLastPage: place == 3)
            places.append(place)
        }
        return places
    }

    @Test("the walk along all sessions meets each one once, and after a change every one since")
    func changes() {
        #expect(Self.places(changesAfter: []) == [0, 1, 2, 3])
        #expect(Self.places(changesAfter: [0]) == [0, 1, 2, 3])
        #expect(Self.places(changesAfter: [2]) == [0, 1, 2, 3, 0, 1])
        #expect(Self.places(changesAfter: [3]) == [0, 1, 2, 3, 0, 1, 2])
        #expect(Self.places(changesAfter: [1, 2]) == [0, 1, 2, 3, 0, 1])
        #expect(Self.places(changesAfter: [2, 5]) == [0, 1, 2, 3, 0, 1, 2, 3, 0])
        #expect(Self.places(changesAfter: [2, 4]) == [0, 1, 2, 3, 0, 1, 2, 3])
    }

    @Test("an end by the clock is told however late it is found, and the row is deleted without a receiver")
    func oldEnds() {
        let start = Instant(secondsSinceEpoch: 1_800_000_000)
        let session = Session(
            id: Identifier(words: (high: 0, low: 1)), userID: Identifier(words: (high: 0, low: 2)), clientID: "web",
            device: Device(id: "d"), startedAt: start, epoch: 2)
        let record = SessionRecord(
            session: session, user: User(id: session.userID, username: "ada", createdAt: start),
            client: Client(id: "web", createdAt: start, epoch: 2), settings: Settings(epoch: 2))
        let policy = RefreshPolicy(absoluteMaximum: .seconds(31_536_000))
        let end = start + SessionSettings.defaults.offlineSessionIdle
        let late = end + RefreshPolicy.tombstoneLifetime
        func look(_ now: Instant, isTold: Bool) -> RefreshPolicy.Look {
            policy.look(at: record, CleanUpTime(earliest: now, settled: now), isTold: isTold)
        }
        #expect(look(end, isTold: true) == .recordEnd)
        #expect(look(late, isTold: true) == .recordEnd)
        #expect(look(late, isTold: false) == .forget)
    }
}
