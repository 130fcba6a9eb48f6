internal import Sessions
internal import StoreFoundation

/// The advisory locks of users that a transaction holds, until its end. They make changes of one user wait for each other, and
/// changes of different users not.
///
/// A change of a session shares the lock of its user, and a change of a user takes it alone. A refresh that is not committed
/// before a change of its user is therefore not committed after it either. Both share `TransactionLock.accounts` first, which a
/// change of settings or clients takes alone in place of the locks of all users.
///
/// A lock stands for all users with the same last twelve bits of their ids. The locks of a transaction are taken in the order
/// of their numbers, in one statement, so that two transactions cannot deadlock. With that many locks at most, and no more than
/// a batch has sessions, the lock table of a server in its default configuration has a place for all of them.
struct UserLocks: Sendable, Equatable {
    /// The number of locks.
    static let count: Int32 = 4096
    /// The first of the two keys of each lock. Locks with two keys are others than those with one, such as `TransactionLock`.
    static let space: Int32 = 0x536F_6A72

    /// The held locks by their numbers, and whether they are held alone.
    private var isAlone: [Int32: Bool] = [:]
    /// Whether no other transaction changes a session or a user, so that no lock of a user is needed.
    let areAllAlone: Bool

    /// The locks of a transaction of that scope from its beginning; nil if it needs none.
    init?(_ scope: TransactionScope) {
        switch scope.exclusion {
        case .nothing, .keys: return nil
        case .sessions, .accounts: areAllAlone = false
        case .everything: areAllAlone = true
        }
        for user in scope.users { add(Self.number(of: user), alone: scope.exclusion == .accounts) }
    }

    /// Shares the locks of users with those numbers.
    init(sharing numbers: some Sequence<Int32>) {
        areAllAlone = false
        for number in numbers { isAlone[number] = false }
    }

    /// No lock yet.
    init() { self.init(sharing: []) }

    /// The number of the user's lock.
    static func number(of userID: Identifier<User>) -> Int32 {
        Int32(truncatingIfNeeded: userID.words.low) & (count - 1)
    }

    var isEmpty: Bool { isAlone.isEmpty }

    /// Whether the lock with that number is held, or need not be.
    func has(_ number: Int32, alone: Bool) -> Bool {
        areAllAlone || isAlone[number].map { $0 || !alone } ?? false
    }

    mutating func add(_ number: Int32, alone: Bool) { isAlone[number] = alone || isAlone[number] == true }

    /// Adds the locks of `other`.
    mutating func formUnion(_ other: Self) {
        for (number, alone) in other.isAlone { add(number, alone: alone) }
    }

    // MARK: Statements

    /// Takes the locks, after `TransactionLock.accounts`.
    var taking: Statement {
        if areAllAlone { return TransactionLock.accounts.alone }
        if isAlone.isEmpty { return TransactionLock.accounts.shared }
        var (numbers, alone) = (ArrayParameter(of: .bigint), ArrayParameter(of: .boolean))
        for (number, isAlone) in isAlone.sorted(by: { $0.key < $1.key }) {
            numbers.append(Int64(number))
            alone.append(isAlone)
        }
        return Statement(Self.takingAll, TransactionLock.accounts.rawValue, numbers, alone)
    }

    /// The columns are computed in their order, and the rows of `unnest` in that of the arrays.
    private static let takingAll = Template(
        """
        SELECT pg_advisory_xact_lock_shared($1::bigint), (
            SELECT count(CASE WHEN l.alone THEN pg_advisory_xact_lock(\(space), l.number::integer)
                ELSE pg_advisory_xact_lock_shared(\(space), l.number::integer) END)
            FROM unnest($2::bigint[], $3::boolean[]) AS l (number, alone))
        """)

    /// Shares one lock. Only for a transaction that holds no other lock of a user and no row.
    static func sharing(_ number: Int32) -> Statement { Statement(sharingOne, Int64(number)) }

    private static let sharingOne = Template("SELECT pg_advisory_xact_lock_shared(\(space), $1::bigint::integer)")

    /// Shares the lock of the user of a session, and returns its number. No row if there is no such session. The user of a
    /// session never changes.
    static func sharing(ofSession id: Identifier<Session>) -> Statement { Statement(sharingOfSession, id) }

    private static let sharingOfSession = Template(
        """
        SELECT l.number::bigint, pg_advisory_xact_lock_shared(\(space), l.number) FROM (
            SELECT (get_byte(uuid_send(user_id), 14) * 256 + get_byte(uuid_send(user_id), 15)) & \(count - 1) AS number
            FROM sessions WHERE id = $1::uuid OFFSET 0
        ) AS l
        """)
}
