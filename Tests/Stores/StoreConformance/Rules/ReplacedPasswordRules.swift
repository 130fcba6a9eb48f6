import Locks
import Sessions
import Testing

/// A session in mode `PASSWORD` of a user that was last there so long ago that everything asks for the password.
private struct DueSession {
    let domain: DomainFixture
    let refreshToken: String
    private let accessToken: String
    private let now = Locked(Fixture.start)

    init(_ store: any Store, _ hash: HeldHash) async throws {
        domain = try await DomainFixture(store, WallClock { [now] in now.withLock { $0 } }, passwords: hash.passwords)
        _ = try await domain.admin.createClient(id: Client.mobileID, by: Fixture.admin) { _ in nil }
        _ = try await domain.admin.createUser(
            username: "anna", password: DomainFixture.password, profile: User.Profile(), offlineSessionMax: nil,
            by: Fixture.admin)
        let request = SessionRequest(
            clientID: Client.mobileID, device: Device(id: "phone"), authenticationMode: .password)
        let grant = try await domain.services.login.logIn(
            request, username: "anna", password: DomainFixture.password, from: Fixture.admin)
        accessToken = grant.accessToken
        refreshToken = try #require(grant.refreshToken)
    }

    /// The session, its token checked in time for it to be good for calls, which are made when the user is asked for again.
    func authenticated() async throws -> AuthenticatedSession {
        now.withLock { $0 = Fixture.start }
        let session = try await domain.services.accessTokens.authenticate(accessToken, from: Fixture.admin)
        now.withLock { $0 = Fixture.start + .seconds(4000) }
        return session
    }
}

/// What comes with a token of the session and the password.
private enum PasswordCall: CaseIterable {
    case refresh, email, mode, presence, password

    /// Whether `failure` says that the password is wrong, as this call says it.
    func saysWrongPassword(_ failure: ServiceError) -> Bool {
        guard self == .refresh else { return failure == .invalidCredentials }
        // The session is kept, and asks once more.
        return if case .wrongPassword = failure { true } else { false }
    }

    func make(_ due: DueSession, as current: AuthenticatedSession, _ password: String) async throws(ServiceError) {
        let (accounts, evidence) = (due.domain.accounts, PresenceEvidence(password: password))
        switch self {
        case .refresh:
            let attempt = RefreshAttempt(token: due.refreshToken, clientID: Client.mobileID, evidence: evidence)
            _ = try await due.domain.services.refresh.refresh(attempt, from: Fixture.admin)
        case .email:
            _ = try await accounts.changeProfile(in: current, shownBy: evidence, from: Fixture.admin) { profile in
                profile.email = "eve@example.org"
                return nil
            }
        case .mode:
            _ = try await accounts.changeMode(
                ModeChange(mode: .no, evidence: evidence), in: current, from: Fixture.admin)
        case .presence: _ = try await accounts.showPresence(evidence, in: current, from: Fixture.admin)
        case .password:
            try await accounts.changePassword(
                of: current.user, in: current.session, from: password, to: "the words of somebody else",
                by: Fixture.admin)
        }
    }
}

/// A password counts as long as it is the user's: hashing takes its time.
let replacedPasswordRules: [StoreRule] = PasswordCall.allCases.map { call in
    StoreRule("a password that its own session replaces while it is hashed counts for nothing: \(call)") { store in
        let hash = try HeldHash()
        let due = try await DueSession(store, hash)
        let old = try await due.authenticated()
        var before: SessionRecord?
        let failure = try await hash.during { () async -> ServiceError? in
            do throws(ServiceError) {
                try await call.make(due, as: old, DomainFixture.password)
                return nil
            } catch { return error }
        } _: {
            try await due.domain.accounts.changePassword(
                of: old.user, in: old.session, from: DomainFixture.password, to: "four very odd words",
                by: Fixture.admin)
            before = try await store.session(old.session.id)
        }
        #expect(failure.map(call.saysWrongPassword) == true)
        let after = try await store.session(old.session.id)
        #expect(after?.session.ending == nil && after == before)
        // Nothing is spent: the new password is taken for the same call.
        try await call.make(due, as: try await due.authenticated(), "four very odd words")
        #expect(try await store.session(old.session.id) != after)
    }
}
