internal import Cryptography
internal import JOSE
internal import JSON

// The calls of the phone.
extension PhoneLoginService {
    /// What a phone brings to claim a login.
    public struct ClaimRequest: Sendable {
        /// What it scanned, followed or got as a message.
        public var code: String
        /// Where it has the code from.
        public var source: PhoneLoginCode.Source
        /// What the app wants.
        public var wishes: PhoneLogin.Wishes

        /// A claim by that code.
        public init(code: String, source: PhoneLoginCode.Source, wishes: PhoneLogin.Wishes) {
            (self.code, self.source, self.wishes) = (code, source, wishes)
        }
    }

    /// The phone claims the login of a code. A code that is unknown, too old or came on a way that is not its own gets
    /// `notFound`, so that no other user learns more. A login that `isNear` refuses gets `login(.elsewhere)`, and goes on waiting.
    public func claim(
        _ request: ClaimRequest, by session: AuthenticatedSession, key: String?, from origin: Origin,
        isNear: (PhoneLogin, PhoneLogin.Arrival) -> Bool = { _, _ in true }
    ) async throws(ServiceError) -> PhoneLogin {
        guard let code = context.loginCodes.code(in: request.code, at: context.clock.now),
            let arrival = code.arrival(from: request.source)
        else { throw .notFound("login") }
        let known = try await inStore(await store.phoneLogin(.handle(code.handle)))
        guard let known else { throw .notFound("login") }
        if !isNear(known, arrival) { try await refuseElsewhere(known, by: session.session, from: origin) }
        return try await perform(.claim(arrival, request.wishes), on: known.id, by: session, key: key, from: origin)
    }

    /// Records that a phone is too far from the device of a login to let it in, and throws `login(.elsewhere)`. A login that is over
    /// lets no device in, however near.
    func refuseElsewhere(
        _ login: PhoneLogin, by session: Session, from origin: Origin
    ) async throws(ServiceError) {
        if login.state.isFinal { return }
        let now = context.clock.now
        _ = try await inStore(
            await store.changeLogin(login.id, phone: session.id, by: origin) { change in
                change.events.append(
                    AuditEvent(
                        .loginRefused, at: now, by: origin, userID: session.userID, clientID: change.login.clientID,
                        deviceID: session.device.id, deviceName: session.device.label,
                        reason: PhoneLogin.Refusal.elsewhere.word))
            })
        throw .login(.elsewhere)
    }

    /// Lets the phone of a session act on a login.
    public func perform(
        _ act: PhoneLogin.Act, on id: Identifier<Session>, by session: AuthenticatedSession, key: String?,
        from origin: Origin
    ) async throws(ServiceError) -> PhoneLogin {
        let short = key.map { RefreshAttempt.shortHash("\(act.name) \(id) \(session.session.id) \($0)") }
        guard let acted = try await self.act(act, on: id, phone: session.session.id, key: short, from: origin) else {
            throw .notFound("login")
        }
        if case .refused(.notClaimant) = acted.reply, !acted.login.isVisible(to: session.session) {
            throw .notFound("login")
        }
        try acted.reply.get()
        return acted.login
    }

    /// Lets the user prove presence for a login. An assertion of the presence key names the login in the claim `login`, and the
    /// number in `number`, so that what is signed is what is seen.
    public func proveFactor(
        _ evidence: PresenceEvidence, number: Int?, adopting: Bool = false, on id: Identifier<Session>,
        by session: AuthenticatedSession, key: String?, from origin: Origin
    ) async throws(ServiceError) -> PhoneLogin {
        let factor = try await factor(evidence, number: number, for: id, in: session, from: origin)
        let act = adopting ? PhoneLogin.Act.adopt(factor) : .proveFactor(factor)
        return try await perform(act, on: id, by: session, key: key, from: origin)
    }

    /// Lets the user prove a login by the PIN of the app.
    public func proveFactor(
        _ pin: PIN.MAC, number: Int?, on id: Identifier<Session>, by session: AuthenticatedSession, key: String?,
        from origin: Origin
    ) async throws(ServiceError) -> PhoneLogin {
        try await perform(
            .proveFactor(PhoneFactor(pin: pin, number: number)), on: id, by: session, key: key, from: origin)
    }

    /// The verified second factor. A wrong password is counted where it always is, and is no error here, because the login
    /// counts it as well.
    private func factor(
        _ evidence: PresenceEvidence, number: Int?, for id: Identifier<Session>, in session: AuthenticatedSession,
        from origin: Origin
    ) async throws(ServiceError) -> PhoneFactor {
        let now = context.clock.now
        if let text = evidence.assertion {
            guard let key = session.session.presence.key.flatMap(DeviceKey.init(text:)) else {
                return PhoneFactor(isValid: false)
            }
            return try await presence.factor(text, of: key, for: id, in: session.session, at: now)
        }
        do throws(ServiceError) {
            let proof = try await presence.presence(
                provedBy: evidence, of: session.user, in: session.session,
                youngerThan: PresenceRequirement.ageMaxOfChanges, from: origin, at: now)
            return PhoneFactor(isValid: proof != nil, number: number, proof: proof)
        } catch .invalidCredentials {
            return PhoneFactor(isValid: false, number: number)
        }
    }

    /// The login, as far as the phone may see it: it has claimed it, or its user has.
    public func login(
        _ id: Identifier<Session>, for session: AuthenticatedSession
    ) async throws(ServiceError) -> PhoneLogin {
        guard let login = try await current(id), login.isVisible(to: session.session) else { throw .notFound("login") }
        return login
    }

    /// The login, once its `phoneVersion` is not `version`, at most after `patience`.
    public func wait(
        for id: Identifier<Session>, for session: AuthenticatedSession, unlike version: String?, patience: Duration,
        while isAdmitted: () async -> Bool = { true }
    ) async throws(ServiceError) -> PhoneLogin {
        try await watch.next(.login(id), patience: patience, while: isAdmitted) { () async throws(ServiceError) in
            let login = try await login(id, for: session)
            return (login, login.phoneVersion != version || login.state.isFinal)
        }
    }

    /// The logins of a user, the newest first. An invitation that waits for a further phone is for no phone that is there.
    public func logins(
        of userID: Identifier<User>, after cursor: SessionCursor?, limit: Int
    ) async throws(ServiceError) -> Page<PhoneLogin> {
        let page = try await inStore(await store.phoneLogins(ofUser: userID, in: nil, after: cursor, limit: limit))
        return Page(
            items: page.items.filter { $0.kind != .enrolment || $0.claim != nil }, nextCursor: page.nextCursor)
    }

    /// The living logins of a user once they differ from `version`, at most after `patience`; with the new version.
    public func living(
        of userID: Identifier<User>, unlike version: String?, patience: Duration,
        while isAdmitted: () async -> Bool = { true }
    ) async throws(ServiceError) -> (logins: [PhoneLogin], version: String) {
        try await watch.next(.user(userID), patience: patience, while: isAdmitted) { () async throws(ServiceError) in
            let living = try await living(of: userID)
            let seen = Hex.encode(
                Array(sha256(Array(living.map { "\($0.id)\($0.phoneVersion)" }.joined().utf8)).prefix(8)))
            return ((living, seen), seen != version)
        }
    }

    /// The logins of a user that are not over now.
    private func living(of userID: Identifier<User>) async throws(ServiceError) -> [PhoneLogin] {
        let found = try await inStore(await store.livingLogins(ofUser: userID, limit: Self.livingMax))
        var living: [PhoneLogin] = []
        for login in found {
            let standing = context.policy.standing(of: login, by: context.loginRules, at: context.clock.now)
            if !standing.state.isFinal {
                living.append(standing)
            } else if let login = try await current(login.login.id), !login.state.isFinal {
                // Its phone was replaced between the two reads.
                living.append(login)
            }
        }
        return living
    }

    /// The largest number of logins of which the living ones are listed.
    private static let livingMax = 200

    /// The phone is there: all its logins know that it answers. Returns the number of those that depend on its answers.
    public func ping(
        by session: AuthenticatedSession, from origin: Origin
    ) async throws(ServiceError) -> Int {
        var count = 0
        for login in try await logins(of: session.user.id, after: nil, limit: Self.livingMax).items
        where login.isLoggedIn && login.bond.interval != nil && login.claim?.sessionID == session.session.id {
            let acted = try await act(.ping, on: login.id, phone: session.session.id, key: nil, from: origin)
            if case .accepted? = acted?.reply { count += 1 }
        }
        return count
    }

    /// Lets an act change a login, in a transaction; nil if there is no such login. Only a change wakes the requests that wait.
    func act(
        _ act: PhoneLogin.Act, on id: Identifier<Session>, phone phoneID: Identifier<Session>? = nil,
        key: UInt64? = nil,
        enrolling: Phone? = nil, from origin: Origin
    ) async throws(ServiceError) -> PhoneLoginOutcome? {
        let (now, policy, rules) = (context.clock.now, context.policy, context.loginRules)
        let attempt = PhoneLoginAttempt(
            act, key: key, phone: enrolling, drawnNumber: MatchingNumber.random(context.random))
        let acted = try await inStore(
            await store.changeLogin(id, phone: phoneID, readsPIN: act.readsPIN, by: origin) {
                change -> (PhoneLoginOutcome, Set<PhoneLoginWatch.Subject>) in
                let before = change.login
                let outcome = change.act(attempt, by: policy, rules, from: origin, at: now)
                if change.login == before { return (outcome, []) }
                let users = [before.claim?.userID, before.request.backchannel?.userID, change.phone?.user?.id]
                return (outcome, Set(users.compactMap { $0.map(PhoneLoginWatch.Subject.user) } + [.login(id)]))
            })
        if let (_, subjects) = acted, !subjects.isEmpty { watch.wake(subjects) }
        return acted?.0
    }
}

extension PhoneLogin {
    /// Whether a phone may see the login.
    func isVisible(to session: Session) -> Bool {
        claim?.sessionID == session.id
            || [userID, claim?.userID, request.backchannel?.userID].contains(session.userID)
    }
}

extension PhoneLogin.Act {
    /// The name for the hash of an `Idempotency-Key`.
    var name: String {
        switch self {
        case .claim: "claim"
        case .start: "start"
        case .confirm: "confirm"
        case .proveFactor: "second-factor"
        case .stop: "stop"
        case .ping: "ping"
        case .adopt: "adopt"
        case .collect: "collect"
        default: "other"
        }
    }
}

extension UserPresenceService {
    /// What an assertion of the presence key proves for a login: it has to name the login, and proves the number in it.
    func factor(
        _ text: String, of key: DeviceKey, for id: Identifier<Session>, in session: Session, at now: Instant
    ) async throws(ServiceError) -> PhoneFactor {
        let claims = (try? JWT.parse(text))?.unverifiedClaims
        var number: Int?
        if case .integer(let shown)? = claims?["number"] { number = Int(exactly: shown) }
        guard claims?["login"]?.string == id.description, try await accepts(text, of: key, in: session, at: now) else {
            return PhoneFactor(isValid: false, number: number)
        }
        return PhoneFactor(isValid: true, number: number, proof: .key)
    }
}
