import EventLoops
import HTTP
import HTTPServer
import Sockets
import Synchronization

/// A clock that a test moves. It stands still otherwise: no deadline comes by itself.
final class ManualClock: Sendable {
    private let nanoseconds = Atomic<Int64>(1_000_000_000)
    var read: MonotonicClock {
        { MonotonicInstant(nanoseconds: self.nanoseconds.load(ordering: .sequentiallyConsistent)) }
    }

    func advance(_ duration: Duration) {
        nanoseconds.add(duration.components.seconds * 1_000_000_000, ordering: .sequentiallyConsistent)
    }
}

/// A server on a free port of 127.0.0.1, and the clock of its deadlines.
struct ServerUnderTest: Sendable {
    let server: HTTPServer
    let loops: EventLoopGroup
    let clock: ManualClock
    let address: SocketAddress

    func client() async throws -> Client { try await Client(address) }

    func advance(_ duration: Duration) {
        clock.advance(duration)
        loops.wake()
    }

    /// Gets an answer, and waits for the end of the connection: with one loop, all that was sent before has been seen then.
    func settle() async throws {
        let client = try await client()
        _ = try await client.ask("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        _ = try await client.isClosed()
    }
}

/// Lets so many servers run at a time as libdispatch has threads for: each takes some for its loops and its clients, all tests run
/// at once, and when all threads wait for others that are not to be had, nothing goes on any more.
private actor ServerPlaces {
    static let shared = ServerPlaces()
    private var free = 16
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func take() async {
        if free > 0 { free -= 1 } else { await withCheckedContinuation { waiting.append($0) } }
    }

    func giveBack() { if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() } }
}

/// Starts a server for the time of `body`.
func withServer<Result>(
    _ configuration: HTTPServer.Configuration = HTTPServer.Configuration(), loops count: Int = 2,
    on text: String = "127.0.0.1:0", handshakes: HandshakeQueue = HandshakeQueue(),
    handler: @escaping RequestHandler = echo,
    _ body: (ServerUnderTest) async throws -> Result
) async throws -> Result {
    await ServerPlaces.shared.take()
    defer { Task { await ServerPlaces.shared.giveBack() } }
    let clock = ManualClock()
    let loops = try EventLoopGroup(count: count, clock: clock.read)
    let server = HTTPServer(
        configuration: configuration, loops: loops, handshakes: handshakes, wallClock: { 784_111_777 })
    do {
        let address = try server.listen(on: SocketAddress(text), handler: handler)
        let result = try await body(
            ServerUnderTest(server: server, loops: loops, clock: clock, address: address))
        await server.stop(deadline: .zero)
        await loops.stop()
        return result
    } catch {
        await server.stop(deadline: .zero)
        await loops.stop()
        throw error
    }
}

/// Says method, target and body.
let echo: RequestHandler = { request, _ in
    let query = request.target.query.map { "?" + $0 } ?? ""
    return Response(
        .ok, text: "\(request.method) \(request.target.path)\(query) " + String(decoding: request.body, as: UTF8.self))
}

/// Passes between two looks at what is about to come. Many tests look at the same time, which must not keep the cores busy.
func aMoment() async { try? await Task.sleep(for: .milliseconds(1)) }

/// What a test has waited for and not seen.
struct NotSeen: Error, CustomStringConvertible {
    let description: String

    init(_ sentence: String) { description = sentence }
}

/// Waits until `condition` holds, but not for ever: what should be cut off, or told to end, and is not, fails the test by
/// `sentence`.
func wait(_ sentence: String, until condition: () async -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(5)
    while await !condition() {
        if ContinuousClock.now > deadline { throw NotSeen(sentence) }
        await aMoment()
    }
}

/// Lets one side wait until the other has come so far.
actor Gate {
    private(set) var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func open() {
        isOpen = true
        for continuation in waiting { continuation.resume() }
        waiting = []
    }

    func pass() async {
        if isOpen { return }
        await withCheckedContinuation { waiting.append($0) }
    }
}

func get(_ target: String, _ fields: String = "") -> String { "GET \(target) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n" }

func post(_ target: String, _ body: String, _ fields: String = "") -> String {
    "POST \(target) HTTP/1.1\r\nHost: a\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
}

/// Echoes; under `/slow` only after it has opened `started` and passed `release`.
func slowEcho(_ started: Gate, _ release: Gate) -> RequestHandler {
    { request, context in
        if request.target.path == "/slow" {
            await started.open()
            await release.pass()
        }
        return await echo(request, context)
    }
}
