internal import Cryptography
internal import Locks

/// Logs devices in with the help of a phone: opens logins, shows them to the device that waits, lets phones act on them, and
/// gives the device its session. `PhoneLoginPolicy` decides, in a transaction of the store.
///
/// This file opens a login and lets its device look, wait and cancel. The others have the calls of the phone (`+Phone`), the
/// device's session (`+Collecting`), the browser's code and typed codes (`+Page`), logins in the app (`+App`) and links (`+Return`).
public final class PhoneLoginService: UseCase {
    let context: ServiceContext
    let signer: TokenSigner
    let presence: UserPresenceService
    let logout: LogoutService
    let passwords: PasswordVerifier
    /// Wakes the requests that wait for a change.
    public let watch: PhoneLoginWatch
    /// Logins that have ended, as a look has found, and are not written as ended.
    let overdue = Locked<Set<Identifier<Session>>>([])

    init(
        _ context: ServiceContext, _ signer: TokenSigner, _ presence: UserPresenceService, _ logout: LogoutService,
        _ passwords: PasswordVerifier, watch: PhoneLoginWatch = PhoneLoginWatch()
    ) {
        self.context = context
        self.signer = signer
        self.presence = presence
        self.logout = logout
        self.passwords = passwords
        self.watch = watch
    }

    /// A request for a login.
    public struct Opening: Sendable {
        /// The way of the login.
        public var kind: PhoneLogin.Kind
        /// The client that wants a session.
        public var clientID: String
        /// How long the session depends on the phone.
        public var bond = PhoneLogin.Bond.session
        /// Whether the bond may be weaker than the client's registration has it, for a login that a test drives.
        var ignoresMinimumBond = false
        /// The rule of the client for the second factor; nil: that of the phone's session.
        public var secondFactor: PhoneLogin.FactorRule?
        /// The scope; nil: all that the client can be granted.
        public var scope: Scope?
        /// The APIs of the tokens.
        public var resources: [String] = []
        /// What the user sees before the approval, and after the login: JSON, at most `infoLengthMax` bytes.
        public var announceInfo: String?, sessionInfo: String?
        /// The `User-Agent` of the device.
        public var userAgent: String?
        /// SHA-256 of the flow cookie of the browser; nil: there is no browser, and the device gets a secret.
        public var browser: [UInt8]?
        /// Where the phone leads the user after an approval by a link, which the caller has checked; nil: there is no link.
        public var returnURI: String?
        /// What the device has shown of itself.
        public var device = KnownDevice()
        /// The authorization request that the login answers; nil unless the kind is `authorize`.
        public var authorization: AuthorizationRequest?
        /// What is asked of one user; nil unless the kind is `backchannel`.
        public var backchannel: BackchannelRequest?
        /// How long the login waits for the user; nil: as the rules say.
        public var lifetime: Duration?

        /// A request of a client.
        public init(_ kind: PhoneLogin.Kind, clientID: String) { (self.kind, self.clientID) = (kind, clientID) }
    }

    /// An opened login, with the secrets that only its device gets.
    public struct Opened: Sendable {
        /// The login.
        public let login: PhoneLogin
        /// The secret with which the device asks for the result; nil for a browser, which has its flow cookie.
        public let secret: String?
    }

    /// What proves that the caller is the device of a login.
    public enum DeviceProof: Hashable, Sendable {
        /// The secret that `open` gave out.
        case secret(String)
        /// SHA-256 of the flow cookie of the browser.
        case browser([UInt8])
    }

    /// The prefix of the secrets of devices.
    public static let secretPrefix = "sjd_"

    /// Opens a login. Throws `overloaded` if too many logins wait for a phone, and `tooManyRequests` if too many that a backend
    /// requested wait for its user.
    public func open(_ opening: Opening, from origin: Origin) async throws(ServiceError) -> Opened {
        let now = context.clock.now
        guard let client = try await client(opening.clientID) else { throw .invalidClient }
        if let refusal = client.refusal(of: .phone) { throw refusal }
        var opening = opening
        if let requested = opening.scope {
            guard let scope = client.part(of: requested) else { throw .invalidScope }
            opening.scope = scope
        }
        guard opening.ignoresMinimumBond || opening.bond.meets(client.page.minimumBond) else {
            throw .invalid(member: "bond", detail: "must be session or ping, because the client allows no weaker one")
        }
        _ = try context.resourceRequirement(for: opening.resources).audience(for: client)
        let id = Identifier<Session>(random: context.random)
        let secret = opening.browser == nil ? secret(of: id, opening.kind) : nil
        let (earlier, settings) = try await earlierSessions(of: opening.device)
        var request = request(opening, secret, epoch: settings.epoch, from: origin)
        request.knownUsers = earlier.map(\.userID)
        let login = PhoneLogin(
            id: id, kind: opening.kind, clientID: opening.clientID, bond: opening.bond, browser: opening.browser,
            request: request, startedAt: now,
            inputUntil: now + (opening.lifetime ?? context.loginRules.inputLifetime))
        if let backchannel = opening.backchannel {
            try await push(login, of: backchannel, from: origin)
            return Opened(login: login, secret: secret)
        }
        let isTaken = try await inStore(await store.requestLogin(login, atMost: context.loginRules.pendingMax))
        guard isTaken else { throw .overloaded }
        return Opened(login: login, secret: secret)
    }

    /// A secret with which the device asks for the result.
    private func secret(of id: Identifier<Session>, _ kind: PhoneLogin.Kind) -> String {
        if kind == .backchannel, let key = context.backchannelKeys.first {
            return Self.backchannelSecret(of: id, key)
        }
        return Self.secretPrefix + Base64URL.encode(context.random.bytes(32))
    }

    private func request(
        _ opening: Opening, _ secret: String?, epoch: Int64, from origin: Origin
    ) -> PhoneLogin.Request {
        var request = PhoneLogin.Request()
        (request.scope, request.resources) = (opening.scope, opening.resources)
        (request.announceInfo, request.sessionInfo) = (opening.announceInfo, opening.sessionInfo)
        // The address of a backend says nothing of its user.
        request.remoteAddress = opening.kind == .backchannel ? nil : origin.remoteAddress
        request.userAgent = opening.userAgent.map { String($0.prefix(PageLogin.userAgentLengthMax)) }
        request.authorization = opening.authorization?.kept
        // The answer repeats it, in a tab as well that has not got the request.
        request.authorization?.state = opening.authorization?.state
        request.handle = context.random.bytes(PhoneLoginCode.handleCount)
        request.userCode = opening.kind == .device ? UserCode.random(context.random) : nil
        request.pollHash = secret.map(Self.hash)
        (request.factorRule, request.keyThumbprint) = (opening.secondFactor, opening.device.keyThumbprint)
        request.returnURI = opening.returnURI
        request.backchannel = opening.backchannel
        request.epoch = epoch
        return request
    }

    /// The hash by which the store finds the login of a secret.
    static func hash(_ secret: String) -> [UInt8] { sha256(Array(secret.utf8)) }

    /// The link that the picture of a login shows now (`picture`), that opens the app on the same device (`link`), or that a
    /// message to the phone has in it (`push`).
    public func link(of login: PhoneLogin, _ kind: PhoneLoginCode.Kind) -> String {
        let code = PhoneLoginCode(handle: login.request.handle ?? [], kind: kind)
        return context.loginCodes.link(code, base: context.url(""), at: context.clock.now)
    }

    /// When the picture changes next.
    public var pictureUntil: Instant {
        let (now, slot) = (context.clock.now.secondsSinceEpoch, PhoneLoginCodeCoder.slot.wholeSeconds)
        return Instant(secondsSinceEpoch: now - now % slot + slot)
    }

    /// The device's login as it stands now.
    ///
    /// Throws `notFound` for every login that is not of the device.
    public func look(
        at id: Identifier<Session>, as proof: DeviceProof
    ) async throws(ServiceError) -> PhoneLogin {
        let login = try await current(id)
        guard let login, login.isOf(proof) else { throw .notFound("login") }
        return login
    }

    /// The login of the device, once its `deviceVersion` is not `version`, at most after `patience`.
    public func wait(
        for id: Identifier<Session>, as proof: DeviceProof, unlike version: String?, patience: Duration
    ) async throws(ServiceError) -> PhoneLogin {
        try await watch.next(.login(id), patience: patience) { () async throws(ServiceError) in
            let login = try await look(at: id, as: proof)
            return (login, login.deviceVersion != version || login.state.isFinal)
        }
    }

    /// The login with that id as it stands now; nil if there is none. It writes nothing, because two requests that wait
    /// for a login would wake each other by it; the clean-up writes what it finds.
    func current(_ id: Identifier<Session>) async throws(ServiceError) -> PhoneLogin? {
        let found = try await inStore(await store.loginWithPhone(id))
        guard let found else { return nil }
        let login = context.policy.standing(of: found, by: context.loginRules, at: context.clock.now)
        if login.state.isFinal, !found.login.state.isFinal { noteOverdue(id) }
        return login
    }

    /// Lets the next step of clean-up look at a login with an end that is not written. The login need not be due itself, because its phone's
    /// session may have ended by time.
    private func noteOverdue(_ id: Identifier<Session>) {
        overdue.withLock { ids in if ids.count < Self.overdueMax { ids.insert(id) } }
    }

    private static let overdueMax = 10_000

    /// The device gives up.
    public func cancel(_ id: Identifier<Session>, as proof: DeviceProof, from origin: Origin) async throws(ServiceError)
    {
        _ = try await look(at: id, as: proof)
        try await act(.cancel, on: id, from: origin)?.reply.get()
    }

    /// The login that the letters name which a user has typed; nil if there is none.
    public func login(typed text: String) async throws(ServiceError) -> PhoneLogin? {
        guard let code = UserCode.typed(text) else { return nil }
        let known = try await inStore(await store.phoneLogin(.userCode(code)))
        guard let known, let login = try await current(known.id), !login.state.isFinal else { return nil }
        return login
    }

    /// The client with that id; nil if there is none.
    public func client(_ id: String) async throws(ServiceError) -> Client? {
        try await inStore(await store.client(id))
    }

    /// The clients of those logins, by their ids. One that was deleted is left out.
    public func clients(of logins: [PhoneLogin]) async throws(ServiceError) -> [String: Client] {
        if logins.isEmpty { return [:] }
        return try await inStore(await store.catalogue().clients)
    }
}

extension PhoneLogin {
    /// Whether the proof is that of the device of this login.
    func isOf(_ proof: PhoneLoginService.DeviceProof) -> Bool {
        switch proof {
        case .secret(let secret):
            request.pollHash.map { constantTimeEqual($0, PhoneLoginService.hash(secret)) } ?? false
        case .browser(let hash): browser.map { constantTimeEqual($0, hash) } ?? false
        }
    }

    /// A text that changes with everything that the device may see. What the user is asked for is not among it.
    public var deviceVersion: String {
        version([
            (state == .proving ? .confirming : state).phase.rawValue, number.map(String.init) ?? "",
            claim == nil ? "" : "claimed", isNumberConfirmed ? "confirmed" : "",
        ])
    }

    /// Whether the phone has sent the number of the other device, and only the second factor is missing.
    public var isNumberConfirmed: Bool { number != nil && userID != nil && state == .proving }

    /// A text that changes with everything that the phone may see.
    public var phoneVersion: String {
        version([
            state.phase.rawValue, cause?.rawValue ?? "", "\(wrongFactors)", claim?.sessionID.description ?? "",
        ])
    }

    private func version(_ parts: [String]) -> String {
        Hex.encode(Array(sha256(Array(parts.joined(separator: "\n").utf8)).prefix(8)))
    }
}
