import Dispatch
import FoundationEssentials
import Glibc
import HTTP
import JSON
import Locks
import PostgresFixture
import Repository
import Server
import Sockets
import TLSFixture
import Testing

@testable import sojourn

/// What `docker/compose.yaml` puts together with its profile `postgres`, without containers: two nodes with the environment that it
/// gives them, on one PostgreSQL, behind nginx with the configuration that it holds; only addresses are others.
@Suite("Docker Compose: two nodes behind nginx", .timeLimit(.minutes(5)))
struct ComposeTests {
    private static let adminKey = "an-admin-key-for-two-nodes-behind-nginx"
    private let folder = StartingFolder()
    /// Each node is in a container of its own.
    private let homes = ["node-1": StartingFolder(), "node-2": StartingFolder()]

    /// The lines below `heading` that are further in than it, as they are written.
    static func section(_ heading: String) throws -> [Substring] {
        let bytes = try #require(
            FileManager.default.contents(atPath: Repository.root.appending(path: "docker/compose.yaml").path))
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        let start = try #require(lines.firstIndex { $0.drop { $0 == " " } == heading }, "\(heading)")
        let depth = lines[start].prefix { $0 == " " }.count
        return Array(lines[(start + 1)...].prefix { $0.prefix { $0 == " " }.count > depth })
    }

    /// The configuration of nginx: Compose gives `$` for `$$`.
    private func nginxConfiguration() throws -> String {
        var text = try Self.section("content: |").joined(separator: "\n").replacing("$$", with: "$")
        for (old, new) in [
            ("server node-1:8080", "server unix:\(folder.path)/node-1.sock"),
            ("server node-2:8080", "server unix:\(folder.path)/node-2.sock"),
            (
                "listen 80;",
                "listen unix:\(folder.path)/proxy.sock; listen unix:\(folder.path)/network.sock proxy_protocol;"
            ),
        ] {
            #expect(text.contains(old))
            text = text.replacing(old, with: new)
        }
        return text
    }

    /// The environment of a node after these variables were set.
    private func environment(_ database: String, _ variables: [String: String]) throws -> [String: String] {
        var environment: [String: String] = [:]
        let node = try Self.section("x-node: &node")
        let start = try #require(node.firstIndex { $0.hasSuffix(" environment:") })
        let depth = node[start].prefix { $0 == " " }.count
        for line in node[(start + 1)...].prefix(while: { $0.prefix { $0 == " " }.count > depth }) {
            let words = line.drop { $0 == " " }.split(separator: ":", maxSplits: 1)
            guard words.count == 2, words[0].hasPrefix("SOJOURN_") else { continue }
            var value = words[1].drop { $0 == " " }
            if value.hasPrefix("${"), value.hasSuffix("}"), let colon = value.firstRange(of: ":-") {
                let name = String(value[..<colon.lowerBound].dropFirst(2))
                value = variables[name].map { $0[...] } ?? value[colon.upperBound...].dropLast()
            }
            environment[String(words[0])] = String(value)
        }
        #expect(
            Set(environment.keys) == [
                "SOJOURN_DATABASE_URL", "SOJOURN_ROOT_KEY", "SOJOURN_SERVER_ISSUER", "SOJOURN_SERVER_TRUSTED_PROXIES",
            ])
        #expect(environment["SOJOURN_DATABASE_URL"] == "postgres://sojourn:${POSTGRES_PASSWORD:-}@postgres/sojourn")
        environment["SOJOURN_DATABASE_URL"] = database
        // nginx comes through a socket here.
        environment["SOJOURN_SERVER_TRUSTED_PROXIES", default: ""] += ",unix"
        environment["SOJOURN_ADMIN_KEY"] = Self.adminKey
        return environment
    }

    private func startNode(_ name: String, _ environment: [String: String]) async throws -> CommandLineProcess {
        let home = try #require(homes[name])
        unlink(home.file("ready.json"))
        var program = CommandLineProgram(home)
        program.environment = environment
        let process = try program.start([
            "serve", "--public", "unix:\(folder.file(name)).sock", "--admin", "127.0.0.1:0", "--ready-file",
            "ready.json",
        ])
        try #require(await process.waitForFile("ready.json"), "\(process.errors() ?? "")")
        return process
    }

    /// Starts nginx and returns when it listens; it ends with `stopNginx`, or by itself after 100 seconds.
    private func startNginx() async throws {
        let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(folder.file($0));" }
        folder.write("default.conf", try nginxConfiguration())
        folder.write(
            "nginx.conf",
            """
            daemon off; master_process off; pid \(folder.file("nginx.pid"));
            events { }
            http {
              access_log off; \(paths.joined(separator: " "))
              set_real_ip_from unix:; real_ip_header proxy_protocol; include \(folder.file("default.conf"));
            }
            """)
        // Threads of Dispatch block signals, and nginx inherits that: only SIGKILL ends it.
        let words = [
            "timeout", "-k", "1", "100", "/usr/sbin/nginx", "-e", folder.file("nginx.log"), "-c",
            folder.file("nginx.conf"),
        ]
        DispatchQueue(label: "nginx").async { [folder] in
            guard let result = try? Tool.runAndWait(words) else { return }
            folder.write("nginx.end", result.text)
        }
        let deadline = ContinuousClock.now + .seconds(30)
        // It listens at one after the other.
        let limited = [proxy, .unix(path: folder.file("network.sock"))]
        while limited.contains(where: { (try? ClientSocket(to: $0, timeout: .seconds(1))) == nil }) {
            try #require(
                ContinuousClock.now < deadline && !folder.exists("nginx.end"), "\(folder.text("nginx.end") ?? "")")
            usleep(5000)
        }
    }

    private func stopNginx() {
        if let pid = folder.text("nginx.pid")?.split(separator: "\n").first.flatMap({ pid_t($0) }) {
            kill(pid, SIGKILL)
        }
    }

    private var proxy: SocketAddress { .unix(path: folder.file("proxy.sock")) }

    /// A request of an app to nginx.
    private func call(_ path: String, _ body: JSONValue) -> Response? {
        let fields: Fields = ["Content-Type": "application/json"]
        return try? HTTPExchange.send(Request(.post, path, fields: fields, body: body.text()), to: proxy)
    }

    @Test("a session that began behind nginx goes on at either node, while each is killed, stopped and started again")
    func twoNodes() async throws {
        let rootKey = String(repeating: "5a", count: 32)
        let environment = try environment(PostgresServer.shared.newDatabase(), ["SOJOURN_ROOT_KEY": rootKey])
        // At once, on an empty database.
        async let first = startNode("node-1", environment)
        async let second = startNode("node-2", environment)
        var nodes = [try await first, try await second]
        var program = CommandLineProgram(folder)
        program.environment = environment
        let made = try await program.run(["user", "create", "ada"], input: "correct horse\n")
        #expect(made.status == 0, "\(made)")
        try await startNginx()
        defer { stopNginx() }

        let clients = try (0..<4).map { number in
            let login = call(
                "/v1/login",
                .object([
                    "username": .string("ada"), "password": .string("correct horse"),
                    "device": .object(["id": .string("d\(number)")]),
                ]))
            #expect(login?.status.code == 200, "\(String(decoding: login?.body ?? [], as: UTF8.self))")
            return try #require(JSONValue(text: login?.body ?? [])?["refresh_token"]?.string)
        }
        let load = Load(clients) { [self] in call("/v1/refresh", .object(["refresh_token": .string($0)])) }
        for round in 0..<2 {
            for (index, name) in ["node-1", "node-2"].enumerated() {
                try await load.awaitRefreshes(60)
                // Killed, its socket file stays, which refuses; stopped, it goes.
                nodes[index].signal(round == 0 ? SIGKILL : SIGTERM)
                try await load.awaitRefreshes(60)
                let end = await nodes[index].result()
                #expect(end.status == (round == 0 ? -SIGKILL : 0), "\(end)")
                nodes[index] = try await startNode(name, environment)
            }
        }
        try await load.awaitRefreshes(60)
        #expect(await load.end() == [])
        let events = try await program.run(["session", "explain", "--user", "ada", "--device", "d0"])
        #expect(events.output.contains("The session is active."), "\(events)")
        for node in nodes { node.signal(SIGTERM) }
        for node in nodes { #expect(await node.result().status == 0) }
    }

    /// Docker's own address, from which its host comes, is among those that the nodes believe.
    @Test("a client chooses no address", arguments: ["198.51.100.9", "172.18.0.1"])
    func addresses(_ address: String) async throws {
        let rootKey = String(repeating: "5a", count: 32)
        let node = try await startNode(
            "node-1", environment(PostgresServer.shared.newDatabase(), ["SOJOURN_ROOT_KEY": rootKey]))
        try await startNginx()
        defer { stopNginx() }
        let forged = ["", "203.0.113.7", "203.0.113.7, 172.18.0.1", "203.0.113.7, unix:"]
        for chain in forged { #expect(try logIn(from: address, forwarded: chain).contains(" 401 "), "\(chain)") }

        let ready = try #require(homes["node-1"]?.text("ready.json"))
        let url = try #require(JSONValue(text: Array(ready.utf8))?["admin"]?.string)
        let port = try #require(url.split(separator: ":").last.flatMap { UInt16($0) })
        let admin = try #require(SocketAddress(host: "127.0.0.1", port: port))
        let request = Request(.get, "/admin/v1/events", fields: ["Authorization": "Bearer \(Self.adminKey)"], body: [])
        let events = JSONValue(text: try HTTPExchange.send(request, to: admin).body)?["items"]?.elements ?? []
        let failed = events.filter { $0["event"]?.string == "login_failed" }
        #expect(failed.map { $0["remote_address"]?.string } == forged.map { _ in address })
        node.signal(SIGTERM)
        #expect(await node.result().status == 0)
    }

    /// What nginx answers to a login of an unknown user that comes to it from `address` and says of itself to come from elsewhere.
    private func logIn(from address: String, forwarded chain: String) throws -> String {
        let body = #"{"username":"nobody","password":"wrong","device":{"id":"d"}}"#
        let fields = ["X-Forwarded-For", "X-Real-IP", "X-Client-IP"].map { "\($0): \(chain)\r\n" }.joined()
        let socket = try ClientSocket(to: .unix(path: folder.file("network.sock")), timeout: .seconds(30))
        try socket.send(
            Array(
                ("PROXY TCP4 \(address) 172.18.0.2 40000 80\r\n"
                    + "POST /v1/login HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(fields)"
                    + "Forwarded: for=203.0.113.7\r\nContent-Type: application/json\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)").utf8))
        return String(decoding: try socket.receive(), as: UTF8.self)
    }

    @Test("without a root key no node starts, and says what is missing")
    func noRootKey() async throws {
        var program = CommandLineProgram(folder)
        program.environment = try environment(PostgresServer.shared.newDatabase(), [:])
        let result = try await program.run(["serve", "--public", "127.0.0.1:0", "--admin", "127.0.0.1:0"])
        #expect(result.status == 1)
        #expect(
            result.errors.contains("SOJOURN_ROOT_KEY") && result.errors.contains("64 hexadecimal digits"), "\(result)")
    }

    /// Clients that refresh without a pause; whatever is not an answer with tokens is noted.
    private final class Load: Sendable {
        private let isOver = Locked(false)
        private let count = Locked(0)
        private let problems = Locked<[String]>([])
        private let group = DispatchGroup()

        init(_ tokens: [String], _ refresh: @escaping @Sendable (String) -> Response?) {
            for token in tokens {
                DispatchQueue(label: "client").async(group: group) { [self] in
                    var token = token
                    while !isOver.withLock({ $0 }) {
                        let answer = refresh(token)
                        if let next = JSONValue(text: answer?.body ?? [])?["refresh_token"]?.string,
                            answer?.status.code == 200
                        {
                            token = next
                            count.withLock { $0 += 1 }
                        } else {
                            problems.withLock {
                                $0.append(
                                    "\(answer?.status.code ?? 0) \(String(decoding: answer?.body ?? [], as: UTF8.self))"
                                )
                            }
                            return
                        }
                    }
                }
            }
        }

        /// Waits for so many more, a minute at most, or for a problem.
        func awaitRefreshes(_ more: Int) async throws {
            let goal = count.withLock { $0 } + more
            let deadline = ContinuousClock.now + .seconds(60)
            while count.withLock({ $0 }) < goal, problems.withLock({ $0.isEmpty }), ContinuousClock.now < deadline {
                try await Task.sleep(for: .milliseconds(2))
            }
            #expect(count.withLock { $0 } >= goal, "\(problems.withLock { $0 })")
        }

        func end() async -> [String] {
            isOver.withLock { $0 = true }
            await withCheckedContinuation { continuation in group.notify(queue: .global()) { continuation.resume() } }
            return problems.withLock { $0 }
        }
    }
}
