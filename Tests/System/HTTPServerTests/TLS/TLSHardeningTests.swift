import Dispatch
import HTTP
import HTTPServer
import Sockets
import TLS
import TLSFixture
import Testing

/// What hostile and broken clients do to handshakes, and what they cannot do to others.
@Suite(.serialized, .timeLimit(.minutes(10))) struct TLSHardeningTests {
    // MARK: Time

    @Test func aGreetingThatIsNotFinishedIsCutAtItsDeadline() async throws {
        try await withSecureServer(loops: 1) { server in
            let greeting = TLSClient.greeting()
            let client = try await Client(server.address)
            try await client.send(Array(greeting.prefix(greeting.count / 2)))
            // The answer to another connection of the same loop proves that the loop has seen those bytes.
            #expect(try await server.plain.client().ask(get("/")).status == 200)
            server.plain.advance(.seconds(9))
            try await client.send(Array(greeting.dropFirst(greeting.count / 2).prefix(20)))
            #expect(try await server.plain.client().ask(get("/")).status == 200)
            server.plain.advance(.seconds(2))
            #expect(await client.countUntilEnd() == 0)
            #expect(server.statistics.timeouts == 1)
        }
    }

    @Test func aHandshakeThatIsNotFinishedIsCutAtItsDeadline() async throws {
        try await withSecureServer { server in
            let client = try await Client(server.address)
            try await client.send(TLSClient.greeting())
            #expect(try await client.receiveAtLeast(6)[5] == 2, "a ServerHello")
            server.plain.advance(.seconds(11))
            _ = await client.countUntilEnd()
            while server.statistics.open > 0 {
                server.plain.advance(.seconds(1))
                await aMoment()
            }
            #expect(server.statistics.timeouts == 1)
        }
    }

    @Test func afterTheHandshakeTheFirstHeadHasItsOwnDeadline() async throws {
        try await withSecureServer(loops: 1) { server in
            let client = try await TLSClient(server.address)
            while server.statistics.handshakes == 0 { await aMoment() }
            server.plain.advance(.seconds(9))
            try await client.prepare("GET / HT")
            try await client.flush()
            #expect(try await server.plain.client().ask(get("/")).status == 200)
            server.plain.advance(.seconds(2))
            #expect(try await client.response().hasPrefix("HTTP/1.1 408 "))
            #expect(try await client.isClosed())
        }
    }

    // MARK: Work

    /// A queue with one thread, which waits until the test lets it go.
    private struct BlockedQueue {
        let queue: HandshakeQueue
        private let gate = DispatchGroup()

        init(maximumWaiting: Int = 1024) {
            queue = HandshakeQueue(width: 1, maximumWaiting: maximumWaiting)
            gate.enter()
            _ = queue.run { [gate] in gate.wait() }
        }

        func release() { gate.leave() }
    }

    @Test func handshakesThatComputeDelayNoOtherConnectionOfTheLoop() async throws {
        let handshakes = HandshakeQueue(width: 1)
        try await withSecureServer(loops: 1, handshakes: handshakes) { server in
            let encrypted = try await TLSClient(server.address)
            let plain = try await server.plain.client()
            #expect(try await encrypted.ask(get("/")).hasSuffix("GET / "))
            #expect(try await plain.ask(get("/")).status == 200)
            // From here on no step of a handshake ends.
            let gate = DispatchGroup()
            gate.enter()
            #expect(handshakes.run { gate.wait() })
            async let late = TLSClient(server.address)
            var waiting: [Client] = []
            for _ in 0..<50 {
                let client = try await Client(server.address)
                try await client.send(TLSClient.greeting())
                waiting.append(client)
            }
            for number in 0..<100 {
                #expect(try await encrypted.ask(get("/\(number)")).hasSuffix("GET /\(number) "))
                #expect(try await plain.ask(get("/\(number)")).status == 200)
            }
            #expect(server.statistics.handshakes == 1)
            gate.leave()
            for client in waiting { #expect(try await client.receiveAtLeast(6)[5] == 2) }
            #expect(try await late.ask(get("/late")).hasSuffix("GET /late "))
        }
    }

    @Test func moreHandshakesThanMayWaitAreClosed() async throws {
        let blocked = BlockedQueue(maximumWaiting: 2)
        try await withSecureServer(loops: 1, handshakes: blocked.queue) { server in
            var clients: [Client] = []
            for _ in 0..<5 {
                let client = try await Client(server.address)
                try await client.send(TLSClient.greeting())
                clients.append(client)
                #expect(try await server.plain.client().ask(get("/")).status == 200)
            }
            for client in clients[2...] { #expect(await client.countUntilEnd() == 0) }
            #expect(server.statistics.reached[.handshakes] == 3)
            blocked.release()
            for client in clients[..<2] { #expect(try await client.receiveAtLeast(6)[5] == 2) }
        }
    }

    @Test func aClientThatEndsWhileItsHandshakeWaitsIsForgottenAndNotComputed() async throws {
        let blocked = BlockedQueue()
        try await withSecureServer(loops: 1, handshakes: blocked.queue) { server in
            var clients: [Client] = []
            for _ in 0..<20 {
                let client = try await Client(server.address)
                try await client.send(TLSClient.greeting())
                clients.append(client)
            }
            while server.statistics.accepted < 20 { await aMoment() }
            #expect(try await server.plain.client().ask(get("/")).status == 200)
            server.plain.advance(.seconds(11))
            // They are told at once, although their descriptors still belong to the queue.
            for client in clients { #expect(await client.countUntilEnd() == 0) }
            #expect(server.statistics.timeouts >= 20)
            blocked.release()
            let next = try await TLSClient(server.address)
            #expect(try await next.ask(get("/")).hasSuffix("GET / "))
            #expect(server.statistics.handshakeFailures == 0)
        }
    }

    @Test func aStopDoesNotWaitForHandshakes() async throws {
        let blocked = BlockedQueue()
        try await withSecureServer(loops: 1, handshakes: blocked.queue) { server in
            let client = try await Client(server.address)
            try await client.send(TLSClient.greeting())
            #expect(try await server.plain.client().ask(get("/")).status == 200)
            await server.plain.server.stop(deadline: .zero)
            #expect(await client.countUntilEnd() == 0)
        }
        // The step comes back to a loop that has gone.
        blocked.release()
    }

    // MARK: Bytes

    @Test func everyCutOfAGreetingEndsTheConnection() async throws {
        try await withSecureServer { server in
            let greeting = TLSClient.greeting()
            for count in 0..<greeting.count {
                let client = try await Client(server.address)
                try await client.send(Array(greeting.prefix(count)))
                await client.shutdownWrite()
                #expect(await client.countUntilEnd() == 0, "\(count) bytes")
            }
            while server.statistics.open > 0 { await aMoment() }
            #expect(server.statistics.handshakes == 0)
            #expect(try await server.curl().text == "GET / ")
        }
    }

    @Test func aGreetingMayComeByteByByteAndInTwoRecords() async throws {
        try await withSecureServer { server in
            let greeting = TLSClient.greeting()
            let slow = try await Client(server.address)
            for byte in greeting { try await slow.send([byte]) }
            #expect(try await slow.receiveAtLeast(6)[5] == 2)
            let message = greeting.dropFirst(5)
            let split = try await Client(server.address)
            try await split.send([22, 3, 1, 0, 50] + message.prefix(50))
            #expect(try await server.plain.client().ask(get("/")).status == 200)
            let rest = message.count - 50
            try await split.send([22, 3, 1, UInt8(rest >> 8), UInt8(rest & 0xFF)] + message.dropFirst(50))
            #expect(try await split.receiveAtLeast(6)[5] == 2)
        }
    }

    @Test func aThousandSpoiltGreetingsHarmNoConnection() async throws {
        try await withSecureServer { server in
            let greeting = TLSClient.greeting()
            var random = SystemRandomNumberGenerator()
            for number in 0..<1000 {
                var bytes = greeting
                switch number % 4 {
                case 0: bytes = (0..<300).map { _ in .random(in: 0...255, using: &random) }
                case 1:
                    bytes = greeting.prefix(5) + (5..<greeting.count).map { _ in .random(in: 0...255, using: &random) }
                case 2: for _ in 0..<3 { bytes[.random(in: 5..<bytes.count)] = .random(in: 0...255, using: &random) }
                default: bytes.insert(.random(in: 0...255, using: &random), at: .random(in: 1..<bytes.count))
                }
                let client = try await Client(server.address)
                try await client.send(bytes)
                await client.shutdownWrite()
                if number % 2 == 0 { await client.reset() } else { _ = await client.countUntilEnd() }
            }
            while server.statistics.open > 0 {
                server.plain.advance(.seconds(1))
                await aMoment()
            }
            #expect(server.statistics.handshakes == 0)
            let next = try await TLSClient(server.address)
            #expect(try await next.ask(get("/")).hasSuffix("GET / "))
        }
    }

    @Test func clientsThatResetInTheMiddleLeaveNothingBehind() async throws {
        try await withSecureServer { server in
            let greeting = TLSClient.greeting()
            for number in 0..<300 {
                let client = try await Client(server.address)
                try await client.send(greeting)
                if number % 3 == 0 { _ = try await client.receiveAtLeast(1) }
                await client.reset()
            }
            while server.statistics.open > 0 { await aMoment() }
            #expect(try await server.curl().text == "GET / ")
        }
    }

    @Test func aFloodOfKeyUpdatesEndsTheConnection() async throws {
        try await withSecureServer { server in
            let client = try await TLSClient(server.address)
            #expect(try await client.ask(get("/")).hasSuffix("GET / "))
            await #expect(throws: (any Error).self) {
                for _ in 0..<20_000 {
                    try await client.prepareKeyUpdate()
                    try await client.flush()
                }
                // What the kernel has taken may be lost: the question is whether the server answers.
                _ = try await client.ask(get("/"))
            }
            while server.statistics.open > 0 { await aMoment() }
        }
    }

    @Test func applicationDataBeforeTheHandshakeIsRefused() async throws {
        try await withSecureServer { server in
            let client = try await Client(server.address)
            try await client.send(TLSClient.greeting() + [23, 3, 3, 0, 20] + [UInt8](repeating: 0x41, count: 20))
            _ = await client.countUntilEnd()
            #expect(server.statistics.requests == 0)
            #expect(server.statistics.handshakes == 0)
        }
    }
}
