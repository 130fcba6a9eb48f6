import Dispatch
import PostgresStore
import Sessions
import Synchronization
import Testing

/// Runs what blocks on a thread of its own: tasks share only as many as there are cores.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue(label: "blocking").async { continuation.resume(with: Result(catching: body)) }
    }
}

/// Refreshes of given sessions, one after the other for each, without a pause.
final class RefreshLoad: Sendable {
    private let isOver = Atomic<Bool>(false)
    private let acknowledged = Atomic<Int>(0)
    private let refused = Atomic<Int>(0)
    private let sessions: [Session]
    private let store: PostgresStore

    init(_ sessions: [Session], at store: PostgresStore) { (self.sessions, self.store) = (sessions, store) }

    /// Until it is over. What was acknowledged is there at the end.
    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for session in sessions {
                group.addTask { [self] in
                    var last = session.child
                    while !isOver.load(ordering: .relaxed) { last = try await step(session.id, after: last) }
                    let kept = try await store.session(session.id)?.session.child
                    #expect(kept ?? 0 >= last)
                }
            }
            try await group.waitForAll()
        }
    }

    /// One refresh; the serial that was acknowledged last.
    private func step(_ id: Identifier<Session>, after last: UInt64) async throws -> UInt64 {
        let result: Result<UInt64?, StoreError>
        do throws(StoreError) {
            result = .success(
                try await store.updateSession(id) { change -> UInt64 in
                    change.session.child += 1
                    return change.session.child
                })
        } catch { result = .failure(error) }
        switch result {
        case .success(let child):
            // One more where no call was refused: of a refused one the client cannot know whether it was done.
            #expect(child ?? 0 > last)
            acknowledged.wrappingAdd(1, ordering: .relaxed)
            return child ?? last
        case .failure(.unavailable):
            refused.wrappingAdd(1, ordering: .relaxed)
            await Task.yield()
            return last
        case .failure(let error): throw error
        }
    }

    /// How many were refused as unavailable.
    var refusedCount: Int { refused.load(ordering: .relaxed) }

    /// Lets `run` end.
    func end() { isOver.store(true, ordering: .relaxed) }

    /// Waits for so many more, a minute at most.
    func awaitRefreshes(_ count: Int) async {
        let goal = acknowledged.load(ordering: .relaxed) + count
        let deadline = ContinuousClock.now + .seconds(60)
        while acknowledged.load(ordering: .relaxed) < goal, ContinuousClock.now < deadline { await Task.yield() }
        #expect(acknowledged.load(ordering: .relaxed) >= goal)
    }
}
