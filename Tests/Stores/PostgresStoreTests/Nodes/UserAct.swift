import Cryptography
import Sessions
import StoreConformance
import Testing

@testable import PostgresStore

/// An act that has to do with one user: of a session of the user, or of what the user owns.
enum UserAct: CaseIterable {
    case refresh, login, loginByIdentity, loginByForeignToken, end, answerOfProvider, pin, passkey, identity, unlinking
    case change, changeByName, naming

    private static let start = Instant(secondsSinceEpoch: 1_800_000_000)

    /// Adds what the acts need.
    static func prepare(_ session: Session, in store: PostgresStore) async throws {
        _ = try await store.importIdentities([
            Identity(try key("p", session), userID: session.userID, linkedAt: start)
        ])
        _ = try await store.importForeignTokens([
            ForeignToken(
                digest: sha256(session.userID.bytes), userID: session.userID, clientID: session.clientID,
                device: session.device, startedAt: start, epoch: 1)
        ])
    }

    private static func key(_ provider: String, _ session: Session) throws -> Identity.Key {
        try #require(Identity.Key(provider: provider, subject: session.userID.description))
    }

    /// With a new ID token each time.
    private static func identityLogin(_ session: Session) throws -> IdentityLogin {
        let token = OneTimeToken(
            .identityToken, of: "p", id: "\(Identifier<User>(random: .system))", goodUntil: start + .seconds(9),
            at: start)
        return IdentityLogin(try key("p", session), token: token, newUsers: [], at: start)
    }

    /// Does it. Fails the test if the act changes nothing.
    func run(on session: Session, at store: PostgresStore) async throws {
        let (id, userID, start) = (session.id, session.userID, Self.start)
        let event = AuditEvent(.userChanged, at: start, by: .system, userID: userID, sessionID: id)
        let done: Void?
        switch self {
        case .refresh: done = try await store.updateSession(id) { $0.session.child += 1 }
        case .login, .loginByIdentity: done = try await logIn(session, at: store)
        case .loginByForeignToken:
            done = try await store.updateForeignToken(sha256(userID.bytes)) { $0.token = nil }
        case .end:
            done = try await store.updateSessionAndCompanions(id, by: .system) { change in
                change.session.ending = .init(reason: .loggedOut, at: start)
            }
        case .answerOfProvider:
            done = try await store.updateProviderCheck(id) { change in
                change.session.confirmation = ProviderConfirmation(provider: "p", at: start)
            }
        case .pin:
            done = try await store.updatePIN(of: id) { change in
                change.pin = PIN(
                    sessionID: id, userID: userID, macHash: sha256(id.bytes), createdAt: start, changedAt: start)
            }
        case .passkey: done = try await store.deletePasskey([1], of: userID, events: [event]) ? nil : ()
        case .identity:
            let other = Identity(try Self.key("q", session), userID: userID, linkedAt: start)
            let outcome = try await store.insertIdentity(IdentityInsertion(other, events: [event]))
            done = outcome == .inserted ? () : nil
        case .unlinking:
            done = try await store.deleteIdentity(try Self.key("p", session), of: userID, events: [event]) ? () : nil
        case .change, .changeByName: done = try await change(userID, at: store)
        case .naming:
            let login = try Self.identityLogin(session)
            done = try await store.nameUser(userID, by: login, asking: id) { _ in }
        }
        #expect(done != nil, "\(self)")
    }

    private func logIn(_ session: Session, at store: PostgresStore) async throws -> Void? {
        let (userID, clientID, deviceID) = (session.userID, session.clientID, session.device.id)
        let opened = Session(
            id: Identifier(random: .system), userID: userID, clientID: clientID, device: session.device,
            startedAt: Self.start, epoch: 1)
        if self == .login {
            return try await store.openSession(userID: userID, clientID: clientID, deviceID: deviceID) {
                $0.session = opened
            }
        }
        let login = try Self.identityLogin(session)
        return try await store.openSession(by: login, clientID: clientID, deviceID: deviceID) { $0.session = opened }
    }

    private func change(_ userID: Identifier<User>, at store: PostgresStore) async throws -> Void? {
        var reference = UserReference.id(userID)
        if self == .changeByName, let user = try await store.user(reference) { reference = .username(user.username) }
        let update = try await store.updateUser(reference) { $0.user.profile.displayName = "changed" }
        guard case .done = update else { return nil }
        return ()
    }
}
