import Sessions
import Testing

/// The feed over a source that answers when the test lets it: which followers wait, from where, and what they are told.
@Suite(.timeLimit(.minutes(2))) struct RevocationFeedTests {
    /// Holds revocations, and can hold back its answers.
    private actor Source: RevocationSource {
        private(set) var rows: [Revocation] = []
        private var last: Int64 = 0
        private var failure: StoreError?
        private var isHeld = false
        private var held: [(cursor: Int64, continuation: CheckedContinuation<Void, Never>)] = []
        /// The cursor of each question.
        private(set) var questions: [Int64] = []

        func revocations(after cursor: Int64, at now: Instant, limit: Int) async throws(StoreError) -> [Revocation] {
            questions.append(cursor)
            // What a store answers is as old as the question.
            let (failure, rows) = (failure, rows.filter { $0.number > cursor && $0.until > now }.prefix(limit))
            if isHeld { await withCheckedContinuation { held.append((cursor, $0)) } }
            if let failure { throw failure }
            return Array(rows)
        }

        func lastRevocation() async throws(StoreError) -> Int64 { last }
        func lastAssignedRevocation() async throws(StoreError) -> Int64 { last }

        func add(_ numbers: some Sequence<Int64>, lasting seconds: Int64 = 1000, at: Int64 = 0) {
            for number in numbers { rows.append(revocation(number, lasting: seconds, at: at)) }
            last = rows.last?.number ?? 0
        }

        /// Goes back to an older state, as by a restore.
        func forget(after number: Int64) {
            rows.removeAll { $0.number > number }
            last = number
        }

        /// What need not be kept has been swept.
        func sweep() { rows = [] }

        func fail(_ error: StoreError?) { failure = error }

        func hold() { isHeld = true }

        /// Lets the questions go that are held back, and those that come.
        func release() {
            isHeld = false
            for question in held { question.continuation.resume() }
            held = []
        }

        /// Lets only the questions with that cursor go.
        func release(_ cursor: Int64) {
            for question in held where question.cursor == cursor { question.continuation.resume() }
            held.removeAll { $0.cursor == cursor }
        }

        /// Those that are held back.
        var heldCursors: [Int64] { held.map(\.cursor) }
    }

    private static func revocation(_ number: Int64, lasting seconds: Int64 = 1000, at: Int64 = 0) -> Revocation {
        let at = Sample.start + .seconds(at)
        return Revocation(number: number, .allSessionsEnded, at: at, until: Sample.start + .seconds(seconds))
    }

    private static func place(_ number: Int64, lasting seconds: Int64 = 1000, at: Int64 = 0) -> RevocationCursor {
        RevocationCursor(after: revocation(number, lasting: seconds, at: at))
    }

    private struct NotSeen: Error, CustomStringConvertible { let description: String }

    private func wait(_ sentence: String, until condition: () async -> Bool) async throws {
        while await !condition() {
            // Only the time limit of the suite cancels it.
            do { try await Task.sleep(for: .milliseconds(1)) } catch { throw NotSeen(description: sentence) }
        }
    }

    private func feed(of source: Source) -> RevocationFeed {
        RevocationFeed(source: source, clock: WallClock { Sample.start })
    }

    /// Waits behind `place`. The numbers of what came; nil: the place is unknown.
    private func follow(
        _ feed: RevocationFeed, _ place: RevocationCursor, limit: Int = 200, patience: Duration = .seconds(600)
    ) -> Follower {
        Follower { try await feed.next(after: place, limit: limit, patience: patience)?.map(\.number) }
    }

    private actor Flag {
        private(set) var isSet = false
        func set() { isSet = true }
    }

    /// A follower that waits for the feed.
    private struct Follower {
        private let task: Task<[Int64]?, any Error>
        private let ended = Flag()

        init(_ body: @escaping @Sendable () async throws -> [Int64]?) {
            task = Task { [ended] in
                let result: Result<[Int64]?, any Error>
                do { result = .success(try await body()) } catch { result = .failure(error) }
                await ended.set()
                return try result.get()
            }
        }

        var value: [Int64]? {
            get async throws {
                while await !ended.isSet {
                    do { try await Task.sleep(for: .milliseconds(1)) } catch {
                        throw NotSeen(description: "the follower is told nothing, not even that it is over")
                    }
                }
                return try await task.value
            }
        }

        func cancel() { task.cancel() }
    }

    @Test func allFollowersAreToldFromTheirOwnCursorOnAndUpToTheirLimit() async throws {
        let source = Source()
        let feed = feed(of: source)
        await source.add([1], lasting: 0)
        await source.add([2])
        // The first place still waits, though the second is further: what is between them does not matter any more.
        let followers = [
            follow(feed, Self.place(2)), follow(feed, Self.place(2), limit: 2), follow(feed, Self.place(2), limit: 1),
        ]
        try await wait("three do not wait") { feed.waitingCount == 3 }
        await source.add([3, 4, 5])
        #expect(try await followers[0].value == [3, 4, 5])
        #expect(try await followers[1].value == [3, 4])
        #expect(try await followers[2].value == [3])
        try await wait("somebody is forgotten") { feed.waitingCount == 0 }
        #expect(try await follow(feed, Self.place(1, lasting: 0)).value == [2, 3, 4, 5])
        #expect(try await follow(feed, .start).value == [2, 3, 4, 5])
    }

    @Test func aFollowerBehindIsToldThoughThoseAheadComeBackAtOnce() async throws {
        let source = Source()
        let feed = feed(of: source)
        // Both have all that matters.
        await source.add([1, 2], lasting: 0)
        let behind = follow(feed, Self.place(1, lasting: 0), patience: .seconds(60))
        let ahead = Task {
            var place = Self.place(2, lasting: 0)
            while !Task.isCancelled {
                let news = try await feed.next(after: place, limit: 9, patience: .seconds(60))
                if let last = news?.last { place = RevocationCursor(after: last) }
            }
        }
        try await wait("two do not wait") { feed.waitingCount == 2 }
        await source.add([3])
        defer { ahead.cancel() }
        #expect(try await behind.value == [3])
    }

    /// A follower from an earlier place has found nothing new; before it waits, something comes, which another one has got
    /// elsewhere, and the next thing comes with the answer to that one's question.
    @Test func aFollowerThatComesWhileTheStoreIsAskedMissesNothing() async throws {
        let source = Source()
        let feed = feed(of: source)
        await source.add([1])
        await source.hold()
        let early = follow(feed, Self.place(1))
        try await wait("the first does not ask") { await source.heldCursors == [0] }
        await source.add([2])
        let late = follow(feed, Self.place(2))
        try await wait("the second does not ask") { await source.heldCursors == [0, 1] }
        await source.add([3])
        await source.release(1)
        try await wait("nobody looks for the second") { await source.heldCursors == [0, 1] }
        await source.release(0)
        try await wait("the first does not wait") { feed.waitingCount == 2 }
        await source.release()
        #expect(try await late.value == [3])
        #expect(try await early.value == [2, 3])
    }

    /// A follower that got the newest elsewhere begins to wait while a look is under way that is older than it.
    @Test func anAnswerThatIsOlderThanAPlaceSaysNothingAboutIt() async throws {
        let source = Source()
        let feed = feed(of: source)
        await source.add([1])
        let early = follow(feed, Self.place(1))
        try await wait("the first does not wait") { feed.waitingCount == 1 }
        await source.hold()
        try await wait("nobody looks") { await source.heldCursors == [0] }
        await source.add([2])
        let late = follow(feed, Self.place(2))
        try await wait("the second does not ask") { await source.heldCursors == [0, 1] }
        await source.release(1)
        try await wait("the second does not wait") { feed.waitingCount == 2 }
        await source.release()
        #expect(try await late.value == [])
        #expect(try await early.value == [2])
    }

    /// A page that begins with the follower behind does not reach the one far ahead, and says nothing about that place.
    @Test func aFollowerMoreThanAPageAheadWaitsOn() async throws {
        let source = Source()
        let feed = feed(of: source)
        await source.add([1])
        await source.hold()
        let behind = follow(feed, Self.place(1))
        try await wait("the first does not ask") { await source.heldCursors == [0] }
        await source.add(2...400)
        let ahead = follow(feed, Self.place(400))
        try await wait("the second does not ask") { await source.heldCursors == [0, 399] }
        await source.release(399)
        try await wait("nobody looks for the second") { await source.heldCursors == [0, 399] }
        await source.release(0)
        try await wait("the first does not wait") { feed.waitingCount == 2 }
        await source.release()
        #expect(try await behind.value?.count == RevocationFeed.pageMax)
        try await wait("who is ahead does not wait") { feed.waitingCount == 1 }
        await source.add([401])
        #expect(try await ahead.value == [401])
    }

    @Test func aLongRowOfThemIsToldOnceAndInOrder() async throws {
        let source = Source()
        let feed = feed(of: source)
        await source.add([1])
        let waiting = follow(feed, Self.place(1))
        try await wait("nobody waits") { feed.waitingCount == 1 }
        await source.add(2...650)
        var seen = try #require(try await waiting.value)
        #expect(seen.count == RevocationFeed.pageMax)
        while seen.last != 650 {
            seen += try #require(try await feed.next(after: Self.place(seen.last ?? 0), limit: 200, patience: .zero))
                .map(\.number)
            try #require(seen.count < 1000)
        }
        #expect(seen == Array(2...650))
    }

    @Test func aFollowerAsFarAsTheOthersCostsNoQuestion() async throws {
        let source = Source()
        let feed = feed(of: source)
        await source.add([1])
        let first = follow(feed, Self.place(1))
        try await wait("nobody looks") { await source.questions.count > 2 }
        await source.hold()
        try await wait("nobody looks") { await source.heldCursors.count == 1 }
        let count = await source.questions.count
        let others = (0..<50).map { _ in follow(feed, Self.place(1)) }
        try await wait("not all wait") { feed.waitingCount == 51 }
        #expect(await source.questions.count == count)
        await source.add([2])
        await source.release()
        for follower in others + [first] { #expect(try await follower.value == [2]) }
    }

    @Test func theStoreIsNotAskedWithoutAFollower() async throws {
        let source = Source()
        let feed = feed(of: source)
        for _ in 0..<20 {
            let follower = follow(feed, .start)
            try await wait("nobody waits") { feed.waitingCount == 1 }
            follower.cancel()
            #expect(try await follower.value == [])
            #expect(feed.waitingCount == 0)
        }
        // A follower with a cancelled task does not wait either.
        let late = follow(feed, .start)
        late.cancel()
        #expect(try await late.value == [])
        try await Task.sleep(for: RevocationFeed.pause * 3)
        let count = await source.questions.count
        try await Task.sleep(for: RevocationFeed.pause * 3)
        #expect(await source.questions.count == count)
        // And then a follower waits again, and is told.
        let follower = follow(feed, .start)
        try await wait("nobody waits") { feed.waitingCount == 1 }
        await source.add([1])
        #expect(try await follower.value == [1])
    }

    /// After a pause without a look, the feed cannot know whether there is something new.
    @Test func aFollowerFindsAtOnceWhatHasComeInAPause() async throws {
        let source = Source()
        let feed = feed(of: source)
        await source.add([1])
        let follower = follow(feed, Self.place(1))
        try await wait("nobody looks") { await source.questions.count > 2 }
        follower.cancel()
        _ = try await follower.value
        try await Task.sleep(for: RevocationFeed.pause * 3)
        await source.add([2])
        #expect(try await follow(feed, Self.place(1), patience: .zero).value == [2])
    }

    @Test func whatTheStoreCannotAnswerIsToldToAllAndTheNextQuestionIsNew() async throws {
        let source = Source()
        let feed = feed(of: source)
        let followers = (0..<3).map { _ in follow(feed, .start) }
        try await wait("not all wait") { feed.waitingCount == 3 }
        await source.fail(.unavailable("busy"))
        for follower in followers { await #expect(throws: ServiceError.self) { try await follower.value } }
        await #expect(throws: ServiceError.self) { try await follow(feed, .start).value }
        await source.fail(nil)
        let follower = follow(feed, .start)
        try await wait("nobody waits") { feed.waitingCount == 1 }
        await source.add([1])
        #expect(try await follower.value == [1])
    }

    /// A place that was given before a restore, in each way in which that can be seen.
    ///
    /// - Parameter end: until when the new ones matter; as long as the lost ones, while tokens of a longer life are out.
    @Test(arguments: [[], [2], [3], [2, 3, 4], [4]] as [[Int64]], [900, 1000] as [Int64])
    func aFollowerIsToldThatTheDatabaseHasLostItsCursor(_ new: [Int64], until end: Int64) async throws {
        let source = Source()
        let feed = feed(of: source)
        await source.add([1])
        await source.add([2, 3], lasting: 900)
        let place = Self.place(3, lasting: 900)
        let others = [follow(feed, Self.place(3, lasting: 900)), follow(feed, place)]
        try await wait("nobody waits") { feed.waitingCount == 2 }
        await source.hold()
        try await wait("nobody looks") { await source.heldCursors.count == 1 }
        await source.forget(after: 1)
        await source.add(new, lasting: end, at: 5)
        await source.release()
        for other in others { #expect(try await other.value == nil) }
        #expect(try await feed.page(after: place, limit: 9) == nil)
        #expect(try await !feed.knows(place))
        #expect(try await follow(feed, place).value == nil)
        #expect(try await follow(feed, Self.place(1), patience: .zero).value == new)
    }

    @Test func aPlaceOfWhichOnlyTheNumberIsLeftIsKnownByThat() async throws {
        let source = Source()
        let feed = feed(of: source)
        await source.add([1, 2], lasting: 0)
        await source.sweep()
        let place = Self.place(2, lasting: 0)
        #expect(try await feed.page(after: place, limit: 9) == [])
        let follower = follow(feed, place, patience: .milliseconds(100))
        try await wait("nobody waits") { feed.waitingCount == 1 }
        await source.forget(after: 1)
        // No reader can see it until the time is over.
        #expect(try await follower.value == nil)
        #expect(try await !feed.knows(place))
        await source.add([2])
        // What has the number now is something else, and all of it.
        #expect(try await feed.page(after: place, limit: 9) == nil)
        await source.add([3])
        #expect(try await feed.page(after: Self.place(2), limit: 9)?.map(\.number) == [3])
    }

    @Test func placesAreReadAsTheyAreWritten() throws {
        for place in [RevocationCursor.start, Self.place(7), Self.place(7, lasting: 0)] {
            #expect(RevocationCursor(place.description) == place)
        }
        #expect(Self.place(7).description.hasPrefix("7-1800001000-"))
        #expect(RevocationCursor("7-1800001000")?.mark == nil)
        let longest = Array(repeating: String(Int64.max), count: 3).joined(separator: "-")
        #expect(RevocationCursor(longest)?.description == longest)
        for text in [
            "", "-", "1-", "-1", "1--2", "1-2-3-4", "1-x", "+1", "1-+2", "99999999999999999999", " 1",
            "00000000000000000007", "7-00000000000000000001",
        ] {
            #expect(RevocationCursor(text) == nil)
        }
    }
}
