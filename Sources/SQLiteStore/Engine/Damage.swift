internal import Locks
internal import Sessions

/// Records whether any read or write has found the file damaged. This is final, because a damaged file may give wrong answers:
/// a damaged index can make a session look as if it had never existed, and its device would be logged out. From then on the
/// store refuses all changes and reads, until an operator has replaced the file.
final class Damage: Sendable {
    private let found = Locked<StoreError?>(nil)

    /// The error for every change and read; nil while no damage was found.
    var refusal: StoreError? { found.withLock { $0 } }

    /// Records an error if it shows that the file is damaged. The first one is reported to the observer.
    func note(_ error: DatabaseError, _ observer: Observer) {
        guard error.consequence == .stopsStore else { return }
        note(
            error.storeError, observer,
            "the database is damaged, nothing is acknowledged or read any more: stop the server and run 'sojourn doctor'"
        )
    }

    /// Records that the disk may have lost pages that SQLite takes for copied, and will not copy again while this process has
    /// the database open. The next start copies the log from its beginning.
    func noteLostPages(_ error: DatabaseError, _ observer: Observer) {
        note(
            .unavailable("the disk failed while the log was being copied: \(error.description)"), observer,
            "the disk may have lost pages of the database, which the log still holds: restart the server, which copies them anew"
        )
    }

    private func note(_ refusal: StoreError, _ observer: Observer, _ sentence: String) {
        let isNews = found.withLock { found in
            defer { found = found ?? refusal }
            return found == nil
        }
        if isNews { observer.failed(sentence) }
    }
}
