/// The passwords that wait to be hashed, in four queues.
///
/// Anyone can send logins in any number, and a machine hashes six a second. So each queue has room of its own, which a flood in
/// another leaves free; in each the senders take turns (`TurnQueue`); and a full queue has room for a newcomer at the expense of
/// the sender with the most passwords. In the first two queues the sender is the user, in the others the network.
struct PasswordHashQueue<Work> {
    struct Place: Hashable, Sendable {
        let priority: PasswordHasher.Priority
        /// The user with a bounded number of places for passwords.
        let userID: Identifier<User>?
    }

    /// What becomes of a password that comes.
    enum Admission {
        /// There is no place for it.
        case refused(PasswordHasher.Priority)
        /// It waits. `displaced`: the work that has lost its place to it.
        case waiting(PasswordHasher.Priority, displaced: Work?)
    }

    /// How many passwords of one queue are hashed before one that waits in the queues after it.
    static var turnsBeforeLower: Int { 3 }
    /// How many passwords of one user may wait or be hashed in the first two queues, because the right password, or a known
    /// device, can be sent again and again and must not fill the queue of all users.
    static var pendingOfUserMax: Int { 4 }

    private typealias Priority = PasswordHasher.Priority
    private typealias Waiting = TurnQueue<Line, (work: Work, place: Place)>

    /// The passwords that take turns with those of other lines.
    private enum Line: Hashable {
        case user(Identifier<User>)
        case sender(PasswordHasher.Requester.Sender)
    }

    private let pendingMax: Int
    private var queues: [Waiting]
    /// The passwords that wait or are being hashed, for each queue.
    private var pending: [Int]
    private var pendingOfUsers: [Place: Int] = [:]
    /// How many passwords of each queue were hashed since the last one of a queue after it.
    private var turns: [Int]
    private var wrong = RecentWrongPasswords()

    /// Each queue holds `pendingMax` passwords.
    init(pendingMax: Int) {
        self.pendingMax = pendingMax
        let count = Priority.allCases.count
        queues = Array(repeating: Waiting(), count: count)
        pending = Array(repeating: 0, count: count)
        turns = Array(repeating: 0, count: count)
    }

    /// Has a password wait for its turn, if there is a place for it at `now`.
    mutating func admit(
        _ work: Work, of requester: PasswordHasher.Requester, at now: ContinuousClock.Instant
    ) -> Admission {
        guard let place = place(for: requester, at: now) else { return .refused(.users) }
        let index = place.priority.index
        let isFull = pending[index] >= pendingMax
        if isFull, queues[index].count == 0 { return .refused(place.priority) }
        let line = place.userID.map { Line.user($0) } ?? .sender(requester.sender)
        queues[index].append((work, place), of: line, for: requester.clientID)
        pending[index] += 1
        if place.userID != nil { pendingOfUsers[place, default: 0] += 1 }
        guard isFull, let displaced = queues[index].removeOldestOfMost() else {
            return .waiting(place.priority, displaced: nil)
        }
        leave(displaced.place)
        return .waiting(place.priority, displaced: displaced.work)
    }

    /// Frees the place of a password that is hashed, or was not in time.
    mutating func leave(_ place: Place) {
        pending[place.priority.index] -= 1
        guard place.userID != nil else { return }
        let left = pendingOfUsers[place, default: 1] - 1
        pendingOfUsers[place] = left > 0 ? left : nil
    }

    /// How many passwords of a queue wait or are being hashed.
    func pending(_ priority: PasswordHasher.Priority) -> Int { pending[priority.index] }

    /// The next password; nil: none waits. It counts as a turn once it is `taken`: a password that comes too late takes none.
    mutating func next() -> (work: Work, place: Place)? {
        let waiting = queues.indices.filter { queues[$0].count > 0 }
        let index = waiting.first { $0 == waiting.last || turns[$0] < Self.turnsBeforeLower }
        return index.flatMap { queues[$0].removeNext() }
    }

    /// Counts a turn.
    mutating func taken(by priority: PasswordHasher.Priority) {
        turns[priority.index] += 1
        for index in 0..<priority.index { turns[index] = 0 }
    }

    /// Notes that the sender has sent a wrong password. Beside a session's token or through an authenticated client it says
    /// nothing of the network.
    mutating func noteWrong(from requester: PasswordHasher.Requester, at now: ContinuousClock.Instant) {
        if case .secret = requester.evidence { return }
        if case .actor = requester.sender { return }
        wrong.note(requester.sender, at: now)
    }

    /// The place for a password; nil: too many of its user wait. Too many from known devices wait with their network.
    private func place(for requester: PasswordHasher.Requester, at now: ContinuousClock.Instant) -> Place? {
        func ofUser(_ priority: PasswordHasher.Priority, _ id: Identifier<User>) -> Place? {
            let place = Place(priority: priority, userID: id)
            return pendingOfUsers[place, default: 0] < Self.pendingOfUserMax ? place : nil
        }
        switch requester.evidence {
        case .secret(let id): return ofUser(.users, id)
        case .knownDevice(let id): if let place = ofUser(.knownDevices, id) { return place }
        case .none: break
        }
        let isClean = !wrong.contains(requester.sender, at: now)
        return Place(priority: isClean ? .cleanNetworks : .otherNetworks, userID: nil)
    }
}

extension PasswordHasher.Priority {
    fileprivate var index: Int {
        switch self {
        case .users: 0
        case .knownDevices: 1
        case .cleanNetworks: 2
        case .otherNetworks: 3
        }
    }
}
