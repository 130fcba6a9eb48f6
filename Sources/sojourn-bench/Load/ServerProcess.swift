import Cryptography
import FoundationEssentials
import Glibc
import Sessions

/// A server process on ports of its own. It ends when the last reference is released.
final class ServerProcess: MeasuredServer {
    /// The parameters of a server's start.
    struct Launch {
        let program: String
        /// The folder of the database, the log and the ready file.
        var folder: String
        let adminKey = "bench-" + Hex.encode(randomBytes(count: 24))
        /// The server's root keys, so that tokens can be made for sessions that the server did not create.
        let rootKeys: RootKeys
        /// More environment variables: `NAME=value`.
        var environment: [String] = []
        /// The database URL; nil for the temporary file.
        var url: String?
        fileprivate let rootKeyText: String

        init(program: String, folder: String) throws {
            let secret = SecretKey.random()
            guard let rootKeys = RootKeys([secret]) else { throw Failure("one root key is none") }
            self.program = program
            self.folder = folder
            self.rootKeys = rootKeys
            rootKeyText = Hex.encode(secret.bytes)
        }

        var database: String { folder + "/sojourn.sqlite" }
        var log: String { folder + "/sojourn.log" }
        var readyFile: String { folder + "/ready.json" }
    }

    private struct Ready: Decodable {
        let `public`: String
        let admin: String
    }

    let pid: pid_t
    let publicPort: UInt16
    let adminPort: UInt16
    /// The seconds from exec to the ready file.
    let readyAfter: Double
    private let launch: Launch
    private var hasEnded = false

    /// Starts the server and waits until it answers.
    init(_ launch: Launch) throws {
        self.launch = launch
        unlink(launch.readyFile)
        let start = monotonicNanoseconds()
        pid = try Self.spawn(launch)
        do {
            let ready = try Self.waitUntilReady(pid, launch)
            readyAfter = Double(monotonicNanoseconds() - start) / 1e9
            publicPort = try Self.port(of: ready.public)
            adminPort = try Self.port(of: ready.admin)
        } catch {
            kill(pid, SIGKILL)
            waitpid(pid, nil, 0)
            throw error
        }
    }

    deinit {
        guard !hasEnded else { return }
        kill(pid, SIGKILL)
        waitpid(pid, nil, 0)
    }

    /// Asks the server to stop, and waits until it has.
    func stop() throws {
        hasEnded = true
        kill(pid, SIGTERM)
        var status: Int32 = 0
        waitpid(pid, &status, 0)
        guard status == 0 else { throw Failure("the server ended with status \(status): \(Self.lastLines(launch))") }
    }

    /// Returns a line of /proc/PID/status in MiB: VmRSS (resident now), VmHWM (the peak).
    func mebibytes(_ name: String) -> Double {
        let status = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") } ?? ""
        return line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Double($0) }.map { $0 / 1024 }
            ?? .nan
    }

    /// Returns the memory in bytes. Shared memory counts by its share.
    func proportionalMemory() throws -> Double {
        let file = (try? String(contentsOfFile: "/proc/\(pid)/smaps_rollup", encoding: .utf8)) ?? ""
        let line = file.split(separator: "\n").first { $0.hasPrefix("Pss:") }
        guard let kibibytes = line?.split(separator: " ").dropFirst().first.flatMap({ Double($0) }) else {
            throw Failure("only root sees the memory of process \(pid), which keeps it private")
        }
        return kibibytes * 1024
    }

    /// Returns the number of open descriptors.
    func openDescriptors() throws -> Int {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd") else {
            throw Failure("only root sees the descriptors of process \(pid), which keeps its memory private")
        }
        return names.count
    }

    private static func spawn(_ launch: Launch) throws -> pid_t {
        // Without a database file, files that would be next to it are created in the working directory.
        let place = launch.url == nil ? [] : ["/usr/bin/env", "-C", launch.folder]
        let words =
            place + [
                launch.program, "serve", "--database", launch.url ?? "sqlite:\(launch.database)", "--public",
                "127.0.0.1:0",
                "--admin",
                "127.0.0.1:0", "--ready-file", launch.readyFile,
            ]
        // Nothing else is inherited, so that a developer's settings change no figure.
        let environment =
            [
                "SOJOURN_ADMIN_KEY=\(launch.adminKey)", "SOJOURN_ROOT_KEY=\(launch.rootKeyText)",
                "SOJOURN_LIMITS_REQUESTS_PER_CONNECTION=0",
                // The largest value, so that the limit is counted and stops no load.
                "SOJOURN_LIMITS_REFRESHES_PER_SESSION_PER_MINUTE=1000000",
                "PATH=/usr/local/bin:/usr/bin:/bin", "TMPDIR=\(launch.folder)",
            ] + launch.environment
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for output in [STDOUT_FILENO, STDERR_FILENO] {
            posix_spawn_file_actions_addopen(&actions, output, launch.log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        }
        let (arguments, variables) = (words.map { strdup($0) } + [nil], environment.map { strdup($0) } + [nil])
        defer { for text in arguments + variables { free(text) } }
        var pid = pid_t()
        errno = posix_spawn(&pid, words[0], &actions, nil, arguments, variables)
        guard errno == 0 else { throw Failure.system(launch.program) }
        return pid
    }

    private static func waitUntilReady(_ pid: pid_t, _ launch: Launch) throws -> Ready {
        let deadline = monotonicNanoseconds() + 60_000_000_000
        while monotonicNanoseconds() < deadline {
            if let data = FileManager.default.contents(atPath: launch.readyFile) {
                return try JSONDecoder().decode(Ready.self, from: data)
            }
            guard waitpid(pid, nil, WNOHANG) == 0 else {
                throw Failure("the server ended at once: \(lastLines(launch))")
            }
            usleep(200)
        }
        throw Failure("the server was not ready within a minute: \(lastLines(launch))")
    }

    private static func port(of url: String) throws -> UInt16 {
        guard let port = url.split(separator: ":").last.flatMap({ UInt16($0) }) else {
            throw Failure("the ready file names no port: \(url)")
        }
        return port
    }

    private static func lastLines(_ launch: Launch) -> String {
        String(((try? String(contentsOfFile: launch.log, encoding: .utf8)) ?? "").suffix(1000))
    }
}
