extension StoredSession {
    /// Whether the tokens are sealed, and the sealing key is not at hand.
    package var isLocked: Bool { sealed != nil && accessToken.isEmpty }

    /// Forgets the tokens, if they are stored under seal.
    package mutating func lock() {
        guard sealed != nil else { return }
        (accessToken, refreshToken) = ("", nil)
    }
}

extension SessionRecord {
    /// Seals the tokens of the session, so that `json` writes them encrypted. Both are sealed, because the access token alone
    /// is good for two weeks. Returns false if `key` is no key.
    package mutating func seal(by key: [UInt8]) -> Bool {
        guard let session, !session.accessToken.isEmpty else { return false }
        var tokens: [String: JSONValue] = ["access_token": .string(session.accessToken)]
        tokens.set("refresh_token", session.refreshToken)
        guard
            let sealed = SmallCrypto.seal(
                JSONValue.object(tokens).bytes, key: key, associatedData: sealingContext(session))
        else { return false }
        self.session?.sealed = sealed
        return true
    }

    /// Fills in the sealed tokens. Nothing changes if `key` does not open them.
    package mutating func open(by key: [UInt8]) {
        guard let session, let sealed = session.sealed,
            let bytes = SmallCrypto.open(sealed, key: key, associatedData: sealingContext(session)),
            let tokens = JSONValue(parsing: bytes)?.members, let accessToken = tokens.text("access_token")
        else { return }
        self.session?.accessToken = accessToken
        self.session?.refreshToken = tokens.text("refresh_token")
    }

    /// The tokens open only in the record of their device and session.
    private func sealingContext(_ session: StoredSession) -> [UInt8] {
        Array("sojourn tokens \(deviceID) \(session.sessionID ?? "")".utf8)
    }
}
