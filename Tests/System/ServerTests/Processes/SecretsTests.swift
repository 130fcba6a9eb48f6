import Cryptography
import FoundationEssentials
import HTTP
import JSON
import Server
import Sessions
import Sockets
import Synchronization
import Telemetry
import Testing

@testable import Configuration
@testable import sojourn

/// A whole life of a server, and then a search for everything in it that was secret.
@Suite("Secrets", .timeLimit(.minutes(10)))
struct SecretsTests {
    /// The log of a server, kept.
    private final class Log: Sendable {
        let bytes = Mutex<[UInt8]>([])
        var logger: Logger {
            Logger(level: .debug, sink: LogSink { line in self.bytes.withLock { $0 += line } }, clock: { 0 })
        }
    }

    /// Every secret that came up, and the forms in which it must not be found.
    private struct Secrets {
        private(set) var forms: [(name: String, bytes: [UInt8])] = []

        /// A secret text; `bytes` is what it encodes, if anything.
        mutating func add(_ name: String, _ text: String, encoding bytes: [UInt8]? = nil) {
            for bytes in [Array(text.utf8), bytes].compactMap(\.self) {
                forms.append((name, bytes))
                forms.append((name + ", hex", Array(Hex.encode(bytes).utf8)))
                forms.append((name + ", base64url", Array(Base64URL.encode(bytes).utf8)))
            }
        }

        /// A token of parts, the last of which proves the whole.
        mutating func addToken(_ name: String, _ text: String) {
            let last = text.split(whereSeparator: { $0 == "." || $0 == "_" }).last.map(String.init) ?? text
            add(name, text, encoding: Base64URL.decode(last))
            // The tag of a refresh token is its last 16 bytes.
            if text.hasPrefix("sjr_"), let bytes = Base64URL.decode(String(text.dropFirst(4))) {
                add(name + " tag", String(text.suffix(21)), encoding: Array(bytes.suffix(16)))
            }
            if text.hasPrefix("eyJ") { add(name + " signature", last) }
        }

        /// The names of those that `haystack` holds.
        func found(in haystack: [UInt8]) -> [String] {
            // Every form's first eight bytes, so that one pass finds them all.
            var byHead: [UInt64: [Int]] = [:]
            for (index, form) in forms.enumerated() where form.bytes.count >= 8 {
                byHead[Self.head(form.bytes[..<8]), default: []].append(index)
            }
            var found: Set<String> = []
            var head: UInt64 = 0
            for (end, byte) in haystack.enumerated() {
                head = head << 8 | UInt64(byte)
                guard end >= 7, let candidates = byHead[head] else { continue }
                for index in candidates where haystack[(end - 7)...].starts(with: forms[index].bytes) {
                    found.insert(forms[index].name)
                }
            }
            return found.sorted()
        }

        private static func head(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
    }

    /// A server through which every kind of secret passes.
    private struct World {
        let folder = StartingFolder()
        let clock = StartingClock()
        let log = Log()
        let server: SojournServer
        let addresses: Addresses
        let adminKey: String
        var secrets = Secrets()

        init() async throws {
            var environment = clock.environment()
            environment.logger = log.logger
            server = SojournServer(folder.configuration, environment)
            let start = try await server.start()
            addresses = start.addresses
            adminKey = try #require(start.firstAdminKey)
            secrets.addToken("first admin key", adminKey)
            let text = try #require(folder.text("db.root-key"))
            let line = try #require(text.split(separator: "\n").last { !$0.hasPrefix("#") })
            secrets.add("root key", String(line), encoding: Hex.decode(line))
        }

        func call(_ method: HTTP.Method, _ path: String, bearer: String? = nil, _ body: String = "") throws -> JSONValue
        {
            let answer = try ask(method, addresses.public + path, bearer: bearer, body)
            #expect((200..<300).contains(answer.status), "\(path): \(answer.json)")
            return answer.json
        }

        func admin(_ method: HTTP.Method, _ path: String, _ body: String = "") throws -> JSONValue {
            let answer = try ask(method, addresses.admin + "/admin/v1" + path, bearer: adminKey, body)
            #expect((200..<300).contains(answer.status), "\(path): \(answer.json)")
            return answer.json
        }

        /// Remembers the tokens of an answer. Returns them.
        mutating func keep(_ name: String, _ answer: JSONValue) throws -> (refresh: String, access: String) {
            let tokens = (
                try #require(answer["refresh_token"]?.string), try #require(answer["access_token"]?.string)
            )
            secrets.addToken("refresh token of \(name)", tokens.0)
            secrets.addToken("rolling token of \(name)", tokens.1)
            return tokens
        }
    }

    @Test("neither the database nor the log at its most talkative holds anything that opens something")
    func wholeLife() async throws {
        var world = try await World()
        let passwords = (1...4).map { "the password number \($0) of anna" }
        for password in passwords { world.secrets.add("password", password) }
        let tokens = try logInAndRefresh(&world, passwords[0])
        try misplaceTokens(world, tokens)
        try changePasswords(&world, tokens, passwords)
        try makeKeys(&world)
        try expectNothing(in: world, "while it runs")
        let log = world.log.bytes.withLock { $0 }
        #expect(String(decoding: log, as: UTF8.self).contains("/v1/login"), "the log is not the one to search")
        #expect(world.secrets.found(in: log) == [])
        await world.server.stop(deadline: .seconds(1))
        try expectNothing(in: world, "after the stop")
    }

    private func login(_ password: String) -> String {
        #"{"username":"anna","password":"\#(password)","device":{"id":"phone"}}"#
    }

    /// Logins, a failed one and an unreadable one among them, and refreshes over rotations of the signing key.
    private func logInAndRefresh(
        _ world: inout World, _ password: String
    ) throws -> (refresh: String, access: String) {
        _ = try world.admin(.post, "/users", #"{"username":"anna","password":"\#(password)"}"#)
        var tokens = try world.keep("login", try world.call(.post, "/v1/login", login(password)))
        let wrong = "a wrong password, perhaps of another service"
        world.secrets.add("wrong password", wrong)
        let path = world.addresses.public + "/v1/login"
        #expect(try ask(.post, path, login(wrong)).status == 401)
        #expect(try ask(.post, path, login(wrong) + "}").status == 400)
        for round in 1...5 {
            world.clock.advance(.seconds(3600))
            let body = #"{"refresh_token":"\#(tokens.refresh)"}"#
            tokens = try world.keep("refresh \(round)", try world.call(.post, "/v1/refresh", body))
            _ = try world.admin(.post, "/keys/rotate", #"{"immediately":true}"#)
        }
        return tokens
    }

    /// Tokens where they do not belong: in a query, in a path, with a letter too many.
    private func misplaceTokens(_ world: World, _ tokens: (refresh: String, access: String)) throws {
        let (publicURL, adminURL) = (world.addresses.public, world.addresses.admin + "/admin/v1")
        _ = try ask(.get, publicURL + "/v1/verify?access_token=\(tokens.access)")
        _ = try ask(.get, publicURL + "/v1/verify/\(tokens.refresh)")
        _ = try ask(.get, publicURL + "/v1/me", bearer: tokens.access + "x")
        _ = try ask(.post, publicURL + "/v1/refresh", #"{"refresh_token":"\#(tokens.refresh)x"}"#)
        _ = try ask(.get, adminURL + "/users", bearer: world.adminKey + "x")
        _ = try ask(.delete, adminURL + "/sessions/\(tokens.refresh)", bearer: world.adminKey)
        _ = try ask(.get, publicURL + "/\(tokens.refresh)")
    }

    /// Passwords changed, set and reset, and a token that holds another.
    private func changePasswords(
        _ world: inout World, _ tokens: (refresh: String, access: String), _ passwords: [String]
    ) throws {
        let change = #"{"old_password":"\#(passwords[0])","new_password":"\#(passwords[1])"}"#
        _ = try world.call(.put, "/v1/me/password", bearer: tokens.access, change)
        _ = try world.admin(.put, "/users/username:anna/password", #"{"new_password":"\#(passwords[2])"}"#)
        for isUsed in [false, true, false] {
            let reset = try world.admin(.post, "/users/username:anna/password-reset")
            let token = try #require(reset["reset_token"]?.string)
            world.secrets.addToken("reset token", token)
            guard isUsed else { continue }
            let body = #"{"reset_token":"\#(token)","new_password":"\#(passwords[3])"}"#
            _ = try world.call(.post, "/v1/password-reset", body)
        }
        _ = try world.admin(.patch, "/clients/mobile", #"{"token_style":"single"}"#)
        let single = try world.call(.post, "/v1/login", login(passwords[3]))
        world.secrets.addToken("single token", try #require(single["access_token"]?.string))
    }

    /// Keys of admins and clients, and what a client gets for its own.
    private func makeKeys(_ world: inout World) throws {
        let key = try world.admin(.post, "/admin-keys", #"{"name":"deploy"}"#)
        world.secrets.addToken("admin key", try #require(key["admin_key"]?.string))
        let clientBody = """
            {"client_id":"backend","token_endpoint_auth_method":"client_secret_basic",\
            "grant_types":["client_credentials"]}
            """
        let client = try world.admin(.post, "/clients", clientBody)
        let secret = try #require(client["client_secret"]?.string)
        world.secrets.addToken("client secret", secret)
        let credentials = Data("backend:\(secret)".utf8).base64EncodedString()
        world.secrets.add("client credentials", credentials)
        let fields: Fields = [
            "Authorization": "Basic \(credentials)", "Content-Type": "application/x-www-form-urlencoded",
        ]
        let granted = try HTTPExchange.send(
            Request(.post, "/oauth/token", fields: fields, body: Array("grant_type=client_credentials".utf8)),
            to: SocketAddress(String(world.addresses.public.dropFirst("http://".count))))
        let token = JSONValue(text: granted.body)?["access_token"]?.string
        world.secrets.addToken("client's token", try #require(token))
    }

    /// Searches every file of the database.
    private func expectNothing(in world: World, _ moment: Comment) throws {
        var searched = 0
        for name in ["db", "db-wal", "db-shm", "db.lock"] where world.folder.exists(name) {
            let bytes = Array(try Data(contentsOf: URL(filePath: world.folder.file(name))))
            searched += bytes.count
            #expect(world.secrets.found(in: bytes) == [], moment)
        }
        #expect(searched > 10_000)
    }

    @Test("the search finds a secret in each of its forms")
    func search() throws {
        var secrets = Secrets()
        secrets.addToken("token", "sjr_" + Base64URL.encode((0..<42).map { UInt8($0) }))
        for form in secrets.forms {
            let haystack = Array(repeating: UInt8(7), count: 100) + form.bytes + Array("the end".utf8)
            #expect(secrets.found(in: haystack).contains(form.name), "\(form.name)")
        }
        #expect(secrets.found(in: Array(repeating: 7, count: 1000)) == [])
    }

    @Test("a stolen database mints nothing: without its root key no server starts on it, and no token is good")
    func stolenDatabase() async throws {
        var world = try await World()
        _ = try world.admin(.post, "/users", #"{"username":"anna"}"#)
        let login = try world.admin(.post, "/users/username:anna/sessions")
        let tokens = try world.keep("login", login)
        let session = try #require(login["session_id"]?.string.flatMap { Identifier<Session>($0) })
        let thief = StartingFolder()
        for name in ["db", "db-wal"] {
            try FileManager.default.copyItem(atPath: world.folder.file(name), toPath: thief.file(name))
        }
        let guess = SecretKey.random()
        let stolen = SojournServer(
            thief.configuration, world.clock.environment(rootKey: Hex.encode(guess.bytes)))
        let error = await #expect(throws: StartError.self) { try await stolen.start() }
        guard case .wrongRootKeys? = error else {
            Issue.record("\(error?.description ?? "it started")")
            return
        }
        // Everything that a token says is in the database; what is missing is the key of its tag.
        let forger = RefreshTokenCoder(rootKeys: try #require(RootKeys([guess])))
        let genuineID = try #require(Base64URL.decode(String(tokens.refresh.dropFirst(4))))[1]
        for serial in 1...3 as ClosedRange<UInt64> {
            let forged = forger.encode(RefreshToken(sessionID: session, serial: serial))
            var bytes = try #require(Base64URL.decode(String(forged.dropFirst(4))))
            bytes[1] = genuineID
            for token in [forged, "sjr_" + Base64URL.encode(bytes)] {
                let answer = try ask(
                    .post, world.addresses.public + "/v1/refresh", #"{"refresh_token":"\#(token)"}"#)
                #expect(answer.json["code"]?.string == "malformed")
            }
        }
        _ = try world.call(.post, "/v1/refresh", #"{"refresh_token":"\#(tokens.refresh)"}"#)
        await world.server.stop(deadline: .seconds(1))
    }
}
