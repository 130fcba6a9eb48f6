import Foundation
import SojournClient
import SojournTestKit

#if canImport(Glibc)
    import Glibc
#endif

/// A process of the client under test, which takes lines of JSON and answers each by one.
final class Driver: Sendable {
    /// The process has ended before it answered.
    struct Gone: Error, CustomStringConvertible {
        var description: String { "the driver has ended" }
    }

    private struct State {
        var lastID: Int64 = 0
        var waiting: [Int64: CheckedContinuation<DriverAnswer, any Error>] = [:]
        var isGone = false
    }

    /// The longest time in seconds for an answer.
    private static let patience = 30.0

    private let process: ChildProcess
    private let socket: Int32
    private let state: Guarded<State>

    /// Starts the program. Its standard error is appended to a file.
    init(_ words: [String], errors: String) throws {
        var ends: [Int32] = [0, 0]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw ChildProcess.NotStarted(code: errno) }
        let file = open(errors, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        defer {
            Glibc.close(ends[1])
            Glibc.close(file)
        }
        // The shell finds the program in PATH, and becomes it.
        process = try ChildProcess(
            ["/bin/sh", "-c", #"exec "$@""#, "driver"] + words, environment: ProcessInfo.processInfo.environment,
            descriptors: [ends[1], ends[1], file])
        socket = ends[0]
        state = Guarded(State())
        Thread.detachNewThread { [state, socket] in Self.read(socket, state) }
    }

    deinit {
        process.signal(SIGKILL)
        process.blockUntilEnd()
    }

    /// Reads answers until the process ends. Closes the socket then.
    private static func read(_ socket: Int32, _ state: Guarded<State>) {
        var buffer: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(socket, &bytes, bytes.count, 0)
            guard count > 0 else { break }
            buffer += bytes[..<count]
            while let end = buffer.firstIndex(of: 10) {
                let line = Array(buffer[..<end])
                buffer.removeFirst(end + 1)
                guard let members = JSONValue(parsing: line)?.members, let id = members.integer("id") else { continue }
                let waiter = state.withLock { $0.waiting.removeValue(forKey: id) }
                waiter?.resume(returning: DriverAnswer(members: members))
            }
        }
        let waiting = state.withLock { state in
            state.isGone = true
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume(throwing: Gone()) }
        Glibc.close(socket)
    }

    /// Sends a verb, and waits for its answer.
    func ask(_ verb: String, _ members: [String: JSONValue] = [:]) async throws -> DriverAnswer {
        try await withCheckedThrowingContinuation { continuation in
            let id = state.withLock { state -> Int64? in
                guard !state.isGone else { return nil }
                state.lastID += 1
                state.waiting[state.lastID] = continuation
                var command = members
                (command["id"], command["do"]) = (.integer(state.lastID), .string(verb))
                let line = JSONValue.object(command).bytes + [10]
                // Within the lock, so that lines do not mix. They are short.
                _ = line.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                return state.lastID
            }
            guard let id else { return continuation.resume(throwing: Gone()) }
            DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience) { [state] in
                let waiter = state.withLock { $0.waiting.removeValue(forKey: id) }
                waiter?.resume(throwing: Wrongdoing("no answer to \(verb) within \(Int(Self.patience)) s"))
            }
        }
    }

    /// Asks for an access token while the scenario goes on.
    func tokenLater(_ need: Need = .usable) -> Task<DriverAnswer, any Error> {
        Task { try await token(need) }
    }

    func signal(_ number: Int32) { process.signal(number) }

    /// Kills the process, as a system does that needs the memory.
    func kill() async {
        process.signal(SIGKILL)
        await process.waitForEnd()
    }

    /// Waits until the process has ended by itself.
    func waitForEnd(_ occasion: String) async throws {
        try await eventually("\(occasion): the end of the driver") { process.status != nil }
    }

    /// Waits until the process stands still.
    func waitForStop(_ occasion: String) async throws {
        try await eventually("\(occasion): the driver stands still") {
            let text = try String(contentsOfFile: "/proc/\(process.pid)/stat", encoding: .utf8)
            // The state follows the name, which stands in brackets.
            return text.split(separator: ")").last?.split(separator: " ").first == "T"
        }
    }
}
