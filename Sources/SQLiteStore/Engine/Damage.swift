internal import Locks
internal import Sessions

/// Whether the file has been found damaged, by whoever reads or writes it. For good: what a damaged file says may be
/// wrong, an index that leads nowhere looks like a session that never was, and its device would be logged out. So
/// from then on nothing is acknowledged and nothing is answered, until somebody has put a sound file in its place.
final class Damage: Sendable {
    private let found = Locked<StoreError?>(nil)

    /// What every change and every read is refused with; nil while the file is sound, as far as anybody has seen.
    var refusal: StoreError? { found.withLock { $0 } }

    /// Takes note of an error, if it shows that the file is damaged. The first time, the observer is told what that means.
    func note(_ error: DatabaseError, _ observer: Observer) {
        guard error.consequence == .stopsStore else { return }
        note(
            error.storeError, observer,
            "the database is damaged, nothing is acknowledged or read any more: stop the server and run 'sojourn doctor'"
        )
    }

    /// Takes note that the disk may have lost pages that SQLite takes for copied, and will not copy again as long as this
    /// process has the database open. The next start copies the log from its beginning.
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
