import Foundation
import Repository
import SojournTestKit
import Testing

/// Clients in several languages, each checked by the program `sojourn-conformance`.
@Suite("Conformance of clients", .timeLimit(.minutes(60)))
struct ConformanceTests {
    @Test("SojournClient keeps every rule")
    func swift() async throws {
        // With its log, which is checked as well.
        let run = try await Conformance.run(driver: [Conformance.program("sojourn-phone"), "--log"])
        #expect(run.passed == Conformance.scenarioCount && run.failed.isEmpty && run.status == 0, "\(run.text)")
    }

    @Test("the reference in TypeScript keeps every rule", .enabled(if: TypeScriptReference.isBuildable))
    func typeScript() async throws {
        let folder = try await TypeScriptReference.shared.value
        let run = try await Conformance.run(driver: ["node", folder.path + "/driver.js"])
        #expect(run.passed == Conformance.scenarioCount && run.failed.isEmpty && run.status == 0, "\(run.text)")
    }

    @Test("the reference in Kotlin keeps every rule", .enabled(if: Lane.isFull))
    func kotlin() async throws {
        let run = try await Conformance.run(driver: try await KotlinReference.driver())
        #expect(run.passed == Conformance.scenarioCount && run.failed.isEmpty && run.status == 0, "\(run.text)")
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
        let broken = try BrokenClient.all()
        #expect(Set(broken.flatMap(\.red)) == Set(list))
        // What breaks one rule is noticed by the scenarios of this rule alone.
        for client in broken { #expect(client.red.allSatisfy { $0.hasPrefix("\(client.rule)-") }, "\(client.what)") }
    }

    /// In the push lane a third of the broken clients, each in its own scenarios; in the full lane all of them in all.
    @Test(
        "a client that breaks a rule fails in exactly its scenarios", .enabled(if: TypeScriptReference.isBuildable),
        arguments: try BrokenClient.all().filter { $0.number.isMultiple(of: Lane.rounds(push: 3, full: 1)) })
    func broken(client: BrokenClient) async throws {
        let folder = try await BrokenClient.built.value.appendingPathComponent("\(client.number)")
        let only = Lane.rounds(push: 1, full: 0) == 1 ? client.red : []
        let run = try await Conformance.run(only: only, driver: ["node", folder.path + "/driver.js"])
        #expect(run.failed == client.red.sorted(), "rule \(client.rule), \(client.what): \(run.text)")
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
