// Second factors in exports and imports. Seeds stay sealed: an import needs the root key of the export.

/// The recovery codes of a user, as one line of an export has them.
public struct RecoveryCodeSet: Hashable, Sendable {
    /// The user.
    public let userID: Identifier<User>
    /// The codes.
    public let codes: [RecoveryCode]

    /// A set.
    public init(userID: Identifier<User>, codes: [RecoveryCode]) { (self.userID, self.codes) = (userID, codes) }
}

extension Store {
    /// Up to `limit` details of users after `cursor`, by user. Fewer than `limit` is the end.
    public func userDetails(
        after cursor: Identifier<User>?, limit: Int
    ) async throws(StoreError) -> [UserDetails] {
        guard limit > 0 else { return [] }
        return try await read(.long) { (reader) throws(TransactionError) in
            try reader.userDetails(after: cursor, limit: limit).value()
        }
    }

    /// Up to `limit` authenticators after `cursor`, by id. Fewer than `limit` is the end.
    public func totpFactors(
        after cursor: Identifier<TOTPFactor>?, limit: Int
    ) async throws(StoreError) -> [TOTPFactor] {
        guard limit > 0 else { return [] }
        return try await read(.long) { (reader) throws(TransactionError) in
            try reader.totpFactors(after: cursor, limit: limit).value()
        }
    }

    /// The recovery codes of a user, used ones too.
    public func recoveryCodes(of userID: Identifier<User>) async throws(StoreError) -> RecoveryCodeSet {
        try await read(.short) { (reader) throws(TransactionError) in
            RecoveryCodeSet(userID: userID, codes: try reader.recoveryCodes(of: userID).value())
        }
    }

    /// Adds the details of each user that has none. All in one transaction. Returns one outcome for each, in order.
    public func importUserDetails(
        _ details: [UserDetails], _ mode: ImportMode
    ) async throws(StoreError) -> [ImportOutcome] {
        try await importAdded(details, mode, userID: \.userID, isOver: { _, _ in false }) { transaction, details in
            let known = transaction.userDetailsForUpdate(details.userID)
            return Answer { () throws(TransactionError) in
                let stored = try known.value()
                if stored == details || mode != .replacing && !stored.isEmpty { return false }
                transaction.write(details)
                return true
            }
        }
    }

    /// Adds each authenticator that is not there. One that was removed here since is left out. A stored one keeps the later of both
    /// steps, so that no code counts twice. All in one transaction. Returns one outcome for each, in order.
    public func importTOTPFactors(
        _ factors: [TOTPFactor], _ mode: ImportMode
    ) async throws(StoreError) -> [ImportOutcome] {
        try await importAdded(factors, mode, userID: \.userID, isOver: { $1.hasRemoved($0) }) { transaction, factor in
            let known = transaction.totpFactorsForUpdate(of: factor.userID)
            return Answer { () throws(TransactionError) in
                guard let stored = try known.value().first(where: { $0.id == factor.id }) else {
                    transaction.insert(factor)
                    return true
                }
                guard factor.lastStep > stored.lastStep else { return false }
                var later = stored
                (later.lastStep, later.lastUsedAt) = (factor.lastStep, factor.lastUsedAt)
                transaction.update(later)
                return true
            }
        }
    }

    /// Adds the recovery codes of each user that has none, and notes the use of those that are there. All in one transaction. Returns
    /// one outcome for each, in order.
    public func importRecoveryCodes(
        _ sets: [RecoveryCodeSet], _ mode: ImportMode
    ) async throws(StoreError) -> [ImportOutcome] {
        try await importAdded(sets, mode, userID: \.userID, isOver: { _, _ in false }) { transaction, set in
            let (known, factors) = (
                transaction.recoveryCodesForUpdate(of: set.userID), transaction.totpFactors(of: set.userID)
            )
            return Answer { () throws(TransactionError) in
                let stored = try known.value()
                guard try !factors.value().isEmpty else { return false }
                let new = set.codes.filter { code in
                    guard let same = stored.first(where: { $0.hash == code.hash }) else { return stored.isEmpty }
                    return same.usedAt == nil && code.usedAt != nil
                }
                for code in new { transaction.write(code) }
                return !new.isEmpty
            }
        }
    }
}
