internal import Sessions
internal import WebAuthn

extension Passkey {
    /// A passkey. The key is a COSE_Key, so that the passkeys of other WebAuthn servers can be written as lines.
    init(_ line: inout TransferLine) throws(LineProblem) {
        let (id, rpID, name) = (try line.bytes("id"), try line.text("rp_id"), try line.text("name"))
        guard (1...AuthenticatorData.credentialIDMax).contains(id.count) else {
            throw LineProblem("'id' must have 1 to \(AuthenticatorData.credentialIDMax) bytes")
        }
        guard let key = try? COSEKey(try line.bytes("public_key")) else {
            throw LineProblem("'public_key' is not a COSE key of a known algorithm")
        }
        guard Device.isValid(text: name), Device.isValid(text: rpID) else {
            throw LineProblem(
                "'name' and 'rp_id' must have 1 to \(Device.textLengthMax) bytes without control characters")
        }
        guard let signCount = UInt32(exactly: try line.integer("sign_count")) else {
            throw LineProblem("'sign_count' must be a number of 32 bits")
        }
        let transports = try line.optionalText("transports")?.split(separator: " ").map(String.init) ?? []
        self.init(
            id: id, userID: try line.identifier("user_id"), rpID: rpID, publicKey: key, signCount: signCount,
            isBackupEligible: try line.flag("backup_eligible"), isBackedUp: try line.flag("backed_up"),
            isUserVerified: try line.flag("user_verified"), transports: transports,
            aaguid: try line.optionalBytes("aaguid"), name: name, createdAt: try line.instant("created_at"),
            lastUsedAt: try line.optionalInstant("last_used_at"))
    }

    /// The line of a passkey.
    var members: TransferMembers {
        var members = TransferMembers(.passkey)
        members.add("id", bytes: id)
        members.add("user_id", userID.description)
        members.add("rp_id", rpID)
        members.add("public_key", bytes: publicKey.bytes)
        members.add("sign_count", Int64(signCount))
        members.add("backup_eligible", isBackupEligible)
        members.add("backed_up", isBackedUp)
        members.add("user_verified", isUserVerified)
        members.add("transports", transports.joined(separator: " "))
        members.add("aaguid", bytes: aaguid)
        members.add("name", name)
        members.add("created_at", createdAt)
        members.add("last_used_at", lastUsedAt)
        return members
    }
}

extension TransferLine {
    fileprivate mutating func flag(_ name: String) throws(LineProblem) -> Bool {
        try required(name, value(name, "true or false", as: Bool.self))
    }
}
