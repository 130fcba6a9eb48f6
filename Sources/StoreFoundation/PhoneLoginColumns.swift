public import Sessions

/// A login with a phone as a row of `logins`.
public enum PhoneLoginColumns {
    /// The columns that change after the request, in the order of `read` and `writeVariable`.
    public static let variable = Columns(
        "state", "cause", "number_shown", "user_id", "authenticated_at", "phone_session_id",
        "phone_user_id", "phone_client_id", "phone_device_id", "arrival", "phone_options", "phone_secret_hash",
        "wrong_factors", "answered_at", "input_until", "collect_until", "ended_at", "due_at", "ping_at",
        "ping_tries", "answered_acts")
    /// All columns, in the order of `read`: first those that never change.
    public static let all = Columns(
        "id", "kind", "client_id", "request", "remote_address", "user_agent", "methods", "epoch", "started_at", "bond",
        "ping_seconds", "second_factor", "browser", "known_users", "announce_info", "session_info",
        "scan_handle", "user_code", "poll_hash", "key_thumbprint", "return_uri", "browser_session_id", "state", "cause",
        "number_shown", "user_id",
        "authenticated_at", "phone_session_id", "phone_user_id", "phone_client_id", "phone_device_id", "arrival",
        "phone_options", "phone_secret_hash", "wrong_factors", "answered_at", "input_until", "collect_until",
        "ended_at", "due_at", "ping_at", "ping_tries", "answered_acts")

    /// Reads the columns of a login.
    public static func read(_ row: inout some StoredRow) throws(CorruptRow) -> PhoneLogin {
        let id: Identifier<Session> = try row.identifier()
        let kind = try row.word(as: PhoneLogin.Kind.self)
        let clientID = row.text()
        var request = PhoneLogin.Request()
        let asked = row.text()
        if kind == .authorize, let authorization = AuthorizationRequest(json: Array(asked.utf8)) {
            request.authorization = authorization
            (request.scope, request.resources) = (authorization.scope.flatMap { Scope($0) }, authorization.resources)
        } else if kind == .enrolment {
            // One that was moved here after its end has none.
            request.invitation = Invitation(json: Array(asked.utf8))
            if request.invitation == nil, !asked.isEmpty { throw CorruptRow("login \(id) is no invitation") }
        } else if kind == .backchannel {
            // One that was moved here after its end has none.
            request.backchannel = BackchannelRequest(json: Array(asked.utf8))
            if request.backchannel == nil, !asked.isEmpty { throw CorruptRow("login \(id) is no request of a backend") }
            (request.scope, request.resources) = (request.backchannel?.scope, request.backchannel?.resources ?? [])
        } else {
            // The scope, then the resources. A scope has spaces, and a URI has none.
            let lines = asked.split(separator: "\n", omittingEmptySubsequences: false)
            request.scope = lines[0].isEmpty ? nil : Scope(String(lines[0]))
            request.resources = lines.dropFirst().map(String.init)
        }
        request.remoteAddress = row.optionalText()
        request.userAgent = row.optionalText()
        row.skip(1)
        request.epoch = row.integer()
        let startedAt = row.instant()
        let word = row.text()
        guard let bond = PhoneLogin.Bond(word: word, interval: row.optional { row in row.duration() }) else {
            throw CorruptRow("login \(id) has the bond '\(word)'")
        }
        let secondFactor = try row.optional { (row) throws(CorruptRow) -> PhoneLogin.FactorRule in
            try row.word(as: PhoneLogin.FactorRule.self)
        }
        let browser = row.optional { row in row.bytes() }
        let knownUsers = try row.list().map { (text) throws(CorruptRow) in
            guard let userID = Identifier<User>(text) else { throw CorruptRow("login \(id) is known to '\(text)'") }
            return userID
        }
        request.announceInfo = row.optionalText()
        request.sessionInfo = row.optionalText()
        request.handle = row.optional { row in row.bytes() }
        request.userCode = row.optionalText()
        request.pollHash = row.optional { row in row.bytes() }
        request.keyThumbprint = row.optionalText()
        request.returnURI = row.optionalText()
        var login = PhoneLogin(
            id: id, kind: kind, clientID: clientID, bond: bond, secondFactor: secondFactor, browser: browser,
            knownUsers: knownUsers, request: request, startedAt: startedAt, inputUntil: startedAt)
        login.browserSession = try row.optional { (row) throws(CorruptRow) in try row.identifier() }
        try readVariable(&row, of: &login)
        return login
    }

    private static func readVariable(_ row: inout some StoredRow, of login: inout PhoneLogin) throws(CorruptRow) {
        let phase = try row.word(as: PhoneLogin.Phase.self)
        let cause = try row.optional { (row) throws(CorruptRow) -> PhoneLogin.Cause in
            try row.word(as: PhoneLogin.Cause.self)
        }
        login.number = row.optional { row in Int(row.integer()) }
        login.userID = try row.optional { (row) throws(CorruptRow) -> Identifier<User> in try row.identifier() }
        login.authenticatedAt = row.optional { row in row.instant() }
        login.claim = try readClaim(&row)
        login.wrongFactors = Int(row.integer())
        login.answeredAt = row.optional { row in row.instant() }
        login.inputUntil = row.instant()
        login.collectUntil = row.optional { row in row.instant() }
        let endedAt = row.optional { row in row.instant() }
        guard let state = PhoneLogin.State(phase, cause: cause, endedAt: endedAt) else {
            throw CorruptRow("login \(login.id) is '\(phase.rawValue)', which does not fit its cause and its end")
        }
        login.state = state
        row.skip(1)
        login.pingAt = row.optional { row in row.instant() }
        login.pingTries = row.optional { row in Int(row.integer()) } ?? 0
        for text in row.list() {
            let parts = text.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, let key = UInt64(parts[0]), let reply = PhoneLogin.Reply(rawValue: String(parts[1]))
            else { throw CorruptRow("login \(login.id) has the answer '\(text)'") }
            login.answered.append(PhoneLogin.AnsweredAct(key: key, reply: reply))
        }
    }

    private static func readClaim(_ row: inout some StoredRow) throws(CorruptRow) -> PhoneLogin.Claim? {
        if row.isNull {
            row.skip(7)
            return nil
        }
        let sessionID: Identifier<Session> = try row.identifier()
        let userID: Identifier<User> = try row.identifier()
        let (clientID, deviceID) = (row.text(), row.text())
        let arrival = try row.word(as: PhoneLogin.Arrival.self)
        var wishes = PhoneLogin.Wishes()
        for word in row.list() {
            switch word {
            case "manual_start": wishes.startsByHand = true
            case "skip_confirmation": wishes.skipsConfirmation = true
            case "second_factor": wishes.demandsSecondFactor = true
            default: throw CorruptRow("'\(word)' is no wish of a phone")
            }
        }
        var claim = PhoneLogin.Claim(
            sessionID: sessionID, userID: userID, clientID: clientID, deviceID: deviceID, arrival: arrival,
            wishes: wishes)
        claim.secretHash = row.optional { row in row.bytes() }
        return claim
    }

    /// Writes all columns of a login.
    public static func write(_ login: PhoneLogin, to row: inout some WrittenRow) {
        let request = login.request
        row.add(login.id)
        row.add(login.kind)
        row.add(login.clientID)
        if let authorization = request.authorization {
            row.add(String(decoding: authorization.json, as: UTF8.self))
        } else if let invitation = request.invitation {
            row.add(String(decoding: invitation.json, as: UTF8.self))
        } else if let backchannel = request.backchannel {
            row.add(String(decoding: backchannel.json, as: UTF8.self))
        } else {
            row.add(([request.scope?.description ?? ""] + request.resources).joined(separator: "\n"))
        }
        row.add(request.remoteAddress)
        row.add(request.userAgent)
        row.add(list: [])
        row.add(request.epoch)
        row.add(login.startedAt)
        row.add(login.bond.word)
        row.add(login.bond.interval)
        row.add(login.secondFactor)
        row.add(login.browser)
        row.add(list: login.knownUsers.map(\.description))
        row.add(request.announceInfo)
        row.add(request.sessionInfo)
        row.add(request.handle)
        row.add(request.userCode)
        row.add(request.pollHash)
        row.add(request.keyThumbprint)
        row.add(request.returnURI)
        row.add(login.browserSession)
        writeVariable(login, to: &row)
    }

    /// Writes the columns that change.
    public static func writeVariable(_ login: PhoneLogin, to row: inout some WrittenRow) {
        row.add(login.state.phase)
        row.add(login.cause)
        row.add(login.number.map(Int64.init))
        row.add(login.userID)
        row.add(login.authenticatedAt)
        let request = login.request
        write(login.claim, askedOf: request.backchannel?.userID ?? request.invitation?.userID, to: &row)
        row.add(Int64(login.wrongFactors))
        row.add(login.answeredAt)
        row.add(login.inputUntil)
        row.add(login.collectUntil)
        row.add(login.endedAt)
        row.add(login.dueAt)
        row.add(login.pingAt)
        row.add(login.pingTries == 0 ? nil : Int64(login.pingTries))
        row.add(list: login.answered.map { "\($0.key):\($0.reply.rawValue)" })
    }

    /// - Parameter userID: the user that the login names before a phone has claimed it; nil: it names none.
    private static func write(
        _ claim: PhoneLogin.Claim?, askedOf userID: Identifier<User>?, to row: inout some WrittenRow
    ) {
        row.add(claim?.sessionID)
        row.add(claim?.userID ?? userID)
        row.add(claim?.clientID)
        row.add(claim?.deviceID)
        row.add(claim?.arrival)
        let wishes = claim?.wishes ?? PhoneLogin.Wishes()
        let words = [
            wishes.startsByHand ? "manual_start" : nil, wishes.skipsConfirmation ? "skip_confirmation" : nil,
            wishes.demandsSecondFactor ? "second_factor" : nil,
        ]
        row.add(list: words.compactMap(\.self))
        row.add(claim?.secretHash)
    }
}
