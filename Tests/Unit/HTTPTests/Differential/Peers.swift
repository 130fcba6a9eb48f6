import FoundationEssentials
import Repository
import Sockets

/// The other implementations, each running, in a temporary folder.
final class Peers: Sendable {
    private let folder: String
    private let processes: [PeerProcess]
    let nginx: SocketAddress
    let apache: SocketAddress

    init() throws {
        let folder = "/tmp/sojourn-peers-\(UInt32.random(in: 0 ... .max))"
        // Apache gives up its rights before it reads the answering script.
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        self.folder = folder
        nginx = try SocketAddress("unix:\(folder)/nginx.sock")
        let (outer, inner) = try freePorts()
        apache = try SocketAddress(outer)
        try Self.nginxConfiguration(folder).write(to: folder + "/nginx.conf")
        try Self.apacheConfiguration(folder, outer, inner).write(to: folder + "/apache.conf")
        try Self.apacheAnswer.write(to: folder + "/answer.lua")
        processes = [
            try PeerProcess([
                "/usr/sbin/nginx", "-p", folder, "-e", folder + "/nginx.log", "-c", folder + "/nginx.conf",
            ]),
            try PeerProcess(["/usr/sbin/apache2", "-X", "-f", folder + "/apache.conf"]),
        ]
        for address in [nginx, apache] where !isListening(address) {
            let log = ["nginx.log", "apache.log"].compactMap { FileManager.default.contents(atPath: folder + "/" + $0) }
            let text = log.map { String(decoding: $0, as: UTF8.self) }.joined()
            throw PeerProcess.Failed(description: "nothing listens on \(address): \(text)")
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// What h11 and llhttp see in each input.
    func parse(_ inputs: [[UInt8]]) throws -> (h11: [View], llhttp: [View]) {
        struct Line: Decodable {
            struct Said: Decodable {
                let requests: [[String]]
                let end: String
                var view: View {
                    View(
                        requests: requests.map {
                            View.Seen(
                                method: $0[0], target: View.Seen.originForm($0[1]), content: $0[2],
                                length: $0[2].count / 2)
                        },
                        end: end == "idle"
                            ? .idle : end == "waiting" ? .waiting : end == "closed" ? .closed : .refused(end))
                }
            }
            let h11: Said
            let llhttp: Said
        }
        try inputs.map { hexadecimal($0) + "\n" }.joined().write(to: folder + "/inputs")
        try run(
            [
                Repository.root.appending(path: ".build/peers/bin/python").path,
                Repository.path("Tests/Unit/HTTPTests/Differential/peers.py"),
            ],
            input: folder + "/inputs", output: folder + "/outputs")
        let output = FileManager.default.contents(atPath: folder + "/outputs") ?? Data()
        let lines = try output.split(separator: 10).map { try JSONDecoder().decode(Line.self, from: $0) }
        return (lines.map(\.h11.view), lines.map(\.llhttp.view))
    }
}

func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

extension String {
    fileprivate func write(to path: String) throws { try Data(utf8).write(to: URL(filePath: path)) }
}

// Both servers are proxies for a listener of their own, because a proxy has to read a request to its end before it can
// pass it on; what it then says of it is what it would say to us.
extension Peers {
    private static func nginxConfiguration(_ folder: String) -> String {
        """
        daemon off; master_process off; pid nginx.pid;
        events { worker_connections 256; }
        http {
          access_log off; client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path f; uwsgi_temp_path u;
          scgi_temp_path s; client_max_body_size 64k; client_body_buffer_size 128k; merge_slashes off;
          lingering_close always; lingering_timeout 2s; ignore_invalid_headers off; underscores_in_headers on;
          server {
            listen unix:\(folder)/nginx.sock;
            location / {
              proxy_pass http://unix:\(folder)/inner.sock:/; proxy_method POST; proxy_http_version 1.1; proxy_ignore_client_abort on;
              proxy_pass_request_headers off; proxy_set_header X-Seen "$request_method $request_uri";
            }
          }
          server {
            listen unix:\(folder)/inner.sock; keepalive_timeout 0;
            set $length $http_content_length;
            if ($length = "") { set $length 0; }
            location / { add_header X-Seen "$http_x_seen $length"; return 200; }
          }
        }
        """
    }

    private static func apacheConfiguration(_ folder: String, _ outer: String, _ inner: String) -> String {
        let modules = ["mpm_event", "authz_core", "lua", "proxy", "proxy_http", "headers", "env", "rewrite"]
        return modules.map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so\n" }.joined() + """
            ServerRoot "\(folder)"
            DefaultRuntimeDir "\(folder)"
            PidFile "\(folder)/apache.pid"
            ErrorLog "\(folder)/apache.log"
            ServerName a
            User #65534
            Group #65534
            Listen \(outer)
            Listen \(inner)
            HttpProtocolOptions Strict LenientMethods Require1.0
            MaxKeepAliveRequests 0
            LimitRequestBody 65536
            AllowEncodedSlashes NoDecode
            MergeSlashes Off
            TraceEnable Off
            <VirtualHost \(outer)>
              SetEnv proxy-sendcl 1
              RequestHeader set X-Request-Line "expr=%{THE_REQUEST}"
              RewriteEngine On
              RewriteRule .* http://\(inner)/ [P,L]
            </VirtualHost>
            <VirtualHost \(inner)>
              LuaMapHandler ".*" \(folder)/answer.lua handle
            </VirtualHost>

            """
    }

    private static let apacheAnswer = """
        function handle(r)
          r.headers_out["X-Seen"] = r.headers_in["X-Request-Line"] .. " " .. (r.headers_in["Content-Length"] or 0)
          r:puts("")
          return apache2.OK
        end
        """
}
