import Foundation
import SojournClient
import SojournTestKit

/// The network between phone and server: it records the requests, and a test can lose, hold and replace answers.
final class Wire: Transport {
    typealias Rule = @Sendable (HTTPMessage, any Transport, Duration) async throws(TransportFailure) -> HTTPAnswer

    private let server: any Transport
    private let state: Guarded<(requests: [HTTPMessage], rules: [Rule], standing: Rule?)>

    init(_ server: any Transport) {
        self.server = server
        state = Guarded(([], [], nil))
    }

    func send(_ request: HTTPMessage, within limit: Duration) async throws(TransportFailure) -> HTTPAnswer {
        let rule = state.withLock { state -> Rule? in
            state.requests.append(request)
            return state.rules.isEmpty ? state.standing : state.rules.removeFirst()
        }
        guard let rule else { return try await server.send(request, within: limit) }
        return try await rule(request, server, limit)
    }

    /// Treats the next requests by these rules, one each.
    func next(_ rules: Rule...) { state.withLock { $0.rules += rules } }

    /// Treats all requests by this rule, as far as `next` does not.
    func always(_ rule: Rule?) { state.withLock { $0.standing = rule } }

    /// The requests to a path; to all, if it is nil.
    func requests(_ path: String? = nil) -> [HTTPMessage] {
        state.withLock { $0.requests }.filter { path == nil || $0.url.path == path }
    }

    var renewals: [HTTPMessage] { requests("/oauth/token") }
    var logouts: [HTTPMessage] { requests("/v1/logout") }

    static let pass: Rule = { request, server, limit throws(TransportFailure) in
        try await server.send(request, within: limit)
    }

    static let loseRequest: Rule = { _, _, _ throws(TransportFailure) in throw .unreachable("lost") }

    static let loseAnswer: Rule = { request, server, limit throws(TransportFailure) in
        _ = try await server.send(request, within: limit)
        throw .unreachable("lost")
    }

    static func answer(_ answer: HTTPAnswer) -> Rule { { _, _, _ throws(TransportFailure) in answer } }

    static func answer(_ status: Int, _ body: String, _ fields: [HTTPMessageField] = []) -> Rule {
        answer(HTTPAnswer(status: status, fields: fields, body: Array(body.utf8)))
    }

    /// Carries out `deed` when the answer has come.
    static func answer(then deed: @escaping @Sendable () -> Void) -> Rule {
        { request, server, limit throws(TransportFailure) in
            let answer = try await server.send(request, within: limit)
            deed()
            return answer
        }
    }

    /// Holds the answer back until the gate opens.
    static func holdAnswer(_ gate: Gate) -> Rule {
        { request, server, limit throws(TransportFailure) in
            let answer = try await server.send(request, within: limit)
            await gate.pass()
            return answer
        }
    }
}

/// Holds tasks back until a test opens it.
actor Gate {
    private(set) var waiting = 0
    private var isOpen = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    func pass() async {
        guard !isOpen else { return }
        waiting += 1
        await withCheckedContinuation { waiters.append($0) }
    }

    func open() {
        isOpen = true
        for waiter in waiters { waiter.resume() }
        waiters = []
    }
}

extension HTTPMessage {
    /// The value of the first field of that name.
    subscript(name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// The parameters of a form.
    var form: [String: String] {
        var form: [String: String] = [:]
        for pair in String(decoding: body, as: UTF8.self).split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            form[String(parts[0])] = parts.count == 2 ? String(parts[1]).removingPercentEncoding : ""
        }
        return form
    }
}
