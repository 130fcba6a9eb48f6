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

    /// Runs the program in the top folder of the repository, for three minutes at most, and blocks until it has ended.
    static func run(_ arguments: [String], environment: [String: String] = [:]) throws -> Output {
        let started = try Started(arguments, environment, limit: 180)
        started.process.blockUntilEnd()
        return try started.output()
    }

    /// Runs a program that takes long: as `run`, without blocking, and with a limit in seconds.
    static func finish(_ arguments: [String], limit: Int) async throws -> Output {
        let started = try Started(arguments, [:], limit: limit)
        await started.process.waitForEnd()
        return try started.output()
    }

    /// A program that writes into files.
    ///
    /// It is a `ChildProcess`, because the programs that other tests start meanwhile inherit the socket by which Foundation's
    /// `Process` notices the end, so that it would wait for their end as well.
    private final class Started: Sendable {
        let process: ChildProcess
        private let folder: URL

        init(_ arguments: [String], _ environment: [String: String], limit: Int) throws {
            folder = FileManager.default.temporaryDirectory.appendingPathComponent("tool-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            // Files, because a full pipe stops the program.
            let paths = ["/dev/null"] + ["out", "err"].map { [folder] in folder.appendingPathComponent($0).path }
            let descriptors: [Int32] = paths.map { open($0, O_RDWR | O_CREAT | O_CLOEXEC, 0o600) }
            defer { for descriptor in descriptors { _ = close(descriptor) } }
            #expect(descriptors.allSatisfy { $0 >= 0 })
            let script = #"cd "$0" && exec timeout --kill-after=5 "$@""#
            let shell = ["/bin/sh", "-c", script, Repository.root.path, "\(limit)"]
            let variables = ProcessInfo.processInfo.environment.merging(environment) { _, given in given }
            process = try ChildProcess(shell + arguments, environment: variables, descriptors: descriptors)
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        func output() throws -> Output {
            let texts = try ["out", "err"].map { name in
                String(decoding: try Data(contentsOf: folder.appendingPathComponent(name)), as: UTF8.self)
            }
            return Output(status: process.status ?? -1, text: texts[0], errors: texts[1])
        }
    }
}
