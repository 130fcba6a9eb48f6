import FoundationEssentials
import Glibc

/// A program of PostgreSQL (`psql`, `pgbench`), wherever Debian has put it.
enum PostgresCommand {
    /// Runs the program to its end and returns its output; `folder` takes the output meanwhile.
    @discardableResult
    static func run(_ program: String, _ words: [String], in folder: String) throws -> String {
        let output = folder + "/\(program)-\(monotonicNanoseconds()).txt"
        defer { unlink(output) }
        let pid = try start(program, words, output: output)
        var status: Int32 = 0
        waitpid(pid, &status, 0)
        let text = String(decoding: try Data(contentsOf: URL(filePath: output)), as: UTF8.self)
        guard status == 0 else { throw Failure("\(program) failed: \(text)") }
        return text
    }

    /// Runs a statement by psql and returns the rows, with `|` between their columns.
    static func sql(_ statement: String, at url: String, in folder: String) throws -> String {
        try run("psql", quiet + ["-d", url, "-c", statement], in: folder)
    }

    /// Starts psql with the statements of a file and returns its process.
    static func startSQL(file: String, at url: String, output: String) throws -> pid_t {
        try start("psql", quiet + ["-d", url, "-f", file], output: output)
    }

    private static let quiet = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]

    private static func start(_ program: String, _ words: [String], output: String) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor in [STDOUT_FILENO, STDERR_FILENO] {
            posix_spawn_file_actions_addopen(&actions, descriptor, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        }
        let script = "PATH=$(echo /usr/lib/postgresql/*/bin | tr ' ' ':'):$PATH; exec \(program) \"$@\""
        let arguments = (["sh", "-c", script, "sh"] + words).map { strdup($0) } + [nil]
        defer { for text in arguments { free(text) } }
        var pid = pid_t()
        errno = posix_spawnp(&pid, "sh", &actions, nil, arguments, environ)
        guard errno == 0 else { throw Failure.system("sh") }
        return pid
    }
}
