import Configuration
import FoundationEssentials
import HTTP
import JSON
import Server
import Sessions
import Sockets
import Locks
import Telemetry

/// The world of the demonstration: a real server on free ports with a temporary database, and a clock that the story moves.
/// Every step is an HTTP request.
struct DemoWorld {
    /// An expectation of the story that was not met.
    struct Surprise: Error {
        let line: String
    }

    private final class Clock: Sendable {
        let instant: Locked<Instant>
        init(_ start: Instant) { instant = Locked(start) }
    }

    private let clock: Clock
    private let server: SojournServer
    private let folder: URL
    private let publicAddress: SocketAddress
    private let adminAddress: SocketAddress
    private let adminKey: String

    /// Starts the server.
    static func start() async throws(Failure) -> DemoWorld {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "sojourn-demo-\(UUID().uuidString.prefix(8))")
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch { throw Failure(.failed, "the folder \(folder.path) cannot be made") }
        do {
            return try await DemoWorld(folder: folder)
        } catch {
            try? FileManager.default.removeItem(at: folder)
            throw Failure(.failed, (error as? StartError)?.description ?? "\(error)")
        }
    }

    private init(folder: URL) async throws {
        self.folder = folder
        let clock = Clock(WallClock.system.now)
        self.clock = clock
        var configuration = ServerConfiguration()
        configuration.database.path = folder.appending(path: "demo.sqlite").path
        configuration.server.publicListen = .ipv4(bytes: [127, 0, 0, 1], port: 0)
        configuration.server.adminListen = .ipv4(bytes: [127, 0, 0, 1], port: 0)
        let surroundings = Environment(
            clock: WallClock { clock.instant.withLock { $0 } },
            secondsPassed: { clock.instant.withLock { $0.secondsSinceEpoch } }, logger: .silent)
        server = SojournServer(configuration, surroundings)
        let start = try await server.start()
        publicAddress = try SocketAddress(String(start.addresses.public.dropFirst("http://".count)))
        adminAddress = try SocketAddress(String(start.addresses.admin.dropFirst("http://".count)))
        adminKey = start.firstAdminKey ?? ""
    }

    /// Stops the server and deletes its files.
    func end() async {
        await server.stop(deadline: .seconds(5))
        try? FileManager.default.removeItem(at: folder)
    }

    /// The addresses of the server.
    var addresses: (public: String, admin: String) { ("http://\(publicAddress)", "http://\(adminAddress)") }

    /// The time in the story.
    var now: Instant { clock.instant.withLock { $0 } }

    /// Moves the clock.
    func pass(_ duration: Duration) { clock.instant.withLock { $0 = $0 + duration } }

    /// An answer.
    struct Answer {
        let status: Int
        let body: JSONValue
    }

    /// A call of an app. `bearer` is its access token.
    func app(
        _ method: Method, _ path: String, bearer: String? = nil, idempotencyKey: String? = nil, _ body: JSONValue? = nil
    ) throws -> Answer {
        var request = Request(method, path)
        if let bearer { request.fields.append("Authorization", "Bearer \(bearer)") }
        if let idempotencyKey { request.fields.append("Idempotency-Key", idempotencyKey) }
        return try send(request, body, to: publicAddress)
    }

    /// A call of an admin.
    func admin(_ method: Method, _ path: String, _ body: JSONValue? = nil) throws -> Answer {
        var request = Request(method, "/admin/v1" + path)
        request.fields.append("Authorization", "Bearer \(adminKey)")
        return try send(request, body, to: adminAddress)
    }

    private func send(_ request: Request, _ body: JSONValue?, to address: SocketAddress) throws -> Answer {
        var request = request
        if let body {
            request.fields.append("Content-Type", "application/json")
            request.body = body.text()
        }
        let response = try HTTPExchange.send(request, to: address)
        return Answer(status: response.status.code, body: JSONValue(text: response.body) ?? .null)
    }
}

/// An app on a device. It stores only the tokens of its answers.
struct DemoDevice {
    let world: DemoWorld
    let id: String
    let name: String
    var accessToken = ""
    var refreshToken = ""
    var sessionID = ""
    var issuedAt: Int64 = 0
    var expiresAt: Int64 = 0

    init(_ world: DemoWorld, id: String, name: String) {
        self.world = world
        self.id = id
        self.name = name
    }

    /// The user types a password, which takes half a minute.
    mutating func logIn(password: String) throws -> DemoWorld.Answer {
        world.pass(.seconds(30))
        let answer = try world.app(
            .post, "/v1/login",
            .object([
                "username": .string("anna"), "password": .string(password),
                "device": .object(["id": .string(id), "name": .string(name), "platform": .string("ios")]),
            ]))
        if answer.status == 200 { store(answer.body) }
        return answer
    }

    /// The app refreshes its token, and stores the answer unless the network loses it.
    mutating func refresh(losingAnswer: Bool = false) throws -> DemoWorld.Answer {
        let answer = try world.app(
            .post, "/v1/refresh",
            .object(["refresh_token": .string(refreshToken), "device_id": .string(id)]))
        if answer.status == 200, !losingAnswer { store(answer.body) }
        return answer
    }

    /// Whether an API that asks the server (`GET /v1/verify`) lets the access token in.
    func isLetIn() throws -> Bool { try world.app(.get, "/v1/verify", bearer: accessToken).status == 200 }

    /// Stores the members of a token answer.
    mutating func store(_ answer: JSONValue) {
        accessToken = answer["access_token"]?.string ?? ""
        refreshToken = answer["refresh_token"]?.string ?? ""
        sessionID = answer["session_id"]?.string ?? ""
        issuedAt = answer["issued_at"]?.integer ?? 0
        expiresAt = answer["expires_at"]?.integer ?? 0
    }
}
