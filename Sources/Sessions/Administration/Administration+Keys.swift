internal import Cryptography

extension Administration {
    /// The precision of `lastUsedAt`. It is one hour, because one write for each use would cost more than it is worth.
    static let lastUsePrecision = Duration.seconds(3600)

    /// The admin key with that secret; nil if it is unknown or has expired.
    public func adminKey(for secret: String) async throws(ServiceError) -> AdminKey? {
        let hash = sha256(Array(secret.utf8))
        let keys = try await inStore(await store.adminKeys())
        // In constant time for each key, because the duration must not disclose how much of a guessed key's hash is right.
        let key = keys.first { constantTimeEqual($0.hash, hash) }
        let now = context.clock.now
        guard let key, key.expiresAt.map({ now < $0 }) ?? true else { return nil }
        if key.lastUsedAt.map({ now >= $0 + Self.lastUsePrecision }) ?? true { await note(key.id, usedAt: now) }
        return key
    }

    /// Records the use of a key. A failure is ignored, because admins must be able to inspect a server that cannot write.
    private func note(_ id: String, usedAt now: Instant) async {
        try? await store.updateAdminKeys { keys, _ in
            guard let index = keys.firstIndex(where: { $0.id == id }) else { return }
            keys[index].lastUsedAt = max(now, keys[index].lastUsedAt ?? now)
        }
    }

    /// The admin keys, without their secrets.
    public func adminKeys() async throws(ServiceError) -> [AdminKey] {
        try await inStore(await store.adminKeys())
    }

    /// The admin keys and the signing keys, newest first. Looks for changes of the signing keys by other nodes; if one cannot be read,
    /// the known keys remain in use.
    public func keys() async throws(ServiceError) -> (admin: [AdminKey], signing: [StoredSigningKey]) {
        let keys = try await inStore(
            await store.read(.short) { (reader) throws(TransactionError) in
                // By the catalogue the store notices those changes.
                let (catalogue, keys) = (reader.catalogue(), reader.adminKeys())
                _ = try catalogue.value()
                return try keys.value()
            })
        try? await context.signingKeys.follow()
        return (keys, signingKeys())
    }

    /// Creates an admin key. Returns it with its secret, which is never shown again.
    public func createAdminKey(
        name: String, scope: AdminKey.Scope = .owner, lifetime: Duration? = nil, by origin: Origin
    ) async throws(ServiceError) -> (AdminKey, String) {
        if let lifetime, lifetime < .seconds(60) {
            throw .invalid(member: "expires_in", detail: "must be 60 seconds or more")
        }
        let secret = "sja_" + Base64URL.encode(context.random.bytes(32))
        let key = try await addAdminKey(name: name, secret: secret, scope: scope, lifetime: lifetime, by: origin)
        return (key, secret)
    }

    /// Adds an admin key with a given secret. A key with that secret is returned unchanged. `replacingNamesakes` deletes the
    /// other keys of that name.
    public func addAdminKey(
        name: String, secret: String, scope: AdminKey.Scope = .owner, lifetime: Duration? = nil,
        replacingNamesakes: Bool = false, by origin: Origin
    ) async throws(ServiceError) -> AdminKey {
        guard Device.isValid(text: name) else {
            throw .invalid(
                member: "name", detail: "must have 1 to \(Device.textLengthMax) bytes and no control characters")
        }
        guard secret.utf8.count >= 32 else {
            throw .invalid(member: "secret", detail: "an admin key needs at least 32 characters")
        }
        let now = context.clock.now
        let key = AdminKey(
            id: Hex.encode(context.random.bytes(4)), name: name, hash: sha256(Array(secret.utf8)), createdAt: now,
            scope: scope, expiresAt: lifetime.map { now + $0 })
        return try await inStore(
            await store.updateAdminKeys { keys, events in
                if replacingNamesakes {
                    for old in keys where old.name == name && old.hash != key.hash {
                        events.append(AuditEvent(.adminKeyDeleted, at: now, by: origin, reason: old.id))
                    }
                    keys.removeAll { $0.name == name && $0.hash != key.hash }
                }
                if let same = keys.first(where: { $0.hash == key.hash }) { return same }
                keys.append(key)
                events.append(AuditEvent(.adminKeyCreated, at: now, by: origin, reason: key.id))
                return key
            })
    }

    /// Deletes an admin key, so that it allows nothing from then on.
    public func deleteAdminKey(_ id: String, by origin: Origin) async throws(ServiceError) {
        let now = context.clock.now
        let found = try await inStore(
            await store.updateAdminKeys { keys, events in
                guard let index = keys.firstIndex(where: { $0.id == id }) else { return false }
                let key = keys.remove(at: index)
                events.append(AuditEvent(.adminKeyDeleted, at: now, by: origin, reason: key.id))
                return true
            })
        guard found else { throw .notFound("admin key") }
    }

    /// The signing keys, newest first.
    public func signingKeys() -> [StoredSigningKey] { context.signingKeys.all }

    /// What a signing key does now.
    public func state(of key: StoredSigningKey) -> StoredSigningKey.State {
        context.signingKeys.state(of: key, at: context.clock.now)
    }

    /// Makes a signing key, which signs after one day, or at once if `immediately`. Returns its id.
    public func rotateSigningKey(immediately: Bool, by origin: Origin) async throws(ServiceError) -> String {
        do throws(SigningKeys.Problem) {
            return try await context.signingKeys.rotate(at: context.clock.now, immediately: immediately, by: origin)
        } catch { throw Self.serviceError(error) }
    }

    /// Withdraws a compromised signing key (`SigningKeys.withdraw`).
    public func withdrawSigningKey(_ id: String, by origin: Origin) async throws(ServiceError) {
        let found: Bool
        do throws(SigningKeys.Problem) {
            found = try await context.signingKeys.withdraw(id, at: context.clock.now, by: origin)
        } catch { throw Self.serviceError(error) }
        guard found else { throw .notFound("signing key") }
    }

    private static func serviceError(_ problem: SigningKeys.Problem) -> ServiceError {
        switch problem {
        case .store(let error): .store(error)
        case .wrongRootKey(let id): .store(.corrupted("no root key opens the signing key \(id)"))
        }
    }
}
