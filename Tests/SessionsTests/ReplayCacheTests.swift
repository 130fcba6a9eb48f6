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

    @Test func aClockThatWasAheadDoesNotLockEverybodyOut() {
        let cache = ReplayCache(capacity: 100, longest: .seconds(64))
        #expect(cache.present("1", of: "key", until: at(1_000_061), at: at(1_000_000)) == .fresh)
        #expect(cache.present("2", of: "key", until: at(61), at: at(0)) == .fresh)
        #expect(cache.present("2", of: "key", until: at(61), at: at(0)) == .repeated)
    }

    @Test func whatIsWithdrawn_canBePresentedAgain_andTakesNoMemory() {
        let cache = ReplayCache(capacity: 100, longest: .seconds(64))
        #expect(cache.present("1", of: "a", until: at(61), at: at(0)) == .fresh)
        cache.withdraw("1", of: "b", until: at(61))
        #expect(cache.present("1", of: "a", until: at(61), at: at(0)) == .repeated)
        for _ in 0..<2 { cache.withdraw("1", of: "a", until: at(61)) }
        #expect(cache.count == 0)
        #expect(cache.present("1", of: "a", until: at(61), at: at(0)) == .fresh)
        // What a flood has pushed out is gone, and is not counted twice.
        #expect(cache.present("2", of: "a", until: at(200), at: at(100)) == .fresh)
        cache.withdraw("1", of: "a", until: at(61))
        #expect(cache.count == 1)
    }
}
