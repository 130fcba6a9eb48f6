extension AccountService {
    /// Registers the key to which messages to the device of the session are encrypted; nil removes it. An earlier one is
    /// replaced. Throws `invalid` for a key that signs, because one key must not do both.
    public func setEncryptionKey(
        _ key: EncryptionKey?, in current: AuthenticatedSession
    ) async throws(ServiceError) -> SessionRecord {
        try await change(current.session.id, shownBy: nil, at: context.clock.now) { session, _ in
            if let key, session.signs(with: key) {
                return .failure(
                    .invalid(member: "encryption_key", detail: "must be another key than those that sign"))
            }
            session.encryptionKey = key?.text
            return .success(nil)
        }
    }
}

extension Session {
    /// Whether the session has that key for signatures.
    fileprivate func signs(with key: EncryptionKey) -> Bool {
        keyThumbprint == key.thumbprint
            || [deviceKey, presence.key].contains { $0.flatMap(DeviceKey.init(text:))?.key == key.key }
    }
}
