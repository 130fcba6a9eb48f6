import Foundation
import HostileServer
import SojournClient
import SojournTestKit
import Testing

/// The transport of apps against servers that do what they like.
@Suite("The transport of apps", .timeLimit(.minutes(1)))
struct URLSessionTransportTests {
    private let transport = URLSessionTransport()

    private func get(
        _ server: HostileServer, _ path: String = "/", within limit: Duration = .seconds(20)
    ) async throws(TransportFailure) -> HTTPAnswer {
        guard let url = URL(string: server.origin + path) else { throw .unreachable("no URL") }
        return try await transport.send(HTTPMessage(method: "GET", url: url), within: limit)
    }

    @Test(
        "a request is sent as it is, and the answer comes with whatever status", arguments: [200, 400, 401, 429, 503])
    func exchange(status: Int) async throws {
        let server = HostileServer { _ in
            // It says that it closes: Foundation on Linux can lose a POST on a connection that ends while it is used again.
            let fields = "Content-Length: 2\r\nConnection: close\r\nDPoP-Nonce: n\r\nSet-Cookie: a=b\r\n"
            return [.say("HTTP/1.1 \(status) X\r\n\(fields)\r\n{}")]
        }
        defer { server.stop() }
        let url = try #require(URL(string: server.origin + "/oauth/token?a=b"))
        let message = HTTPMessage(
            method: "POST", url: url,
            fields: [
                HTTPMessageField("Content-Type", "application/x-www-form-urlencoded"), HTTPMessageField("DPoP", "p"),
                HTTPMessageField("Authorization", "Bearer t"),
            ], body: Array("grant_type=refresh_token".utf8))
        for _ in 0..<2 {
            let answer = try await transport.send(message, within: .seconds(20))
            #expect(answer.status == status)
            #expect(answer["dpop-nonce"] == "n")
            #expect(answer.body == Array("{}".utf8))
        }
        let requests = server.requests
        #expect(requests.count == 2)
        for request in requests {
            #expect(request.hasPrefix("POST /oauth/token?a=b HTTP/1.1\r\n"))
            #expect(request.hasSuffix("\r\n\r\ngrant_type=refresh_token"))
            let head = request.lowercased()
            #expect(head.contains("\r\ndpop: p\r\n"))
            #expect(head.contains("\r\nauthorization: bearer t\r\n"))
            #expect(head.contains("\r\ncontent-type: application/x-www-form-urlencoded\r\n"))
            // Neither the cookie of the first answer nor a wait for a permission to send the content.
            #expect(!head.contains("cookie"))
            #expect(!head.contains("expect:"))
        }
    }

    @Test("a redirect is the answer, and is not followed", arguments: [301, 302, 303, 307, 308])
    func redirect(status: Int) async throws {
        let other = HostileServer { _ in [.say("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")] }
        let server = HostileServer { _ in
            [.say("HTTP/1.1 \(status) X\r\nLocation: \(other.origin)/\r\nContent-Length: 0\r\n\r\n")]
        }
        defer {
            server.stop()
            other.stop()
        }
        #expect(try await get(server).status == status)
        #expect(other.requests == [])
        #expect(server.requests.count == 1)
    }

    @Test("an answer that may be cached is asked for again")
    func noCache() async throws {
        let server = HostileServer { _ in
            [.say("HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 1\r\n\r\nx")]
        }
        defer { server.stop() }
        for _ in 0..<2 { #expect(try await get(server).body == Array("x".utf8)) }
        #expect(server.requests.count == 2)
    }

    @Test("an answer of 64 KiB is whole, and a longer one is cut off")
    func bound() async throws {
        let count = 64 * 1024
        for (length, isGood) in [(count, true), (count + 1, false)] {
            let server = HostileServer { _ in
                [.say("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n" + String(repeating: "x", count: length))]
            }
            defer { server.stop() }
            if isGood {
                #expect(try await get(server).body.count == length)
            } else {
                await #expect(throws: TransportFailure.tooLong) { try await get(server) }
            }
        }
        let server = HostileServer { _ in [.say("HTTP/1.1 200 OK\r\n\r\n"), .endless("xxxxxxxxxxxxxxxx")] }
        defer { server.stop() }
        await #expect(throws: TransportFailure.tooLong) { try await get(server) }
    }

    @Test("bytes that are no answer are a lost connection")
    func noAnswer() async throws {
        for steps: [HostileServer.Step] in [
            [], [.say("nonsense\r\n\r\n")], [.say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort")],
        ] {
            let server = HostileServer { _ in steps }
            defer { server.stop() }
            await #expect { try await get(server) } throws: { error in
                if case TransportFailure.unreachable(let detail) = error { !detail.contains("127") } else { false }
            }
        }
        let stopped = HostileServer { _ in [] }
        stopped.stop()
        await #expect { try await get(stopped) } throws: { error in
            if case TransportFailure.unreachable = error { true } else { false }
        }
    }

    @Test("the limit is that of the clock that was given, also for a server that sends bit by bit")
    func limit() async throws {
        let clock = ManualClock()
        let transport = URLSessionTransport(clock: clock)
        let server = HostileServer { _ in [.say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"), .hang] }
        defer { server.stop() }
        let url = try #require(URL(string: server.origin))
        let request = Task { () async -> Result<HTTPAnswer, TransportFailure> in
            do throws(TransportFailure) {
                return .success(
                    try await transport.send(HTTPMessage(method: "GET", url: url), within: .seconds(20)))
            } catch { return .failure(error) }
        }
        while clock.sleeperCount == 0 || server.requests.isEmpty { await Task.yield() }
        clock.advance(by: .seconds(19))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .seconds(1))
        #expect(await request.value == .failure(.timedOut))
    }

    @Test("a cancelled task abandons its request, and leaves the others alone")
    func cancellation() async throws {
        let release = HostileServer.Signal()
        let server = HostileServer { request in
            request.contains("/slow") ? [.hang] : [.wait(release), .say("HTTP/1.1 204 No Content\r\n\r\n")]
        }
        defer { server.stop() }
        let slow = Task { () async -> TransportFailure? in
            do throws(TransportFailure) { _ = try await get(server, "/slow") } catch { return error }
            return nil
        }
        let other = Task { try await get(server, "/other").status }
        while server.requests.count < 2 { await Task.yield() }
        slow.cancel()
        #expect(await slow.value == .cancelled)
        release.give()
        #expect(try await other.value == 204)

        let late = Task { () async -> TransportFailure? in
            withUnsafeCurrentTask { $0?.cancel() }
            do throws(TransportFailure) { _ = try await get(server, "/never") } catch { return error }
            return nil
        }
        #expect(await late.value == .cancelled)
        #expect(server.requests.count == 2)
    }

    @Test("many requests share the transport")
    func many() async throws {
        let server = HostileServer { request in
            let path = request.split(separator: " ")[1]
            return [.say("HTTP/1.1 200 OK\r\nContent-Length: \(path.utf8.count)\r\n\r\n\(path)")]
        }
        defer { server.stop() }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<50 {
                group.addTask { try await get(server, "/\(number)").body == Array("/\(number)".utf8) }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }

    @Test("the admin listener is a fault of the app, and a closed port a refused connection")
    func wrongAddresses() async throws {
        let server = try await LocalServer.start()
        try await server.createUser("anna", password: "correct horse battery")
        func error(at url: URL) async throws -> SojournError? {
            let sojourn = Sojourn(
                SojournConfiguration(server: url), store: MemoryStore(), keys: SoftwareKeys.temporary(),
                transport: transport, random: { Array(repeating: 0, count: $0) })
            return await #expect(throws: SojournError.self) {
                try await sojourn.signIn(username: "anna", password: "correct horse battery")
            }
        }
        guard case .misconfigured(let text, _)? = try await error(at: server.adminURL) else {
            Issue.record("the admin listener is taken for the server")
            return
        }
        #expect(text.contains("public listener"), "\(text)")
        try await server.stop()
        guard case .unreachable(let cause)? = try await error(at: server.url) else {
            Issue.record("a server that does not run is not unreachable")
            return
        }
        #expect(cause.detail == "connection refused (URLError -1004)", "\(cause)")
    }
}
