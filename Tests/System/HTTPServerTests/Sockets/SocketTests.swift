import Glibc
import HTTP
import HTTPServer
import Sockets
import Testing

/// Addresses and listeners.
@Suite(.timeLimit(.minutes(10))) struct SocketTests {
    @Test(arguments: [
        ("127.0.0.1:8080", "127.0.0.1:8080"), ("[::1]:0", "[::1]:0"), ("*:80", "0.0.0.0:80"),
        ("localhost:1", "127.0.0.1:1"), ("[2001:db8:0::1]:443", "[2001:db8::1]:443"),
        ("unix:/tmp/a b", "unix:/tmp/a b"),
    ])
    func addressesAreParsedAndDescribed(text: String, description: String) throws {
        #expect(try SocketAddress(text).description == description)
    }

    @Test(arguments: [
        "", "8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:+80", "127.0.0.1:65536", "1.2.3:80", "::1:80", "[::1]",
        "[]:80",
        "[1.2.3.4]:80", "example.org:80", "unix:", "unix:" + String(repeating: "a", count: 108), ":80", "127.0.0.1:8 0",
    ])
    func whatIsNoAddressIsRefused(text: String) {
        #expect(throws: SocketError.invalidAddress(text)) { try SocketAddress(text) }
    }

    @Test func anAddressInUseIsReportedInASentence() async throws {
        try await withServer { server in
            #expect(throws: SocketError.addressInUse("\(server.address)")) {
                try server.server.listen(on: server.address, handler: echo)
            }
            #expect("\(SocketError.addressInUse("\(server.address)"))".hasPrefix("\(server.address) is in use"))
        }
    }

    @Test func anAddressOfAnotherMachineIsReported() throws {
        #expect(throws: SocketError.addressNotAvailable("192.0.2.1:0")) {
            _ = try Listener(SocketAddress("192.0.2.1:0"))
        }
    }

    @Test func aUnixSocketIsPrivateAndServesLocalRequests() async throws {
        let path = temporaryPath()
        let handler: RequestHandler = { _, context in
            Response(.ok, text: "\(context.isLocalSocket) \(context.listenerName)")
        }
        try await withServer(on: "unix:\(path)", handler: handler) { server in
            var status = stat()
            #expect(lstat(path, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
            let response = try await server.client().ask(get("/"))
            #expect(response.body == "true public")
            #expect(throws: SocketError.addressInUse("unix:\(path)")) { _ = try Listener(.unix(path: path)) }
        }
        #expect(access(path, F_OK) != 0, "the file goes with the listener")
    }

    @Test func theFileOfAListenerThatDiedIsReplacedAndOtherFilesAreNot() throws {
        let path = temporaryPath()
        let dead = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(dead, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        #expect(result == 0)
        close(dead)
        do { _ = try Listener(.unix(path: path)) }
        #expect(access(path, F_OK) != 0)

        close(creat(path, 0o600))
        #expect(throws: SocketError.addressInUse("unix:\(path)")) { _ = try Listener(.unix(path: path)) }
        #expect(access(path, F_OK) == 0)
        unlink(path)
    }

    @Test func anAddressWithoutAListenerIsReported() async throws {
        let free = try await withServer { $0.address }
        #expect(throws: SocketError.connectionRefused("\(free)")) {
            _ = try ClientSocket(to: free, timeout: .seconds(5))
        }
    }

    @Test func severalListenersShareTheLoops() async throws {
        try await withServer { server in
            let admin = try server.server.listen(on: SocketAddress("[::1]:0"), .init(name: "admin")) { _, context in
                Response(.ok, text: context.listenerName)
            }
            #expect(try await Client(admin).ask(get("/")).body == "admin")
            #expect(try await server.client().ask(get("/")).body == "GET / ")
        }
    }

    private func temporaryPath() -> String { "/tmp/sockets-\(getpid())-\(UInt64.random(in: 0 ... .max))" }
}
