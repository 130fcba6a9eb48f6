// What tests of TLS need, in the engine and in the server: certificates of all kinds, and the programs of the system
// that speak to a server: openssl, curl, python3.

import Dispatch
import Glibc

/// A program of the system that a test speaks through: openssl, curl, python3.
public struct Tool {
    /// The program could not be started.
    public struct NotStarted: Error { let code: Int32 }

    /// What a run came to.
    public struct Result: Sendable {
        /// Its exit code.
        public let status: Int32
        /// Standard output and standard error, as they came.
        public let text: String

        /// Whether it said that.
        public func contains(_ part: String) -> Bool { text.contains(part) }
    }

    /// Runs a program until it ends, at most so many seconds; the threads that tasks share are left alone.
    public static func run(_ words: [String], input: String = "", limit: Int = 300) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: "tool").async {
                continuation.resume(with: Swift.Result { try runAndWait(words, input: input, limit: limit) })
            }
        }
    }

    /// Runs a program on this thread, with `input` at its standard input.
    public static func runAndWait(_ words: [String], input: String = "", limit: Int = 300) throws -> Result {
        var inputEnds: [Int32] = [0, 0]
        var outputEnds: [Int32] = [0, 0]
        // Closed on exec from the start, so that no other child keeps an end open.
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        socketpair(AF_UNIX, kind, 0, &inputEnds)
        socketpair(AF_UNIX, kind, 0, &outputEnds)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, inputEnds[0], 0)
        posix_spawn_file_actions_adddup2(&actions, outputEnds[1], 1)
        posix_spawn_file_actions_adddup2(&actions, outputEnds[1], 2)
        let all = ["timeout", "\(limit)"] + words
        var arguments: [UnsafeMutablePointer<CChar>?] = all.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var pid: pid_t = 0
        let code = posix_spawnp(&pid, "timeout", &actions, nil, &arguments, environ)
        close(inputEnds[0])
        close(outputEnds[1])
        guard code == 0 else {
            close(inputEnds[1])
            close(outputEnds[0])
            throw NotStarted(code: code)
        }
        // Inputs are shorter than what the socket holds.
        let bytes = Array(input.utf8)
        _ = send(inputEnds[1], bytes, bytes.count, Int32(MSG_NOSIGNAL))
        close(inputEnds[1])
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(outputEnds[0], &buffer, buffer.count)
            if count <= 0 { break }
            output += buffer.prefix(count)
        }
        close(outputEnds[0])
        var status: Int32 = 0
        waitpid(pid, &status, 0)
        return Result(status: (status >> 8) & 0xFF, text: String(decoding: output, as: UTF8.self))
    }
}
