internal import Sessions
internal import StoreFoundation
internal import Locks

/// A snapshot of the database, for a read.
struct Snapshot {
    let connection: Connection
    /// Settings and clients of the same moment.
    let catalogue: Catalogue
}

/// A read in the queue.
struct PendingRead: Sendable {
    let waitingSince: ContinuousClock.Instant
    /// Whether the read runs although the file is known to be damaged.
    var examinesDamage = false
    /// Reads and delivers. Throws if the read fails.
    let run: @Sendable (Snapshot) throws(DatabaseError) -> Void
    let caller: Caller

    func refuse(_ error: StoreError) { caller.resume(returning: error) }
}

/// A read-only connection on a thread of its own. All queued reads share one snapshot, which begins after the last of them
/// arrived and therefore contains every change that was acknowledged before.
final class Reader: Sendable {
    /// Nil after the store was closed.
    private let connection: Locked<Connection?>
    private let published: PublishedCatalogue
    private let damage: Damage
    private let options: SQLiteStore.Options

    init(
        connection: sending Connection, published: PublishedCatalogue, damage: Damage, options: SQLiteStore.Options
    ) {
        self.connection = Locked(connection)
        self.published = published
        self.damage = damage
        self.options = options
    }

    /// Answers every read of `batch`.
    func process(_ batch: [PendingRead]) {
        connection.withLock { connection in
            guard let connection else {
                // A read that was accepted just before the queue closed can arrive after its end.
                for read in batch { read.refuse(.unavailable("the database is closed")) }
                return
            }
            do throws(DatabaseError) {
                let catalogue = try published.beginningSnapshot { () throws(DatabaseError) in
                    try connection.beginSnapshot()
                }
                answer(batch, from: Snapshot(connection: connection, catalogue: catalogue))
            } catch {
                options.observer.failed(error.description)
                damage.note(error, options.observer)
                for read in batch { read.refuse(error.storeError) }
            }
            endSnapshot(connection)
        }
    }

    private func endSnapshot(_ connection: Connection) {
        guard connection.isInTransaction else { return }
        do throws(DatabaseError) {
            try connection.endSnapshot()
        } catch {
            // The answers have been delivered. The next snapshot fails if the connection cannot read any more.
            options.observer.failed(error.description)
        }
    }

    /// Closes the connection. Later batches are refused.
    func finish() { connection.withLock { $0 = nil } }

    private func answer(_ batch: [PendingRead], from snapshot: Snapshot) {
        for read in batch {
            if options.now() - read.waitingSince > options.decisionDeadline {
                read.refuse(.unavailable("waited longer than the deadline for a reader"))
                continue
            }
            if let refusal = damage.refusal, !read.examinesDamage {
                read.refuse(refusal)
                continue
            }
            do throws(DatabaseError) {
                try read.run(snapshot)
                read.caller.resume(returning: nil)
            } catch {
                options.observer.failed(error.description)
                damage.note(error, options.observer)
                read.refuse(error.storeError)
            }
        }
    }
}
