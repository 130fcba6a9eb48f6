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
        /// The labels of those that need what the client lacks, sorted.
        var skipped: [String]
    }

    static let scenarioCount = 46

    /// A client, with the scenarios that it may skip because it lacks something. Another word in the answer of its driver to
    /// `capabilities` is an error.
    enum Client {
        /// It lets other devices in, and asks no phone itself.
        case swift
        /// Nothing is sealed in a browser, and no page lets other devices in. In Node it is the same client.
        case typeScript
        case kotlin

        var skipped: [String] {
            switch self {
            case .swift: ["14-phone", "4-lost-collection"]
            case .kotlin: []
            case .typeScript: ["16-biometry", "4-lost-approval"] + Conformance.ofBiometry
            }
        }
    }

    /// The scenarios of the rules 17 and 18.
    static let ofBiometry = ["17-sealed", "17-mode", "17-enrollment", "18-background", "18-canceled", "18-renewal"]

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
        func labels(_ word: String) -> [String] {
            words.filter { $0.first == Substring(word) }.map { String($0[1].dropLast()) }.sorted()
        }
        return Run(
            status: output.status, text: output.text + output.errors, passed: labels("passed").count,
            failed: labels("FAILED"), skipped: labels("skipped"))
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

/// The client in TypeScript, compiled with all checks.
enum TypeScriptReference {
    static let root = Repository.root
    /// The folder of its sources.
    static let client = "Sources/Clients/TypeScript/src"
    /// The folder of its driver for Node.
    static let driver = "Tests/Conformance/typescript"

    static var isBuildable: Bool { Conformance.exists("tsc") && Conformance.exists("node") }

    /// The words that start the driver.
    static let shared = Task {
        let folder = try Conformance.folder("typescript")
        let settings = root.appendingPathComponent(driver).path
        try await compile(["-p", settings, "--outDir", folder.path], to: folder)
        return words(in: folder)
    }

    /// The words that start a driver that was compiled into a folder.
    static func words(in folder: URL) -> [String] { ["node", "\(folder.path)/\(driver)/driver.js"] }

    /// Compiles to modules, as which Node takes the files below `folder` then.
    static func compile(_ words: [String], to folder: URL) async throws {
        let output = try await Tool.finish(["tsc"] + words, limit: 180)
        try #require(output.status == 0, "\(output.text)")
        try #"{"type": "module"}"#.write(
            to: folder.appendingPathComponent("package.json"), atomically: false, encoding: .utf8)
    }
}
