import Configuration
import Foundation
import HTTP
import JSON
import Server
import Sessions
import SojournTestKit
import Sockets
import Locks
import Telemetry

/// The world of the demonstration: a real server on free ports with a temporary database, and a clock that the story moves.
/// Every step is an HTTP request.
struct DemoWorld {
    private final class Clock: Sendable {
        let instant: Locked<Instant>
        init(_ start: Instant) { instant = Locked(start) }
    }

    private let clock: Clock
    private let server: SojournServer
    /// A folder for files of the story, which is deleted at its end.
    let folder: URL
    private let publicAddress: SocketAddress
    private let adminAddress: SocketAddress
    private let adminKey: String
    /// The mailboxes of the users.
    let mails: MailReceiver

    /// Starts the server.
    static func start() async throws -> DemoWorld {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "sojourn-demo-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        do {
            return try await DemoWorld(folder: folder)
        } catch {
            try? FileManager.default.removeItem(at: folder)
            throw error
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
        mails = try MailReceiver()
        (configuration.mails.relay, configuration.mails.from) = (mails.relay, "Shop <login@shop.example>")
        configuration.accounts.signUp = .open
        let environment = Environment(
            clock: WallClock { clock.instant.withLock { $0 } },
            secondsPassed: { clock.instant.withLock { $0.secondsSinceEpoch } }, logger: .silent)
        server = SojournServer(configuration, environment)
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

    /// The time in the story, in Unix seconds.
    var now: Int64 { clock.instant.withLock { $0.secondsSinceEpoch } }

    /// Moves the clock.
    func pass(_ duration: Duration) { clock.instant.withLock { $0 = $0 + duration } }

    struct Answer {
        let status: Int
        fileprivate let body: JSONValue

        /// A member of the body that is a string.
        subscript(name: String) -> String? { body[name]?.string }

        /// A member of the body that is a whole number.
        func number(_ name: String) -> Int? { body[name]?.integer.map { Int($0) } }

        /// The items of a page.
        var items: [Answer] { (body["items"]?.elements ?? []).map { Answer(status: status, body: $0) } }

        /// A member of the body that is an object.
        func object(_ name: String) -> Answer? { body[name].map { Answer(status: status, body: $0) } }
    }

    /// A call of an app. `bearer` is an access token.
    func app(
        _ method: String, _ path: String, bearer: String? = nil, _ body: [String: String]? = nil
    ) throws -> Answer {
        var request = Request(Method(rawValue: method), path)
        if let bearer { request.fields.append("Authorization", "Bearer \(bearer)") }
        return try send(request, body, to: publicAddress)
    }

    /// A call of an admin.
    func admin(_ method: String, _ path: String, _ body: (any Encodable)? = nil) throws -> Answer {
        var request = Request(Method(rawValue: method), "/admin/v1" + path)
        request.fields.append("Authorization", "Bearer \(adminKey)")
        return try send(request, body, to: adminAddress)
    }

    /// A call of OAuth.
    func form(_ path: String, _ members: [(String, String)]) throws -> Answer {
        var request = Request(.post, path)
        request.fields.append("Content-Type", "application/x-www-form-urlencoded")
        request.body = Array(members.map { "\($0.0)=\($0.1)" }.joined(separator: "&").utf8)
        return try send(request, nil, to: publicAddress)
    }

    private func send(_ request: Request, _ body: (any Encodable)?, to address: SocketAddress) throws -> Answer {
        var request = request
        if let body {
            request.fields.append("Content-Type", "application/json")
            request.body = Array(try JSONEncoder().encode(body))
        }
        let response = try HTTPExchange.send(request, to: address)
        return Answer(status: response.status.code, body: JSONValue(text: response.body) ?? .null)
    }
}
