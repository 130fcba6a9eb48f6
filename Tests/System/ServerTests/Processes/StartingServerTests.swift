import Cryptography
import FoundationEssentials
import Glibc
import HTTP
import JSON
import SQLiteStore
import Server
import Sessions
import Sockets
import Telemetry
import Testing

@testable import Configuration
@testable import sojourn

@Suite("Starting a server", .timeLimit(.minutes(10)))
struct StartingServerTests {
    let folder = StartingFolder()
    let clock = StartingClock()

    func failure(of server: SojournServer) async -> StartError? {
        do throws(StartError) {
            _ = try await server.start()
            await server.stop(deadline: .seconds(1))
            return nil
        } catch { return error }
    }

    @Test("an answer of the engine itself has a request id too")
    func requestIDOfTheEngine() async throws {
        let server = SojournServer(folder.configuration, clock.environment())
        let address = try await server.start().addresses.public
        let socket = try ClientSocket(
            to: SocketAddress(String(address.dropFirst("http://".count))), timeout: .seconds(60))
        try socket.send(Array("GET / HTTP/1.1\r\n\r\n".utf8))
        var answer: [UInt8] = []
        while case let more = try socket.receive(), !more.isEmpty { answer += more }
        let text = String(decoding: answer, as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 400 "))
        #expect(text.contains("\r\nX-Request-Id: "))
        await server.stop(deadline: .seconds(1))
    }

    @Test("a first start makes keys, the client mobile and an admin key; a second one keeps them")
    func firstAndSecondStart() async throws {
        let first = SojournServer(folder.configuration, clock.environment())
        let start = try await first.start()
        let key = try #require(start.firstAdminKey)
        #expect(folder.mode("db.root-key") == 0o600)
        #expect(folder.mode("db") == 0o600)
        #expect(folder.mode("db.sock") == 0o600)
        let client = try ask(.get, start.addresses.admin + "/admin/v1/clients/mobile", bearer: key)
        #expect(client.status == 200)
        #expect(client.json["token_endpoint_auth_method"]?.string == "none")
        #expect(client.json["grant_types"]?.elements == [.string("refresh_token"), .string("login")])
        #expect(client.json["scope"]?.string == "offline_access account")
        #expect(try ask(.get, start.addresses.admin + "/admin/v1/clients/mobile", bearer: key + "x").status == 401)
        let keys = try ask(.get, start.addresses.public + "/oauth/jwks").json
        #expect(keys["keys"]?.elements.compactMap { $0["alg"]?.string }.sorted() == ["ES256", "RS256"])
        let rootKey = folder.text("db.root-key")
        await first.stop(deadline: .seconds(1))

        let second = SojournServer(folder.configuration, clock.environment())
        let again = try await second.start()
        #expect(again.firstAdminKey == nil)
        #expect(folder.text("db.root-key") == rootKey)
        #expect(try ask(.get, again.addresses.admin + "/admin/v1/clients/mobile", bearer: key).status == 200)
        #expect(try ask(.get, again.addresses.public + "/oauth/jwks").json == keys)
        await second.stop(deadline: .seconds(1))
    }

    @Test("a deleted default client does not come back at the next start")
    func deletedClientStaysDeleted() async throws {
        let first = SojournServer(folder.configuration, clock.environment())
        let start = try await first.start()
        let path = "/admin/v1/clients/mobile"
        #expect(try ask(.delete, start.addresses.admin + path, bearer: start.firstAdminKey).status == 204)
        await first.stop(deadline: .seconds(1))
        let second = SojournServer(folder.configuration, clock.environment())
        let again = try await second.start()
        #expect(try ask(.get, again.addresses.admin + path, bearer: start.firstAdminKey).status == 404)
        await second.stop(deadline: .seconds(1))
    }

    @Test("SOJOURN_ADMIN_KEY takes the place of the key that a first start would make, and stays one key")
    func adminKeyOfTheEnvironment() async throws {
        let secret = "an-admin-key-of-32-characters-or-more"
        for _ in 0..<2 {
            let server = SojournServer(folder.configuration, clock.environment(adminKey: secret))
            let start = try await server.start()
            #expect(start.firstAdminKey == nil)
            let list = try ask(.get, start.addresses.admin + "/admin/v1/admin-keys", bearer: secret)
            #expect(list.status == 200)
            #expect(list.json["items"]?.elements.count == 1)
            await server.stop(deadline: .seconds(1))
        }
        let server = SojournServer(folder.configuration, clock.environment(adminKey: "another" + secret))
        let path = try await server.start().addresses.admin + "/admin/v1/admin-keys"
        #expect(try ask(.get, path, bearer: secret).status == 401)
        #expect(try ask(.get, path, bearer: "another" + secret).json["items"]?.elements.count == 1)
        await server.stop(deadline: .seconds(1))
        let short = await failure(of: SojournServer(folder.configuration, clock.environment(adminKey: "short")))
        #expect(short?.description.hasPrefix("SOJOURN_ADMIN_KEY: an admin key needs at least 32") == true)
    }

    @Test("a missing root key file is never made again")
    func missingRootKey() async throws {
        #expect(await failure(of: SojournServer(folder.configuration, clock.environment())) == nil)
        try FileManager.default.removeItem(atPath: folder.file("db.root-key"))
        let error = await failure(of: SojournServer(folder.configuration, clock.environment()))
        guard case .rootKeys(.missing)? = error else {
            Issue.record("\(error?.description ?? "it started")")
            return
        }
        #expect(!folder.exists("db.root-key"))
        #expect(error?.description.contains("restore it from its backup") == true)
    }

    @Test("a root key that is not the database's is refused, wherever it comes from")
    func wrongRootKey() async throws {
        #expect(await failure(of: SojournServer(folder.configuration, clock.environment())) == nil)
        let other = Hex.encode(RandomSource.system.bytes(32))
        let byVariable = await failure(of: SojournServer(folder.configuration, clock.environment(rootKey: other)))
        #expect(byVariable?.description.hasPrefix("SOJOURN_ROOT_KEY does not hold the root key") == true)
        let good = try #require(folder.text("db.root-key"))
        folder.write("db.root-key", other + "\n")
        let byFile = await failure(of: SojournServer(folder.configuration, clock.environment()))
        #expect(byFile?.description.contains("db.root-key does not hold the root key") == true)
        // A new key above the old one mints, and what the old one sealed is still opened.
        folder.write("db.root-key", other + "\n" + good)
        #expect(await failure(of: SojournServer(folder.configuration, clock.environment())) == nil)
    }

    @Test("with SOJOURN_ROOT_KEY no key file is made")
    func rootKeyOfTheEnvironment() async throws {
        let key = Hex.encode(RandomSource.system.bytes(32))
        #expect(await failure(of: SojournServer(folder.configuration, clock.environment(rootKey: key))) == nil)
        #expect(!folder.exists("db.root-key"))
        #expect(await failure(of: SojournServer(folder.configuration, clock.environment(rootKey: key))) == nil)
        guard case .rootKeys(.missing)? = await failure(of: SojournServer(folder.configuration, clock.environment()))
        else {
            Issue.record("it started without its root key")
            return
        }
    }

    @Test("a port in use is told with its key, and everything taken so far is let go")
    func portInUse() async throws {
        let first = SojournServer(folder.configuration, clock.environment())
        let start = try await first.start()
        let other = StartingFolder()
        var configuration = other.configuration
        configuration.server.adminListen = try SocketAddress(String(start.addresses.admin.dropFirst("http://".count)))
        let error = await failure(of: SojournServer(configuration, clock.environment()))
        #expect(error?.description.hasPrefix("server.admin_listen: 127.0.0.1:") == true)
        #expect(error?.description.contains("in use") == true)
        configuration.server.adminListen = .ipv4(bytes: [127, 0, 0, 1], port: 0)
        #expect(await failure(of: SojournServer(configuration, clock.environment())) == nil)
        await first.stop(deadline: .seconds(1))
    }

    @Test("a second server on one database is refused, and the first goes on")
    func databaseInUse() async throws {
        let first = SojournServer(folder.configuration, clock.environment())
        let start = try await first.start()
        guard
            case .database(.alreadyOpen(_))? = await failure(
                of: SojournServer(folder.configuration, clock.environment()))
        else {
            Issue.record("two servers share a database")
            return
        }
        let socket = SocketAddress.unix(path: start.addresses.adminSocket)
        #expect(try HTTPExchange.send(Request(.get, "/readyz"), to: socket).status == .ok)
        await first.stop(deadline: .seconds(1))
        #expect(!folder.exists("db.sock"))
    }

    @Test("a newer database, a foreign file and a missing folder are refused")
    func impossibleDatabases() async throws {
        #expect(await failure(of: SojournServer(folder.configuration, clock.environment())) == nil)
        #expect(
            folder.execute(
                "INSERT INTO schema_migrations VALUES (999, 'future', x'00', 0, 999, 999)"))
        let newer = await failure(of: SojournServer(folder.configuration, clock.environment()))
        guard case .database(.newerDatabase(_, version: 999, _, _))? = newer else {
            Issue.record("\(newer?.description ?? "it started")")
            return
        }
        let foreign = StartingFolder()
        foreign.write("db", "This is a letter to my landlord, and no database at all.")
        let text = foreign.text("db")
        guard
            case .database(.notADatabase(_))? = await failure(
                of: SojournServer(foreign.configuration, clock.environment()))
        else {
            Issue.record("a letter was taken for a database")
            return
        }
        #expect(foreign.text("db") == text)
        var missing = folder.configuration
        missing.database.path = folder.file("no/such/db")
        guard case .database(.directoryMissing(_))? = await failure(of: SojournServer(missing, clock.environment()))
        else {
            Issue.record("a missing folder was not told")
            return
        }
    }

    @Test("a path too long for the admin socket is told before anything is made")
    func socketPathTooLong() async {
        var configuration = folder.configuration
        configuration.database.path = folder.file(String(repeating: "d", count: 100))
        let error = await failure(of: SojournServer(configuration, clock.environment()))
        #expect(error?.description.contains("longer than the 107 bytes") == true)
        #expect((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) == [])
    }

    @Test("the ready file says where the server answers, and goes when it stops")
    func readyFile() async throws {
        let path = folder.file("ready.json")
        folder.write("ready.json", "left over from a server that was killed")
        let server = SojournServer(folder.configuration, clock.environment(), readyFilePath: path)
        let start = try await server.start()
        let content = try #require(JSONValue(text: Array(folder.text("ready.json", orFail: true).utf8)))
        #expect(content["public"]?.string == start.addresses.public)
        #expect(content["admin"]?.string == start.addresses.admin)
        #expect(content["pid"]?.integer == Int64(getpid()))
        #expect(try ask(.get, start.addresses.public + "/readyz").status == 200)
        #expect(!folder.exists("ready.json.new"))
        await server.stop(deadline: .seconds(1))
        #expect(!folder.exists("ready.json"))
        #expect(throws: SocketError.self) { try ask(.get, start.addresses.public + "/readyz") }

        let lost = SojournServer(
            folder.configuration, clock.environment(), readyFilePath: folder.file("no/such/folder.json"))
        #expect(await failure(of: lost)?.description.contains("cannot be written") == true)
        #expect(await failure(of: SojournServer(folder.configuration, clock.environment())) == nil)
    }

    @Test("settings that a smaller absolute maximum forbids stop the start with a sentence")
    func settingsBeyondTheMaximum() async throws {
        #expect(await failure(of: SojournServer(folder.configuration, clock.environment())) == nil)
        var configuration = folder.configuration
        configuration.sessions.absoluteMaximum = .seconds(86400)
        let error = await failure(of: SojournServer(configuration, clock.environment()))
        #expect(error?.description.contains("sessions.absolute_max_lifetime") == true)
        #expect(error?.description.contains("86400") == true)
    }

    @Test("a reset token lives as long as is configured, and an outstanding one keeps its end")
    func resetTokenLifetime() async throws {
        var configuration = folder.configuration
        configuration.limits.resetTokenLifetime = .seconds(600)
        let server = SojournServer(configuration, clock.environment())
        let start = try await server.start()
        let users = start.addresses.admin + "/admin/v1/users"
        let key = start.firstAdminKey
        #expect(try ask(.post, users, bearer: key, #"{"username":"ada"}"#).status == 201)
        let reset = try ask(.post, users + "/username:ada/password-reset", bearer: key).json
        #expect(reset["expires_at"]?.integer == clock.wall.now.secondsSinceEpoch + 600)
        let token = try #require(reset["reset_token"]?.string)
        await server.stop(deadline: .seconds(1))
        let second = SojournServer(folder.configuration, clock.environment())
        let again = try await second.start()
        clock.advance(.seconds(600))
        let late = try ask(
            .post, again.addresses.public + "/v1/password-reset",
            #"{"reset_token":"\#(token)","new_password":"a long enough password"}"#)
        #expect(late.status == 400)
        await second.stop(deadline: .seconds(1))
    }

    @Test("tokens name the configured issuer, or else the address that was really taken")
    func issuer() async throws {
        let server = SojournServer(folder.configuration, clock.environment())
        let start = try await server.start()
        let metadata = "/.well-known/oauth-authorization-server"
        #expect(try ask(.get, start.addresses.public + metadata).json["issuer"]?.string == start.addresses.public)
        await server.stop(deadline: .seconds(1))
        var configuration = folder.configuration
        configuration.server.issuer = "https://login.example"
        let named = SojournServer(configuration, clock.environment())
        let again = try await named.start()
        #expect(try ask(.get, again.addresses.public + metadata).json["issuer"]?.string == "https://login.example")
        await named.stop(deadline: .seconds(1))
    }
}

extension StartingFolder {
    func text(_ name: String, orFail: Bool) throws -> String { try #require(text(name)) }
}
