/// The passwords that wait to be hashed, in two queues.
///
/// Anyone can send logins in any number. So requests with another secret of the user, mostly a token of a session, have a queue
/// of their own, which a flood of logins leaves free; nor does a flood of theirs stop all logins.
struct PasswordHashQueue<Work> {
    /// How many passwords of users are hashed before a login that waits.
    static var turnsBeforeLogin: Int { 3 }
    /// How many passwords of one user may wait or be hashed, because the right password can be sent again and again and must
    /// not fill the queue of all users.
    static var pendingOfUserMax: Int { 4 }

    private let pendingMax: Int
    /// The passwords that wait, and those that are being hashed.
    private var pendingOfAnybody = 0
    private var pendingOfUsers: [Identifier<User>: Int] = [:]
    private var pendingOfAllUsers = 0
    /// The passwords that wait.
    private var ofUsers: [Work] = []
    private var ofAnybody: [Work] = []
    /// How many passwords of users were hashed since the last login.
    private var turnsOfUsers = 0

    /// Each of the two queues holds `pendingMax` passwords.
    init(pendingMax: Int) { self.pendingMax = pendingMax }

    /// Admits a password; false: its queue is full.
    mutating func admit(_ requester: PasswordHasher.Requester) -> Bool {
        switch requester {
        case .anonymous:
            guard pendingOfAnybody < pendingMax else { return false }
            pendingOfAnybody += 1
        case .user(let id):
            guard pendingOfAllUsers < pendingMax, pendingOfUsers[id, default: 0] < Self.pendingOfUserMax else {
                return false
            }
            pendingOfAllUsers += 1
            pendingOfUsers[id, default: 0] += 1
        }
        return true
    }

    /// Removes a password that was admitted and is done.
    mutating func leave(_ requester: PasswordHasher.Requester) {
        switch requester {
        case .anonymous: pendingOfAnybody -= 1
        case .user(let id):
            pendingOfAllUsers -= 1
            let left = pendingOfUsers[id, default: 1] - 1
            pendingOfUsers[id] = left > 0 ? left : nil
        }
    }

    /// How many admitted passwords are not done.
    func pending(_ priority: PasswordHasher.Priority) -> Int {
        switch priority {
        case .users: pendingOfAllUsers
        case .anonymous: pendingOfAnybody
        }
    }

    /// Has an admitted password wait for its turn.
    mutating func append(_ work: Work, of requester: PasswordHasher.Requester) {
        switch requester.priority {
        case .users: ofUsers.append(work)
        case .anonymous: ofAnybody.append(work)
        }
    }

    /// The next password; nil: none waits. It counts as a turn once it is `taken`: a password that comes too late takes none.
    mutating func next() -> (work: Work, priority: PasswordHasher.Priority)? {
        let isLogin = ofUsers.isEmpty || turnsOfUsers >= Self.turnsBeforeLogin
        if isLogin, !ofAnybody.isEmpty { return (ofAnybody.removeFirst(), .anonymous) }
        return ofUsers.isEmpty ? nil : (ofUsers.removeFirst(), .users)
    }

    /// Counts a turn.
    mutating func taken(by priority: PasswordHasher.Priority) {
        turnsOfUsers = priority == .users ? turnsOfUsers + 1 : 0
    }
}
