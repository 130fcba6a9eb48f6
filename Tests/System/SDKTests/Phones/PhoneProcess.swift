import Foundation
import Glibc
import SojournClient
import SojournTestKit

/// A `sojourn-phone` that was started, and what it answers.
final class PhoneProcess: Sendable {
    /// The phone has ended before it answered.
    struct Gone: Error {}

    typealias Members = [String: JSONValue]

    private struct State {
        var lastID: Int64 = 0
        var waiting: [Int64: CheckedContinuation<Members, any Error>] = [:]
        var isGone = false
    }

    private let process: ChildProcess
    private let socket: Int32
    private let state: Guarded<State>

    /// The program beside the tests.
    private static let path: String = {
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return (own as NSString).deletingLastPathComponent + "/sojourn-phone"
    }()

    init(_ folder: String, server: URL, renewal: String = "refresh-token", device: String? = "phone") throws {
        var ends: [Int32] = [0, 0]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw ChildProcess.NotStarted(code: errno) }
        let words = [Self.path, folder, "--server", server.absoluteString, "--renewal", renewal]
        process = try ChildProcess(
            words + (device.map { ["--device", $0] } ?? []), environment: [:], descriptors: [ends[1], ends[1], 2])
        close(ends[1])
        socket = ends[0]
        state = Guarded(State())
        Thread.detachNewThread { [state, socket] in Self.read(socket, state) }
    }

    deinit {
        process.signal(SIGKILL)
        process.blockUntilEnd()
    }

    /// Reads answers until the phone ends. Closes the socket then.
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
                state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(returning: members)
            }
        }
        let waiting = state.withLock { state in
            state.isGone = true
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume(throwing: Gone()) }
        close(socket)
    }

    /// Sends a command and waits for its answer. Throws `Gone` if the phone ends before.
    @discardableResult
    func ask(_ verb: String, in app: String? = nil, _ more: Members = [:]) async throws -> Members {
        var command = more
        command["do"] = .string(verb)
        command["in"] = app.map { .string($0) }
        return try await withCheckedThrowingContinuation { continuation in
            let line = state.withLock { state -> [UInt8]? in
                guard !state.isGone else { return nil }
                state.lastID += 1
                state.waiting[state.lastID] = continuation
                command["id"] = .integer(state.lastID)
                let line = JSONValue.object(command).bytes + [10]
                // Within the lock, so that lines do not mix. They are short.
                _ = line.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                return line
            }
            if line == nil { continuation.resume(throwing: Gone()) }
        }
    }

    /// Arms a stop at a point.
    func arm(_ stop: String, at point: String) async throws {
        _ = try await ask(stop, ["at": .string(point)])
    }

    /// Sends SIGKILL, or the signal given, and does not wait.
    func signal(_ number: Int32) { process.signal(number) }

    /// Waits for the end. Returns the signal with a minus, or the exit status.
    @discardableResult
    func waitForEnd() async -> Int32 { await process.waitForEnd() }

    /// Waits until the phone stands still, which a point brings about.
    func waitForStop() async throws {
        while true {
            let text = try String(contentsOfFile: "/proc/\(process.pid)/stat", encoding: .utf8)
            // The state follows the name, which stands in brackets.
            if text.split(separator: ")").last?.split(separator: " ").first == "T" { return }
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}

extension [String: JSONValue] {
    /// A word for the answer to `token`, `start` or `state`.
    var word: String { text("error") ?? text("state") ?? (self["token"] == nil ? "ok" : "token") }
}

/// A temporary folder, deleted when nothing refers to it.
final class PhoneFolder: Sendable {
    let path: String

    init() throws {
        var template = Array((NSTemporaryDirectory() + "/phone-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw ChildProcess.NotStarted(code: errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func url(_ name: String = "") -> URL { URL(fileURLWithPath: name.isEmpty ? path : path + "/" + name) }
}
