import Glibc
import HTTP
import Server
import Sockets
import Testing

/// How nginx, with the configuration of `docker/compose.yaml`, treats calls that wait for an event.
@Suite("nginx and calls that wait", .timeLimit(.minutes(2)))
struct WaitingProxyTests {
    /// A node that takes connections and answers nothing.
    private struct SilentNode: ~Copyable {
        private let descriptor: Int32

        init(_ path: String) throws {
            descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
            let isBound = unsafe withUnsafePointer(to: address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
                }
            }
            try #require(isBound && listen(descriptor, 16) == 0, "\(path): \(errno)")
        }

        /// The number of connections since the last call.
        func takeConnections() -> Int {
            var count = 0
            while case let connection = accept(descriptor, nil, nil), connection >= 0 {
                close(connection)
                count += 1
            }
            return count
        }

        deinit { close(descriptor) }
    }

    @Test("A call that waits is sent to one node and not repeated; another one that gets no answer is asked of both")
    func waits() throws {
        let folder = StartingFolder()
        let one = try SilentNode(folder.file("node-1.sock"))
        let two = try SilentNode(folder.file("node-2.sock"))
        var text = try ComposeTests.section("content: |").joined(separator: "\n").replacing("$$", with: "$")
        for (old, new) in [
            ("server node-1:8080", "server unix:\(folder.file("node-1.sock"))"),
            ("server node-2:8080", "server unix:\(folder.file("node-2.sock"))"),
            ("listen 80;", "listen unix:\(folder.file("proxy.sock"));"),
            // Longer than the time in which another node may be asked, as the time that it stands for.
            ("proxy_read_timeout 75s;", "proxy_read_timeout 3s;"),
            ("proxy_read_timeout 20s;", "proxy_read_timeout 1s;"),
        ] {
            #expect(text.contains(old), "\(old)")
            text = text.replacing(old, with: new)
        }
        try Nginx.run(text, folder) { proxy in
            let calls: [(HTTP.Method, String, Int)] = [
                (.get, "/v1/me/logins?wait=60", 1), (.get, "/login/phone/x/events", 1), (.post, "/ssf/poll", 1),
                (.get, "/v1/me", 2),
            ]
            for (method, target, count) in calls {
                let answer = try HTTPExchange.send(
                    Request(method, target, fields: ["Host": "login.example"], body: []), to: proxy)
                #expect(answer.status.code == 504, "\(target)")
                #expect(one.takeConnections() + two.takeConnections() == count, "\(target)")
            }
        }
    }
}
