import Foundation
import Repository
import SojournTestKit
import Testing

/// Clients in several languages, each checked by the program `sojourn-conformance`.
@Suite("Conformance of clients", .timeLimit(.minutes(60)))
struct ConformanceTests {
    /// Checks that a client passes every scenario but those that it may skip, and skips no other.
    private static func expect(_ run: Conformance.Run, isOf client: Conformance.Client) {
        #expect(run.failed.isEmpty && run.status == 0, "\(run.text)")
        #expect(run.skipped == client.skipped.sorted(), "\(run.text)")
        #expect(run.passed == Conformance.scenarioCount - client.skipped.count, "\(run.text)")
    }

    @Test("SojournClient keeps every rule")
    func swift() async throws {
        // With its log, which is checked as well.
        let run = try await Conformance.run(driver: [Conformance.program("sojourn-phone"), "--log"])
        Self.expect(run, isOf: .swift)
    }

    @Test("the client in TypeScript keeps every rule in Node", .enabled(if: TypeScriptReference.isBuildable))
    func typeScript() async throws {
        Self.expect(try await Conformance.run(driver: try await TypeScriptReference.shared.value), isOf: .typeScript)
    }

    /// In the push lane one scenario for each thing that a language does in its own way: the store, the keys, JSON, and time.
    @Test("the client in Kotlin keeps every rule")
    func kotlin() async throws {
        let driver = try await KotlinReference.driver()
        guard !Lane.isFull else { return Self.expect(try await Conformance.run(driver: driver), isOf: .kotlin) }
        let few = ["1-locked", "4-lost-answer", "6-killed", "7-foreign-json", "11-one-flight", "14-key"]
        let run = try await Conformance.run(only: few, driver: driver)
        #expect(run.passed == few.count && run.status == 0, "\(run.text)")
    }

    @Test("a driver skips what its client lacks, and no other scenario")
    func capabilities() async throws {
        let driver = ["sh", "-c", #"read -r line; echo '{"id": 1, "lacks": ["biometry", "files", "wings"]}'"#]
        let run = try await Conformance.run(only: ["17", "18", "16-biometry"], driver: driver)
        #expect(run.skipped == (["16-biometry"] + Conformance.ofBiometry).sorted())
        #expect(run.status == 0 && run.text.hasSuffix("0 passed, 0 failed, 7 skipped\n"), "\(run.text)")
    }

    @Test("the manual lists the scenarios")
    func manual() async throws {
        let page = try String(
            contentsOf: Repository.root.appendingPathComponent("Sources/sojourn/Sojourn.docc/Apps/Conformance.md"),
            encoding: .utf8)
        let rows = page.split(separator: "\n").filter { $0.contains(#/^\| `[0-9]+-/#) }
        let output = try await Conformance.execute(["--list"])
        let list = output.text.split(separator: "\n").map { line in
            let parts = line.split(separator: ": ", maxSplits: 1)
            return "| `\(parts[0])` | \(parts[1]) |"
        }
        #expect(rows.map(String.init) == list)
    }

    @Test("every scenario has its rule, a name and a sentence, and some broken client fails in it")
    func scenarios() async throws {
        let list = try await Conformance.list()
        #expect(list.count == Conformance.scenarioCount)
        #expect(Set(list).count == list.count)
        let broken =
            try BrokenClient.all().map { ($0.rule, $0.red, $0.what) } + BrokenApp.all.map { ($0.rule, $0.red, $0.what) }
        #expect(Set(broken.flatMap(\.1)) == Set(list))
        // What breaks one rule is noticed by the scenarios of this rule alone.
        for (rule, red, what) in broken { #expect(red.allSatisfy { $0.hasPrefix("\(rule)-") }, "\(what)") }
        #expect(Set(broken.map(\.0)) == Set(1...20))
    }

    /// In the push lane a sixth of the broken clients, each in its own scenarios; in the full lane all of them in all.
    @Test(
        "a client that breaks a rule fails in exactly its scenarios", .enabled(if: TypeScriptReference.isBuildable),
        arguments: try BrokenClient.all().filter { $0.number.isMultiple(of: Lane.rounds(push: 6, full: 1)) })
    func broken(client: BrokenClient) async throws {
        let folder = try await BrokenClient.built.value.appendingPathComponent("\(client.number)")
        try await Self.requireRed(
            client.red, TypeScriptReference.words(in: folder), "rule \(client.rule), \(client.what)")
    }

    @Test(
        "an app that breaks a rule around the Swift client fails in exactly its scenarios",
        arguments: Lane.cases(push: Array(BrokenApp.all.prefix(2)), full: BrokenApp.all))
    func broken(app: BrokenApp) async throws {
        let driver = [Conformance.program("sojourn-phone"), "--break", app.word]
        try await Self.requireRed(app.red, driver, "rule \(app.rule), \(app.what)")
    }

    /// Checks that a broken client fails in its scenarios: of those alone in the push lane, of all in the full one.
    private static func requireRed(_ red: [String], _ driver: [String], _ what: String) async throws {
        let run = try await Conformance.run(only: Lane.isFull ? [] : red, driver: driver)
        #expect(run.failed == red.sorted(), "\(what): \(run.text)")
        // A client that does not run at all would fail everywhere.
        #expect(!run.text.contains("the driver has ended"), "\(run.text)")
        #expect(run.status == 1)
    }

    @Test("a word that the program does not know is a mistake, and no client passes by it")
    func options() async throws {
        for words in [["--only", "nothing", "--driver", "true"], ["--driver"], ["--what"], ["--jobs", "0"], []] {
            #expect(try await Conformance.execute(words).status == 2, "\(words)")
        }
        #expect(try await Conformance.execute(["--server", "/nowhere", "--driver", "true"]).status == 2)
        let run = try await Conformance.run(only: ["pages"], driver: ["true"])
        #expect(run.failed == ["7-pages"])
        #expect(run.text.hasSuffix("0 passed, 1 failed\n"))
    }
}
