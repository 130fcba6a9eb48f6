import FoundationEssentials
import PageSamples
import Repository
import TLSFixture
import Testing

/// The pages in a Chromium of this machine, by the scripts of `Scripts`: the full lane installs it.
@Suite(.serialized, .enabled(if: Lane.isFull, "the full lane has a browser"))
struct BrowserTests {
    /// The program, beside the test bundle, unless `SOJOURN_BIN` names another.
    private static let program: String =
        ProcessInfo.processInfo.environment["SOJOURN_BIN"]
        ?? {
            let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
            return bundle.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/sojourn"
        }()

    /// Runs a script over the documents, written to a folder of their own.
    private static func run(_ script: String, _ arguments: [String] = []) async throws -> Tool.Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "pages-\(UUID().uuidString)")
        try PageSamples.write(to: folder.path)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await Tool.run(
            [
                Repository.path(".build/peers/bin/python"), "-B",
                Repository.path("Tests/System/BrowserTests/Scripts/\(script).py"), folder.path,
            ] + arguments)
    }

    @Test(
        "axe-core, the policy and a strict parser find nothing in any page",
        arguments: ["light", "dark", "narrow", "narrow-dark", "large-text", "long-text", "right-to-left"])
    func looks(look: String) async throws {
        let result = try await Self.run("looks", [look])
        #expect(result.status == 0 && result.contains(" pages, 0 failures"), "\(result.text)")
    }

    @Test("a user's walk through login, account and reset: after a logout by the API the password is asked")
    func walk() async throws {
        let result = try await Tool.run(
            [
                Repository.path(".build/peers/bin/python"), "-B",
                Repository.path("Tests/System/BrowserTests/Scripts/walk.py"), Self.program,
            ])
        #expect(result.status == 0 && result.contains(" rules, 0 failures"), "\(result.text)")
    }

    @Test("the console: a walk, six clicks to the reason of a logout, hostile texts, and the look of every page")
    func console() async throws {
        let result = try await Tool.run(
            [
                Repository.path(".build/peers/bin/python"), "-B",
                Repository.path("Tests/System/BrowserTests/Scripts/console.py"), Self.program,
            ])
        #expect(result.status == 0 && result.contains(" rules, 0 failures"), "\(result.text)")
    }

    @Test("the ways that people go lead on: tabs, Back, stale and repeated forms, the choice of an account, the logout")
    func ways() async throws {
        let result = try await Tool.run([
            Repository.path(".build/peers/bin/python"), "-B",
            Repository.path("Tests/System/BrowserTests/Scripts/ways.py"), Self.program,
        ])
        #expect(result.status == 0 && result.contains(" rules, 0 failures"), "\(result.text)")
    }

    @Test("the manual's tour: a login, its session and its end, seen by browser, application and admin")
    func tour() async throws {
        let result = try await Tool.run([
            Repository.path(".build/peers/bin/python"), "-B",
            Repository.path("Tests/System/BrowserTests/Scripts/tour.py"), Self.program,
        ])
        #expect(result.status == 0 && result.contains("the tour, 0 failures"), "\(result.text)")
    }

    @Test("pages of a real server", arguments: ["login", "phone"])
    func logins(script: String) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "\(script)-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let program = ProcessInfo.processInfo.environment["SOJOURN_BINARY"] ?? Repository.path(".build/debug/sojourn")
        let result = try await Tool.run([
            Repository.path(".build/peers/bin/python"), "-B",
            Repository.path("Tests/System/BrowserTests/Scripts/\(script).py"), program, folder.path,
        ])
        #expect(result.status == 0 && result.contains(" rules, 0 failures"), "\(result.text)")
    }

    @Test("forms, passkeys, phones, redirects to apps and the keyboard work, the forms without script as well")
    func acts() async throws {
        let result = try await Self.run("acts")
        #expect(result.status == 0 && result.contains(" rules, 0 failures"), "\(result.text)")
    }
}
