// PINs of apps. A PIN is locked after the session of its phone, so that wrong PINs at several logins are counted one by one.

/// The requests about PINs.
public protocol PINReader {
    /// The PIN of a session.
    func pin(of id: Identifier<Session>) -> Answer<PIN?>

    /// Every PIN, in the order of the ids of their sessions.
    func pins(after id: Identifier<Session>?, limit: Int) -> Answer<[PIN]>
}

/// The requests and writes about PINs inside a transaction.
public protocol PINTransaction: PINReader {
    /// The PIN of a session, for update.
    func pinForUpdate(of id: Identifier<Session>) -> Answer<PIN?>

    /// Adds or replaces the PIN of a session.
    func replace(_ pin: PIN)

    /// Deletes the PIN of a session.
    func deletePIN(of id: Identifier<Session>)
}

extension Store {
    /// The PIN of a session; nil if none is set. It is accepted no more once the session has ended, and deleted at the latest when
    /// the session is forgotten. A call that ends several sessions, or replaces one, deletes it at once.
    public func pin(of id: Identifier<Session>) async throws(StoreError) -> PIN? {
        try await read(.short) { (reader) throws(TransactionError) in try reader.pin(of: id).value() }
    }

    /// Up to `limit` PINs after `cursor`, in the order of the ids of their sessions. Fewer than `limit` is the end.
    public func pins(after cursor: Identifier<Session>?, limit: Int) async throws(StoreError) -> [PIN] {
        guard limit > 0 else { return [] }
        return try await read(.long) { (reader) throws(TransactionError) in
            try reader.pins(after: cursor, limit: limit).value()
        }
    }

    /// Lets `change` edit the PIN of a session. Nil if there is no such session.
    public func updatePIN<Outcome: Sendable>(
        of id: Identifier<Session>, _ change: @escaping @Sendable (inout PINChange) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        try await write(TransactionScope(.sessions, queue: id.bytes.last ?? 0)) {
            (transaction) throws(TransactionError) in
            guard let session = try transaction.sessionForUpdate(id).value() else { return nil }
            let (user, pin) = (transaction.user(.id(session.userID)), transaction.pinForUpdate(of: id))
            let catalogue = try transaction.catalogue().value()
            let (owner, known) = (try user.value(), try pin.value())
            var edited = PINChange(record: catalogue.record(of: session, owner), pin: known)
            let outcome = change(&edited)
            transaction.write(edited.pin, over: known, of: id)
            transaction.append(edited.events, catalogue)
            return outcome
        }
    }

    /// Adds each PIN of a living session. A stored PIN is kept, unless the other one was set later, or has more wrong
    /// tries. A PIN is left out if one was
    /// removed here since (`ImportMode.hasRemoved`) or its user does not exist. All in one transaction. Returns one outcome for
    /// each PIN, in order.
    public func importPINs(_ pins: [PIN], _ mode: ImportMode) async throws(StoreError) -> [ImportOutcome] {
        try await importAdded(pins, mode, userID: \.userID, isOver: { $1.hasRemoved($0) }) { transaction, pin in
            let (session, known) = (
                transaction.sessionForUpdate(pin.sessionID), transaction.pinForUpdate(of: pin.sessionID)
            )
            return Answer { () throws(TransactionError) in
                let stored = try known.value()
                guard let session = try session.value(), session.ending == nil, session.userID == pin.userID else {
                    return false
                }
                if let stored, mode == .replacing ? stored == pin : stored.isAsFar(as: pin) { return false }
                transaction.replace(pin)
                return true
            }
        }
    }
}

extension PIN {
    /// Whether nothing has happened to the other PIN since this one.
    fileprivate func isAsFar(as other: PIN) -> Bool {
        changedAt == other.changedAt ? wrongCount >= other.wrongCount : changedAt > other.changedAt
    }
}

extension StoreTransaction {
    /// Writes the difference of a PIN.
    func write(_ pin: PIN?, over known: PIN?, of id: Identifier<Session>) {
        if pin == known { return }
        if let pin { replace(pin) } else { deletePIN(of: id) }
    }
}
