// Enrolments: an account and the session of its phone, by an invitation.

extension Store {
    /// Lets `decide` complete an enrolment. Nil if there is no such login. A new account is written only if the session starts.
    ///
    /// - Parameters:
    ///   - account: the account that the enrolment makes; nil: it exists.
    ///   - deviceID: the installation of the app.
    public func enrol<Outcome: Sendable>(
        _ id: Identifier<Session>, account: User?, deviceID: String, by origin: Origin,
        _ decide: @escaping @Sendable (inout PhoneLoginStart) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        try await write(TransactionScope(.sessions, queue: id.bytes.last ?? 0)) {
            (transaction) throws(TransactionError) -> Outcome? in
            guard let known = try transaction.phoneLogin(.id(id)).value(), let invitation = known.request.invitation
            else { return nil }
            let place = Installation(userID: invitation.userID, clientID: known.clientID, deviceID: deviceID)
            let namesake = account.map { transaction.user(.username($0.username)) }
            let owner = account?.profile.provenKey.map { transaction.owner(ofMailbox: $0) }
            let found = (
                transaction.userForUpdate(.id(invitation.userID)), transaction.livingSessionForUpdate(at: place)
            )
            let (user, previous) = (try found.0.value(), try found.1.value())
            let isNameTaken = try namesake?.value().map { $0.id != invitation.userID } ?? false
            let owners = try owner?.value() ?? []
            guard let change = try transaction.change(of: known, phone: nil) else { return nil }
            let login = change.login
            let factors = try user.map { (user) throws(TransactionError) in
                try transaction.enrolledFactors(
                    of: user.id, under: change.settings.secondFactorPolicy(for: change.client))
            }
            var collection = PhoneLoginStart(
                change: change,
                opening: (user ?? account?.leavingMailbox(to: owners)).map {
                    SessionOpening(
                        user: $0, arrival: user == nil ? .new : .known, client: change.client,
                        settings: change.settings, previous: previous, factors: factors)
                })
            collection.isNameTaken = isNameTaken
            let outcome = decide(&collection)
            if let opening = collection.opening, let session = opening.session {
                try transaction.insert(session, of: opening, by: invitation, replacing: previous)
            }
            let events = try transaction.write(collection.change, over: login, by: origin)
            transaction.append(
                events + (collection.opening?.events ?? []), try transaction.catalogue().value())
            return outcome
        }
    }
}

extension StoreTransaction {
    /// Writes the session, and before it its user, if the enrolment makes one. The invitation alone opens an account without
    /// a password.
    fileprivate func insert(
        _ session: Session, of opening: SessionOpening, by invitation: Invitation, replacing previous: Session?
    ) throws(TransactionError) {
        if opening.arrival == .new {
            guard try insert(opening.user).value() else { throw .overtaken }
            replace(UserSources(of: opening.user, by: invitation))
        } else if opening.user.passwordHash == nil {
            try noteAccess(to: opening.user, from: .invitation)
        }
        if let previous { end(previous.id, .init(reason: .replaced, at: session.renewedAt)) }
        insert(session, lookAt: opening.firstLook(at: session))
        if let previous { try moveBonds(from: previous, to: session.id, at: session.renewedAt) }
    }
}
