import Glibc
import HTTP
import HTTPServer
import Sockets
import Testing

/// Listeners that are handed over, or are made for others.
@Suite(.timeLimit(.minutes(10))) struct ListenerTests {
    @Test(
        arguments: [
            ([:], []), (["LISTEN_FDS": "1"], []), (["LISTEN_PID": "7"], []),
            (["LISTEN_PID": "7", "LISTEN_FDS": "1"], ["3:"]), (["LISTEN_PID": "8", "LISTEN_FDS": "1"], []),
            (["LISTEN_PID": "7", "LISTEN_FDS": "0"], []),
            (["LISTEN_PID": "7", "LISTEN_FDS": "2", "LISTEN_FDNAMES": "public:admin"], ["3:public", "4:admin"]),
            (["LISTEN_PID": "7", "LISTEN_FDS": "2", "LISTEN_FDNAMES": ":x"], ["3:", "4:x"]),
            (["LISTEN_PID": "7", "LISTEN_FDS": "2", "LISTEN_FDNAMES": "public"], nil),
            (["LISTEN_PID": "7", "LISTEN_FDS": "65"], nil), (["LISTEN_PID": "7", "LISTEN_FDS": "-1"], nil),
            (["LISTEN_PID": "7", "LISTEN_FDS": "x"], nil), (["LISTEN_PID": "", "LISTEN_FDS": "1"], nil),
        ] as [([String: String], [String]?)])
    func theEnvironmentSaysWhatIsHandedOver(environment: [String: String], expected: [String]?) {
        let descriptors = InheritedListeners.descriptors(in: environment, pid: 7)
        #expect(descriptors?.map { "\($0.number):\($0.name)" } == expected)
    }

    @Test(arguments: ["127.0.0.1:0", "[::1]:0", "unix:/tmp/inherited"])
    func aConnectionToAnInheritedSocketWaitsForTheNextServer(text: String) async throws {
        let name = text.hasPrefix("unix") ? "\(text)-\(UInt64.random(in: 0 ... .max))" : text
        let supervisor = try Listener(SocketAddress(name))
        for number in 1...3 {
            let client = try await Client(supervisor.address)
            try await client.send(get("/waits"))
            try await withServer { server in
                let address = try server.server.listen(through: Listener(inheriting: dup(supervisor.number))) { _, _ in
                    Response(.ok, text: "\(number)")
                }
                #expect(address == supervisor.address)
                #expect(try await client.response().body == "\(number)")
                await client.close()
            }
        }
        // The socket and its file are the supervisor's.
        _ = try ClientSocket(to: supervisor.address, timeout: .seconds(5))
    }

    @Test func onlyAStreamSocketThatListensIsInherited() throws {
        for type in [SOCK_STREAM, SOCK_DGRAM] {
            let number = socket(AF_INET, Int32(type.rawValue), 0)
            #expect(throws: SocketError.notAListener(number)) { _ = try Listener(inheriting: number) }
        }
        let file = open("/dev/null", O_RDONLY)
        #expect(throws: SocketError.notAListener(file)) { _ = try Listener(inheriting: file) }
        #expect(throws: SocketError.notAListener(9999)) { _ = try Listener(inheriting: 9999) }
    }

    @Test func anInheritedSocketNeverBlocksAndGoesToNoChild() throws {
        let original = try Listener(SocketAddress("127.0.0.1:0"))
        let number = dup(original.number)
        _ = fcntl(number, F_SETFL, 0)
        let inherited = try Listener(inheriting: number)
        #expect(fcntl(inherited.number, F_GETFL) & O_NONBLOCK != 0)
        #expect(fcntl(inherited.number, F_GETFD) & FD_CLOEXEC != 0)
        guard case .noneWaiting = inherited.accept() else {
            Issue.record("somebody waits")
            return
        }
    }

    @Test(arguments: [0o600, 0o660, 0o666] as [UInt32])
    func aUnixSocketHasTheModeThatIsAskedFor(mode: UInt32) throws {
        let path = "/tmp/mode-\(UInt64.random(in: 0 ... .max))"
        var options = Listener.Options()
        options.unixMode = mode
        let listener = try Listener(.unix(path: path), options)
        var status = stat()
        #expect(lstat(path, &status) == 0)
        #expect(UInt32(status.st_mode & 0o777) == mode)
        listener.removeFile()
        #expect(access(path, F_OK) != 0)
    }

    @Test func aServerThatNeverBeganTakesNoConnection() async throws {
        try await withServer { server in
            var sharing = Listener.Options()
            sharing.sharing = .succession
            let address = try server.server.listen(
                through: Listener(SocketAddress("127.0.0.1:0"), sharing), handler: echo)
            let failed = HTTPServer(loops: server.loops)
            var options = HTTPServer.ServiceOptions()
            options.waits = true
            try failed.listen(through: Listener(address, sharing), options) { _, _ in Response(status: .badRequest) }
            for _ in 0..<50 { #expect(try await Client(address).ask(get("/", "Connection: close\r\n")).status == 200) }
            await failed.stop(deadline: .zero)
            #expect(failed.statistics.accepted == 0)
            for _ in 0..<50 { #expect(try await Client(address).ask(get("/", "Connection: close\r\n")).status == 200) }
        }
    }

    @Test func aConnectionBeforeTheServerAcceptsWaits() async throws {
        try await withServer { server in
            var options = HTTPServer.ServiceOptions()
            options.waits = true
            let address = try server.server.listen(
                through: Listener(SocketAddress("127.0.0.1:0")), options, handler: echo)
            let client = try await Client(address)
            try await client.send(get("/early"))
            #expect(try await server.client().ask(get("/")).status == 200)
            #expect(server.server.statistics.accepted == 1)
            try server.server.beginAccepting()
            #expect(try await client.response().body == "GET /early ")
        }
    }
}
