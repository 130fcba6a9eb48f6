import Foundation
import Repository
import SojournTestKit
import Testing

/// Runs programs of the toolchain.
enum Tool {
    struct Output {
        var status: Int32
        var text: String
        var errors: String
    }

    /// Runs the program in the top folder of the repository, for three minutes at most.
    ///
    /// It is a `ChildProcess`, because the programs that other tests start meanwhile inherit the socket by which Foundation's
    /// `Process` notices the end, so that it would wait for their end as well.
    static func run(_ arguments: [String], environment: [String: String] = [:]) throws -> Output {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tool-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // Files, because a full pipe stops the program.
        let files = ["out", "err"].map { folder.appendingPathComponent($0) }
        let descriptors: [Int32] = (["/dev/null"] + files.map(\.path)).map { path -> Int32 in
            open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        }
        defer { for descriptor in descriptors { _ = close(descriptor) } }
        #expect(descriptors.allSatisfy { $0 >= 0 })
        let shell = ["/bin/sh", "-c", #"cd "$0" && exec timeout --kill-after=5 180 "$@""#, Repository.root.path]
        let variables = ProcessInfo.processInfo.environment.merging(environment) { _, given in given }
        let process = try ChildProcess(shell + arguments, environment: variables, descriptors: descriptors)
        process.blockUntilEnd()
        let texts = try files.map { String(decoding: try Data(contentsOf: $0), as: UTF8.self) }
        return Output(status: process.status ?? -1, text: texts[0], errors: texts[1])
    }
}
