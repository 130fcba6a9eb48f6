internal import FoundationEssentials
internal import HTTP
internal import JSON
internal import Sessions

/// A login with a phone as JSON, for the phone and for admins.
struct PhoneLoginAnswer: Encodable {
    /// The client that wants a session.
    struct ClientPart: Encodable {
        let clientID: String
        let name: String?

        enum CodingKeys: String, CodingKey {
            case clientID = "client_id"
            case name
        }
    }

    let loginID: String
    let kind: String
    /// The state in one word of this server, by which admins filter.
    let phase: String
    let state: String
    let input: String?
    let history: String
    let cause: String?
    let client: ClientPart
    let numberRequired: Bool
    let attemptsLeft: Int
    /// What the other device shows as well, so that the user can compare.
    let bindingMessage: String?
    /// The code with which a phone of the user claims a login that a backend has requested.
    let push: String?
    let announceInfo: JSONValue?
    let sessionInfo: JSONValue?
    /// What a public client says: anyone can have written it.
    let announceQuote: JSONValue?
    let sessionQuote: JSONValue?
    let remoteAddress: String?
    let place: String?
    let ownPlace: String?
    /// Whether the device is in another country than the phone. Nil for admins.
    var otherCountry: Bool?
    let userAgent: String?
    let browserKnown: Bool
    let isRegistration: Bool
    /// What the second factor of an enrolment does: `set` the first one of the account, or `verify` the present one.
    var secondFactor: String?
    /// The username of the account that an enrolment makes; nil: the user chooses it.
    let username: String?
    let isAppLogin: Bool
    let bond: String
    let pingSeconds: Int64?
    let userID: String?
    let phoneSessionID: String?
    let startedAt: Int64
    let expiresAt: Int64?
    let endedAt: Int64?
    let returnURL: String?
    let version: String

    init(
        _ login: PhoneLogin, clientName: String?, place: String?, ownPlace: String?, returnURL: String?,
        push: String? = nil
    ) {
        (self.returnURL, self.push) = (returnURL, push)
        bindingMessage = login.request.backchannel?.bindingMessage
        loginID = login.id.description
        kind = login.kind.rawValue
        phase = login.state.phase.rawValue
        let words = PhoneLoginWords(login.state)
        (state, input, history) = (words.state.rawValue, words.input?.rawValue, words.history.rawValue)
        cause = login.cause?.rawValue
        client = ClientPart(clientID: login.clientID, name: clientName)
        numberRequired = login.state.awaitsInput && login.needsNumber
        attemptsLeft = login.attemptsLeft
        (announceInfo, announceQuote) = Self.info(login.request.announceInfo)
        (sessionInfo, sessionQuote) = login.hasLetIn ? Self.info(login.request.sessionInfo) : (nil, nil)
        remoteAddress = login.request.remoteAddress
        self.place = place
        self.ownPlace = ownPlace
        userAgent = login.request.userAgent
        browserKnown = login.isKnown(to: login.userID ?? login.claim?.userID)
        isRegistration = login.kind == .enrolment
        username = login.request.invitation?.username
        isAppLogin = login.kind == .app
        bond = login.bond.word
        pingSeconds = login.bond.interval?.wholeSeconds
        // The account of an enrolment is that of the invitation, which the phone shows before the user agrees.
        let offered = login.kind == .enrolment ? login.claim?.userID : nil
        userID = (login.userID ?? offered)?.description
        phoneSessionID = login.kind == .enrolment ? nil : login.claim?.sessionID.description
        startedAt = login.startedAt.secondsSinceEpoch
        expiresAt = login.state.awaitsInput ? login.inputUntil.secondsSinceEpoch : nil
        endedAt = login.endedAt?.secondsSinceEpoch
        version = login.phoneVersion
    }

    /// What the client wants the user to see: an object of a client that has proved itself, or the words of any other.
    private static func info(_ text: String?) -> (info: JSONValue?, quote: JSONValue?) {
        let value = text.flatMap { try? JSONDecoder().decode(JSONValue.self, from: Data($0.utf8)) }
        return value?.string == nil ? (value, nil) : (nil, value)
    }

    enum CodingKeys: String, CodingKey {
        case loginID = "login_id"
        case kind, phase, state, input, history, cause, client
        case numberRequired = "number_required"
        case attemptsLeft = "attempts_left"
        case bindingMessage = "binding_message"
        case push
        case announceInfo = "announce_info"
        case sessionInfo = "session_info"
        case announceQuote = "announce_quote"
        case sessionQuote = "session_quote"
        case remoteAddress = "remote_address"
        case place
        case ownPlace = "own_place"
        case otherCountry = "other_country"
        case userAgent = "user_agent"
        case browserKnown = "browser_known"
        case isRegistration = "is_registration"
        case secondFactor = "second_factor"
        case username
        case isAppLogin = "is_app_login"
        case bond
        case pingSeconds = "ping_seconds"
        case userID = "user_id"
        case phoneSessionID = "phone_session_id"
        case startedAt = "started_at"
        case expiresAt = "expires_at"
        case endedAt = "ended_at"
        case returnURL = "return_url"
        case version
    }
}

extension Endpoints {
    /// The answer about a login, to the caller of `call`.
    func answer(_ login: PhoneLogin, _ call: Call) async throws(ServiceError) -> PhoneLoginAnswer {
        answer(login, of: try await services.phoneLogins.client(login.clientID), call)
    }

    /// The answers about those logins. Their clients are read once.
    func answers(_ logins: [PhoneLogin], _ call: Call) async throws(ServiceError) -> [PhoneLoginAnswer] {
        let clients = try await services.phoneLogins.clients(of: logins)
        return logins.map { answer($0, of: clients[$0.clientID], call) }
    }

    private func answer(_ login: PhoneLogin, of client: Client?, _ call: Call) -> PhoneLoginAnswer {
        let isOfUser = call.caller.listener == .public
        var answer = PhoneLoginAnswer(
            login, clientName: client?.name, place: login.request.remoteAddress.flatMap { placeName($0) },
            ownPlace: isOfUser ? call.caller.remoteAddress.flatMap { placeName($0) } : nil,
            returnURL: isOfUser ? services.phoneLogins.returnURL(of: login) : nil,
            push: isOfUser ? services.phoneLogins.pushCode(of: login) : nil)
        if isOfUser { answer.otherCountry = remoteLogins.isAbroad(login, from: call.caller.remoteAddress) }
        return answer
    }
}
