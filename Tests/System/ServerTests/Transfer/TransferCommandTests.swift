import Cryptography
import FoundationEssentials
import Glibc
import HTTP
import JSON
import Sessions
import Testing

@testable import Transfer
@testable import sojourn

@Suite("Export and import: the program", .timeLimit(.minutes(5)))
struct TransferCommandTests {
    let commands = CommandLineTests()
    var folder: StartingFolder { commands.folder }

    private func copyRootKey(to name: String) throws {
        try FileManager.default.copyItem(
            atPath: folder.file("sojourn.sqlite.root-key"), toPath: folder.file(name + ".root-key"))
    }

    @Test("a server's sessions go on under another database, if the root key comes along")
    func move() async throws {
        let (process, url) = try await commands.startServer()
        try await commands.expect("user create ada", exits: 0, input: "correct horse\n")
        let login = try ask(
            .post, url + "/v1/login", #"{"username":"ada","password":"correct horse","device":{"id":"d1"}}"#)
        let token = try #require(login.json["refresh_token"]?.string)
        try await commands.expect("export", exits: 5, errors: "a server has the database sojourn.sqlite open")
        try await commands.expect("import x.jsonl", exits: 3, errors: "x.jsonl cannot be read")
        folder.write("x.jsonl", "")
        try await commands.expect("import x.jsonl", exits: 5, errors: "stop it first")
        process.signal(SIGTERM)
        #expect(await process.result().status == 0)

        let export = try await commands.program.run(["export", "--output", "all.jsonl"])
        #expect(export.status == 0 && export.output.isEmpty)
        #expect(
            export.errors
                == "2 signing keys, 1 admin key, 1 client, 1 user, 1 session are in all.jsonl; move the root key along\n"
        )
        #expect(folder.mode("all.jsonl") == 0o600)
        #expect(!folder.exists("all.jsonl.part"))
        #expect(folder.text("all.jsonl")?.contains(token) == false)

        let other = "--database sqlite:other.sqlite"
        try await commands.expect(
            "import all.jsonl \(other)", exits: 4, errors: "there is no root key other.sqlite.root-key")
        folder.write("other.sqlite.root-key", Hex.encode(RandomSource.system.bytes(32)))
        try await commands.expect(
            "import all.jsonl \(other)", exits: 4, errors: "line 2: the root key here does not open")
        #expect(!folder.exists("other.sqlite"))
        unlink(folder.file("other.sqlite.root-key"))
        try copyRootKey(to: "other.sqlite")
        try await commands.expect("import all.jsonl \(other)", exits: 0, output: "1 user, 1 session")
        try await commands.expect("import all.jsonl \(other)", exits: 0, output: "2 were there already")

        unlink(folder.file("ready.json"))
        let next = try commands.program.start(CommandLineTests.serve + ["--database", "sqlite:other.sqlite"])
        #expect(await next.waitForFile("ready.json"))
        let ready = try #require(JSONValue(text: Array(folder.text("ready.json", orFail: true).utf8)))
        let refresh = try ask(
            .post, try #require(ready["public"]?.string) + "/v1/refresh", #"{"refresh_token":"\#(token)"}"#)
        #expect(refresh.status == 200)
        #expect(refresh.json["session_id"] == login.json["session_id"])
        next.signal(SIGTERM)
        #expect(await next.result().status == 0)
    }

    @Test("a team comes from another system: users with their hashes, tokens with theirs")
    func moveIn() async throws {
        let token = "opaque-token-of-another-system"
        let hash = Hex.encode(sha256(Array(token.utf8)))
        let lines = [
            #"{"type":"user","username":"ada","password_hash":"$2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK"}"#,
            #"{"type":"foreign_token","sha256":"\#(hash)","username":"ada","device_id":"d1","started_at":\#(time(nil) - 9)}"#,
            #"{"type":"user","username":"bob","password_hash":"md5"}"#,
            #"{"type":"user","username":"cid","email_verified":true}"#,
        ]
        try await commands.expect(
            "import -", exits: 4, output: "read 1 user, 1 foreign token",
            errors: "line 3: the password hash is none of",
            input: lines.joined(separator: "\n"))
        try await commands.expect(
            "import -", exits: 4, errors: "line 1: 'email_verified' needs an 'email'", input: lines[3])
        let (process, url) = try await commands.startServer()
        let login = try ask(
            .post, url + "/v1/login", #"{"username":"ada","password":"U*U*","device":{"id":"d2"}}"#)
        #expect(login.status == 200)
        let refresh = try ask(.post, url + "/v1/refresh", #"{"refresh_token":"\#(token)"}"#)
        #expect(refresh.status == 200)
        #expect(refresh.json["device_id"]?.string == "d1")
        process.signal(SIGTERM)
        #expect(await process.result().status == 0)
    }
}
