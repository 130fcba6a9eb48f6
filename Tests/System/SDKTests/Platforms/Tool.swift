import Foundation
import Repository
import Testing

/// Runs a program of the toolchain.
enum Tool {
    struct Output {
        var status: Int32
        var text: String
        var errors: String
    }

    static func run(_ arguments: [String], environment: [String: String] = [:]) throws -> Output {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: Repository.root.path)
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tool-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // Files, because a full pipe stops the program.
        let files = ["out", "err"].map { folder.appendingPathComponent($0) }
        for file in files { #expect(FileManager.default.createFile(atPath: file.path, contents: nil)) }
        process.standardOutput = try FileHandle(forWritingTo: files[0])
        process.standardError = try FileHandle(forWritingTo: files[1])
        try process.run()
        process.waitUntilExit()
        let texts = try files.map { String(decoding: try Data(contentsOf: $0), as: UTF8.self) }
        return Output(status: process.terminationStatus, text: texts[0], errors: texts[1])
    }
}
