import EventLoops
import Glibc
import HTTP
import HTTPServer
import Sockets
import Synchronization
import Testing

/// Servers that take one port over from each other, under load.
@Suite(.timeLimit(.minutes(10))) struct RollingRestartTests {
    /// A server with loops of its own, as another process would have.
    private struct Generation {
        let server: HTTPServer
        let loops: EventLoopGroup
        let address: SocketAddress

        init(_ number: Int, on address: SocketAddress, _ sharing: Listener.Sharing) throws {
            loops = try EventLoopGroup(count: 1)
            var configuration = HTTPServer.Configuration()
            // All clients ask again: none of them waits for so long, however busy the machine is.
            configuration.drainGrace = .seconds(20)
            // On this machine it takes no time at all.
            configuration.handOverTime = .milliseconds(300)
            server = HTTPServer(configuration: configuration, loops: loops)
            var options = Listener.Options()
            options.sharing = sharing
            self.address = try server.listen(through: Listener(address, options)) { request, _ in
                if request.method == .post { try? await Task.sleep(for: .milliseconds(2)) }
                return Response(.ok, text: "\(number)")
            }
        }

        func stop() async {
            await server.stop(deadline: .seconds(30))
            await loops.stop()
        }
    }

    private final class Load: Sendable {
        let isOver = Atomic<Bool>(false)
        let answered = Atomic<Int>(0)
        let failed = Atomic<Int>(0)
        let closed = Atomic<Int>(0)

        /// Asks until the end; a new connection for each request, or the same as long as the server keeps it.
        func run(_ address: SocketAddress, keepsAlive: Bool) async {
            var kept: Client?
            var count = 0
            while !isOver.load(ordering: .relaxed) {
                count += 1
                do {
                    let client: Client
                    if let kept { client = kept } else { client = try await Client(address) }
                    let request =
                        count % 2 == 0
                        ? post("/", "x", keepsAlive ? "" : "Connection: close\r\n")
                        : get("/", keepsAlive ? "" : "Connection: close\r\n")
                    let response = try await client.ask(request)
                    #expect(response.status == 200)
                    answered.add(1, ordering: .relaxed)
                    let ends = response.fields["connection"] == "close"
                    if keepsAlive, ends { closed.add(1, ordering: .relaxed) }
                    kept = keepsAlive && !ends ? client : nil
                    if kept == nil { await client.close() }
                } catch {
                    failed.add(1, ordering: .relaxed)
                    Issue.record("request \(count), keep-alive \(keepsAlive): \(error)")
                    kept = nil
                }
            }
        }
    }

    @Test(arguments: [Listener.Sharing.balanced, .succession], ["127.0.0.1:0", "[::]:0"])
    func noRequestFailsWhileServersTakeOverFromEachOther(sharing: Listener.Sharing, text: String) async throws {
        var current = try Generation(0, on: SocketAddress(text), sharing)
        let address = current.address
        let load = Load()
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<8 { group.addTask { await load.run(address, keepsAlive: index % 2 == 0) } }
            for number in 1...3 {
                do {
                    // Each takes over under load, however slow the machine is.
                    try await wait("too few requests were answered") {
                        load.answered.load(ordering: .relaxed) > number * 40
                    }
                    let next = try Generation(number, on: address, sharing)
                    await current.stop()
                    current = next
                } catch { Issue.record("\(error)") }
            }
            load.isOver.store(true, ordering: .relaxed)
        }
        await current.stop()
        #expect(load.failed.load(ordering: .relaxed) == 0)
        #expect(load.answered.load(ordering: .relaxed) > 100)
        #expect(load.closed.load(ordering: .relaxed) >= 4, "connections were told to end")
    }

    @Test func inASuccessionTheSecondGetsNothingBeforeTheFirstStops() async throws {
        let first = try Generation(1, on: SocketAddress("127.0.0.1:0"), .succession)
        let second = try Generation(2, on: first.address, .succession)
        for _ in 0..<100 { #expect(try await Client(first.address).ask(get("/")).body == "1") }
        await first.stop()
        for _ in 0..<100 { #expect(try await Client(first.address).ask(get("/")).body == "2") }
        // The one that stopped has left no trace: a third gets nothing either.
        let third = try Generation(3, on: first.address, .succession)
        await second.stop()
        for _ in 0..<100 { #expect(try await Client(first.address).ask(get("/")).body == "3") }
        await third.stop()
    }

    @Test func theFirstOfSeveralToStopHandsOverToAnother() async throws {
        var all = [try Generation(0, on: SocketAddress("127.0.0.1:0"), .balanced)]
        let address = all[0].address
        for number in 1...3 { all.append(try Generation(number, on: address, .balanced)) }
        let load = Load()
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<6 { group.addTask { await load.run(address, keepsAlive: index % 3 == 0) } }
            // The second place of the group twice, then the first.
            for index in [1, 3, 0] { await all[index].stop() }
            load.isOver.store(true, ordering: .relaxed)
        }
        await all[2].stop()
        #expect(load.failed.load(ordering: .relaxed) == 0)
    }

    @Test func whileOneStopsNewConnectionsGoToOthers() async throws {
        var all = [try Generation(0, on: SocketAddress("127.0.0.1:0"), .balanced)]
        let address = all[0].address
        for number in 1...3 { all.append(try Generation(number, on: address, .balanced)) }
        // The second place of the group twice, then the first.
        for index in [1, 3, 0] {
            let hasStopped = Atomic<Bool>(false)
            async let stopped: Void = {
                await all[index].stop()
                hasStopped.store(true, ordering: .releasing)
            }()
            var (own, total) = (0, 0)
            while !hasStopped.load(ordering: .acquiring) {
                total += 1
                if try await Client(address).ask(get("/", "Connection: close\r\n")).body == "\(index)" { own += 1 }
            }
            await stopped
            // Only those that came before it had begun to hand over.
            #expect(own * 4 < total, "\(own) of \(total) came to \(index)")
        }
        await all[2].stop()
    }

    @Test func aPortIsNotSharedUnlessBothWantIt() async throws {
        let alone = try Generation(0, on: SocketAddress("127.0.0.1:0"), .none)
        #expect(throws: SocketError.addressInUse("\(alone.address)")) {
            try Generation(1, on: alone.address, .balanced)
        }
        await alone.stop()
    }
}
