public import Sessions

/// A signing key as a row.
public enum SigningKeyColumns {
    /// The columns, in the order of `read`.
    public static let all = Columns(
        "id", "algorithm", "sealed_private_key", "created_at", "active_at", "retired_at")

    /// Reads the columns of a signing key.
    public static func read(_ row: inout some StoredRow) -> StoredSigningKey {
        StoredSigningKey(
            id: row.text(), algorithm: row.text(), sealedPrivateKey: row.bytes(), createdAt: row.instant(),
            activeFrom: row.instant(), retiredAt: row.optionalInstant())
    }

    /// Writes all columns of a signing key.
    public static func write(_ key: StoredSigningKey, to row: inout some WrittenRow) {
        row.add(key.id)
        row.add(key.algorithm)
        row.add(key.sealedPrivateKey)
        row.add(key.createdAt)
        row.add(key.activeFrom)
        row.add(key.retiredAt)
    }
}

/// An admin key as a row.
public enum AdminKeyColumns {
    /// The columns, in the order of `read`.
    public static let all = Columns("id", "name", "hash", "created_at", "scope", "expires_at", "last_used_at")

    /// Reads the columns of an admin key.
    public static func read(_ row: inout some StoredRow) throws(CorruptRow) -> AdminKey {
        var key = AdminKey(id: row.text(), name: row.text(), hash: row.bytes(), createdAt: row.instant())
        key.scope = try row.word(as: AdminKey.Scope.self)
        key.expiresAt = row.optionalInstant()
        key.lastUsedAt = row.optionalInstant()
        return key
    }

    /// Writes all columns of an admin key.
    public static func write(_ key: AdminKey, to row: inout some WrittenRow) {
        row.add(key.id)
        row.add(key.name)
        row.add(key.hash)
        row.add(key.createdAt)
        row.add(key.scope)
        row.add(key.expiresAt)
        row.add(key.lastUsedAt)
    }
}
