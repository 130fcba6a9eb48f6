internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Sends requests by `URLSession`: no redirects, no cookies, no cache, no stored credentials, and nothing that waits for a
/// connection to come, because a token must not lie in the phone.
///
/// There is one `URLSession` for the life of the transport, and it is never invalidated: invalidating it while a request ends
/// is not safe on Linux.
public final class URLSessionTransport: Transport {
    /// The transport that all share.
    public static let shared = URLSessionTransport()

    /// The longest content of an answer.
    package static let bodyCountMax = 64 * 1024

    private let session: URLSession
    private let exchanges = Exchanges()
    private let clock: any ClientClock

    /// A transport. `clock` measures the time limits.
    public init(clock: any ClientClock = SystemClock()) {
        SmallCrypto.prepare()
        let settings = URLSessionConfiguration.ephemeral
        settings.requestCachePolicy = .reloadIgnoringLocalAndRemoteCacheData
        settings.urlCache = nil
        settings.httpCookieStorage = nil
        settings.httpCookieAcceptPolicy = .never
        settings.httpShouldSetCookies = false
        settings.urlCredentialStorage = nil
        session = URLSession(configuration: settings, delegate: exchanges, delegateQueue: nil)
        self.clock = clock
    }

    /// Sends `request`, and returns the answer with whatever status.
    public func send(_ request: HTTPMessage, within limit: Duration) async throws(TransportFailure) -> HTTPAnswer {
        guard !Task.isCancelled else { throw .cancelled }
        let task = session.dataTask(with: URLRequest(request, within: limit))
        let exchange = Exchange(task)
        exchanges.add(exchange)
        let timer = Task { [clock] in
            try await clock.sleep(for: limit)
            exchange.end(.failure(.timedOut))
        }
        let background = BackgroundTime { exchange.end(.failure(.unreachable("the time in the background is over"))) }
        defer {
            timer.cancel()
            background.end()
            exchanges.remove(exchange)
        }
        let result = await withTaskCancellationHandler {
            await exchange.run()
        } onCancel: {
            exchange.end(.failure(.cancelled))
        }
        return try result.get()
    }
}

extension URLError.Code {
    /// What happened, for the log, because Foundation has no sentence for it on every platform.
    var text: String {
        let sentence: String? =
            switch self {
            case .cannotConnectToHost: "connection refused"
            case .cannotFindHost, .dnsLookupFailed: "unknown host"
            case .networkConnectionLost: "connection lost"
            case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff: "no network"
            case .timedOut: "no answer in time"
            case .secureConnectionFailed: "TLS failed"
            case .serverCertificateUntrusted, .serverCertificateHasUnknownRoot, .serverCertificateHasBadDate,
                .serverCertificateNotYetValid:
                "the server's certificate is not accepted"
            default: nil
            }
        return (sentence.map { $0 + " (" } ?? "") + "URLError \(rawValue)" + (sentence == nil ? "" : ")")
    }
}

/// One request and its answer.
private final class Exchange: Sendable {
    typealias Outcome = Result<HTTPAnswer, TransportFailure>

    private struct State {
        var status: Int?
        var fields: [HTTPMessageField] = []
        var body: [UInt8] = []
        var outcome: Outcome?
        var waiter: CheckedContinuation<Outcome, Never>?
    }

    let task: URLSessionDataTask
    private let state = LockedState(State())

    init(_ task: URLSessionDataTask) { self.task = task }

    /// Sends the request, and waits for the end.
    func run() async -> Outcome {
        await withCheckedContinuation { waiter in
            let outcome = state.withLock { state -> Outcome? in
                if state.outcome == nil { state.waiter = waiter }
                return state.outcome
            }
            if let outcome { waiter.resume(returning: outcome) } else { task.resume() }
        }
    }

    /// Ends the exchange. Only the first end counts.
    func end(_ outcome: Outcome) {
        let waiter = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
            guard state.outcome == nil else { return nil }
            state.outcome = outcome
            state.body = []
            defer { state.waiter = nil }
            return state.waiter
        }
        task.cancel()
        waiter?.resume(returning: outcome)
    }

    func receive(_ response: URLResponse) {
        guard let response = response as? HTTPURLResponse else { return }
        let answer = HTTPAnswer(response, body: [])
        state.withLock { state in (state.status, state.fields) = (answer.status, answer.fields) }
    }

    func receive(_ part: [UInt8]) {
        let isTooLong = state.withLock { state in
            guard state.outcome == nil else { return false }
            guard state.body.count + part.count <= URLSessionTransport.bodyCountMax else { return true }
            state.body += part
            return false
        }
        if isTooLong { end(.failure(.tooLong)) }
    }

    func complete(_ error: (any Error)?) {
        if let error {
            guard let code = (error as? URLError)?.code else { return end(.failure(.unreachable("no answer"))) }
            return end(.failure(code == .timedOut ? .timedOut : .unreachable(code.text)))
        }
        let answer = state.withLock { state in
            state.status.map { HTTPAnswer(status: $0, fields: state.fields, body: state.body) }
        }
        end(answer.map { .success($0) } ?? .failure(.unreachable("no answer of HTTP")))
    }
}

/// The exchanges of a session, by the identifiers of their tasks.
private final class Exchanges: NSObject, URLSessionDataDelegate, Sendable {
    private let all = LockedState<[Int: Exchange]>([:])

    func add(_ exchange: Exchange) { all.withLock { $0[exchange.task.taskIdentifier] = exchange } }
    func remove(_ exchange: Exchange) { all.withLock { $0[exchange.task.taskIdentifier] = nil } }

    private func exchange(of task: URLSessionTask) -> Exchange? {
        let id = task.taskIdentifier
        return all.withLock { $0[id] }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // Not followed: a token goes to the configured server only. The redirect is the answer.
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        exchange(of: dataTask)?.receive(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchange(of: dataTask)?.receive(Array(data))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        exchange(of: task)?.complete(error)
    }
}
