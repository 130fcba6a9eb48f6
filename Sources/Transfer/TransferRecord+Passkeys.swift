internal import Cryptography
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

extension UserDetails {
    /// What few users have, from one line.
    init(_ line: inout TransferLine) throws(LineProblem) {
        self.init(
            userID: try line.identifier("user_id"), language: try line.optionalText("language"),
            secondFactor: try line.optionalWord("second_factor"),
            wrongFactors: Int(try line.optionalInteger("wrong_factors") ?? 0),
            wrongFactorAt: try line.optionalInstant("wrong_factor_at"),
            formerEmail: try line.optionalText("former_email"),
            formerEmailUntil: try line.optionalInstant("former_email_until"),
            deleteAt: try line.optionalInstant("delete_at"))
        guard (0...Int(Int32.max)).contains(wrongFactors) else {
            throw LineProblem("'wrong_factors' must be a number of 0 or more")
        }
    }

    /// The line of the details of a user.
    var members: TransferMembers {
        var members = TransferMembers(.userDetails)
        members.add("user_id", userID.description)
        members.add("language", language)
        members.add("second_factor", secondFactor?.rawValue)
        if wrongFactors > 0 { members.add("wrong_factors", Int64(wrongFactors)) }
        members.add("wrong_factor_at", wrongFactorAt)
        members.add("former_email", formerEmail)
        members.add("former_email_until", formerEmailUntil)
        members.add("delete_at", deleteAt)
        return members
    }
}

extension TOTPFactor {
    /// An authenticator. The seed stays sealed.
    init(_ line: inout TransferLine) throws(LineProblem) {
        let (digits, period) = (try line.integer("digits"), try line.integer("period"))
        let (algorithm, name) = (try line.text("algorithm"), try line.text("name"))
        guard let digits = Int(exactly: digits), TOTP(algorithm: algorithm, digits: digits, period: period) != nil
        else {
            throw LineProblem("'algorithm', 'digits' and 'period' must be SHA1, SHA256 or SHA512, 6 to 8, 10 to 120")
        }
        guard Text.isValid(name, lengthMax: SecondFactorService.nameLengthMax) else {
            throw LineProblem(
                "'name' must have 1 to \(SecondFactorService.nameLengthMax) bytes without control characters")
        }
        self.init(
            id: try line.identifier("id"), userID: try line.identifier("user_id"), name: name,
            sealedSeed: try line.bytes("sealed_seed"), algorithm: algorithm, digits: digits, period: Int(period),
            lastStep: try line.integer("last_step"), createdAt: try line.instant("created_at"),
            confirmedAt: try line.optionalInstant("confirmed_at"),
            lastUsedAt: try line.optionalInstant("last_used_at"))
    }

    /// The line of an authenticator.
    var members: TransferMembers {
        var members = TransferMembers(.totp)
        members.add("id", id.description)
        members.add("user_id", userID.description)
        members.add("name", name)
        members.add("sealed_seed", bytes: sealedSeed)
        members.add("algorithm", algorithm)
        members.add("digits", Int64(digits))
        members.add("period", Int64(period))
        members.add("last_step", lastStep)
        members.add("created_at", createdAt)
        members.add("confirmed_at", confirmedAt)
        members.add("last_used_at", lastUsedAt)
        return members
    }
}

extension RecoveryCodeSet {
    /// The recovery codes of a user: `unused`, a list of hashes in hexadecimal, and `used`, those with the time of their use.
    init(_ line: inout TransferLine) throws(LineProblem) {
        let userID: Identifier<User> = try line.identifier("user_id")
        let unused = try line.value("unused", "a list of hashes", as: [String].self) ?? []
        let used = try line.value("used", "hashes with times", as: [String: Int64].self) ?? [:]
        var codes: [RecoveryCode] = []
        for (text, time) in unused.map({ ($0, Int64?.none) }) + used.map({ ($0.key, Int64?.some($0.value)) }) {
            guard let hash = Hex.decode(text), hash.count == 32 else {
                throw LineProblem("'unused' and 'used' must have SHA-256 hashes in hexadecimal")
            }
            codes.append(
                RecoveryCode(userID: userID, hash: hash, usedAt: time.map(Instant.init(secondsSinceEpoch:))))
        }
        self.init(userID: userID, codes: codes)
    }

    /// The line of the recovery codes of a user.
    var members: TransferMembers {
        var members = TransferMembers(.recoveryCodes)
        members.add("user_id", userID.description)
        members.add("unused", codes.filter { $0.usedAt == nil }.map { Hex.encode($0.hash) })
        let used = codes.compactMap { code in code.usedAt.map { (Hex.encode(code.hash), $0.secondsSinceEpoch) } }
        if !used.isEmpty { members.add("used", Dictionary(uniqueKeysWithValues: used)) }
        return members
    }
}
