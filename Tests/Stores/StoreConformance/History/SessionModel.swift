import Sessions

/// What users see of the rules, written down a second time as plainly as possible: lists instead of serials, no store, no
/// transaction. `RandomHistory` compares it with the real thing.
struct SessionModel {
    struct ModelUser {
        var isDeleted = false
        var adminDisable: User.LoginDisabling.Effective?
        var ownDisable: User.LoginDisabling.Effective?
        var maximum: Int64 = 0
        var password: Int
    }
    struct ModelClient {
        var idle: Int64 = 0
        var maximum: Int64 = 0
        var tokenLife: Int64 = 0
        var refreshAfter: Int64 = 0
        var presenceAge: Int64 = 0
    }
    struct ModelSession {
        var user: Int
        var client: String
        var device: String
        var startedAt: Int64
        /// Every refresh token that was issued, in order; the last one is the child.
        var issued: [UInt64] = [1]
        /// The token presented last.
        var presented: UInt64?
        var answeredAt: Int64
        /// When the idle time began anew.
        var renewedAt: Int64
        /// When the child came back before its time for the first time.
        var arrivedAt: Int64?
        var madeBy: String?
        var mode: AuthenticationMode
        /// When the password was typed last, at the login or since.
        var passwordAt: Int64
        /// A recorded end.
        var ended: EndReason?
        /// Ended by a cut through many sessions; an end that is recorded later does not bring it back to life.
        var isCut = false
    }
    struct ModelToken {
        var session: Int
        var issuedAt: Int64
        var expiresAt: Int64
    }

    var idle: Int64 = 1_209_600
    var isLimited = true
    var maximum: Int64 = 15_552_000
    var interval: Int64 = 120
    var refreshAfter: Int64 = 3600
    let absoluteMaximum: Int64
    var users: [ModelUser] = []
    var clients: [String: ModelClient] = [:]
    var sessions: [ModelSession] = []
    var tokens: [ModelToken] = []

    func idle(of session: ModelSession) -> Int64 {
        let own = clients[session.client]?.idle ?? 0
        return own > 0 ? own : idle
    }

    func end(of session: ModelSession) -> Int64 {
        var shortest = absoluteMaximum
        if isLimited { shortest = min(shortest, maximum) }
        for own in [clients[session.client]?.maximum ?? 0, users[session.user].maximum] where own > 0 {
            shortest = min(shortest, own)
        }
        return session.startedAt + shortest
    }

    /// Records the end that time has brought.
    mutating func ageOut(_ index: Int, now: Int64) {
        let session = sessions[index]
        guard session.ended == nil, !session.isCut else { return }
        if now >= session.renewedAt + idle(of: session) {
            sessions[index].ended = .idleExpired
        } else if now >= end(of: session) {
            sessions[index].ended = .maxLifetimeReached
        }
    }

    func ending(_ index: Int) -> EndReason? {
        sessions[index].isCut && sessions[index].ended == nil ? .revokedByAdmin : sessions[index].ended
    }

    mutating func endSessions(_ reason: EndReason, user: Int, device: String? = nil, except: Int? = nil) -> Int {
        let ending = sessions.indices.filter {
            sessions[$0].user == user && sessions[$0].ended == nil && $0 != except
                && (device == nil || sessions[$0].device == device)
        }
        for index in ending { sessions[index].ended = reason }
        return ending.count
    }

    /// Login. Nil: refused, with the reason.
    mutating func login(
        user: Int, client: String, device: String, mode: AuthenticationMode, now: Int64
    ) -> RefusalReason? {
        if users[user].adminDisable != nil { return .loginDisabledByAdmin }
        if users[user].ownDisable != nil { return .loginDisabledByUser }
        for index in sessions.indices
        where sessions[index].user == user && sessions[index].client == client && sessions[index].device == device
            && sessions[index].ended == nil
        {
            sessions[index].ended = .replaced
        }
        sessions.append(
            ModelSession(
                user: user, client: client, device: device, startedAt: now, answeredAt: now, renewedAt: now,
                mode: mode, passwordAt: now))
        return nil
    }

    /// How the user has to show to be there, and how short ago.
    struct Demand: Equatable {
        var seconds: Int64
        var ways: [PresenceRequirement.Way]
    }

    enum Refusal: Equatable {
        case invalidToken(RefusalReason?)
        case absent(Demand)
        /// Nothing that the model knows.
        case other(ServiceError)

        init(_ error: ServiceError) {
            self =
                switch error {
                case .invalidToken(let reason): .invalidToken(reason)
                case .insufficientUserAuthentication(let demand): .absent(Demand(demand))
                default: .other(error)
                }
        }
    }

    enum Answer: Equatable {
        case issued(UInt64)
        case refused(RefusalReason)
        /// The user has to show to be there.
        case absent(Demand)
    }

    mutating func refresh(
        _ index: Int, serial: UInt64, key: String?, device: String?, client: String, now: Int64
    ) -> Answer {
        if let reason = ending(index) {
            sessions[index].ended = reason
            return .refused(.ended(reason))
        }
        let session = sessions[index]
        if client != session.client { return .refused(.bindingMismatch) }
        if let device, device != session.device { return .refused(.deviceMismatch) }
        if users[session.user].adminDisable != nil { return .refused(.loginDisabledByAdmin) }
        if users[session.user].ownDisable != nil { return .refused(.loginDisabledByUser) }
        ageOut(index, now: now)
        if let reason = sessions[index].ended { return .refused(.ended(reason)) }

        let age = now - session.answeredAt
        guard let child = session.issued.last else { return .refused(.unknownSession) }
        let isStale = serial == session.presented && serial != child
        let arrivedAt = session.arrivedAt.flatMap { $0 > session.answeredAt ? $0 : nil }
        let isSameRequest = key != nil && key == session.madeBy
        // A thief is found out all the same.
        if isStale, let arrivedAt, now - arrivedAt >= interval, !isSameRequest {
            sessions[index].ended = .refreshTokenReused
            return .refused(.ended(.refreshTokenReused))
        }
        if let demand = demand(on: index, now: now), serial == child || serial == session.presented {
            return .absent(demand)
        }
        if serial == child, age < interval {
            if arrivedAt == nil, age > 0 { sessions[index].arrivedAt = now }
            return issue(child, index, now: now)
        }
        if isStale {
            if arrivedAt != nil || age < interval || isSameRequest {
                if arrivedAt == nil, age > 0, 4 * age >= interval { sessions[index].answeredAt = now }
                return issue(child, index, now: now)
            }
        } else if serial != child {
            sessions[index].ended = .refreshTokenReused
            return .refused(.ended(.refreshTokenReused))
        }
        sessions[index].presented = serial
        sessions[index].issued.append(child + 1)
        sessions[index].answeredAt = now
        sessions[index].madeBy = key
        sessions[index].arrivedAt = nil
        sessions[index].renewedAt = now
        return .issued(child + 1)
    }

    /// An answer with the child begins the idle time anew, in steps of a quarter of the interval.
    private mutating func issue(_ child: UInt64, _ index: Int, now: Int64) -> Answer {
        if now > sessions[index].renewedAt, 4 * (now - sessions[index].renewedAt) >= interval {
            sessions[index].renewedAt = now
        }
        return .issued(child)
    }

    /// The access token that goes with an answer.
    mutating func addToken(_ index: Int, now: Int64) -> Int64 {
        let session = sessions[index]
        let own = clients[session.client]?.tokenLife ?? 0
        let life = own > 0 ? min(own, idle(of: session)) : idle(of: session)
        let expiresAt = min(now + life, session.renewedAt + idle(of: session), end(of: session))
        tokens.append(ModelToken(session: index, issuedAt: now, expiresAt: expiresAt))
        return expiresAt
    }

    /// Whether an access token is accepted; nil: accepted, otherwise why not.
    mutating func authenticate(_ token: Int, asksForUser: Bool = true, now: Int64) -> Refusal? {
        let index = tokens[token].session
        if now >= tokens[token].expiresAt { return .invalidToken(nil) }
        if ending(index) == nil { ageOut(index, now: now) }
        if let reason = ending(index) {
            sessions[index].ended = reason
            return .invalidToken(.ended(reason))
        }
        let user = users[sessions[index].user]
        if user.adminDisable == .immediate || user.ownDisable == .immediate {
            return .invalidToken(user.adminDisable != nil ? .loginDisabledByAdmin : .loginDisabledByUser)
        }
        return asksForUser ? demand(on: index, now: now).map(Refusal.absent) : nil
    }

    /// What the session's mode still asks for: in `PASSWORD` at every renewal at least, in `BIOMETRIC` where the client says how often.
    private func demand(on index: Int, now: Int64) -> Demand? {
        let session = sessions[index]
        let client = clients[session.client] ?? ModelClient()
        let renewal = client.refreshAfter > 0 ? client.refreshAfter : refreshAfter
        let age =
            switch (session.mode, client.presenceAge) {
            case (.no, _), (.biometric, 0): Int64.max
            case (.password, 0): renewal
            case (.password, let age): min(age, renewal)
            case (_, let age): age
            }
        if now - session.passwordAt < age { return nil }
        return Demand(seconds: age, ways: session.mode == .password ? [.password] : [.presence, .password])
    }

    /// A change of mode, maybe with the password. Nil: done, otherwise what it takes, and then nothing has happened.
    mutating func change(_ index: Int, to mode: AuthenticationMode, withPassword: Bool, now: Int64) -> Demand? {
        let old = sessions[index].mode
        // More guard than before takes nothing.
        let isFree = mode == old || old == .no || old == .biometric && mode == .password
        if !isFree, !withPassword, now - sessions[index].passwordAt >= 300 {
            return Demand(seconds: 300, ways: old == .password ? [.password] : [.presence, .password])
        }
        if withPassword { sessions[index].passwordAt = now }
        sessions[index].mode = mode
        return nil
    }

    /// The end of a session by a call; an earlier end by time stays the reason.
    mutating func end(_ index: Int, _ reason: EndReason, now: Int64) {
        if ending(index) == nil { ageOut(index, now: now) }
        sessions[index].ended = ending(index) ?? reason
    }
}

extension SessionModel.Demand {
    init(_ demand: PresenceRequirement) { self.init(seconds: demand.ageMax.wholeSeconds, ways: demand.ways) }
}
