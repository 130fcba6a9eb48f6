import Cryptography
import Sessions
import Testing

/// The domain on a store, with users that have a password.
struct DomainFixture: Sendable {
    static let password = "three odd words"

    let context: ServiceContext
    let services: Services
    let accounts: AccountService
    let admin: Administration
    private let newContext: @Sendable () -> ServiceContext

    /// The domain on `store`, with sessions that live no longer than `absoluteMaximum`. Hashing a password costs next to
    /// nothing, unless `passwords` says otherwise.
    init(
        _ store: any Store, _ clock: WallClock, absoluteMaximum: Duration = .seconds(31_536_000),
        passwords: PasswordHasher? = nil, mails: MailWaker? = nil, rules: AccountRules = AccountRules()
    ) async throws {
        guard let rootKeys = RootKeys([.random()]), let scrypt = Scrypt(logN: 1, r: 1, p: 1) else {
            throw Unexpected("no keys")
        }
        let keys = SigningKeys(
            store: store, rootKeys: rootKeys, algorithm: .eddsa, rotation: .seconds(2_592_000),
            absoluteMaximum: absoluteMaximum, generate: TestSigningKeys.generator())
        self.init {
            ServiceContext(
                store: store, policy: RefreshPolicy(absoluteMaximum: absoluteMaximum), rootKeys: rootKeys,
                signingKeys: keys, passwords: passwords ?? PasswordHasher(scrypt: scrypt), clock: clock,
                issuer: "http://issuer.example", audience: "http://api.example", mails: mails,
                accountRules: rules)
        }
        try await keys.maintain(at: clock.now)
    }

    private init(_ newContext: @escaping @Sendable () -> ServiceContext) {
        self.newContext = newContext
        context = newContext()
        (services, accounts, admin) = (Services(context), AccountService(context), Administration(context))
    }

    /// Another process on the same database: it remembers nothing of what this one does.
    func anotherNode() -> Self { Self(newContext) }

    /// A session of a user of that name on a device, with its token already checked.
    func session(of name: String, on device: String = "phone") async throws -> AuthenticatedSession {
        let request = SessionRequest(clientID: Client.mobileID, device: Device(id: device))
        let grant = try await services.login.logIn(
            request, username: name, password: Self.password, from: Fixture.admin)
        return try await services.accessTokens.authenticate(grant.accessToken, from: Fixture.admin)
    }
}

/// What can happen to a session, or to its user, while a call with its token is under way.
private enum Meanwhile: CaseIterable {
    case sessionEnded, userRevoked, everybodyRevoked, passwordSet, disabled, disabledByUser, clientDeleted, userDeleted
    case lifetimeShortened
    /// These two take nothing from the tokens that are out.
    case disabledOnExpiry, nothing

    func bringAbout(_ domain: DomainFixture, _ session: AuthenticatedSession) async throws {
        let (user, admin) = (UserReference.id(session.user.id), domain.admin)
        switch self {
        case .sessionEnded: try await admin.endSession(session.session.id, by: Fixture.admin)
        case .userRevoked: _ = try await admin.revokeSessions(of: user, by: Fixture.admin)
        case .everybodyRevoked: try await admin.revokeAllSessions(by: Fixture.admin)
        case .passwordSet: try await admin.setPassword(of: user, to: "four very odd words", by: Fixture.admin)
        case .disabled, .disabledOnExpiry:
            _ = try await admin.disable(
                user, effective: self == .disabled ? .immediate : .onExpiry, revokingSessions: false, note: nil,
                by: Fixture.admin)
        case .disabledByUser:
            _ = try await domain.accounts.setLogins(
                of: session.user.id, shownBy: .password(hash: session.user.passwordHash), disabled: true,
                effective: .immediate, from: Fixture.admin)
        case .clientDeleted: try await admin.deleteClient(Client.mobileID, by: Fixture.admin)
        case .userDeleted: _ = try await admin.deleteUser(user, by: Fixture.admin)
        case .lifetimeShortened:
            _ = try await domain.context.store.updateSettings { $0.settings.sessions.offlineSessionIdle = .zero }
        case .nothing: break
        }
    }

    /// What the call is answered then.
    var refusal: RefusalReason? {
        switch self {
        case .sessionEnded, .userRevoked, .everybodyRevoked, .clientDeleted: .ended(.revokedByAdmin)
        case .passwordSet: .ended(.passwordChanged)
        case .disabled: .loginDisabledByAdmin
        case .disabledByUser: .loginDisabledByUser
        case .userDeleted: .ended(.userDeleted)
        case .lifetimeShortened: .ended(.idleExpired)
        case .disabledOnExpiry, .nothing: nil
        }
    }
}

/// What a call with a session's token changes.
private enum AccountChange: CaseIterable {
    case name, email, password, logins, mode, presence, pin

    func make(_ domain: DomainFixture, _ current: AuthenticatedSession) async throws(ServiceError) {
        let accounts = domain.accounts
        let evidence = PresenceEvidence(password: DomainFixture.password)
        switch self {
        case .name:
            _ = try await accounts.changeProfile(in: current, from: Fixture.admin) { profile in
                profile.displayName = "Eve"
                return nil
            }
        case .email:
            _ = try await accounts.changeProfile(in: current, shownBy: evidence, from: Fixture.admin) { profile in
                profile.email = "eve@example.org"
                return nil
            }
        case .password:
            try await accounts.changePassword(
                of: current.user, in: current.session, from: DomainFixture.password, to: "the words of somebody else",
                by: Fixture.admin)
        case .logins:
            _ = try await accounts.setLogins(
                of: current.user.id, shownBy: .session(current.session.id), disabled: true, effective: .onExpiry,
                from: Fixture.admin)
        case .mode:
            _ = try await accounts.changeMode(
                ModeChange(mode: .password, evidence: evidence), in: current, from: Fixture.admin)
        case .presence: _ = try await accounts.showPresence(evidence, in: current, from: Fixture.admin)
        case .pin:
            guard let mac = PIN.MAC([UInt8](repeating: 1, count: PIN.MAC.byteCount)) else { throw .notFound("pin") }
            _ = try await accounts.setPIN(mac, by: .evidence(evidence), in: current, from: Fixture.admin)
        }
    }
}

/// The rows that the calls change.
private struct AccountRows: Equatable {
    let user: User?
    let session: Session?
    let pin: PIN?

    init(of current: AuthenticatedSession, in store: any Store) async throws {
        user = try await store.user(.id(current.user.id))
        session = try await store.session(current.session.id)?.session
        pin = try await store.pin(of: current.session.id)
    }
}

/// What users do with their own account, and what has ended before it is written.
let accountRules: [StoreRule] =
    Meanwhile.allCases.map { meanwhile in
        StoreRule("a call with a session's token changes only what it still may: \(meanwhile)") { store in
            let domain = try await DomainFixture(store, WallClock { Fixture.start })
            for change in AccountChange.allCases {
                if try await store.client(Client.mobileID) == nil {
                    _ = try await domain.admin.createClient(id: Client.mobileID, by: Fixture.admin) { _ in nil }
                }
                try await store.updateSettings { $0.settings.sessions = .defaults }
                let user = try await domain.admin.createUser(
                    username: "user-\(change)", password: DomainFixture.password, profile: User.Profile(),
                    offlineSessionMax: nil, by: Fixture.admin)
                let session = try await domain.session(of: user.username)
                try await meanwhile.bringAbout(domain, session)
                let before = try await AccountRows(of: session, in: store)
                var failure: ServiceError?
                do throws(ServiceError) { try await change.make(domain, session) } catch { failure = error }
                #expect(failure == meanwhile.refusal.map { .invalidToken($0) }, "\(change)")
                let after = try await AccountRows(of: session, in: store)
                #expect((before == after) == (failure != nil), "\(change)")
            }
        }
    } + [
        StoreRule("a password that is the user's no longer turns no logins on or off") { store in
            let domain = try await DomainFixture(store, WallClock { Fixture.start })
            let user = try await domain.admin.createUser(
                username: "anna", password: DomainFixture.password, profile: User.Profile(), offlineSessionMax: nil,
                by: Fixture.admin)
            let proof = AccountProof.password(hash: user.passwordHash)
            func turnOff() async throws(ServiceError) {
                _ = try await domain.accounts.setLogins(
                    of: user.id, shownBy: proof, disabled: true, effective: .immediate, from: Fixture.admin)
            }
            try await domain.admin.setPassword(of: .id(user.id), to: "four very odd words", by: Fixture.admin)
            await #expect(throws: ServiceError.invalidCredentials) { try await turnOff() }
            #expect(try await store.user(.id(user.id))?.disabledByUser == nil)
            _ = try await store.updateUser(.id(user.id)) { $0.user.passwordHash = user.passwordHash }
            try await turnOff()
            #expect(try await store.user(.id(user.id))?.disabledByUser != nil)
        },
        StoreRule("a session of somebody else shows nothing of a user") { store in
            let domain = try await DomainFixture(store, WallClock { Fixture.start })
            _ = try await domain.admin.createClient(id: Client.mobileID, by: Fixture.admin) { _ in nil }
            for name in ["anna", "bert"] {
                _ = try await domain.admin.createUser(
                    username: name, password: DomainFixture.password, profile: User.Profile(), offlineSessionMax: nil,
                    by: Fixture.admin)
            }
            let (mine, other) = (try await domain.session(of: "anna"), try await domain.session(of: "bert"))
            await #expect(throws: ServiceError.invalidToken(.unknownSession)) {
                _ = try await domain.accounts.setLogins(
                    of: other.user.id, shownBy: .session(mine.session.id), disabled: true, effective: .immediate,
                    from: Fixture.admin)
            }
            #expect(try await store.user(.id(other.user.id))?.disabledByUser == nil)
        },
        StoreRule("a change of a user sees the session that asks as it is then") { store in
            let user = try await store.given(Fixture.user())
            let session = try await store.given(Fixture.session(of: user.id))
            func seen(_ id: Identifier<Session>?) async throws -> Session? {
                let update = try await store.updateUser(.id(user.id), asking: id) { $0.asking }
                guard case .done(let asking, endedSessions: 0) = update else { throw Unexpected("\(update)") }
                return asking
            }
            #expect(try await seen(session.id) == session)
            #expect(try await seen(nil) == nil)
            #expect(try await seen(Fixture.sessionID()) == nil)
            try await store.updateSession(session.id) { $0.session.end(.loggedOut, at: Fixture.start) }
            #expect(try await seen(session.id)?.ending?.reason == .loggedOut)
        },
    ]
