import FoundationEssentials
import Glibc

/// nginx with one worker that answers `GET /healthz` from its configuration: the least that HTTP costs on this machine.
final class NginxProcess: MeasuredServer {
    let pid: pid_t
    let port: UInt16

    /// The path of nginx on Debian; nil if it is not installed.
    static let path = ["/usr/sbin/nginx", "/usr/local/sbin/nginx"].first { (path: String) in
        access(path, X_OK) == 0
    }

    /// Starts `program` on a free port, with its files in `folder`, and waits until it answers.
    init(_ program: String, folder: String) throws {
        port = try Self.freePort()
        let configuration = folder + "/nginx.conf"
        try Self.configuration(port: port, folder: folder).write(
            toFile: configuration, atomically: false, encoding: .utf8)
        pid = try Self.spawn(program, ["-e", folder + "/nginx.log", "-p", folder, "-c", configuration])
        let deadline = monotonicNanoseconds() + 10_000_000_000
        while (try? LoadConnection(port: port, HealthCheck())) == nil {
            guard monotonicNanoseconds() < deadline, waitpid(pid, nil, WNOHANG) == 0 else {
                kill(pid, SIGKILL)
                throw Failure("nginx does not answer; see \(folder)/nginx.log")
            }
            usleep(1000)
        }
    }

    deinit {
        kill(pid, SIGTERM)
        waitpid(pid, nil, 0)
    }

    /// The shortest configuration: one process, no log, a constant response.
    private static func configuration(port: UInt16, folder: String) -> String {
        let folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(folder)/\($0);" }
        return """
            daemon off; master_process off; pid \(folder)/nginx.pid; worker_rlimit_nofile 20000;
            events { worker_connections 10000; }
            http {
                access_log off; keepalive_requests 1000000000; \(folders.joined(separator: " "))
                server {
                    listen 127.0.0.1:\(port) backlog=4096;
                    location = /healthz { default_type text/plain; return 200 "ok\\n"; }
                }
            }

            """
    }

    private static func freePort() throws -> UInt16 {
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard number >= 0 else { throw Failure.system("socket") }
        defer { close(number) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, length) == 0 ? getsockname(number, $0, &length) : -1
            }
        }
        guard result == 0 else { throw Failure.system("bind") }
        return UInt16(bigEndian: address.sin_port)
    }

    private static func spawn(_ program: String, _ words: [String]) throws -> pid_t {
        let arguments = ([program] + words).map { strdup($0) } + [nil]
        defer { for text in arguments { free(text) } }
        var pid = pid_t()
        errno = posix_spawn(&pid, program, nil, nil, arguments, [nil])
        guard errno == 0 else { throw Failure.system(program) }
        return pid
    }
}

/// A process with CPU time that is measured.
protocol MeasuredServer {
    var pid: pid_t { get }
}

extension MeasuredServer {
    /// The CPU seconds that the process has used so far.
    var cpuSeconds: Double {
        var clock = clockid_t()
        guard clock_getcpuclockid(pid, &clock) == 0, let spent = nanoseconds(of: clock) else { return .nan }
        return Double(spent) / 1e9
    }
}
