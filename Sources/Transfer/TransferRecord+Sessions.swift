internal import Cryptography
internal import JSON
internal import Sessions

extension Device {
    init(_ line: inout TransferLine) throws(LineProblem) {
        let id = try line.text("device_id")
        guard Device.isValid(id: id) else {
            throw LineProblem("'device_id' must be 1 to \(Device.idLengthMax) visible ASCII characters")
        }
        func text(_ name: String) throws(LineProblem) -> String? {
            guard let text = try line.optionalText(name) else { return nil }
            guard Device.isValid(text: text) else {
                throw LineProblem("'\(name)' must have 1 to \(Device.textLengthMax) bytes and no control characters")
            }
            return text
        }
        self.init(
            id: id, name: try text("device_name"), platform: try text("device_platform"),
            appVersion: try text("device_app_version"))
    }

    func add(to members: inout TransferMembers) {
        members.add("device_id", id)
        members.add("device_name", name)
        members.add("device_platform", platform)
        members.add("device_app_version", appVersion)
    }
}

extension Session {
    init(_ line: inout TransferLine) throws(LineProblem) {
        let endedAt = try line.optionalInstant("ended_at")
        let reason: EndReason? = try line.optionalWord("ended_reason")
        guard (endedAt == nil) == (reason == nil) else {
            throw LineProblem("'ended_at' and 'ended_reason' go together")
        }
        var ending: Ending?
        if let endedAt, let reason { ending = Ending(reason: reason, at: endedAt) }
        self.init(
            id: try line.identifier("session_id"), userID: try line.identifier("user_id"),
            clientID: try line.text("client_id"), device: try Device(&line),
            authenticationMode: try line.required("authentication_mode", line.optionalWord("authentication_mode")),
            scope: try line.scope("scope") ?? .empty,
            resources: try line.resources(),
            authenticationMethods: try line.value("authentication_methods", "a list of strings") ?? [],
            keyThumbprint: try line.optionalText("key_thumbprint"),
            deviceKey: try line.optionalText("device_key"), startedAt: try line.instant("started_at"),
            epoch: try line.integer("epoch"), parent: try line.serial("parent"), child: try line.serial("child"),
            childAnsweredAt: try line.instant("child_answered_at"), renewedAt: try line.instant("renewed_at"),
            childRequestKey: try line.value("child_request_key", "a whole number that is not negative"),
            childConfirmedAt: try line.optionalInstant("child_confirmed_at"), ending: ending,
            presence: UserPresence(
                key: try line.optionalText("presence_key"), provenAt: try line.optionalInstant("presence_proven_at"),
                passwordAt: try line.optionalInstant("password_proven_at"),
                identityAt: try line.optionalInstant("identity_proven_at")))
        // Provider checks bring it to the sessions of apps.
        if clientID == Client.browserID, let provider = try line.optionalText("provider") {
            confirmation = ProviderConfirmation(provider: provider, at: presence.identityAt ?? startedAt)
        }
        attestation = try line.optionalText("attestation")
        phoneID = try line.optionalIdentifier("parent_session_id")
        probationUntil = try line.optionalInstant("probation_until")
        encryptionKey = try line.optionalText("encryption_key")
        guard encryptionKey.map({ EncryptionKey(text: $0) != nil }) ?? true else {
            throw LineProblem("'encryption_key' must be P-256, a dot, and the coordinates in base64url")
        }
    }

    /// The line of a session.
    var members: TransferMembers {
        var members = TransferMembers(.session)
        members.add("session_id", id.description)
        members.add("user_id", userID.description)
        members.add("client_id", clientID)
        device.add(to: &members)
        members.add("authentication_mode", authenticationMode.rawValue)
        members.add("scope", scope.description)
        if !resources.isEmpty { members.add("resources", resources) }
        if !authenticationMethods.isEmpty { members.add("authentication_methods", authenticationMethods) }
        members.add("key_thumbprint", keyThumbprint)
        members.add("device_key", deviceKey)
        members.add("presence_key", presence.key)
        members.add("presence_proven_at", presence.provenAt)
        members.add("password_proven_at", presence.passwordAt)
        members.add("identity_proven_at", presence.identityAt)
        if clientID == Client.browserID { members.add("provider", confirmation?.provider) }
        members.add("attestation", attestation)
        members.add("parent_session_id", phoneID?.description)
        members.add("probation_until", probationUntil)
        members.add("encryption_key", encryptionKey)
        members.add("epoch", epoch)
        members.add("started_at", startedAt)
        members.add("parent", parent)
        members.add("child", child)
        members.add("child_answered_at", childAnsweredAt)
        members.add("renewed_at", renewedAt)
        members.add("child_request_key", childRequestKey)
        members.add("child_confirmed_at", childConfirmedAt)
        members.add("ended_at", ending?.at)
        members.add("ended_reason", ending?.reason.rawValue)
        return members
    }
}

extension TransferLine {
    /// The APIs of a login: the server's own audience can be among them, which need not be a URI.
    fileprivate mutating func resources() throws(LineProblem) -> [String] {
        let resources = try value("resources", "a list of strings", as: [String].self) ?? []
        guard resources.count <= Resource.countMax + 1, Set(resources).count == resources.count,
            resources.allSatisfy({
                (1...Resource.lengthMax).contains($0.utf8.count) && $0.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            })
        else {
            throw LineProblem(
                "'resources' must be at most \(Resource.countMax + 1) audiences without blanks, each once")
        }
        return resources
    }

    /// A serial fits a database's signed integer.
    fileprivate mutating func serial(_ name: String) throws(LineProblem) -> UInt64 {
        let serial = try unsigned(name)
        guard serial <= UInt64(Int64.max) else { throw LineProblem("'\(name)' is too large") }
        return serial
    }
}

extension Identity {
    init(_ line: inout TransferLine) throws(LineProblem) {
        guard let key = Key(provider: try line.text("provider"), subject: try line.text("subject")) else {
            throw LineProblem("'provider' and 'subject' name no identity")
        }
        self.init(key, userID: try line.identifier("user_id"), linkedAt: try line.instant("linked_at"))
    }

    /// The line of an identity.
    var members: TransferMembers {
        var members = TransferMembers(.identity)
        members.add("provider", key.provider)
        members.add("subject", key.subject)
        members.add("user_id", userID.description)
        members.add("linked_at", linkedAt)
        return members
    }
}

extension User {
    /// An account. Without a `user_id` the id follows from the username, so that the same line is the same user again.
    init(_ line: inout TransferLine, now: Instant) throws(LineProblem) {
        let username = try line.text("username")
        if let problem = Text.problem(withUsername: username) { throw LineProblem("'username' \(problem)") }
        let prepared = Text.preparedUsername(username)
        guard prepared.utf8.elementsEqual(username.utf8) else {
            throw LineProblem("'username' would be stored as '\(prepared)': write it so if this is the name")
        }
        self.init(
            id: try line.optionalIdentifier("user_id") ?? User.importedID(username: username), username: username,
            profile: Profile(
                email: try line.optionalText("email"), phoneNumber: try line.optionalText("phone_number"),
                displayName: try line.name("display_name"), givenName: try line.name("given_name"),
                familyName: try line.name("family_name"), country: try line.optionalText("country")),
            passwordHash: try line.passwordHash(), offlineSessionMax: try line.optionalDuration("offline_session_max"),
            disabledByAdmin: try line.disabling(by: "admin"), disabledByUser: try line.disabling(by: "user"),
            createdAt: try line.optionalInstant("created_at") ?? now)
        // Every later change of the user checks the whole profile.
        if let email = profile.email, !Mailbox.isValid(email) {
            throw LineProblem("'email' must be a mailbox such as anna@example.com")
        }
        let isEmailVerified = try line.value("email_verified", "true or false") ?? false
        profile.isEmailVerified = isEmailVerified
        guard isEmailVerified == profile.isEmailVerified else {
            throw LineProblem("'email_verified' needs an 'email' of characters that have one form")
        }
        isAnonymous = try line.value("anonymous", "true or false") ?? false
        if isAnonymous, passwordHash != nil {
            throw LineProblem("'anonymous' and 'password_hash' contradict each other")
        }
        if let count = try line.optionalInteger("wrong_passwords") {
            guard let count = Int32(exactly: count), count >= 0 else {
                throw LineProblem("'wrong_passwords' must be a whole number that is not negative")
            }
            wrongPasswords = WrongPasswords(
                count: Int(count), lastAt: try line.instant("wrong_password_at"),
                lockedUntil: try line.optionalInstant("locked_until"))
        }
        let claims: [String: JSONValue]? = try line.value("claims", "an object")
        if claims != nil, !line.keepsNumbers { throw LineProblem("'claims' \(UserClaims.inexactNumbers)") }
        do throws(UserClaims.Problem) { self.claims = try UserClaims(claims ?? [:]) } catch {
            throw LineProblem("'claims' \(error.detail)")
        }
    }

    /// The id of a user for which the line has none.
    static func importedID(username: String) -> Identifier<User> {
        Identifier(drawn: sha256(Array("sojourn imported user\0\(Text.key(username))".utf8)))
    }

    /// The line of a user.
    var members: TransferMembers {
        var members = TransferMembers(.user)
        members.add("user_id", id.description)
        members.add("username", username)
        members.add("email", profile.email)
        if profile.isEmailVerified { members.add("email_verified", true) }
        members.add("phone_number", profile.phoneNumber)
        members.add("display_name", profile.displayName)
        members.add("given_name", profile.givenName)
        members.add("family_name", profile.familyName)
        members.add("country", profile.country)
        members.add("password_hash", passwordHash)
        if isAnonymous { members.add("anonymous", true) }
        members.add("offline_session_max", offlineSessionMax)
        members.add(disabledByAdmin, by: "admin")
        members.add(disabledByUser, by: "user")
        members.add("wrong_passwords", wrongPasswords?.count)
        members.add("wrong_password_at", wrongPasswords?.lastAt)
        members.add("locked_until", wrongPasswords?.lockedUntil)
        if let claims { members.add("claims", claims.values) }
        members.add("created_at", createdAt)
        return members
    }
}

extension TransferLine {
    /// A name of a user, as every later change of the profile demands it.
    fileprivate mutating func name(_ member: String) throws(LineProblem) -> String? {
        guard let name = try optionalText(member) else { return nil }
        guard Text.isValid(name, lengthMax: User.Profile.lengthMax) else {
            throw LineProblem("'\(member)' must have 1 to \(User.Profile.lengthMax) bytes and no control characters")
        }
        return name
    }

    fileprivate mutating func passwordHash() throws(LineProblem) -> String? {
        let credential: KeycloakCredential? = try value("keycloak_credential", "a credential of a Keycloak export")
        var hash = try optionalText("password_hash")
        if hash == nil, let credential { hash = try credential.passwordHash() }
        guard let text = hash else { return nil }
        guard PasswordHasher.canVerify(text) else {
            throw LineProblem(
                "the password hash is none of: scrypt ($scrypt$…), bcrypt ($2a$…, $2b$…, $2y$…), PBKDF2 ($pbkdf2-sha256$…, "
                    + "$pbkdf2-sha512$…, pbkdf2_sha256$…), or would take too long to verify")
        }
        return text
    }

    fileprivate mutating func disabling(by whom: String) throws(LineProblem) -> User.LoginDisabling? {
        let effective: User.LoginDisabling.Effective? = try optionalWord("\(whom)_disabling")
        let (since, note) = (try optionalInstant("\(whom)_disabled_at"), try optionalText("\(whom)_disabling_note"))
        guard let effective else { return nil }
        return User.LoginDisabling(
            effective: effective, since: try required("\(whom)_disabled_at", since), note: note)
    }
}

extension TransferMembers {
    fileprivate mutating func add(_ disabling: User.LoginDisabling?, by whom: String) {
        add("\(whom)_disabling", disabling?.effective.rawValue)
        add("\(whom)_disabled_at", disabling?.since)
        add("\(whom)_disabling_note", disabling?.note)
    }
}
