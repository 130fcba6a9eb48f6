internal import Cryptography

// Logins that a backend requests of one user (OpenID Connect CIBA). The user's phones find them in their list of logins, and the
// team's own sender by the event `login_requested`.
extension PhoneLoginService {
    /// The prefix of `auth_req_id`.
    public static let backchannelPrefix = "sjq_"

    /// The user that a backend names by a user id or a username; nil: there is none.
    public func user(hinted text: String) async throws(ServiceError) -> User? {
        let reference = Identifier<User>(text).map(UserReference.id) ?? UserReference("username:" + text)
        guard let reference else { return nil }
        return try await inStore(await store.user(reference))
    }

    /// Encrypts the token with which a client recognizes pings.
    public func seal(notificationToken text: String) -> [UInt8] { context.notificationTokens.seal(text) }

    /// Derived from the id, so that the database has its hash alone.
    static func backchannelSecret(of id: Identifier<Session>, _ key: HMACSHA256Key) -> String {
        backchannelPrefix + Base64URL.encode(key.authenticate(id.bytes))
    }

    /// The code with which a phone of its user claims the login; nil once one has, and for every login of another kind.
    public func pushCode(of login: PhoneLogin) -> String? {
        login.kind == .backchannel && login.state == .requested ? link(of: login, .push) : nil
    }

    /// Adds the login, and wakes the phones of its user. Throws `tooManyRequests` while too many requests wait for that user, and
    /// `overloaded` if too many logins wait for a phone.
    func push(_ login: PhoneLogin, of request: BackchannelRequest, from origin: Origin) async throws(ServiceError) {
        let userID = request.userID
        let event = AuditEvent(
            .loginRequested, at: login.startedAt, by: origin, userID: userID, sessionID: login.id,
            clientID: login.clientID, reason: login.kind.rawValue)
        let admission = try await inStore(
            await store.pushLogin(login, to: userID, [event], atMost: context.loginRules.pendingMax))
        switch admission {
        case .admitted: watch.wake([.user(userID)])
        case .storeIsFull: throw .overloaded
        case .userIsBusy: throw .tooManyRequests(retryAfter: PhoneLoginRules.backchannelLifetimes.lowerBound)
        case .unknownUser: throw .notFound("user")
        }
    }
}

/// Whether a login was added for the phones of a user.
public enum PushAdmission: Hashable, Sendable {
    case admitted
    /// As many logins as may wait for a phone do.
    case storeIsFull
    /// As many requests as may wait for the user do.
    case userIsBusy
    /// The user was deleted meanwhile.
    case unknownUser
}

extension Store {
    /// Adds a login that a backend has requested of a user, with its audit events, unless `limit` logins wait for a phone or
    /// `PhoneLoginRules.openPushesMax` requests for the user. The user is locked, so that requests at once are counted too.
    public func pushLogin(
        _ login: PhoneLogin, to userID: Identifier<User>, _ events: [AuditEvent], atMost limit: Int
    ) async throws(StoreError) -> PushAdmission {
        try await write(.nothing) { (transaction) throws(TransactionError) in
            guard try transaction.userForUpdate(.id(userID)).value() != nil else { return .unknownUser }
            let open = transaction.openPushCount(to: userID, at: login.startedAt)
            let waiting = transaction.waitingPhoneLoginCount(areInvitations: false, limit: limit)
            if try open.value() >= PhoneLoginRules.openPushesMax { return .userIsBusy }
            if try waiting.value() >= limit { return .storeIsFull }
            let known = try transaction.catalogue().value()
            transaction.insert(login)
            transaction.append(events, known)
            return .admitted
        }
    }
}
