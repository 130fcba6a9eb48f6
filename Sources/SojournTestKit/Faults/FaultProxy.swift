#if os(Linux)
    public import Foundation
    import SojournClient

    /// A proxy over real TCP, on a free port of 127.0.0.1, in which requests meet faults on their way to a server on this machine.
    ///
    /// The proxy can exist before its server, so that the server's issuer can be the URL of the proxy.
    public final class FaultProxy: Sendable {
        /// The proxy could not be started.
        public struct NotStarted: Error {}

        private struct State {
            var target: URL?
            var plan: FaultPlan
            var requestCount = 0
            var faultCount = 0
        }

        /// The URL that clients call.
        public let url: URL
        private let listener: LoopbackListener
        private let state: Guarded<State>

        /// Starts a proxy in front of `target`.
        public init(to target: URL? = nil, plan: FaultPlan = .none) throws {
            guard let listener = LoopbackListener(), let url = URL(string: "http://127.0.0.1:\(listener.port)") else {
                throw NotStarted()
            }
            self.url = url
            self.listener = listener
            state = Guarded(State(target: target, plan: plan))
            // Threads of their own, because a delayed request blocks its thread.
            listener.serve { [state] in Self.serve($0, state) }
        }

        deinit { stop() }

        /// The server behind the proxy. A request that comes while there is none loses its connection.
        public var target: URL? {
            get { state.withLock { $0.target } }
            set { state.withLock { $0.target = newValue } }
        }

        /// What happens to requests from now on.
        public var plan: FaultPlan {
            get { state.withLock { $0.plan } }
            set { state.withLock { $0.plan = newValue } }
        }

        /// How many requests have come.
        public var requestCount: Int { state.withLock { $0.requestCount } }
        /// How many of them met a fault.
        public var faultCount: Int { state.withLock { $0.faultCount } }

        /// Takes no more connections.
        public func stop() { listener.stop() }

        /// Serves the requests of one connection, until a fault or the client ends it.
        private static func serve(_ stream: SocketStream, _ state: Guarded<State>) {
            while let request = try? request(from: stream) {
                let (target, fault) = state.withLock { state -> (URL?, Fault) in
                    state.requestCount += 1
                    let fault = state.plan.fault(for: request)
                    if fault != .pass { state.faultCount += 1 }
                    return (state.target, fault)
                }
                guard let target, let answer = Relay(request: request, target: target).answer(fault),
                    (try? stream.write(answer)) != nil
                else { return }
                if fault.isCut { return }
            }
        }

        private static func request(from stream: SocketStream) throws -> HTTPMessage {
            let (first, fields, body) = try stream.message()
            let words = first.split(separator: " ")
            guard words.count == 3, let url = URL(string: "http://127.0.0.1" + words[1]) else {
                throw SocketStream.Broken()
            }
            return HTTPMessage(method: String(words[0]), url: url, fields: fields, body: body)
        }
    }

    extension Fault {
        /// Whether the connection ends in the middle of the answer.
        fileprivate var isCut: Bool {
            switch self {
            case .cut: true
            case .held(_, let fault): fault.isCut
            default: false
            }
        }
    }

    /// One request on its way through the proxy.
    private struct Relay {
        let request: HTTPMessage
        let target: URL

        /// The bytes that the client gets; nil: its connection is closed.
        func answer(_ fault: Fault) -> [UInt8]? {
            switch fault {
            case .loseRequest: return nil
            case .status(let status, let retryAfter):
                let fields = retryAfter.map { [HTTPMessageField("Retry-After", "\($0)")] } ?? []
                return bytes(HTTPAnswer(status: status, fields: fields))
            case .page(let text):
                let fields = [HTTPMessageField("Content-Type", "text/html")]
                return bytes(HTTPAnswer(status: 200, fields: fields, body: Array(text.utf8)))
            case .answer(let answer): return bytes(answer)
            case .held(let gate, let fault):
                let held = answer(fault)
                gate.blockUntilOpen()
                return held
            case .delay(let duration): pause(duration)
            case .repeated: _ = forward()
            case .pass, .loseAnswer, .delayAnswer, .duplicate, .cut, .wrongDate, .staleNonce: break
            }
            guard var answer = forward() else { return nil }
            switch fault {
            case .loseAnswer: return nil
            case .delayAnswer(let duration): pause(duration)
            case .duplicate(let duration):
                Thread.detachNewThread {
                    pause(duration)
                    _ = forward()
                }
            case .cut(let count): return bytes(answer, bodyPrefix: count)
            case .wrongDate(let hours): answer.shiftDate(byHours: hours)
            case .staleNonce: answer.replace("DPoP-Nonce", by: unknownNonce)
            case .pass, .loseRequest, .delay, .repeated, .status, .page, .answer, .held: break
            }
            return bytes(answer)
        }

        private func forward() -> HTTPAnswer? {
            guard var parts = URLComponents(url: request.url, resolvingAgainstBaseURL: false) else { return nil }
            (parts.host, parts.port) = (target.host(), target.port)
            guard let url = parts.url else { return nil }
            var message = request
            message.url = url
            return try? SocketTransport.exchange(message, until: .now + .seconds(60))
        }

        /// Blocks the thread.
        private func pause(_ duration: Duration) {
            Thread.sleep(
                forTimeInterval: Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18)
        }

        private func bytes(_ answer: HTTPAnswer, bodyPrefix: Int = .max) -> [UInt8] {
            let own: Set = ["connection", "content-length", "keep-alive", "transfer-encoding"]
            var text = "HTTP/1.1 \(answer.status) -\r\nContent-Length: \(answer.body.count)\r\n"
            for field in answer.fields where !own.contains(field.name.lowercased()) {
                text += "\(field.name): \(field.value)\r\n"
            }
            return Array((text + "\r\n").utf8) + answer.body.prefix(bodyPrefix)
        }
    }
#endif
