import Dispatch
import Locks
import PostgresFixture
import PostgresStore
import Sessions
import Testing

/// A node that stands still in the middle of a change, as one that has lost its power or its network, keeps the others waiting
/// until its deadline and no longer.
@Suite("PostgreSQL: a node that stands still", .timeLimit(.minutes(1)))
struct FrozenNodeTests {
    @Test(
        "a frozen node holds no other up after its deadline, and commits nothing when it goes on",
        arguments: [false, true])
    func holdsNoOtherUp(itsClockStoodStillToo: Bool) async throws {
        let url = try PostgresServer.shared.newDatabase()
        let now = ContinuousClock.now
        let frozen = try openStore(url) { options in
            options.decisionDeadline = .seconds(2)
            if itsClockStoodStillToo { options.now = { now } }
        }
        let other = try openStore(url) { $0.decisionDeadline = .seconds(20) }
        let session = try await givenSession(other)
        let (standsStill, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let change = try await standStill(frozen, session.userID, standsStill, until: goesOn)
        let refreshed: Void? = try await other.updateSession(session.id) { $0.session.child += 1 }
        #expect(refreshed != nil)
        let renamed = try await other.updateUser(.id(session.userID)) { $0.user.profile.displayName = "Anna" }
        guard case .done = renamed else { return #expect(Bool(false), "\(renamed)") }
        goesOn.signal()
        guard case .unavailable = await change.value else { return #expect(Bool(false), "it was acknowledged") }
        let user = try await other.user(.id(session.userID))
        #expect(user?.passwordHash == nil)
        #expect(user?.profile.displayName == "Anna")
        // It is a node like any other again.
        #expect(try await frozen.session(session.id)?.session.child == session.child + 1)
        await frozen.close()
        await other.close()
    }

    /// Begins a change that waits in the middle until `goesOn` is signalled, and returns once it waits. On a busy machine its
    /// two seconds can pass before the middle; then it begins again.
    private func standStill(
        _ frozen: PostgresStore, _ userID: Identifier<User>, _ standsStill: DispatchSemaphore,
        until goesOn: DispatchSemaphore
    ) async throws -> Task<StoreError?, Never> {
        for _ in 0..<10 {
            let isInTheMiddle = Locked(false)
            let change = Task { () -> StoreError? in
                defer { standsStill.signal() }
                do throws(StoreError) {
                    _ = try await frozen.updateUser(.id(userID)) { change in
                        change.user.passwordHash = "x"
                        isInTheMiddle.withLock { $0 = true }
                        standsStill.signal()
                        _ = goesOn.wait(timeout: .now() + 40)
                        // A second run of this closure does not wait.
                        goesOn.signal()
                    }
                    return nil
                } catch { return error }
            }
            try await onThread { standsStill.wait() }
            if isInTheMiddle.withLock({ $0 }) { return change }
            _ = await change.value
        }
        throw StoreError.unavailable("every change ended before its middle")
    }
}
