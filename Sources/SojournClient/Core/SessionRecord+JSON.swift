extension SessionRecord {
    /// Reads a record. Throws `StoreError.corrupted` if the bytes are none, or of a later schema.
    package init(parsing bytes: [UInt8]) throws(StoreError) {
        guard var members = JSONValue(parsing: bytes)?.members else { throw .corrupted("not a JSON object") }
        func take(_ name: String) -> JSONValue? { members.removeValue(forKey: name) }
        guard let schema = take("schema")?.integer else { throw .corrupted("no schema") }
        guard schema == Self.schema else { throw .corrupted("schema \(schema)") }
        guard let deviceID = take("device_id")?.text, !deviceID.isEmpty else { throw .corrupted("no device_id") }
        guard let secret = take("retry_secret")?.text.flatMap(Base64URL.decode), !secret.isEmpty else {
            throw .corrupted("no retry_secret")
        }
        self.init(deviceID: deviceID, retrySecret: secret)
        isSignedOut = take("signed_out")?.bool ?? false
        clockOffset = take("clock_offset")?.integer
        debts = (take("debts")?.elements ?? []).compactMap { $0.members.flatMap(LogoutDebt.init) }
        pendingLogin = take("pending_login")?.members.flatMap(PendingLogin.init)
        verifications = (take("verifications")?.elements ?? []).compactMap {
            $0.members.flatMap(StoredVerification.init)
        }
        session = StoredSession(taking: &members)
        unknown = members
    }

    /// The record as JSON in UTF-8.
    package var json: [UInt8] {
        var members = unknown
        members["schema"] = .integer(Self.schema)
        members["device_id"] = .string(deviceID)
        members["retry_secret"] = .string(Base64URL.encode(retrySecret))
        if isSignedOut { members["signed_out"] = .bool(true) }
        members.set("clock_offset", clockOffset)
        if !debts.isEmpty { members["debts"] = .array(debts.map { .object($0.members) }) }
        members["pending_login"] = pendingLogin.map { .object($0.members) }
        if !verifications.isEmpty { members["verifications"] = .array(verifications.map { .object($0.members) }) }
        session?.add(to: &members)
        return JSONValue.object(members).bytes
    }
}

extension SessionRecord: Codable {
    package init(from decoder: any Decoder) throws {
        try self.init(parsing: try JSONValue(from: decoder).bytes)
    }

    package func encode(to encoder: any Encoder) throws {
        try (JSONValue(parsing: json) ?? .null).encode(to: encoder)
    }
}

extension StoredSession {
    /// Reads the members of a session out of a record; nil if there is none.
    fileprivate init?(taking members: inout [String: JSONValue]) {
        func take(_ name: String) -> JSONValue? { members.removeValue(forKey: name) }
        let (access, refresh) = (take("access_token")?.text ?? "", take("refresh_token")?.text)
        tokenType = take("token_type")?.text ?? "Bearer"
        sessionID = take("session_id")?.text
        issuedAt = take("issued_at")?.integer ?? 0
        expiresAt = take("expires_at")?.integer ?? 0
        refreshAfter = take("refresh_after")?.integer
        idleExpiresAt = take("session_idle_expires_at")?.integer
        sessionExpiresAt = take("session_expires_at")?.integer
        rotationInterval = take("rotation_interval")?.integer
        renewal = take("renewal")?.elements.map { $0.compactMap(\.text) }
        mode = take("authentication_mode")?.text.flatMap(AuthenticationMode.init) ?? .no
        user = take("user")?.members ?? [:]
        keyThumbprint = take("key_thumbprint")?.text
        gateID = take("gate_id")?.text
        encryptionKey = take("encryption_key")?.text
        sealed = take("sealed")?.text.flatMap(Base64URL.decode)
        if let end = take("ended")?.members, let reason = end.text("reason") {
            ending = Ending(reason: EndReason(rawValue: reason), at: end.integer("at") ?? 0)
        }
        guard !access.isEmpty || refresh != nil || sealed != nil else { return nil }
        (accessToken, refreshToken) = (access, refresh)
    }

    fileprivate func add(to members: inout [String: JSONValue]) {
        if let sealed {
            members["sealed"] = .string(Base64URL.encode(sealed))
        } else {
            members.set("access_token", accessToken)
            members.set("refresh_token", refreshToken)
        }
        members.set("gate_id", gateID)
        members.set("encryption_key", encryptionKey)
        members.set("token_type", tokenType)
        members.set("session_id", sessionID)
        members.set("issued_at", issuedAt)
        members.set("expires_at", expiresAt)
        members.set("refresh_after", refreshAfter)
        members.set("session_idle_expires_at", idleExpiresAt)
        members.set("session_expires_at", sessionExpiresAt)
        members.set("rotation_interval", rotationInterval)
        members["renewal"] = renewal.map { .array($0.map { .string($0) }) }
        members.set("authentication_mode", mode.rawValue)
        members.set("key_thumbprint", keyThumbprint)
        members["user"] = .object(user)
        if let ending {
            members["ended"] = .object([
                "reason": .string(ending.reason.rawValue), "at": .integer(ending.at),
            ])
        }
    }
}

extension LogoutDebt {
    fileprivate init?(_ members: [String: JSONValue]) {
        guard let token = members.text("token"), let kind = members.text("kind") else { return nil }
        self.init(
            sessionID: members.text("session_id"), token: token, kind: kind,
            keyThumbprint: members.text("key_thumbprint"), expiresAt: members.integer("expires_at"))
    }

    fileprivate var members: [String: JSONValue] {
        var members: [String: JSONValue] = ["token": .string(token), "kind": .string(kind)]
        members.set("session_id", sessionID)
        members.set("key_thumbprint", keyThumbprint)
        members.set("expires_at", expiresAt)
        return members
    }
}

extension Account {
    /// The account in the members of `user`.
    package init(members: [String: JSONValue]) {
        self.init(
            userID: members.text("user_id") ?? "", username: members.text("username"), email: members.text("email"),
            phoneNumber: members.text("phone_number"), displayName: members.text("display_name"),
            givenName: members.text("given_name"), familyName: members.text("family_name"),
            country: members.text("country"), isAnonymous: members["anonymous"]?.bool ?? false)
    }
}
