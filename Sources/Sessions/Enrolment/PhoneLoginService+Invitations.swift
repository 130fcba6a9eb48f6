internal import Cryptography

// Invitations, and what a phone without an account does with one until the last act.
extension PhoneLoginService {
    /// The prefix of the secrets of phones that enrol.
    public static let enrolmentPrefix = "sje_"

    /// A request of an admin for an invitation.
    public struct InvitationRequest: Sendable {
        /// The client of the app.
        public var clientID: String
        /// The user of the further device; nil: a new user.
        public var user: UserReference?
        /// The username of a new user; nil: the user chooses it.
        public var username: String?
        /// The profile of a new user.
        public var profile = User.Profile()
        /// The way to the user.
        public var source = Invitation.Source.qr
        /// In which time a phone has to come.
        public var lifetime = Invitation.defaultLifetime
        /// What the user sees before the enrolment, and after it: JSON, at most `infoLengthMax` bytes.
        public var announceInfo: String?, sessionInfo: String?

        /// An invitation to the app of that client.
        public init(clientID: String) { self.clientID = clientID }
    }

    /// Makes an invitation, which one phone can use once. Throws `tooManyRequests` if too many wait for a phone.
    public func invite(_ request: InvitationRequest, from origin: Origin) async throws(ServiceError) -> PhoneLogin {
        let now = context.clock.now
        guard let client = try await client(request.clientID) else { throw .notFound("client") }
        // A confidential client would have to authenticate, which a phone cannot.
        guard client.isPublic else { throw .invalid(member: "client_id", detail: "must be a public client") }
        guard client.page.allows(.invitation) else {
            throw .invalid(member: "client_id", detail: "names a client without invitation in its login_methods")
        }
        let invitation = try await invitation(request)
        let settings = try await inStore(await store.settings())
        var asked = PhoneLogin.Request()
        (asked.epoch, asked.invitation) = (settings.epoch, invitation)
        (asked.announceInfo, asked.sessionInfo) = (request.announceInfo, request.sessionInfo)
        asked.handle = context.random.bytes(PhoneLoginCode.handleCount)
        let login = PhoneLogin(
            id: Identifier(random: context.random), kind: .enrolment, clientID: client.id, bond: .none, request: asked,
            startedAt: now, inputUntil: now + request.lifetime)
        let event = AuditEvent(
            .loginRequested, at: now, by: origin, userID: invitation.isNew ? nil : invitation.userID,
            sessionID: login.id, clientID: client.id, reason: "invitation")
        let isTaken = try await inStore(
            await store.requestLogin(login, [event], atMost: context.loginRules.invitationsMax))
        guard isTaken else { throw .tooManyRequests(retryAfter: .seconds(60)) }
        return login
    }

    private func invitation(_ request: InvitationRequest) async throws(ServiceError) -> Invitation {
        if let reference = request.user {
            let user = try await inStore(await store.user(reference))
            guard let user else { throw .notFound("user") }
            return Invitation(deviceOf: user.id, source: request.source)
        }
        if let problem = request.profile.problem { throw problem }
        if let username = request.username {
            if let problem = Administration.problem(withUsername: username) { throw problem }
            try await checkIsFree(username)
        }
        return Invitation(
            newUser: Identifier(random: context.random), username: request.username.map(Text.preparedUsername),
            profile: request.profile, source: request.source)
    }

    /// Throws `conflict` if a user has that name.
    func checkIsFree(_ username: String) async throws(ServiceError) {
        let namesake = try await inStore(await store.user(.username(username)))
        if namesake != nil { throw AccountService.usernameTaken }
    }

    /// The URL that a picture of the invitation, a link or a message to the phone has.
    public func invitationLink(of login: PhoneLogin, _ kind: PhoneLoginCode.Kind) -> String {
        let code = PhoneLoginCode(handle: login.request.handle ?? [], kind: kind)
        return context.invitationCodes.link(code, base: context.url(""), at: context.clock.now)
    }

    // MARK: The phone

    /// What a phone brings to claim an invitation.
    public struct InvitationClaim: Sendable {
        /// What it scanned, followed or got as a message.
        public var code: String
        /// Where it has the code from.
        public var source: PhoneLoginCode.Source
        /// The installation of the app.
        public var deviceID: String
        /// Whether the app says when the user can act.
        public var startsByHand: Bool

        /// A claim by that code.
        public init(code: String, source: PhoneLoginCode.Source, deviceID: String, startsByHand: Bool) {
            (self.code, self.source, self.deviceID, self.startsByHand) = (code, source, deviceID, startsByHand)
        }
    }

    /// The client of the invitation with that code; nil if there is none.
    public func clientID(ofInvitation text: String) async throws(ServiceError) -> String? {
        guard let code = context.invitationCodes.code(in: text, at: context.clock.now) else { return nil }
        return try await inStore(await store.phoneLogin(.handle(code.handle)))?.clientID
    }

    /// The phone claims an invitation. Returns the enrolment, and the secret with which the phone goes on; a retry with the same
    /// `key` gets the same secret. Every other phone that brings the code ends the invitation.
    public func claim(
        _ claim: InvitationClaim, key: String?, from origin: Origin
    ) async throws(ServiceError) -> (login: PhoneLogin, secret: String) {
        guard let code = context.invitationCodes.code(in: claim.code, at: context.clock.now),
            let arrival = code.invitationArrival(from: claim.source)
        else { throw .notFound("invitation") }
        let known = try await inStore(await store.phoneLogin(.handle(code.handle)))
        guard let known, known.kind == .enrolment else { throw .notFound("invitation") }
        let secret = secret(of: known.id, deviceID: claim.deviceID, key)
        let phone = Phone(
            enrolling: known, deviceID: claim.deviceID, secretHash: Self.hash(secret), at: context.clock.now)
        var wishes = PhoneLogin.Wishes()
        wishes.startsByHand = claim.startsByHand
        guard let acted = try await act(.claim(arrival, wishes), on: known.id, enrolling: phone, from: origin) else {
            throw .notFound("invitation")
        }
        if case .refused(.terminated) = acted.reply { throw .notFound("invitation") }
        try acted.reply.get()
        return (acted.login, secret)
    }

    /// Derived from the key of the request, so that a repeated request gets the secret again and the database has its hash alone.
    private func secret(of id: Identifier<Session>, deviceID: String, _ key: String?) -> String {
        let tag = key.map { context.enrolmentKey.authenticate(Array("\(id)\0\(deviceID)\0\($0)".utf8)) }
        return Self.enrolmentPrefix + Base64URL.encode(tag.map { Array($0) } ?? context.random.bytes(32))
    }

    /// The enrolment of the phone with that secret, as it stands now. Throws `invalidToken` for every other secret.
    public func enrolment(
        _ id: Identifier<Session>, secret: String
    ) async throws(ServiceError) -> PhoneLogin {
        guard let login = try await current(id), let hash = login.claim?.secretHash,
            constantTimeEqual(hash, Self.hash(secret))
        else { throw .invalidToken(nil) }
        return login
    }

    /// The enrolment, once its `phoneVersion` is not `version`, at most after `patience`.
    public func enrolment(
        _ id: Identifier<Session>, secret: String, unlike version: String?, patience: Duration
    ) async throws(ServiceError) -> PhoneLogin {
        try await watch.next(.login(id), patience: patience) { () async throws(ServiceError) in
            let login = try await enrolment(id, secret: secret)
            return (login, login.phoneVersion != version || login.state.isFinal)
        }
    }

    /// Lets the phone that enrols act: start, confirm or stop.
    public func perform(
        _ act: PhoneLogin.Act, onEnrolment id: Identifier<Session>, secret: String, key: String?, from origin: Origin
    ) async throws(ServiceError) -> PhoneLogin {
        let known = try await enrolment(id, secret: secret)
        guard
            let acted = try await self.act(
                act, on: id, key: key.map { Self.short(act, id, $0) }, enrolling: enrolling(known, secret), from: origin
            )
        else { throw .invalidToken(nil) }
        try acted.reply.get()
        return acted.login
    }

    /// The short hash of the key of an act.
    static func short(_ act: PhoneLogin.Act, _ id: Identifier<Session>, _ key: String) -> UInt64 {
        RefreshAttempt.shortHash("enrol \(act.name) \(id) \(key)")
    }

    /// The phone that has claimed the enrolment.
    func enrolling(_ login: PhoneLogin, _ secret: String) -> Phone? {
        Phone(
            enrolling: login, deviceID: login.claim?.deviceID ?? "", secretHash: Self.hash(secret),
            at: context.clock.now)
    }
}
