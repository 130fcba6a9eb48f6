import HTTP
import HTTPClient
import HostileServer
import Testing

@Suite struct LaneTests {
    private func request(_ server: HostileServer) throws -> OutboundRequest {
        OutboundRequest(.get, try #require(OutboundURL(server.origin, plainLoopback: true)))
    }

    @Test func moreThanMayWait_AreRefusedAtOnce_AndTheOthersAnswered() async throws {
        let release = HostileServer.Signal()
        let server = HostileServer { _ in [.wait(release), .say("HTTP/1.1 204 No Content\r\n\r\n")] }
        defer { server.stop() }
        let client = HTTPClient(HTTPClient.Options(width: 2, waitingMax: 3))
        let request = try request(server)
        let outcomes = await withTaskGroup(of: Result<OutboundResponse, OutboundError>.self) { group in
            for _ in 0..<8 { group.addTask { await client.outcome(request) } }
            var outcomes: [Result<OutboundResponse, OutboundError>] = []
            // Five have a place; three are refused at once, while no answer has come.
            for await outcome in group {
                outcomes.append(outcome)
                if outcomes.count == 3 { for _ in 0..<5 { release.give() } }
            }
            return outcomes
        }
        #expect(outcomes.prefix(3).allSatisfy { $0.failure == .overloaded })
        #expect(outcomes.dropFirst(3).allSatisfy { (try? $0.get().status) == 204 })
        #expect(server.requests.count == 5)
    }

    @Test func aRequestThatWaitsInVain_IsRefusedInTime_AndNothingIsSent() async throws {
        let release = HostileServer.Signal()
        let server = HostileServer { _ in [.wait(release), .say("HTTP/1.1 204 No Content\r\n\r\n")] }
        defer { server.stop() }
        let client = HTTPClient(HTTPClient.Options(width: 1))
        let first = try request(server)
        var second = first
        second.deadline = .milliseconds(200)
        async let slow = client.outcome(first)
        while server.requests.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        #expect(await client.outcome(second).failure == .timedOut)
        release.give()
        #expect(try await slow.get().status == 204)
        #expect(server.requests.count == 1)
    }
}
