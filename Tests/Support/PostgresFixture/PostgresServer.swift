// What tests of PostgreSQL need: a server of their own in a temporary folder, made of Debian's packages, with an empty database
// for each test. A server that cannot be started fails the test: nothing is skipped.

import Dispatch
import Glibc
import Synchronization

/// A PostgreSQL server in a temporary folder, which ends with this process however that ends: it is run by a shell that waits for
/// the other end of a pipe to close.
public final class PostgresServer: Sendable {
    /// It could not be started; the text is what it said.
    public struct NotStarted: Error, CustomStringConvertible {
        /// What it said.
        public let description: String
    }

    /// The folder of the server: its socket, its log `log`, its data.
    public let folder: String
    /// The port, which its socket is named after.
    public let port: Int
    private let pipe: Int32
    private let shell: pid_t
    private static let lastDatabase = Atomic<Int>(0)

    /// The server that all tests of this process share.
    public static var shared: PostgresServer {
        get throws { try starting.get() }
    }

    private static let starting = Result { try PostgresServer() }

    /// Makes and starts a server for one test alone.
    ///
    /// - Parameter settings: lines of postgresql.conf.
    public convenience init(settings: [String] = []) throws { try self.init(settings: settings, following: nil) }

    /// Makes and starts a server that also listens at a free port of 127.0.0.1.
    ///
    /// - Parameter certificate: two files, the second with the key. Nil: no TLS.
    public convenience init(certificate: (chain: String, key: String)?) throws {
        let port = try Command.freePort()
        let tls = ["ssl = on", "ssl_cert_file = 'server.crt'", "ssl_key_file = 'server.key'", "log_connections = on"]
        try self.init(
            settings: ["listen_addresses = '127.0.0.1'", "port = \(port)"] + (certificate == nil ? [] : tls),
            following: nil, port: port, certificate: certificate ?? ("", ""))
    }

    /// Makes and starts a standby of `primary`, which it follows without making that wait, until it is promoted.
    public convenience init(following primary: PostgresServer) throws {
        try self.init(settings: [], following: primary)
    }

    private init(
        settings: [String], following primary: PostgresServer?, port: Int = 5432,
        certificate: (chain: String, key: String) = ("", "")
    ) throws {
        self.port = port
        var template = Array("/tmp/sojourn-postgres-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw NotStarted(description: "no temporary folder") }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        folder = path
        let ends = try Command.connectedPair()
        pipe = ends[1]
        let configuration =
            [
                "unix_socket_directories = '\(path)'", "listen_addresses = ''", "max_connections = 300",
                // Tests find statements by words in them, and statements that name every column are long.
                "track_activity_query_size = 16384",
            ] + settings
        shell = try Self.spawn(
            Self.script,
            [path, configuration.joined(separator: "\n"), primary?.folder ?? "", certificate.chain, certificate.key],
            input: ends[0])
        Glibc.close(ends[0])
        // The shell writes this file when the server answers, or has failed.
        let deadline = ContinuousClock.now + .seconds(60)
        while access(path + "/state", F_OK) != 0, ContinuousClock.now < deadline { usleep(10_000) }
        guard Self.text(path + "/state").hasPrefix("ready") else {
            throw NotStarted(description: "PostgreSQL did not start (postgresql-15?): \(Self.text(path + "/log"))")
        }
    }

    /// Waits for the shell: tests that run processes of their own would find its end instead of theirs, again and again.
    deinit {
        Glibc.close(pipe)
        var status: Int32 = 0
        waitpid(shell, &status, 0)
    }

    /// Runs as the user `postgres` when started by root, because PostgreSQL does not run as root. `$0` is the folder, `$1` the
    /// configuration, `$2` the folder of the primary, if there is one, `$3` and `$4` a certificate and its key.
    private static let script = """
        cd /
        PATH=$(echo /usr/lib/postgresql/*/bin | tr ' ' ':'):$PATH
        as() { if [ "$(id -u)" = 0 ]; then chown -R postgres "$0"; setpriv --reuid postgres --regid postgres --init-groups "$@"; else "$@"; fi; }
        exec >"$0/log" 2>&1
        run() {
            if [ -n "$2" ]; then
                as pg_basebackup -D "$0/data" -h "$2" -U sojourn -R -c fast --no-sync || return 1
            else
                as initdb -D "$0/data" -U sojourn -A trust -E UTF8 --locale=C.UTF-8 --no-sync || return 1
            fi
            echo "$1" >>"$0/data/postgresql.conf"
            if [ -n "$3" ]; then cp "$3" "$0/data/server.crt" && cp "$4" "$0/data/server.key" && chmod 600 "$0/data/server.key" || return 1; fi
            as pg_ctl -D "$0/data" -w -t 50 start
        }
        if run "$1" "$2" "$3" "$4"; then echo ready >"$0/new"; else echo failed >"$0/new"; fi
        mv "$0/new" "$0/state"
        cat >/dev/null
        as pg_ctl -D "$0/data" -m immediate -w stop
        rm -rf "$0"
        """

    static func spawn(_ script: String, _ words: [String], input: Int32) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        // Not in the group of the test process: what ends that by a signal must leave the shell to tidy up.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        var arguments: [UnsafeMutablePointer<CChar>?] = (["sh", "-c", script] + words).map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var pid: pid_t = 0
        guard posix_spawnp(&pid, "sh", &actions, &attributes, &arguments, environ) == 0 else {
            throw NotStarted(description: "no shell")
        }
        return pid
    }

    static func text(_ path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { Glibc.close(file) }
        var bytes = [UInt8](repeating: 0, count: 8192)
        let count = read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    /// The URL of a new, empty schema for one test alone.
    public func newDatabase() throws -> String { url(schema: try newSchema()) }

    /// Makes an empty schema, which no other test uses. Returns its name.
    func newSchema() throws -> String {
        let name = "t\(Self.lastDatabase.wrappingAdd(1, ordering: .relaxed).newValue)"
        try run("CREATE SCHEMA \(name)")
        return name
    }

    /// The URL of a schema.
    public func url(schema: String) -> String {
        "postgres://sojourn@/postgres?host=\(folder)&port=\(port)&options=-csearch_path%3D\(schema)"
    }

    /// The URL of a schema on whichever of this server and `standby` takes changes.
    public func url(schema: String, or standby: PostgresServer) -> String {
        "postgres://sojourn@/postgres?host=\(folder),\(standby.folder)&options=-csearch_path%3D\(schema)"
    }

    /// The URL of a schema over TCP, to `host` as far as certificates are concerned.
    public func url(schema: String, host: String, _ more: String) -> String {
        "postgres://sojourn@\(host):\(port)/postgres?hostaddr=127.0.0.1&options=-csearch_path%3D\(schema)&\(more)"
    }

    /// How many logins over TCP have succeeded, by the server's log (`log_connections`).
    public func admittedCount() throws -> Int {
        let result = try Command.run(["grep", "-c", "connection authorized:.*SSL", folder + "/log"])
        return Int(result.text.split(separator: "\n").first ?? "") ?? 0
    }

    /// Waits until this standby has all that `primary` has written, half a minute at most.
    public func catchUp(with primary: PostgresServer) throws {
        let place = try primary.run("SELECT pg_current_wal_lsn()").split(separator: "\n").first ?? ""
        let deadline = ContinuousClock.now + .seconds(30)
        while try run("SELECT pg_last_wal_replay_lsn() >= '\(place)'").first != "t" {
            guard ContinuousClock.now < deadline else { throw NotStarted(description: "it does not catch up") }
            usleep(10_000)
        }
    }

    /// A standby hears nothing of its primary any more. Returns when that is so.
    public func stopFollowing() throws {
        try run("ALTER SYSTEM SET primary_conninfo = ''")
        try run("SELECT pg_reload_conf()")
        let deadline = ContinuousClock.now + .seconds(30)
        while try run("SELECT count(*) FROM pg_stat_wal_receiver").first != "0" {
            guard ContinuousClock.now < deadline else { throw NotStarted(description: "it still follows") }
            usleep(10_000)
        }
    }

    /// Runs one statement by psql.
    @discardableResult
    public func run(_ statement: String, schema: String = "public") throws -> String {
        let result = try Command.run(
            ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", url(schema: schema), "-c", statement])
        guard result.status == 0 else { throw NotStarted(description: result.text) }
        return result.text
    }

    /// Has every process of the server stand still, as when its disk does not answer, while `body` runs.
    public func whileFrozen<Outcome>(_ body: () async throws -> Outcome) async throws -> Outcome {
        let main = Self.text(folder + "/data/postmaster.pid").prefix { !$0.isNewline }
        let others = try run("SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()").split(separator: "\n")
        let processes = ([main] + others).compactMap { pid_t($0) }
        for process in processes { kill(process, SIGSTOP) }
        defer { for process in processes { kill(process, SIGCONT) } }
        return try await body()
    }

    /// Runs `pg_ctl` on the server: `stop -m immediate`, `start`, `restart`.
    public func control(_ words: String...) throws {
        let script = """
            cd /
            PATH=$(echo /usr/lib/postgresql/*/bin | tr ' ' ':'):$PATH
            if [ "$(id -u)" = 0 ]; then set -- setpriv --reuid postgres --regid postgres --init-groups pg_ctl "$@"; else set -- pg_ctl "$@"; fi
            exec "$@" -w -D "$0/data" -l "$0/log"
            """
        let result = try Command.run(["sh", "-c", script, folder] + words)
        guard result.status == 0 else { throw NotStarted(description: result.text) }
    }
}
