import Endpoints
import HTTP
import HTTPServer
import Sockets
import Testing

@testable import Configuration
@testable import Server

/// The metrics show which limit of the server bites.
@Suite("Metrics of limits")
struct LimitMetricsTests {
    @Test("each limit is shown under the key that sets it")
    func keys() {
        for limit in HTTPServer.Limit.allCases where limit != .descriptors && limit != .handshakes {
            #expect(ConfigurationKey.at(limit.key) != nil, "\(limit.key)")
        }
        for limit in RateLimits.Name.allCases { #expect(ConfigurationKey.at(limit.rawValue) != nil, "\(limit)") }
        #expect(Set(HTTPServer.Limit.allCases.map(\.key)).count == HTTPServer.Limit.allCases.count)
    }

    @Test("a limit that was met is counted, and what is under way is shown")
    func counts() async throws {
        let folder = StartingFolder()
        let server = SojournServer(
            folder.configuration,
            StartingClock().environment(adminKey: "an-admin-key-of-a-server-whose-limits-are-met"))
        let addresses = try await server.start().addresses
        #expect(try ask(.get, addresses.public + "/" + String(repeating: "a", count: 9000)).status == 414)
        #expect(try ask(.get, addresses.public + "/healthz").status == 200)
        let admin = try ClientSocket(
            to: SocketAddress(String(addresses.admin.dropFirst("http://".count))), timeout: .seconds(20))
        let request =
            "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer an-admin-key-of-a-server-whose-limits-are-met\r\nConnection: close\r\n\r\n"
        try admin.send(Array(request.utf8))
        var text = ""
        while case let bytes = try admin.receive(), !bytes.isEmpty { text += String(decoding: bytes, as: UTF8.self) }
        // The request for the metrics is the one that is under way.
        for line in [
            #"sojourn_limit_reached_total{limit="limits.request_line_bytes"} 1"#,
            #"sojourn_limit_reached_total{limit="limits.pending_requests"} 0"#,
            "sojourn_http_pending_requests 1", "sojourn_http_subscribers 0", "sojourn_http_buffered_bytes 0",
            #"sojourn_session_ends_total{reason="logged_out"} 0"#,
            #"sojourn_passwords_pending{room="users"} 0"#, #"sojourn_passwords_pending{room="clean_networks"} 0"#,
            #"sojourn_passwords_refused_total{room="other_networks"} 0"#,
        ] {
            #expect(text.contains("\n\(line)\n"), "\(line)")
        }
        await server.stop(deadline: .zero)
    }
}
