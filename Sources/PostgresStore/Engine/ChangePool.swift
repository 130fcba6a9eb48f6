internal import Dispatch
internal import Locks
internal import Sessions
internal import StoreFoundation

/// Runs changes on several connections. Changes with the same key run one after the other, in the order of their arrival.
///
/// A few connections are kept. While all of them are busy and a change waits, another one is made, up to a maximum: each commit
/// waits for the disk of the server, and several can wait together. A connection beyond the kept ones is closed when nothing has
/// used it for some time. If the server has no room for one, kept or not, the change goes to the next free connection.
final class ChangePool: Sendable {
    /// A connection, and the thread that works with it.
    private struct Slot: Sendable {
        let queue: DispatchQueue
        let connection: ReconnectingConnection
        let worker: Worker
    }

    private struct State {
        /// The changes of each key that have not begun.
        var waiting: [UInt8: [PendingWork]] = [:]
        var waitingCount = 0
        /// The keys with a change that may begin, in the order in which they got one.
        var ready: [UInt8] = []
        /// The keys with a change that has begun.
        var busy: Set<UInt8> = []
        /// The number of changes that have begun and are not answered.
        var unansweredCount = 0
        /// The slots without work, and how often each has had some.
        var idle: Set<Int>
        var uses: [Int]
        /// The slots with a connection, as far as is known.
        var connected: Set<Int> = []
        var isClosed = false
        /// Runs when the last change has been answered.
        var last: (@Sendable () -> Void)?
    }

    /// A change that a slot begins.
    private struct Turn: Sendable {
        let slot: Int
        let key: UInt8
        let work: PendingWork
    }

    /// The time after which the next change may try a slot that could not connect.
    private static let pause = Duration.seconds(2)

    private let slots: [Slot]
    private let options: PostgresStore.Options
    private let state: Locked<State>

    /// Creates a pool of the connections that `connection` makes.
    init(_ options: PostgresStore.Options, _ connection: () -> ReconnectingConnection) {
        self.options = options
        let count = max(1, options.changeConnections, options.changeConnectionsMax)
        slots = (0..<count).map { number in
            let made = connection()
            return Slot(
                queue: DispatchQueue(label: "database changes \(number)"), connection: made,
                worker: Worker(lane: made, options: options))
        }
        state = Locked(State(idle: Set(0..<count), uses: Array(repeating: 0, count: count)))
    }

    /// Whether the connection of that slot is kept.
    private func isKept(_ slot: Int) -> Bool { slot < max(1, options.changeConnections) }

    /// The number of changes that have not begun.
    var waitingCount: Int { state.withLock { $0.waitingCount } }

    /// Appends `work` to the changes with that key.
    func submit(_ work: PendingWork, by key: UInt8) -> Admission {
        let admission = state.withLock { state -> Admission in
            if state.isClosed { return .closed }
            if state.waitingCount >= options.pendingMax { return .full }
            state.waiting[key, default: []].append(work)
            state.waitingCount += 1
            if !state.busy.contains(key), !state.ready.contains(key) { state.ready.append(key) }
            return .accepted
        }
        if case .accepted = admission { beginNext() }
        return admission
    }

    /// Refuses all further changes, and runs `last` when the accepted ones have been answered. Returns false without effect if
    /// the pool was closed before.
    func close(_ last: @escaping @Sendable () -> Void) -> Bool {
        let (isFirst, isDone) = state.withLock { state -> (Bool, Bool) in
            if state.isClosed { return (false, false) }
            state.isClosed = true
            let isDone = Self.isDone(state)
            if !isDone { state.last = last }
            return (true, isDone)
        }
        if isDone { last() }
        return isFirst
    }

    private static func isDone(_ state: State) -> Bool { state.waitingCount == 0 && state.unansweredCount == 0 }

    /// Lets an idle slot begin the next change, if there are both: one with a connection if possible, and else the first one. The
    /// kept slots are the first ones, so that others have work only while those are busy.
    private func beginNext() {
        let turn = state.withLock { state -> Turn? in
            let slot = state.idle.intersection(state.connected).min() ?? state.idle.min()
            return slot.flatMap { Self.turn(of: $0, in: &state) }
        }
        if let turn { slots[turn.slot].queue.async { self.run(turn) } }
    }

    private static func turn(of slot: Int, in state: inout State) -> Turn? {
        guard let key = state.ready.first, let work = state.waiting[key]?.first else { return nil }
        state.ready.removeFirst()
        state.waiting[key]?.removeFirst()
        state.waitingCount -= 1
        state.unansweredCount += 1
        state.busy.insert(key)
        state.idle.remove(slot)
        state.uses[slot] += 1
        return Turn(slot: slot, key: key, work: work)
    }

    /// Runs changes on the slot of `turn` for as long as some wait.
    private func run(_ turn: Turn) {
        var turn = turn
        while true {
            let slot = slots[turn.slot]
            let deadline = turn.work.waitingSince + options.decisionDeadline
            if slot.connection.connect(before: deadline) {
                state.withLock { state -> Void in state.connected.insert(turn.slot) }
            } else if giveBack(turn) {
                return
            }
            let answer = slot.worker.answer(to: turn.work)
            // The slot is free before the answer, so that changes one after the other need one connection.
            let next = state.withLock { state -> Turn? in
                Self.end(turn.key, in: &state)
                let next = Self.turn(of: turn.slot, in: &state)
                if next == nil { state.idle.insert(turn.slot) }
                return next
            }
            answer()
            let last = state.withLock { state -> (@Sendable () -> Void)? in
                state.unansweredCount -= 1
                return Self.isDone(state) ? state.last.take() : nil
            }
            last?()
            guard let next else {
                if !isKept(turn.slot) { closeLater(turn.slot) }
                return
            }
            turn = next
        }
    }

    private static func end(_ key: UInt8, in state: inout State) {
        state.busy.remove(key)
        if state.waiting[key]?.isEmpty == false { state.ready.append(key) } else { state.waiting[key] = nil }
    }

    /// Returns the change of a slot that could not connect, for the next free slot. The slot itself is not free for a while. False if
    /// no other slot has work or a connection, so that nothing would take the change.
    private func giveBack(_ turn: Turn) -> Bool {
        let isTaken = state.withLock { state -> Bool in
            state.connected.remove(turn.slot)
            if state.unansweredCount == 1, state.connected.isDisjoint(with: state.idle) { return false }
            state.busy.remove(turn.key)
            state.unansweredCount -= 1
            state.waiting[turn.key, default: []].insert(turn.work, at: 0)
            state.waitingCount += 1
            state.ready.insert(turn.key, at: 0)
            return true
        }
        if !isTaken { return false }
        slots[turn.slot].queue.asyncAfter(deadline: .now() + Self.pause / .seconds(1)) { [weak self] in
            self?.state.withLock { state -> Void in state.idle.insert(turn.slot) }
            self?.beginNext()
        }
        beginNext()
        return true
    }

    /// Closes the connection of an idle slot, unless it has work again before `changeIdleTime` is over.
    private func closeLater(_ slot: Int) {
        let uses = state.withLock { $0.uses[slot] }
        slots[slot].queue.asyncAfter(deadline: .now() + options.changeIdleTime / .seconds(1)) { [weak self] in
            guard let self else { return }
            let isIdle = state.withLock { state -> Bool in
                guard state.idle.contains(slot), state.uses[slot] == uses else { return false }
                state.connected.remove(slot)
                return true
            }
            if !isIdle { return }
            // A change that begins now runs on this thread after this.
            slots[slot].connection.disconnect()
        }
    }
}
