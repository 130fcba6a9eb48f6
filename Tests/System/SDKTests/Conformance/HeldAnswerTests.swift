import Foundation
import SojournClient
import SojournTestKit
import Testing

/// Answers that a test gives, and answers that a gate holds back: over TCP and in memory alike.
struct HeldAnswerTests {
    /// A transport that has no server behind it.
    private struct Nowhere: Transport {
        func send(_ request: HTTPMessage, within limit: Duration) async throws(TransportFailure) -> HTTPAnswer {
            throw .unreachable("nowhere")
        }
    }

    private static let answer = HTTPAnswer(status: 418, fields: [HTTPMessageField("X-Who", "test")], body: [1, 2])

    /// Sends a request on which `fault` falls.
    private static func send(_ fault: Fault, overTCP: Bool) async throws -> HTTPAnswer {
        try await line(FaultPlan { _ in fault }, overTCP: overTCP)()
    }

    /// What sends requests that meet the faults of a plan.
    private static func line(
        _ plan: FaultPlan, overTCP: Bool
    ) throws -> @Sendable () async throws -> HTTPAnswer {
        guard overTCP else {
            let transport = FaultyTransport(Nowhere(), plan: plan, clock: SystemClock())
            let request = HTTPMessage(method: "GET", url: URL(filePath: "/"))
            return { try await transport.send(request, within: .seconds(20)) }
        }
        let proxy = try FaultProxy(to: URL(string: "http://127.0.0.1:1"), plan: plan)
        let transport = URLSessionTransport()
        return { try await transport.send(HTTPMessage(method: "GET", url: proxy.url), within: .seconds(20)) }
    }

    @Test("a given answer comes instead of the server's", arguments: [true, false])
    func given(overTCP: Bool) async throws {
        let answer = try await Self.send(.answer(Self.answer), overTCP: overTCP)
        #expect(answer.status == 418 && answer["x-who"] == "test" && answer.body == [1, 2])
    }

    @Test("a held answer comes when the gate opens, and not before", arguments: [true, false])
    func held(overTCP: Bool) async throws {
        let (gate, seen, isAnswered) = (Gate(), Guarded(0), Guarded(false))
        let send = try Self.line(
            FaultPlan { _ in
                let isFirst = seen.withLock { seen in
                    seen += 1
                    return seen == 1
                }
                return isFirst ? .held(gate, .answer(Self.answer)) : .answer(Self.answer)
            }, overTCP: overTCP)
        let held = Task {
            let answer = try await send()
            isAnswered.withLock { $0 = true }
            return answer.status
        }
        while seen.withLock({ $0 }) == 0 { try await Task.sleep(for: .milliseconds(1)) }
        // Requests that come later are answered before.
        for _ in 0..<3 { #expect(try await send().status == 418) }
        #expect(!isAnswered.withLock { $0 })
        gate.open()
        #expect(try await held.value == 418)
        // Whatever comes later passes at once.
        #expect(try await Self.send(.held(gate, .answer(Self.answer)), overTCP: overTCP).status == 418)
        gate.open()
    }

    @Test("a request that is lost behind a gate is lost when it opens", arguments: [true, false])
    func lost(overTCP: Bool) async throws {
        let gate = Gate()
        gate.open()
        await #expect(throws: TransportFailure.self) {
            try await Self.send(.held(gate, .loseRequest), overTCP: overTCP)
        }
    }
}
