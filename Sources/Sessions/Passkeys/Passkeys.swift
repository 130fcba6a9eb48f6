public import WebAuthn

// Passkeys: adding them to users, renaming and removing them. `PasswordLogins.swift` has the login by one.

/// A passkey to insert in one transaction, which uses the challenge of its registration up.
public struct PasskeyInsertion: Sendable {
    /// The passkey.
    public let passkey: Passkey
    /// The challenge.
    public let token: OneTimeToken
    /// The audit events to write if the passkey is inserted.
    public let events: [AuditEvent]

    /// An insertion of `passkey`.
    public init(passkey: Passkey, token: OneTimeToken, events: [AuditEvent]) {
        (self.passkey, self.token, self.events) = (passkey, token, events)
    }

    /// The result of the insertion. Nothing was written, except for `inserted`.
    public enum Outcome: Hashable, Sendable {
        /// The passkey was inserted.
        case inserted
        /// The user has the passkey already, with the same key.
        case known(Passkey)
        /// The passkey is another user's, or has another key.
        case taken
        /// The challenge was used before.
        case replayed
        /// The user cannot have the passkey.
        case refused(ServiceError)
        /// The user does not exist.
        case unknownUser
    }
}

extension Store {
    /// The passkey with that credential ID.
    public func passkey(_ id: [UInt8]) async throws(StoreError) -> Passkey? {
        try await read(.short) { (reader) throws(TransactionError) in try reader.passkey(id).value() }
    }

    /// The passkeys of a user, by credential ID. They are deleted with the user.
    public func passkeys(of userID: Identifier<User>) async throws(StoreError) -> [Passkey] {
        try await read(.short) { (reader) throws(TransactionError) in try reader.passkeys(of: userID).value() }
    }

    /// Up to `limit` passkeys after `cursor`, by credential ID. Fewer than `limit` is the end.
    public func passkeys(after cursor: [UInt8]?, limit: Int) async throws(StoreError) -> [Passkey] {
        guard limit > 0 else { return [] }
        return try await read(.long) { (reader) throws(TransactionError) in
            try reader.passkeys(after: cursor, limit: limit).value()
        }
    }

    /// Adds a passkey to an existing user, unless `refusal` names an error for that user and the number of their passkeys. All
    /// or nothing.
    public func insertPasskey(
        _ insertion: PasskeyInsertion, _ refusal: @escaping @Sendable (User, Int) -> ServiceError?
    ) async throws(StoreError) -> PasskeyInsertion.Outcome {
        try await write(.sessions(of: insertion.passkey.userID)) { (transaction) throws(TransactionError) in
            let passkey = insertion.passkey
            // The user's row comes first: registrations of one user wait for each other, so that the limit holds.
            let user = transaction.userForUpdate(.id(passkey.userID))
            let (known, others) = (transaction.passkey(passkey.id), transaction.passkeys(of: passkey.userID))
            let used = transaction.isUsed(insertion.token)
            guard let user = try user.value() else { return .unknownUser }
            let isUsed = try used.value()
            if let known = try known.value() {
                // A repetition brings the challenge that the registration has used up.
                let isRepeated = isUsed && known.userID == passkey.userID && known.publicKey == passkey.publicKey
                return isRepeated ? .known(known) : .taken
            }
            if isUsed { return .replayed }
            if let error = refusal(user, try others.value().count) { return .refused(error) }
            let written = [transaction.insert(insertion.token), transaction.insert(passkey)]
            for answer in written {
                guard try answer.value() else { throw .overtaken }
            }
            transaction.append(insertion.events)
            return .inserted
        }
    }

    /// Uses the challenge of a verified signature up without a login, and writes what `note` changes in the passkey, with its
    /// event. False if the challenge was used before; nil if the passkey is gone, or has another user or key. Nothing was written
    /// then.
    public func usePasskey(
        _ login: PasskeyLogin, _ note: @escaping @Sendable (inout Passkey?) -> AuditEvent?
    ) async throws(StoreError) -> Bool? {
        return try await write(.sessions(of: login.userID)) { (transaction) throws(TransactionError) in
            guard let found = try transaction.find(.passkey(login)) else { return nil }
            if found.isReplay { return false }
            var passkey = found.passkeyLogin?.passkey
            let event = note(&passkey)
            try transaction.writeProof(of: found, passkey: passkey)
            transaction.append([event].compactMap(\.self))
            return true
        }
    }

    /// Renames a passkey of a user. Nil if the user has no such passkey.
    public func renamePasskey(
        _ id: [UInt8], of userID: Identifier<User>, to name: String
    ) async throws(StoreError) -> Passkey? {
        try await write(.sessions(of: userID)) { (transaction) throws(TransactionError) in
            // The lock on the user's row keeps the counter that a login at the same moment writes.
            let (user, known) = (transaction.userForUpdate(.id(userID)), transaction.passkey(id))
            guard try user.value() != nil, var passkey = try known.value(), passkey.userID == userID else { return nil }
            passkey.name = name
            transaction.update(passkey)
            return passkey
        }
    }

    /// Removes a passkey of a user. False if the user has no such passkey; nothing was written.
    public func deletePasskey(
        _ id: [UInt8], of userID: Identifier<User>, events: [AuditEvent]
    ) async throws(StoreError) -> Bool {
        try await write(.sessions(of: userID)) { (transaction) throws(TransactionError) in
            // The lock on the user's row excludes a login by the passkey at the same moment.
            _ = try transaction.userForUpdate(.id(userID)).value()
            guard try transaction.deletePasskey(id, of: userID).value() else { return false }
            transaction.append(events)
            return true
        }
    }
}

/// A login by a passkey whose signature was verified, as the store executes it.
public struct PasskeyLogin: Sendable {
    /// The credential ID.
    public let credentialID: [UInt8]
    /// The user of the passkey.
    public let userID: Identifier<User>
    /// The key that has signed.
    public let publicKey: COSEKey
    /// The challenge.
    public let token: OneTimeToken

    /// A login.
    public init(credentialID: [UInt8], userID: Identifier<User>, publicKey: COSEKey, token: OneTimeToken) {
        (self.credentialID, self.userID, self.publicKey, self.token) = (credentialID, userID, publicKey, token)
    }
}
