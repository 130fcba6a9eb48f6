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
        let plan = FaultPlan { _ in fault }
        guard overTCP else {
            let request = HTTPMessage(method: "GET", url: URL(filePath: "/"))
            return try await FaultyTransport(Nowhere(), plan: plan, clock: SystemClock())
                .send(request, within: .seconds(20))
        }
        let proxy = try FaultProxy(to: URL(string: "http://127.0.0.1:1"), plan: plan)
        defer { proxy.stop() }
        return try await URLSessionTransport()
            .send(HTTPMessage(method: "GET", url: proxy.url), within: .seconds(20))
    }

    @Test("a given answer comes instead of the server's", arguments: [true, false])
    func given(overTCP: Bool) async throws {
        let answer = try await Self.send(.answer(Self.answer), overTCP: overTCP)
        #expect(answer.status == 418 && answer["x-who"] == "test" && answer.body == [1, 2])
    }

    @Test("a held answer comes when the gate opens, and not before", arguments: [true, false])
    func held(overTCP: Bool) async throws {
        let (gate, isOpen) = (Gate(), Guarded(false))
        let waiting = Task {
            let answer = try await Self.send(.held(gate, .answer(Self.answer)), overTCP: overTCP)
            return (answer.status, isOpen.withLock { $0 })
        }
        try await Task.sleep(for: .milliseconds(20))
        isOpen.withLock { $0 = true }
        gate.open()
        let (status, wasOpen) = try await waiting.value
        #expect(status == 418 && wasOpen)
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
