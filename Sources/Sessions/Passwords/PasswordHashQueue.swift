/// Which passwords wait to be hashed, and whose turn it is.
///
/// Anybody can send logins, as many as there are, and right ones are held against nobody. So those who hold a secret of a user
/// beside the password, mostly a token of a session, have a room and a line of their own: a flood of logins leaves it free, and
/// neither can a flood of theirs stop all logins.
struct PasswordHashQueue<Work> {
    /// So many of a user's own go before a login that waits.
    static var turnsBeforeLogin: Int { 3 }
    /// So many of one user's own may wait or be hashed: the right password can be sent again and again, and must not fill the
    /// room of all the others.
    static var pendingOfUserMax: Int { 4 }

    private let pendingMax: Int
    /// Those that wait, and those that are being hashed.
    private var pendingOfAnybody = 0
    private var pendingOfUsers: [Identifier<User>: Int] = [:]
    private var pendingOfAllUsers = 0
    /// Those that wait.
    private var ofUsers: [Work] = []
    private var ofAnybody: [Work] = []
    /// Since the last login.
    private var turnsOfUsers = 0

    /// Each of the two rooms holds `pendingMax` passwords.
    init(pendingMax: Int) { self.pendingMax = pendingMax }

    /// Lets a password in; false: there is no room for it.
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

    /// One that was let in is done with.
    mutating func leave(_ sender: PasswordHasher.Sender) {
        switch sender {
        case .anybody: pendingOfAnybody -= 1
        case .user(let id):
            pendingOfAllUsers -= 1
            let left = pendingOfUsers[id, default: 1] - 1
            pendingOfUsers[id] = left > 0 ? left : nil
        }
    }

    /// How many were let in and are not done with.
    func pending(_ room: PasswordHasher.Room) -> Int {
        switch room {
        case .users: pendingOfAllUsers
        case .anybody: pendingOfAnybody
        }
    }

    /// One that was let in waits for its turn.
    mutating func append(_ work: Work, of sender: PasswordHasher.Sender) {
        switch sender.room {
        case .users: ofUsers.append(work)
        case .anybody: ofAnybody.append(work)
        }
    }

    /// Whose turn it is; nil: nobody waits. It counts as a turn once it was `taken`: what comes too late takes none.
    mutating func next() -> (work: Work, room: PasswordHasher.Room)? {
        let isLogin = ofUsers.isEmpty || turnsOfUsers >= Self.turnsBeforeLogin
        if isLogin, !ofAnybody.isEmpty { return (ofAnybody.removeFirst(), .anybody) }
        return ofUsers.isEmpty ? nil : (ofUsers.removeFirst(), .users)
    }

    /// A turn was taken.
    mutating func taken(by room: PasswordHasher.Room) { turnsOfUsers = room == .users ? turnsOfUsers + 1 : 0 }
}
