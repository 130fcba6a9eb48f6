import Testing

@testable import Sessions

/// What is presented once is not taken twice, and the memory for it has a bound.
@Suite struct ReplayCacheTests {
    private func at(_ seconds: Int64) -> Instant { Instant(secondsSinceEpoch: 1_800_000_000 + seconds) }

    @Test func remembersUntilTheEndAndNoLonger() {
        let cache = ReplayCache(capacity: 100, longest: .seconds(64))
        #expect(cache.present("1", of: "key", until: at(61), at: at(0)) == .fresh)
        for seconds in Int64(0)...60 {
            #expect(cache.present("1", of: "key", until: at(61), at: at(seconds)) == .repeated)
        }
        #expect(cache.count == 1)
        #expect(cache.present("2", of: "key", until: at(200), at: at(100)) == .fresh)
        #expect(cache.count == 1, "what is over takes no memory")
    }

    @Test("An entry is repeated by its own request alone, and by none if that may not be repeated")
    func requests() {
        let cache = ReplayCache(longest: .seconds(64))
        func present(_ id: String, by request: UInt64) -> ReplayCache.Finding {
            cache.present(id, of: "key", until: at(61), at: at(0), by: request)
        }
        #expect(present("1", by: 7) == .fresh)
        #expect(present("1", by: 7) == .repeatedRequest)
        #expect(present("1", by: 8) == .repeated)
        #expect(present("1", by: 0) == .repeated)
        #expect(present("1", by: 7) == .repeatedRequest, "a refused presentation changes nothing")
        #expect(present("2", by: 0) == .fresh)
        #expect(present("2", by: 0) == .repeated)
        #expect(present("2", by: 7) == .repeated)
        #expect(cache.count == 2)
    }

    @Test func ownersDoNotTakeEachOthersNames() {
        let cache = ReplayCache(longest: .seconds(64))
        #expect(cache.present("1", of: "a", until: at(61), at: at(0)) == .fresh)
        #expect(cache.present("1", of: "b", until: at(61), at: at(0)) == .fresh)
        #expect(cache.present("", of: "a1", until: at(61), at: at(0)) == .fresh)
        #expect(cache.present("1", of: "a", until: at(61), at: at(0)) == .repeated)
    }

    @Test func aFloodMakesTheTimeShorterAndLetsNothingThroughTwice() {
        let cache = ReplayCache(capacity: 1000, longest: .seconds(64))
        var taken: [(number: Int, end: Instant)] = []
        for number in 0..<20_000 {
            let now = at(Int64(number / 100))
            if cache.present("\(number)", of: "key", until: now + .seconds(61), at: now) == .fresh {
                taken.append((number, now + .seconds(61)))
            }
            #expect(cache.count <= 1000)
        }
        #expect(taken.count == 20_000, "who comes with a proof made just now is served")
        let now = at(199)
        let second = taken.map { cache.present("\($0.number)", of: "key", until: $0.end, at: now) }
        #expect(!second.contains(.fresh))
        #expect(second.contains(.repeated))
        #expect(second.contains(.forgotten))
    }

    @Test func aClockThatWasAheadLocksNoClientOut() {
        let cache = ReplayCache(capacity: 100, longest: .seconds(64))
        #expect(cache.present("1", of: "key", until: at(1_000_061), at: at(1_000_000)) == .fresh)
        #expect(cache.present("2", of: "key", until: at(61), at: at(0)) == .fresh)
        #expect(cache.present("2", of: "key", until: at(61), at: at(0)) == .repeated)
    }

    /// A flood that is dated ahead, as far as it may be and in most steps up to that, which alone would fill the memory, beside
    /// proofs that are not, or were on their way for some seconds.
    @Test func aFloodFromTheFutureKeepsNoClientWithTheRightClockOut() {
        let cache = ReplayCache(capacity: 1000, longest: .seconds(76), lead: .seconds(15))
        var taken: [(id: String, end: Instant)] = []
        for second in Int64(0)..<200 {
            for ahead in Int64(4)...15 {
                for number in 0..<12 {
                    let (id, end) = ("flood \(second) \(ahead) \(number)", at(second + ahead + 61))
                    if cache.present(id, of: "key", until: end, at: at(second)) == .fresh { taken.append((id, end)) }
                }
            }
            for late in Int64(0)...4 {
                let (id, end) = ("honest \(second) \(late)", at(second - late + 61))
                #expect(cache.present(id, of: "key", until: end, at: at(second)) == .fresh, "\(id)")
                taken.append((id, end))
            }
            #expect(cache.count <= 1000)
            if second % 10 == 9 {
                let again = taken.map { cache.present($0.id, of: "key", until: $0.end, at: at(second)) }
                #expect(!again.contains(.fresh))
            }
        }
        #expect(taken.count > 200 * 5 + 1000, "the future is not closed either")
    }

    /// What ends at one moment and is more than fits pushes out what ends before, and never itself.
    @Test func aNewProofPushesOutTheOldestWhenItIsFull() {
        let cache = ReplayCache(capacity: 100, longest: .seconds(360), lead: .seconds(120), buckets: 360)
        for second in Int64(0)..<300 {
            for number in 0..<10 {
                let id = "\(second) \(number)"
                #expect(cache.present(id, of: "key", until: at(second + 240), at: at(second)) == .fresh)
                #expect(cache.present(id, of: "key", until: at(second + 240), at: at(second)) == .repeated)
            }
            #expect(cache.count <= 100)
        }
        #expect(cache.present("0 0", of: "key", until: at(240), at: at(239)) == .forgotten)
    }

    /// What would have to push out its own like lies in no memory, and blocks no other proof.
    @Test func whatWouldGoFirstItselfIsRefusedWhenItIsFull() {
        let cache = ReplayCache(capacity: 2, longest: .seconds(64))
        for id in ["1", "2"] { #expect(cache.present(id, of: "key", until: at(61), at: at(0)) == .fresh) }
        for id in ["3", "1"] { #expect(cache.present(id, of: "key", until: at(61), at: at(0)) == .forgotten) }
        for id in ["4", "5", "6"] { #expect(cache.present(id, of: "key", until: at(70), at: at(9)) != .repeated) }
        #expect(cache.count <= 2)
    }

    /// The two memories of proofs: of those that show their time by `iat`, and of those that hold a nonce.
    @Test(arguments: [(3, 0), (1, 1000)] as [(Int, Int64)])
    func whatIsNewIsTakenAndNothingTwice_whileMoreIsUsedThanIsRemembered(perSecond: Int, ahead: Int64) {
        let cache =
            ahead == 0
            ? ReplayCache(capacity: 64, longest: .seconds(76), lead: .seconds(15))
            : ReplayCache(capacity: 64, longest: .seconds(360), lead: .seconds(120), buckets: 360)
        var taken: [(id: String, end: Instant)] = []
        for second in Int64(0)..<150 {
            for number in 0..<perSecond {
                let (id, end) = ("\(second) \(number)", at(second + (ahead == 0 ? 61 : 240)))
                #expect(cache.present(id, of: "key", until: end, at: at(second)) == .fresh, "\(id)")
                taken.append((id, end))
            }
            #expect(cache.count <= 64)
        }
        for (id, end) in taken { #expect(cache.present(id, of: "key", until: end, at: at(149)) != .fresh, "\(id)") }
    }

    @Test func aClockThatIsSetBackIsFollowed() {
        let cache = ReplayCache(capacity: 100, longest: .seconds(360), lead: .seconds(120), buckets: 360)
        #expect(cache.present("1", of: "key", until: at(3840), at: at(3600)) == .fresh)
        #expect(cache.present("2", of: "key", until: at(240), at: at(0)) == .fresh)
        #expect(cache.present("2", of: "key", until: at(240), at: at(1)) == .repeated)
    }

    @Test func whatIsDatedAheadIsTakenWhileItIsNotTooMuch() {
        let cache = ReplayCache(capacity: 8, longest: .seconds(76), lead: .seconds(15))
        for id in ["1", "2"] { #expect(cache.present(id, of: "key", until: at(76), at: at(0)) == .fresh) }
        #expect(cache.present("3", of: "key", until: at(76), at: at(0)) == .crowdedOut)
        #expect(cache.present("1", of: "key", until: at(76), at: at(0)) == .repeated)
        #expect(cache.present("3", of: "key", until: at(76), at: at(15)) == .fresh, "its time has come")
    }
}
