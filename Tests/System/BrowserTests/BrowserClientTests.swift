import FoundationEssentials
import Repository
import TLSFixture
import Testing

/// The client in TypeScript, compiled for a browser, and the scripts of `Tests/Conformance/browser`.
private enum BrowserClient {
    static let isBuildable = Browser.isInstalled && FileManager.default.isExecutableFile(atPath: "/usr/bin/tsc")

    /// The folder of the compiled files.
    static let compiled = Task {
        let folder = Repository.path(".build/conformance/browser")
        let sources = Repository.path("Sources/Clients/TypeScript")
        let result = try await Tool.run(["tsc", "-p", sources, "--outDir", folder])
        try #require(result.status == 0, "\(result.text)")
        return folder
    }

    /// The folder of the modules that the archive of a release holds.
    static let bundled = Task {
        let folder = Repository.path(".build/conformance/browser-archive")
        let result = try await Tool.run(["node", Repository.path("Sources/Clients/TypeScript/bundle.mjs"), folder])
        try #require(result.status == 0, "\(result.text)")
        return folder
    }

    static func script(_ name: String) -> String { Repository.path("Tests/Conformance/browser/\(name).py") }

    static func run(_ name: String, _ arguments: [String], limit: Int = 300) async throws -> Tool.Result {
        try await Tool.run(Browser.python + [script(name)] + arguments, limit: limit)
    }
}

/// What a single-page app meets in a browser, with a real server.
@Suite(.serialized, .enabled(if: BrowserClient.isBuildable, "there is no chromedriver or no tsc; Debian has both"))
struct BrowserClientTests {
    /// One origin in the push lane, two with the client's list of origins in the full lane as well.
    @Test(
        "an app in a browser: logins by redirect, popup and passkey, tabs, Back, and a token within 100 µs",
        arguments: Lane.cases(push: ["one"], full: ["one", "two"]))
    func walk(origins: String) async throws {
        let folder = try await BrowserClient.bundled.value
        let result = try await BrowserClient.run("walk", [Browser.program, folder, origins])
        #expect(result.status == 0 && result.contains(" rules, 0 failures"), "\(result.text)")
    }

    @Test(
        "two tabs renew beside each other, a fifth of the answers is lost, tabs are killed: one session, and no reuse")
    func twoTabs() async throws {
        let folder = try await BrowserClient.compiled.value
        let count = Lane.rounds(push: 25, full: 1000)
        let result = try await BrowserClient.run("two_tabs", [Browser.program, folder, "\(count)"], limit: 1200)
        #expect(result.status == 0 && result.contains("two tabs, 0 failures"), "\(result.text)")
    }

    @Test(
        "IndexedDB: swaps, keys, other schemas, lost connections, and a tab frozen inside a swap",
        .enabled(if: Lane.isFull))
    func storage() async throws {
        let result = try await BrowserClient.run("storage", [try await BrowserClient.compiled.value])
        #expect(result.status == 0 && result.contains(" rules, 0 failures"), "\(result.text)")
    }

    @Test(
        "evicted data, half a database, a full disk and a page without a database delete nothing",
        .enabled(if: Lane.isFull))
    func faults() async throws {
        let folder = try await BrowserClient.compiled.value
        let result = try await BrowserClient.run("faults", [Browser.program, folder])
        #expect(result.status == 0 && result.contains(" rules, 0 failures"), "\(result.text)")
    }

    /// Nothing is sealed in a browser, a phone lets others in, and a profile is no file: the driver says so, and no more.
    @Test("the client in Chromium keeps every rule", .enabled(if: Lane.isFull))
    func conformance() async throws {
        let folder = try await BrowserClient.compiled.value
        let words = [Browser.beside("sojourn-conformance"), "--jobs", "2", "--driver"]
        let driver = Browser.python + [BrowserClient.script("driver"), folder]
        let result = try await Tool.run(words + driver, limit: 1200)
        #expect(result.status == 0 && result.contains(" 0 failed"), "\(result.text)")
        let skipped = result.text.split(separator: "\n").filter { $0.hasPrefix("skipped ") }
        let mayBeSkipped = ["4-lost-approval: ", "16-biometry: ", "17-", "18-"]
        let isPinned = skipped.allSatisfy { line in mayBeSkipped.contains { line.hasPrefix("skipped " + $0) } }
        #expect(isPinned, "\(result.text)")
    }
}
