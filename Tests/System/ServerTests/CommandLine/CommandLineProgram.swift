import Dispatch
import FoundationEssentials
import Glibc
import Locks

/// The built program, run as a process of its own.
struct CommandLineProgram {
    /// What a run came to.
    struct Result {
        let status: Int32
        let output: String
        let errors: String
        /// Whether the kernel has written, or passed on, its memory at its end.
        let hasDumpedCore: Bool
        /// The lines on standard error.
        var lines: [Substring] { errors.split(separator: "\n") }
    }

    /// Beside the test bundle, unless `SOJOURN_BIN` names another.
    static let path: String =
        ProcessInfo.processInfo.environment["SOJOURN_BIN"]
        ?? {
            let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
            return bundle.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/sojourn"
        }()

    /// The binary of another version, which runs as one of several nodes: `SOJOURN_OTHER_BIN` names it.
    static let otherPath = ProcessInfo.processInfo.environment["SOJOURN_OTHER_BIN"]

    let folder: StartingFolder
    var environment: [String: String] = [:]
    /// The binary.
    var path = Self.path

    init(_ folder: StartingFolder) { self.folder = folder }

    /// Runs the program with the folder as its working directory and waits for its end, a minute at most.
    func run(_ words: [String], input: String = "") async throws -> Result {
        try await start(words, input: input).result()
    }

    /// Starts the program. A `socket` is handed over as descriptor 3, as a supervisor does (sd_listen_fds(3)).
    /// The shell runs `prelude` first.
    func start(
        _ words: [String], input: String = "", socket: Int32? = nil, prelude: String = "true"
    ) throws -> CommandLineProcess {
        try CommandLineProcess(
            path, words, in: folder, environment: environment, input: input, socket: socket, prelude: prelude)
    }
}

/// A process that was started. It is killed when the test forgets it.
final class CommandLineProcess: Sendable {
    struct NotStarted: Error { let code: Int32 }

    let pid: pid_t
    private let folder: StartingFolder
    private let name: String
    private let end = End()

    /// Outlives its waiters.
    private final class End: Sendable {
        let status = Locked<Int32?>(nil)
        let hasDumpedCore = Locked(false)
        let group = DispatchGroup()
    }

    fileprivate init(
        _ path: String, _ words: [String], in folder: StartingFolder, environment: [String: String], input: String,
        socket: Int32?, prelude: String
    ) throws {
        self.folder = folder
        name = "run-\(UInt64.random(in: 0 ... .max))"
        folder.write(name + ".in", input)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, folder.file(name + ".in"), O_RDONLY, 0)
        for (descriptor, ending) in [(Int32(1), ".out"), (2, ".err")] {
            let flags = O_WRONLY | O_CREAT | O_APPEND
            posix_spawn_file_actions_addopen(&actions, descriptor, folder.file(name + ending), flags, 0o600)
        }
        // The shell goes to the folder and becomes the program: same process, same pid.
        // Only it knows its pid before the program starts.
        let identity = socket == nil ? "" : "LISTEN_PID=$$ LISTEN_FDS=1 "
        if let socket { posix_spawn_file_actions_adddup2(&actions, socket, 3) }
        let shell = [
            "/bin/sh", "-c", "\(prelude) && cd \"$0\" && \(identity)exec \"$@\"", folder.path, path,
        ]
        var arguments = (shell + words).map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { (arguments + variables).forEach { free($0) } }
        var started: pid_t = 0
        let code = posix_spawn(&started, shell[0], &actions, nil, &arguments, &variables)
        guard code == 0 else { throw NotStarted(code: code) }
        let pid = started
        self.pid = pid
        end.group.enter()
        // A thread of its own, because waitpid blocks.
        DispatchQueue(label: "waiting for \(pid)").async { [end] in
            var raw: Int32 = 0
            while waitpid(pid, &raw, 0) < 0 && errno == EINTR {}
            // WEXITSTATUS, or the signal with a minus.
            // WCOREDUMP
            end.hasDumpedCore.withLock { $0 = raw & 0x80 != 0 }
            end.status.withLock { $0 = raw & 0x7F == 0 ? (raw >> 8) & 0xFF : -(raw & 0x7F) }
            end.group.leave()
        }
    }

    deinit { if end.status.withLock({ $0 }) == nil { kill(pid, SIGKILL) } }

    func signal(_ number: Int32) { kill(pid, number) }

    /// What it has said on standard error so far.
    func errors() -> String? { folder.text(name + ".err") }

    /// Waits for the end; kills the process after a minute.
    func result() async -> CommandLineProgram.Result {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "result of \(pid)").async { [end, pid] in
                if end.group.wait(timeout: .now() + 60) == .timedOut {
                    kill(pid, SIGKILL)
                    end.group.wait()
                }
                continuation.resume()
            }
        }
        return CommandLineProgram.Result(
            status: end.status.withLock { $0 } ?? -1, output: folder.text(name + ".out") ?? "",
            errors: folder.text(name + ".err") ?? "", hasDumpedCore: end.hasDumpedCore.withLock { $0 })
    }

    /// Waits until the file exists, which the process makes, or until the process ends.
    func waitForFile(_ file: String) async -> Bool { await wait { [folder] in folder.exists(file) } }

    /// Waits until the program has said something on standard error; false when it ends before.
    func waitForError(_ text: String) async -> Bool {
        await wait { [folder, name] in folder.text(name + ".err")?.contains(text) ?? false }
    }

    private func wait(until isTrue: @escaping @Sendable () -> Bool) async -> Bool {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "wait for \(pid)").async { [end] in
                let deadline = DispatchTime.now() + 120
                while !isTrue(), end.status.withLock({ $0 }) == nil, DispatchTime.now() < deadline { usleep(2000) }
                continuation.resume(returning: isTrue())
            }
        }
    }
}
