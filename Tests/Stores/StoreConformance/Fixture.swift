import Cryptography
import FoundationEssentials
import JOSE
import Sessions

/// Values for rules: valid, distinct where they should be, and the same shape in every backend.
enum Fixture {
    /// A moment to count from.
    static let start = Instant(secondsSinceEpoch: 1_800_000_000)

    static let admin = Origin(actor: "admin:k1", remoteAddress: "192.0.2.7", requestID: "r-1")

    static func userID() -> Identifier<User> { Identifier(random: .system) }

    static func sessionID() -> Identifier<Session> { Identifier(random: .system) }

    static func user(_ username: String = "anna", id: Identifier<User> = userID()) -> User {
        User(id: id, username: username, createdAt: start)
    }

    /// A user with every member set.
    static func fullUser(_ username: String = "Zoë") -> User {
        var user = User(
            id: userID(), username: username,
            profile: User.Profile(
                email: "zoe@example.org", phoneNumber: "+41 44 000 00 00", displayName: "Zoë 🦊", givenName: "Zoë",
                familyName: "Zürcher-Å", country: "CH"),
            passwordHash: "$scrypt$ln=17,r=8,p=1$c2FsdA$aGFzaA", offlineSessionMax: .seconds(86_400),
            disabledByAdmin: User.LoginDisabling(effective: .immediate, since: start + .seconds(1), note: "lost phone"),
            disabledByUser: User.LoginDisabling(effective: .onExpiry, since: start + .seconds(2)),
            createdAt: start)
        user.wrongPasswords = User.WrongPasswords(
            count: 7, lastAt: start + .seconds(3), lockedUntil: start + .seconds(63))
        user.profile.isEmailVerified = true
        user.isAnonymous = true
        return user
    }

    static func session(
        of user: Identifier<User>, client: String = Client.mobileID, device: String = "phone", at: Instant = start,
        id: Identifier<Session> = sessionID()
    ) -> Session {
        Session(id: id, userID: user, clientID: client, device: Device(id: device), startedAt: at, epoch: 1)
    }

    /// A session with every member set.
    static func fullSession(of user: Identifier<User>) -> Session {
        var session = Session(
            id: sessionID(), userID: user, clientID: Client.mobileID,
            device: Device(
                id: "6F9619FF-8B86-D011-B42D-00CF4FC964FF", name: "Anna's iPhone", platform: "ios", appVersion: "3.2.1"),
            authenticationMode: .biometric, scope: Scope("openid profile") ?? .empty,
            resources: ["https://one.example/api", "sojourn"], authenticationMethods: ["pwd", "otp"],
            keyThumbprint: "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I",
            deviceKey: "EdDSA.11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
            startedAt: start, epoch: 7, parent: 41, child: 42, childAnsweredAt: start + .seconds(5),
            childRequestKey: .max, childConfirmedAt: start + .seconds(9), ending: nil,
            presence: UserPresence(
                key: "EdDSA.PUAXw-hDiVqStwqnTRt-vJyYLM8uxJaMwM1V8Sr0Zgw", provenAt: start + .seconds(6),
                passwordAt: start + .seconds(7), identityAt: start + .seconds(10)),
            confirmation: ProviderConfirmation(provider: "acme", at: start + .seconds(8)))
        session.attestation = "genuine"
        session.encryptionKey = EncryptionKey(AgreementKey.generate().publicKey)?.text
        return session
    }

    static func client(_ id: String = "web", epoch: Int64 = 2) -> Client {
        Client(id: id, createdAt: start, epoch: epoch)
    }

    /// A client with every member set but its keys, which do not stand beside a secret.
    static func fullClient(_ id: String = "backend", epoch: Int64 = 2) -> Client {
        var client = Client(
            id: id, name: "Das Backend", authenticationMethod: .clientSecretBasic,
            secretHash: [UInt8](repeating: 0xCD, count: 32),
            grantTypes: [.clientCredentials, .refreshToken, .password],
            scope: Scope("read write") ?? .empty, tokenStyle: .single,
            offlineSessionIdle: .seconds(100),
            offlineSessionMax: .seconds(200), accessTokenLifetime: .seconds(50), refreshAfter: .seconds(10),
            createdAt: start, epoch: epoch, dpop: .required, userPresenceMaxAge: .seconds(900))
        client.tokenEpoch = epoch + 3
        client.isAuthenticationMethodPinned = true
        client.earlierSecret = EarlierSecret(hash: [UInt8](repeating: 0xCE, count: 32), endsAt: start + .seconds(60))
        client.anonymousUsers = true
        client.scopeClaims = ScopeClaims(text: #"{"a/b":["x","\"y\""],"openid":["groups"]}"#) ?? .preset
        client.resources = ["https://one.example/api", "urn:example:two"]
        client.allowedOrigins = ["https://one.example", "capacitor://localhost"].compactMap { try? WebOrigin($0) }
        client.page.redirectURIs = ["com.example.app:/callback", "http://[::1]/callback"]
        client.page.postLogoutRedirectURIs = ["https://one.example/bye"]
        client.page.redirectHops = ["https://two.example/", "com.example.app:/home"]
        client.page.requiresPushedRequests = true
        client.page.pkce = .optional
        client.page.browserSession = .shared
        client.page.loginMethods = [.password, .provider("acme")]
        client.page.loginNames = .email
        client.page.backchannelLogoutURI = "https://one.example/logout"
        client.backchannel.deliveryMode = .ping
        client.backchannel.notificationEndpoint = "https://one.example/ping"
        client.page.initiateLoginURI = "https://one.example/login"
        client.page.remoteScope = Scope("read")
        client.page.minimumBond = .none
        client.page.appleAppIDs = ["ABCDE12345.com.example.one", "ABCDE12345.com.example.two"]
        let fingerprint = Array(repeating: "AB", count: 32).joined(separator: ":")
        client.page.androidApps = ["one", "two"].compactMap { AndroidApp("com.example.\($0)/\(fingerprint)") }
        client.page.requiresLogoutSession = true
        client.page.idTokenAlgorithm = .rs256
        client.eventStream = eventStream
        return client
    }
}

extension Fixture {
    /// A stream that has everything that one can have.
    static var eventStream: EventStream {
        var stream = EventStream(
            id: "stream-1",
            delivery: .push(endpoint: "https://one.example/events", sealedAuthorization: [0, 1, 254, 255]),
            requested: [.sessionRevoked, .credentialChange], description: "one \"quoted\"", since: start)
        (stream.status, stream.statusReason) = (.paused, "maintenance")
        stream.verification = EventStream.Verification(state: "state", requestedAt: start + .seconds(1))
        stream.verificationRequestedAt = start + .seconds(1)
        return stream
    }

    /// A client that proves itself by either of two keys.
    static func signingClient(_ id: String = "signer", epoch: Int64 = 2) throws -> Client {
        let keys = [SigningKey.generate(.es256), SigningKey.generate(.eddsa)].map { JWK(publishing: $0.publicKey) }
        return Client(
            id: id, authenticationMethod: .privateKeyJWT,
            keys: try ClientKeys(text: Array(JSONEncoder().encode(JWKSet(keys)))), createdAt: start, epoch: epoch)
    }
}

extension Store {
    /// Adds a user and gives it back.
    func given(_ user: User) async throws -> User {
        guard try await insertUser(user, from: .admin, events: []) else { throw Unexpected("the username is taken") }
        return user
    }

    /// Starts a session and gives it back.
    func given(_ session: Session) async throws -> Session {
        let opened: Void? = try await openSession(
            userID: session.userID, clientID: session.clientID, deviceID: session.device.id
        ) { $0.session = session }
        guard opened != nil else { throw Unexpected("no such user") }
        return session
    }

    /// Deletes the sessions with a recorded end, as clean-up does when these are a month old.
    func forgetEnded() async throws(StoreError) {
        let far = Instant(secondsSinceEpoch: 4_000_000_000)
        _ = try await sweepSessions(
            .ended(by: far), limit: 1000, by: RefreshPolicy(absoluteMaximum: .seconds(31_536_000)),
            at: CleanUpTime(earliest: far, settled: far)
        ) { _ in false }
    }

    /// The session, which must exist.
    func stored(_ id: Identifier<Session>) async throws -> Session {
        guard let record = try await session(id) else { throw Unexpected("no such session") }
        return record.session
    }
}

/// A step that prepares a rule has failed.
struct Unexpected: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
