public import Sessions
import Locks

/// A clock that a test moves.
public final class MovableClock: Sendable {
    private let instant: Locked<Instant>

    /// A clock that stands at `start`.
    public init(_ start: Instant) { instant = Locked(start) }

    /// The clock, as the domain takes it.
    public var wallClock: WallClock { WallClock { self.instant.withLock { $0 } } }

    /// Where it stands.
    public var now: Instant { instant.withLock { $0 } }

    /// Moves it.
    public func advance(by duration: Duration) { instant.withLock { $0 = $0 + duration } }
}

/// A random history of everything that users, admins, clients and time do, played to the real domain on a real store and
/// to `SessionModel` at once. The first difference ends it.
public struct RandomHistory {
    /// When a history begins.
    public static let start = Instant(secondsSinceEpoch: 1_800_000_000)
    static let absoluteMaximum = Duration.seconds(20_000_000)
    static let clientIDs = ["mobile", "tablet"]
    static let devices = ["phone", "watch", "desk"]
    static let origin = Origin(actor: "test")

    let store: any Store
    let services: Services
    let accounts: AccountService
    let admin: Administration
    let clock: MovableClock
    var random: SeededGenerator
    var model = SessionModel(absoluteMaximum: absoluteMaximum.wholeSeconds)
    var userIDs: [Identifier<User>] = []
    var sessionIDs: [Identifier<Session>] = []
    /// Every refresh token ever issued, with its session and serial.
    var refreshTokens: [(text: String, session: Int, serial: UInt64)] = []
    /// Every access token ever issued, beside the model's.
    var accessTokenIssuer: [String] = []

    var now: Int64 { clock.now.secondsSinceEpoch }

    /// What differs, in one sentence.
    public struct Difference: Error, CustomStringConvertible {
        /// The sentence.
        public var description: String
    }

    /// A history on `store`, which is empty and has the same clock.
    public init(seed: UInt64, store: any Store, clock: MovableClock) async throws {
        random = SeededGenerator(seed: seed)
        self.store = store
        self.clock = clock
        let domain = try await DomainFixture(store, clock.wallClock, absoluteMaximum: Self.absoluteMaximum)
        (services, accounts, admin) = (domain.services, domain.accounts, domain.admin)
        for id in Self.clientIDs {
            _ = try await admin.createClient(id: id, by: Self.origin) { _ in nil }
            model.clients[id] = SessionModel.ModelClient()
        }
        for index in 0..<3 { try await createUser(index) }
    }

    mutating func createUser(_ index: Int) async throws {
        let user = try await admin.createUser(
            username: "user-\(index)", password: "three odd words 0", profile: .init(), offlineSessionMax: nil,
            by: Self.origin)
        userIDs.append(user.id)
        model.users.append(SessionModel.ModelUser(password: 0))
    }

    /// Plays `count` operations.
    public mutating func play(_ count: Int) async throws {
        for step in 0..<count {
            do { try await playOne() } catch { throw Difference(description: "step \(step): \(error)") }
        }
    }

    private mutating func playOne() async throws {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<12: try await login()
        case 12..<50: try await refresh()
        case 50..<60: try await authenticate()
        case 60..<65: try await changeMode()
        case 65..<80: passTime()
        case 80..<83: try await logOut()
        case 83..<85: try await endSession()
        case 85..<86: try await revokeUser()
        case 86..<90: try await switchLogins()
        case 90..<92: try await changePassword()
        case 92..<93: try await endDevice()
        case 93..<95: try await changeSettings()
        case 95..<97: try await changeLimits()
        case 97..<98: try await remakeClient()
        case 98..<99: try await compareLists()
        default: if Int.random(in: 0..<8, using: &random) == 0 { try await revokeAll() }
        }
    }

    func expect<Value: Equatable>(_ real: Value, _ expected: Value, _ what: String) throws {
        if real != expected { throw Difference(description: "\(what): real \(real), model \(expected), at \(now)") }
    }

    /// What the real domain answered, error or not.
    func attempt<Value: Sendable>(
        _ body: () async throws(ServiceError) -> Value
    ) async -> Result<Value, ServiceError> {
        do throws(ServiceError) { return .success(try await body()) } catch { return .failure(error) }
    }

    mutating func pick<Item>(_ items: [Item]) -> Item? { items.randomElement(using: &random) }

    /// Time passes, often to where something is about to happen.
    private mutating func passTime() {
        let spans: [Int64] = [1, 29, 30, 60, model.interval - 1, model.interval, model.interval + 1, 3600]
        var step = pick(spans) ?? 1
        if Int.random(in: 0..<6, using: &random) == 0, let session = pick(model.sessions.suffix(6)) {
            let ends = [session.renewedAt + model.idle(of: session), model.end(of: session)]
            step = (pick(ends) ?? now) - now + Int64.random(in: -1...1, using: &random)
        }
        if step > 0 { clock.advance(by: .seconds(step)) }
    }

    mutating func take(_ grant: TokenGrant, session index: Int, serial: UInt64) throws {
        try expect(grant.expiresAt.secondsSinceEpoch, model.addToken(index, now: now), "expiry")
        accessTokenIssuer.append(grant.accessToken)
        guard let text = grant.refreshToken else { throw Difference(description: "no refresh token") }
        refreshTokens.append((text, index, serial))
        try expect(grant.session.child, serial, "serial")
    }
}
