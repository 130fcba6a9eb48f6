public import SojournClient

/// A transport on which requests meet faults. It keeps the caller's time limit by the clock that it is given, so that with a
/// `ManualClock` everything happens in virtual time.
public struct FaultyTransport: Transport {
    private let base: any Transport
    private let plan: FaultPlan
    private let clock: any ClientClock

    /// Puts the faults of `plan` in front of `base`.
    public init(_ base: any Transport, plan: FaultPlan, clock: any ClientClock) {
        self.base = base
        self.plan = plan
        self.clock = clock
    }

    /// Sends `request`, unless its fault says otherwise. What has left the client goes on when the client stops waiting.
    public func send(_ request: HTTPMessage, within limit: Duration) async throws(TransportFailure) -> HTTPAnswer {
        let fault = plan.fault(for: request)
        let race = Race()
        let journey = Task {
            race.finish(
                await Self.result { () async throws(TransportFailure) in
                    try await travel(request, fault, limit)
                })
        }
        let limiter = Task {
            try await clock.sleep(for: limit)
            race.finish(.failure(.timedOut))
        }
        defer { limiter.cancel() }
        return try await withTaskCancellationHandler {
            await race.result()
        } onCancel: {
            // The request may have left: only the waiting ends.
            race.finish(.failure(.cancelled))
            _ = journey
        }.get()
    }

    private static func result(
        _ body: () async throws(TransportFailure) -> HTTPAnswer
    ) async -> Result<HTTPAnswer, TransportFailure> {
        do throws(TransportFailure) { return .success(try await body()) } catch { return .failure(error) }
    }

    private func travel(
        _ request: HTTPMessage, _ fault: Fault, _ limit: Duration
    ) async throws(TransportFailure) -> HTTPAnswer {
        switch fault {
        case .loseRequest: throw .unreachable("the request was lost")
        case .status(let status, let retryAfter):
            let fields = retryAfter.map { [HTTPMessageField("Retry-After", "\($0)")] } ?? []
            return HTTPAnswer(status: status, fields: fields)
        case .page(let text):
            let fields = [HTTPMessageField("Content-Type", "text/html")]
            return HTTPAnswer(status: 200, fields: fields, body: Array(text.utf8))
        case .answer(let answer): return answer
        case .held(let gate, let fault):
            let result = await Self.result { () async throws(TransportFailure) in
                try await travel(request, fault, limit)
            }
            await gate.pass()
            return try result.get()
        case .delay(let duration): await pause(duration)
        case .repeated: _ = try await base.send(request, within: limit)
        case .pass, .loseAnswer, .delayAnswer, .duplicate, .cut, .wrongDate, .staleNonce: break
        }
        // The journey is over when the answer is here, however long the client waits.
        var answer = try await base.send(request, within: limit)
        switch fault {
        case .loseAnswer: throw .unreachable("the answer was lost")
        case .delayAnswer(let duration): await pause(duration)
        case .duplicate(let duration):
            Task {
                await pause(duration)
                _ = try? await base.send(request, within: limit)
            }
        case .cut(let count): answer.body = Array(answer.body.prefix(count))
        case .wrongDate(let hours): answer.shiftDate(byHours: hours)
        case .staleNonce: answer.replace("DPoP-Nonce", by: unknownNonce)
        case .pass, .loseRequest, .delay, .repeated, .status, .page, .answer, .held: break
        }
        return answer
    }

    private func pause(_ duration: Duration) async { try? await clock.sleep(for: duration) }
}

/// The first result, for one reader.
private final class Race: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Result<HTTPAnswer, TransportFailure>, Never>)
        case finished(Result<HTTPAnswer, TransportFailure>)
    }

    private let state = Guarded(State.open)

    func finish(_ result: Result<HTTPAnswer, TransportFailure>) {
        let reader = state.withLock { state -> CheckedContinuation<Result<HTTPAnswer, TransportFailure>, Never>? in
            switch state {
            case .open: state = .finished(result)
            case .finished: break
            case .awaited(let continuation):
                state = .finished(result)
                return continuation
            }
            return nil
        }
        reader?.resume(returning: result)
    }

    func result() async -> Result<HTTPAnswer, TransportFailure> {
        await withCheckedContinuation { continuation in
            let result = state.withLock { state -> Result<HTTPAnswer, TransportFailure>? in
                if case .finished(let result) = state { return result }
                state = .awaited(continuation)
                return nil
            }
            if let result { continuation.resume(returning: result) }
        }
    }
}
