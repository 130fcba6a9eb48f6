import Cryptography
import Sessions

/// Values that the tests of this target begin with.
enum Sample {
    static let start = Instant(secondsSinceEpoch: 1_800_000_000)
    static let absoluteMaximum = Duration.seconds(31_536_000)
    static let policy = RefreshPolicy(absoluteMaximum: absoluteMaximum)
    static let settings = Settings()

    static func user(_ edit: (inout User) -> Void = { _ in }) -> User {
        var user = User(id: Identifier(random: .system), username: "anna", createdAt: start)
        edit(&user)
        return user
    }

    static func client(_ edit: (inout Client) -> Void = { _ in }) -> Client {
        var client = Client(id: Client.mobileID, createdAt: start, epoch: 1)
        edit(&client)
        return client
    }

    static func session(of user: User = user(), keyThumbprint: String? = nil, epoch: Int64 = 1) -> Session {
        Session(
            id: Identifier(random: .system), userID: user.id, clientID: Client.mobileID,
            device: Device(id: "phone-1"), keyThumbprint: keyThumbprint, startedAt: start, epoch: epoch)
    }

    /// One refresh under the given circumstances.
    static func decide(
        _ session: inout Session, serial: UInt64, at now: Instant, key: UInt64? = nil,
        clientID: String? = Client.mobileID, deviceID: String? = nil, proof: String? = nil, user: User? = user(),
        client: Client? = client(), settings: Settings = settings, policy: RefreshPolicy = policy
    ) -> RefreshDecision {
        policy.renew(
            RefreshAttempt(
                serial: serial, clientID: clientID, deviceID: deviceID, requestKey: key, provenKeyThumbprint: proof),
            &session, user: user, client: client, settings: settings, now: now)
    }
}
