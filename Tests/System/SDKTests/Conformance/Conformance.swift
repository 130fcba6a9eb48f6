import Foundation
import Repository
import Testing

/// The program, and what it prints.
enum Conformance {
    struct Run {
        var status: Int32
        var text: String
        var passed: Int
        /// The labels of the scenarios that failed, sorted.
        var failed: [String]
    }

    static let scenarioCount = 31

    /// The path of a program that was built beside the tests.
    static func program(_ name: String) -> String {
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return (own as NSString).deletingLastPathComponent + "/" + name
    }

    static func execute(_ words: [String]) async throws -> Tool.Output {
        try await Tool.finish([program("sojourn-conformance")] + words, limit: 600)
    }

    static func run(only: [String] = [], driver: [String]) async throws -> Run {
        let output = try await execute(only.flatMap { ["--only", $0] } + ["--jobs", "3", "--driver"] + driver)
        let words = output.text.split(separator: "\n").map { $0.split(separator: " ") }
        let failed = words.filter { $0.first == "FAILED" }.map { String($0[1].dropLast()) }.sorted()
        let passed = words.count { $0.first == "passed" }
        return Run(status: output.status, text: output.text + output.errors, passed: passed, failed: failed)
    }

    /// The labels of all scenarios.
    static func list() async throws -> [String] {
        let output = try await execute(["--list"])
        #expect(output.status == 0)
        return output.text.split(separator: "\n").map { String($0.prefix { $0 != ":" }) }
    }

    static func exists(_ program: String) -> Bool {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
        }
    }

    /// A folder for what is compiled, which stays until the next run of the tests.
    static func folder(_ name: String) throws -> URL {
        let folder = Repository.root.appendingPathComponent(".build/conformance/\(name)")
        try? FileManager.default.removeItem(at: folder)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }
}

/// The reference in TypeScript, compiled with all checks.
enum TypeScriptReference {
    static let sources = Repository.root.appendingPathComponent("Tests/Conformance/typescript")

    static var isBuildable: Bool { Conformance.exists("tsc") && Conformance.exists("node") }

    /// The folder of the compiled files.
    static let shared = Task {
        let folder = try Conformance.folder("typescript")
        try await compile(["-p", sources.path, "--outDir", folder.path])
        return folder
    }

    static func compile(_ words: [String]) async throws {
        let output = try await Tool.finish(["tsc"] + words, limit: 180)
        try #require(output.status == 0, "\(output.text)")
    }
}
