/// The queue of passwords to hash.
///
/// Any caller can send logins in any number, and successful ones have no limit. Passwords that come with a secret of a user,
/// mostly a session's token, therefore have a queue of their own with priority. A flood of logins leaves that queue free, and a
/// flood in that queue cannot stop all logins.
struct PasswordHashQueue<Work> {
    /// The number of passwords with a user's secret that precede a waiting login.
    static var turnsBeforeLogin: Int { 3 }
    /// The number of passwords of one user that may be pending. It is small, because the right password can be sent repeatedly,
    /// and must not fill the queue of all users.
    static var pendingOfUserMax: Int { 4 }

    private let pendingMax: Int
    /// Passwords that wait or are being hashed.
    private var pendingOfAnybody = 0
    private var pendingOfUsers: [Identifier<User>: Int] = [:]
    private var pendingOfAllUsers = 0
    /// Passwords that wait.
    private var ofUsers: [Work] = []
    private var ofAnybody: [Work] = []
    /// Passwords with a user's secret that were hashed since the last login.
    private var turnsOfUsers = 0

    /// Creates two queues that each admit `pendingMax` passwords.
    init(pendingMax: Int) { self.pendingMax = pendingMax }

    /// Admits a password. Returns false if its queue is full.
    mutating func admit(_ sender: PasswordHasher.Sender) -> Bool {
        switch sender {
        case .anybody:
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

    /// Removes an admitted password that is finished.
    mutating func leave(_ sender: PasswordHasher.Sender) {
        switch sender {
        case .anybody: pendingOfAnybody -= 1
        case .user(let id):
            pendingOfAllUsers -= 1
            let left = pendingOfUsers[id, default: 1] - 1
            pendingOfUsers[id] = left > 0 ? left : nil
        }
    }

    /// The number of admitted passwords that are not finished.
    func pending(_ room: PasswordHasher.Room) -> Int {
        switch room {
        case .users: pendingOfAllUsers
        case .anybody: pendingOfAnybody
        }
    }

    /// Appends the work of an admitted password.
    mutating func append(_ work: Work, of sender: PasswordHasher.Sender) {
        switch sender.room {
        case .users: ofUsers.append(work)
        case .anybody: ofAnybody.append(work)
        }
    }

    /// Removes and returns the next work; nil if there is none. The caller reports it by `taken` if it is hashed, because
    /// expired work does not count as a turn.
    mutating func next() -> (work: Work, room: PasswordHasher.Room)? {
        let isLogin = ofUsers.isEmpty || turnsOfUsers >= Self.turnsBeforeLogin
        if isLogin, !ofAnybody.isEmpty { return (ofAnybody.removeFirst(), .anybody) }
        return ofUsers.isEmpty ? nil : (ofUsers.removeFirst(), .users)
    }

    /// Records that a password of `room` is hashed.
    mutating func taken(by room: PasswordHasher.Room) { turnsOfUsers = room == .users ? turnsOfUsers + 1 : 0 }
}
