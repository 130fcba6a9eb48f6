internal import Locks

/// Serialises backups, and cancels the running one when the store closes.
final class BackupTurn: Sendable {
    private struct State {
        var isTaken = false
        var isClosed = false
        var whenGiven: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    /// Whether the running backup must stop.
    var isCancelled: Bool { state.withLock { $0.isClosed } }

    /// Acquires the turn. Throws `busy` while another backup runs, and `cancelled` after `close`.
    func take() throws(BackupError) {
        try state.withLock { state throws(BackupError) in
            if state.isClosed { throw .cancelled }
            if state.isTaken { throw .busy }
            state.isTaken = true
        }
    }

    /// Releases the turn.
    func give() {
        let done = state.withLock { state in
            state.isTaken = false
            return state.whenGiven.take()
        }
        done?()
    }

    /// Cancels the running backup, and runs `body` after its end; at once if there is none.
    func close(_ body: @escaping @Sendable () -> Void) {
        let isFree = state.withLock { state in
            state.isClosed = true
            if state.isTaken { state.whenGiven = body }
            return !state.isTaken
        }
        if isFree { body() }
    }
}
