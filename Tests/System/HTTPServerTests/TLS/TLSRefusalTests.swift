import HTTP
import HTTPServer
import TLS
import TLSFixture
import Testing

/// Old versions and weak suites, offered by bytes of our own because today's libraries will not.
@Suite(.serialized, .timeLimit(.minutes(10))) struct TLSRefusalTests {
    /// A ClientHello (RFC 5246 §7.4.1.2) that offers exactly these suites.
    private static func greeting(version: UInt16, suites: [UInt16]) -> [UInt8] {
        func word(_ value: Int) -> [UInt8] { [UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)] }
        func block(_ bytes: [UInt8]) -> [UInt8] { word(bytes.count) + bytes }
        let groups = word(10) + block(block([0, 29, 0, 23]))
        let formats = word(11) + block([1, 0])
        let signatures = word(13) + block(block([4, 3, 8, 4, 4, 1, 5, 1, 2, 1, 2, 3]))
        let body =
            word(Int(version)) + [UInt8](repeating: 7, count: 32) + [0] + block(suites.flatMap { word(Int($0)) })
            + [1, 0] + (version > 0x0300 ? block(groups + formats + signatures) : [])
        let message = [1, 0] + word(body.count) + body
        return [22] + word(min(Int(version), 0x0301)) + block(message)
    }

    /// The first record that the server sends: its type and its first bytes.
    private static func answer(to greeting: [UInt8], _ server: SecureServer) async throws -> (type: UInt8, [UInt8]) {
        let client = try await Client(server.address)
        try await client.send(greeting)
        let record = try await client.receiveAtLeast(7)
        return (record[0], Array(record[5..<7]))
    }

    private static let modern: UInt16 = 0xC02B

    @Test func theGreetingOfTheseTestsIsAGoodOne() async throws {
        try await withSecureServer { server in
            let answer = try await Self.answer(to: Self.greeting(version: 0x0303, suites: [Self.modern]), server)
            #expect(answer.type == 22)
            #expect(answer.1[0] == 2, "a ServerHello")
        }
    }

    @Test(arguments: [0x0300, 0x0301, 0x0302] as [UInt16]) func oldVersionsAreRefusedByAnAlert(version: UInt16)
        async throws
    {
        for name in ["p256", "rsa"] {
            try await withSecureServer(context: Certificates.shared.context(name)) { server in
                let suites: [UInt16] = [Self.modern, 0xC02F, 0xC009, 0xC013, 0xC00A, 0xC014, 0x002F, 0x0035, 0x000A]
                let answer = try await Self.answer(to: Self.greeting(version: version, suites: suites), server)
                #expect(answer.type == 21)
                // Fatal, protocol_version; SSL 3.0 does not know that one, so handshake_failure.
                #expect(answer.1 == [2, version == 0x0300 ? 40 : 70])
            }
        }
    }

    @Test(
        arguments: [
            ("NULL", [0x0001, 0x0002, 0x003B, 0xC006, 0xC010]),
            ("anonymous", [0x0018, 0x001B, 0x00A6, 0xC018, 0xC019]),
            ("RC4", [0x0004, 0x0005, 0xC007, 0xC011]), ("3DES", [0x000A, 0x0016, 0xC008, 0xC012]),
            ("export", [0x0003, 0x0008, 0x0014, 0x0011]), ("DES", [0x0009, 0x0015]),
            ("CBC", [0xC009, 0xC00A, 0xC013, 0xC014, 0xC023, 0xC024, 0xC027, 0xC028]),
            ("static RSA", [0x002F, 0x0035, 0x003C, 0x003D, 0x009C, 0x009D]),
            ("DHE", [0x0033, 0x0039, 0x0067, 0x006B, 0x009E, 0x009F, 0xCCAA]),
            ("PSK", [0x008C, 0x00A8, 0xCCAB, 0xCCAC]),
            ("CCM, ARIA, Camellia", [0xC09C, 0xC0AC, 0xC050, 0xC05C, 0x0041, 0xC076]),
        ] as [(String, [UInt16])])
    func weakSuitesAreRefusedByAnAlert(kind: String, suites: [UInt16]) async throws {
        for name in ["p256", "rsa"] {
            try await withSecureServer(context: Certificates.shared.context(name)) { server in
                let answer = try await Self.answer(to: Self.greeting(version: 0x0303, suites: suites), server)
                #expect(answer.type == 21, "\(kind)")
                #expect(answer.1 == [2, 40], "fatal, handshake_failure")
            }
        }
    }

    @Test func plainHTTPIsAnsweredInPlainText() async throws {
        try await withSecureServer { server in
            let client = try await Client(server.address)
            let response = try await client.ask(get("/"))
            #expect(response.status == 400)
            #expect(response.body.contains("tls_required"))
            #expect(response.fields["connection"] == "close")
            #expect(try await client.isClosed())
            let curl = try await Tool.run(["curl", "-sS", "http://127.0.0.1:\(server.port)/"])
            #expect(curl.contains("begins with https"))
        }
    }

    @Test(arguments: [[0], [128, 46, 1, 0, 2], [0xFF], [13, 10]] as [[UInt8]])
    func whatIsNeitherIsClosed(bytes: [UInt8]) async throws {
        try await withSecureServer { server in
            let client = try await Client(server.address)
            try await client.send(bytes)
            await client.shutdownWrite()
            #expect(await client.countUntilEnd() == 0)
            #expect(server.statistics.handshakeFailures == 1)
        }
    }
}
