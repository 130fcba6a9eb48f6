/// What a renewal needs to know of a stored record.
package protocol RenewableRecord: Hashable, Sendable {
    /// Identifies the stored bytes.
    associatedtype Version: Hashable & Sendable
    /// What a successful answer brings.
    associatedtype Grant: Hashable & Sendable
    /// The version under which the record is stored.
    var version: Version { get }
    /// Whether the record holds a session that can be renewed, or why not.
    var renewability: Renewability { get }
}

/// Whether a record can be renewed.
package enum Renewability: Hashable, Sendable {
    /// The record holds a session.
    case renewable
    /// The record holds no session.
    case notSignedIn
    /// The server has ended the session of the record.
    case ended(EndReason)
}

/// One renewal, without input and output: load, send, compare-and-swap.
///
/// The rules that it keeps, each broken once in `RenewalWalkTests`:
/// - It presents only a record that `load` has just returned, because what could not be stored must not be presented.
/// - It takes an answer, and a refusal as well, only if the record that was presented is still stored (`replace` compares
///   versions), because an answer counts for the bytes that were sent.
/// - It holds no lock while it waits for the network. The loser of a swap takes what the winner has stored.
/// - Only `Verdict.ended` ends a session. Nothing is written after any other refusal.
///
/// Its driver performs each output and passes what came of it as the next input, until `finish`. An answer that comes
/// after the time limit of `send` is dropped, and `answered(.unreachable)` is passed in its place.
package struct RenewalMachine<Record: RenewableRecord>: Hashable, Sendable {
    /// What happened.
    package enum Input: Sendable {
        case begin
        /// The stored record; nil if the store holds none.
        case loaded(Record?)
        case loadFailed(StoreError)
        case answered(Verdict<Record.Grant>)
        /// The record was not sent, because the request is signed for another one, or because the record was loaded too long
        /// ago. It is loaded again.
        case unsent
        /// The record was not sent, because its key could not be asked.
        case signFailed(KeyError)
        /// The record as it is stored now; nil if nothing was written, because another version was stored, or because the time
        /// limit that began with `send` has passed.
        case replaced(Record?)
        case replaceFailed(StoreError)
        case waited
    }

    /// What to do next.
    package enum Output: Hashable, Sendable {
        /// Read the clock for `sent_at`, then load the record.
        case load
        /// Present the refresh token of the record, with nothing that can wait in between.
        case send(Record)
        /// Replace the stored record if it still has this version.
        case replace(Record.Version, Change)
        /// Wait before the attempt of that number (1 is the first retry). The seconds are the server's `Retry-After`.
        case wait(attempt: Int, retryAfter: Int64?)
        case finish(Outcome)
    }

    /// A change of the stored record.
    package enum Change: Hashable, Sendable {
        case grant(Record.Grant)
        case ended(EndReason)
    }

    /// How a renewal ends.
    package enum Outcome: Hashable, Sendable {
        /// The record is renewed and stored.
        case renewed(Record)
        /// Another process was first: its record is stored.
        case overtaken(Record)
        case notSignedIn
        case ended(EndReason)
        /// The record is kept as it is. The verdict says why it is not renewed.
        case kept(Verdict<Record.Grant>)
        /// The record could not be read, or the renewed one could not be written. The stored one is kept.
        case store(StoreError)
        /// The keyring failed. The record is kept.
        case key(KeyError)
    }

    private enum Phase: Hashable, Sendable {
        case created
        case loading
        case sent(Record)
        case replacing(Change)
        case waiting
        /// The swap was lost: the stored record is loaded and taken.
        case yielding
        case finished
    }

    /// The version that was found to be due; nil: whatever is stored is renewed.
    private let seen: Record.Version?
    private let attemptsMax: Int
    private var attempts = 0
    private var isSignedAgain = false
    private var phase = Phase.created

    /// A renewal of the record with the version `seen`, tried `attemptsMax` times in a row.
    package init(of seen: Record.Version?, attemptsMax: Int = 3) {
        self.seen = seen
        self.attemptsMax = attemptsMax
    }

    /// The next output. An input that does not belong to the last output changes nothing, and finishes as unreachable.
    package mutating func handle(_ input: Input) -> Output {
        switch (phase, input) {
        case (.created, .begin), (.waiting, .waited), (.sent, .unsent):
            phase = .loading
            return .load
        case (.loading, .loaded(let record)): return handle(loaded: record)
        case (.loading, .loadFailed(let error)), (.yielding, .loadFailed(let error)),
            (.replacing, .replaceFailed(let error)):
            return finish(.store(error))
        case (.sent, .signFailed(let error)): return finish(.key(error))
        case (.sent(let record), .answered(let verdict)): return handle(verdict, on: record)
        case (.replacing(let change), .replaced(let record?)):
            switch change {
            case .grant: return finish(.renewed(record))
            case .ended(let reason): return finish(.ended(reason))
            }
        case (.replacing, .replaced(nil)):
            phase = .yielding
            return .load
        case (.yielding, .loaded(let record)):
            guard let record else { return finish(.notSignedIn) }
            return finish(outcome(of: record) ?? .overtaken(record))
        default: return finish(.kept(.unreachable(Unreachable("an input out of turn"))))
        }
    }

    private mutating func handle(loaded record: Record?) -> Output {
        guard let record else { return finish(.notSignedIn) }
        if let outcome = outcome(of: record) { return finish(outcome) }
        if let seen, seen != record.version { return finish(.overtaken(record)) }
        phase = .sent(record)
        return .send(record)
    }

    private mutating func handle(_ verdict: Verdict<Record.Grant>, on record: Record) -> Output {
        switch verdict {
        case .granted(let grant): return replace(record, .grant(grant))
        case .ended(let reason): return replace(record, .ended(reason))
        case .signAgain where !isSignedAgain:
            isSignedAgain = true
            phase = .loading
            return .load
        case .unreachable(let cause):
            attempts += 1
            let isSoon = (cause.retryAfter ?? 0) <= RetrySchedule.retryAfterWithinRenewalMax
            guard attempts < attemptsMax, isSoon else { return finish(.kept(verdict)) }
            phase = .waiting
            return .wait(attempt: attempts, retryAfter: cause.retryAfter)
        case .suspended, .presenceRequired, .secondFactorRequired, .signAgain, .refused, .misconfigured:
            return finish(.kept(verdict))
        }
    }

    private mutating func replace(_ record: Record, _ change: Change) -> Output {
        phase = .replacing(change)
        return .replace(record.version, change)
    }

    private func outcome(of record: Record) -> Outcome? {
        switch record.renewability {
        case .renewable: nil
        case .notSignedIn: .notSignedIn
        case .ended(let reason): .ended(reason)
        }
    }

    private mutating func finish(_ outcome: Outcome) -> Output {
        phase = .finished
        return .finish(outcome)
    }
}
