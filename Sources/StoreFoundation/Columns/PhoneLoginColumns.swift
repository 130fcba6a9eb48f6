public import Sessions

/// A login with a phone as a row of `phone_logins`.
public enum PhoneLoginColumns {
    /// The columns that never change.
    private static let fixed = [
        "id", "kind", "client_id", "started_at", "epoch", "request", "bond", "ping_seconds", "code_handle", "user_code",
        "secret_hash", "browser_hash",
    ]
    /// The columns that acts and time change, in the order of `readVariable` and `writeVariable`.
    public static let variable = Columns(
        "state", "cause", "ended_at", "user_id", "approved_at", "number_shown", "of_user_id", "phone_session_id",
        "phone_client_id", "phone_device_id", "arrival", "wishes", "phone_secret_hash", "browser_session_id",
        "wrong_factors", "answered_at", "input_until", "collect_until", "due_at", "ping_at", "ping_tries",
        "answered_acts")
    /// All columns, in the order of `read` and `write`.
    public static let all = Columns(fixed + variable.names)

    /// Reads the columns of a login.
    public static func read(_ row: inout some StoredRow) throws(CorruptRow) -> PhoneLogin {
        let id: Identifier<Session> = try row.identifier()
        let (kind, clientID) = (try row.word(as: PhoneLogin.Kind.self), row.text())
        let (startedAt, epoch) = (row.instant(), row.integer())
        guard var request = PhoneLogin.Request(json: Array(row.text().utf8)) else {
            throw CorruptRow("login \(id) has a request that cannot be read")
        }
        let word = row.text()
        guard let bond = PhoneLogin.Bond(word: word, interval: row.optional { row in row.duration() }) else {
            throw CorruptRow("login \(id) has the bond '\(word)'")
        }
        request.epoch = epoch
        request.handle = row.optional { row in row.bytes() }
        request.userCode = row.optionalText()
        request.pollHash = row.optional { row in row.bytes() }
        var login = PhoneLogin(
            id: id, kind: kind, clientID: clientID, bond: bond, browser: row.optional { row in row.bytes() },
            request: request, startedAt: startedAt, inputUntil: startedAt)
        try readVariable(&row, of: &login)
        return login
    }

    private static func readVariable(_ row: inout some StoredRow, of login: inout PhoneLogin) throws(CorruptRow) {
        let phase = try row.word(as: PhoneLogin.Phase.self)
        let cause = try row.optionalWord(as: PhoneLogin.Cause.self)
        let endedAt = row.optional { row in row.instant() }
        guard let state = PhoneLogin.State(phase, cause: cause, endedAt: endedAt) else {
            throw CorruptRow("login \(login.id) is '\(phase.rawValue)', which does not fit its cause and its end")
        }
        login.state = state
        login.userID = try row.optional { (row) throws(CorruptRow) -> Identifier<User> in try row.identifier() }
        login.approvedAt = row.optional { row in row.instant() }
        login.number = row.optional { row in Int(row.integer()) }
        login.claim = try readClaim(&row)
        login.browserSession = try row.optionalSession()
        login.wrongFactors = Int(row.integer())
        login.answeredAt = row.optional { row in row.instant() }
        login.inputUntil = row.instant()
        login.collectUntil = row.optional { row in row.instant() }
        row.skip(1)
        login.pingAt = row.optional { row in row.instant() }
        login.pingTries = Int(row.integer())
        for text in row.list() {
            let parts = text.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, let key = UInt64(parts[0]), let reply = PhoneLogin.Reply(rawValue: String(parts[1]))
            else { throw CorruptRow("login \(login.id) has the answer '\(text)'") }
            login.answered.append(PhoneLogin.AnsweredAct(key: key, reply: reply))
        }
    }

    private static func readClaim(_ row: inout some StoredRow) throws(CorruptRow) -> PhoneLogin.Claim? {
        let ofUser = try row.optional { (row) throws(CorruptRow) -> Identifier<User> in try row.identifier() }
        guard let sessionID = try row.optionalSession() else {
            row.skip(5)
            return nil
        }
        guard let userID = ofUser else { throw CorruptRow("the phone \(sessionID) has no user") }
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
        row.add(login.id)
        row.add(login.kind)
        row.add(login.clientID)
        row.add(login.startedAt)
        row.add(login.request.epoch)
        row.add(String(decoding: login.request.json, as: UTF8.self))
        row.add(login.bond.word)
        row.add(login.bond.interval)
        row.add(login.request.handle)
        row.add(login.request.userCode)
        row.add(login.request.pollHash)
        row.add(login.browser)
        writeVariable(login, to: &row)
    }

    /// Writes the columns that change.
    public static func writeVariable(_ login: PhoneLogin, to row: inout some WrittenRow) {
        row.add(login.state.phase)
        row.add(login.cause)
        row.add(login.endedAt)
        row.add(login.userID)
        row.add(login.approvedAt)
        row.add(login.number.map(Int64.init))
        row.add(login.claim?.userID ?? login.request.namedUser)
        write(login.claim, to: &row)
        row.add(login.browserSession)
        row.add(Int64(login.wrongFactors))
        row.add(login.answeredAt)
        row.add(login.inputUntil)
        row.add(login.collectUntil)
        row.add(login.dueAt)
        row.add(login.pingAt)
        row.add(Int64(login.pingTries))
        row.add(list: login.answered.map { "\($0.key):\($0.reply.rawValue)" })
    }

    private static func write(_ claim: PhoneLogin.Claim?, to row: inout some WrittenRow) {
        row.add(claim?.sessionID)
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
