internal import Locks

/// Lets one backup run at a time, and ends it when the store closes.
final class BackupTurn: Sendable {
    private struct State {
        var isTaken = false
        var isClosed = false
        var whenGiven: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    /// Whether the backup that runs must end.
    var isCancelled: Bool { state.withLock { $0.isClosed } }

    /// Takes the turn.
    func take() throws(BackupError) {
        try state.withLock { state throws(BackupError) in
            if state.isClosed { throw .cancelled }
            if state.isTaken { throw .busy }
            state.isTaken = true
        }
    }

    /// Gives it back.
    func give() {
        let done = state.withLock { state in
            state.isTaken = false
            return state.whenGiven.take()
        }
        done?()
    }

    /// Cancels the backup that runs, and runs `body` when its end has come; at once if there is none.
    func close(_ body: @escaping @Sendable () -> Void) {
        let isFree = state.withLock { state in
            state.isClosed = true
            if state.isTaken { state.whenGiven = body }
            return !state.isTaken
        }
        if isFree { body() }
    }
}
