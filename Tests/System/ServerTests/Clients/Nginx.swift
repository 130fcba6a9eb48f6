import Dispatch
import Glibc
import Server
import Sockets
import TLSFixture
import Testing

/// A real nginx, in one process without a daemon.
enum Nginx {
    /// Runs nginx with these lines in its `http` block, of which a server listens on `proxy.sock`.
    static func run(
        _ lines: String, _ folder: StartingFolder, _ body: (SocketAddress) throws -> Void
    ) throws {
        let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(folder.file($0));" }
        folder.write(
            "nginx.conf",
            """
            daemon off; master_process off; pid \(folder.file("nginx.pid"));
            events { }
            http {
                access_log off; \(paths.joined(separator: " "))
                \(lines)
            }
            """)
        DispatchQueue(label: "nginx").async { [folder] in
            let words = ["timeout", "-k", "1", "100", "/usr/sbin/nginx", "-e", folder.file("log"), "-c"]
            guard let result = try? Tool.runAndWait(words + [folder.file("nginx.conf")]) else { return }
            folder.write("nginx.end", result.text)
        }
        defer {
            if let pid = folder.text("nginx.pid")?.split(separator: "\n").first.flatMap({ pid_t($0) }) {
                Glibc.kill(pid, SIGKILL)
            }
        }
        let proxy = SocketAddress.unix(path: folder.file("proxy.sock"))
        while (try? ClientSocket(to: proxy, timeout: .seconds(1))) == nil {
            try #require(!folder.exists("nginx.end"), "\(folder.text("nginx.end") ?? "")")
            usleep(5000)
        }
        try body(proxy)
    }
}
