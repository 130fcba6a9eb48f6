import FoundationEssentials
import PageSamples
import PostgresFixture
import Repository
import TLSFixture
import Testing

/// The scripts of `Scripts`, which drive a Chromium of this machine.
enum Browser {
    /// The program under test: it lies beside the test bundle, unless `SOJOURN_BIN` names another.
    static let program = ProcessInfo.processInfo.environment["SOJOURN_BIN"] ?? beside("sojourn")

    /// A program that lies beside the test bundle.
    static func beside(_ name: String) -> String {
        let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return bundle.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/" + name
    }

    static let isInstalled = FileManager.default.isExecutableFile(atPath: "/usr/bin/chromedriver")

    /// The interpreter with the libraries of the scripts.
    static let python = [Repository.path(".build/peers/bin/python"), "-B"]

    static func run(_ script: String, _ arguments: [String]) async throws -> Tool.Result {
        let path = Repository.path("Tests/System/BrowserTests/Scripts/\(script).py")
        return try await Tool.run(python + [path] + arguments)
    }

    /// Gives `body` a folder that lasts as long as it.
    static func withFolder<Value>(_ body: (String) async throws -> Value) async throws -> Value {
        let folder = FileManager.default.temporaryDirectory.appending(path: "browser-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await body(folder.path)
    }
}

/// The one walk of the push lane, in which a cookie would show that it signs the wrong person in (seed 003).
@Suite(.enabled(if: Browser.isInstalled, "there is no chromedriver; Debian has it"))
struct BrowserWalkTests {
    @Test("a user's walk through login, account and reset: after a logout by the API the password is asked")
    func walk() async throws {
        let result = try await Browser.run("walk", [Browser.program])
        #expect(result.status == 0 && result.contains(" rules, 0 failures"), "\(result.text)")
    }

    @Test("mailboxes are proven by the mails of a server: accounts, passwords, links in other browsers, without script")
    func mails() async throws {
        let result = try await Browser.run("mails", [Browser.program])
        #expect(result.status == 0 && result.contains(" rules, 0 failures"), "\(result.text)")
    }

    @Test("pages of other origins call the server as its clients allow, and each refusal is seen")
    func origins() async throws {
        let result = try await Browser.run("cors", [Browser.program])
        #expect(result.status == 0 && result.contains(" rules, 0 failures"), "\(result.text)")
    }

    @Test(
        "an issuer with a path: no address leaves it, behind an nginx that removes it and one that does not",
        arguments: ["strips", "keeps"])
    func paths(proxy: String) async throws {
        let result = try await Browser.run("paths", [Browser.program, proxy])
        #expect(result.status == 0 && result.contains(" rules, 0 failures"), "\(result.text)")
    }
}

/// The pages in Chromium, in every look and on every way.
@Suite(.serialized, .enabled(if: Lane.isFull, "the full lane has the other walks"))
struct BrowserTests {
    /// Runs a script over the documents, written to a folder of their own.
    private static func runOverSamples(_ script: String, _ arguments: [String] = []) async throws -> Tool.Result {
        try await Browser.withFolder { folder in
            try PageSamples.write(to: folder)
            return try await Browser.run(script, [folder] + arguments)
        }
    }

    @Test(
        "axe-core, the policy and a strict parser find nothing in any page",
        arguments: ["light", "dark", "narrow", "narrow-dark", "large-text", "long-text", "right-to-left"])
    func looks(look: String) async throws {
        let result = try await Self.runOverSamples("looks", [look])
        #expect(result.status == 0 && result.contains(" pages, 0 failures"), "\(result.text)")
    }

    @Test("the console: a walk, six clicks to the reason of a logout, hostile texts, and the look of every page")
    func console() async throws {
        let result = try await Browser.run("console", [Browser.program])
        #expect(result.status == 0 && result.contains(" rules, 0 failures"), "\(result.text)")
    }

    @Test("the pictures of the manual can be made again, each small enough")
    func pictures() async throws {
        let result = try await Browser.run("pictures", [Browser.program])
        #expect(result.status == 0 && result.contains("the pictures, 0 failures"), "\(result.text)")
    }

    @Test("the ways that people go lead on: tabs, Back, stale and repeated forms, the choice of an account, the logout")
    func ways() async throws {
        let result = try await Browser.run("ways", [Browser.program])
        #expect(result.status == 0 && result.contains(" rules, 0 failures"), "\(result.text)")
    }

    @Test("the manual's tour: a login, its session and its end, seen by browser, application and admin")
    func tour() async throws {
        let result = try await Browser.run("tour", [Browser.program])
        #expect(result.status == 0 && result.contains("the tour, 0 failures"), "\(result.text)")
    }

    @Test("pages of a real server", arguments: ["login", "phone"])
    func logins(script: String) async throws {
        let result = try await Browser.withFolder { try await Browser.run(script, [Browser.program, $0]) }
        #expect(result.status == 0 && result.contains(" rules, 0 failures"), "\(result.text)")
    }

    @Test("the phone of the Swift SDK lets a desktop in, and a killed node stops neither", arguments: [1, 2])
    func nodes(count: Int) async throws {
        let database = count == 1 ? [] : [try PostgresServer.shared.newDatabase()]
        let result = try await Browser.withFolder { folder in
            try await Browser.run("nodes", [Browser.program, Browser.beside("sojourn-phone"), folder] + database)
        }
        #expect(result.status == 0 && result.contains(" rules, 0 failures"), "\(result.text)")
    }

    @Test("forms, passkeys, phones, redirects to apps and the keyboard work, the forms without script as well")
    func acts() async throws {
        let result = try await Self.runOverSamples("acts")
        #expect(result.status == 0 && result.contains(" rules, 0 failures"), "\(result.text)")
    }
}
