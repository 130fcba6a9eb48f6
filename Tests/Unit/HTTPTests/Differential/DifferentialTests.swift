import Dispatch
import EventLoops
import Glibc
import HTTP
import HTTPServer
import Repository
import Sockets
import Testing

/// Goal: no server in front of us, and none behind, ever sees another sequence of requests than we do. Where we and nginx,
/// Apache, h11 or llhttp disagree about where a request ends, we are the one that closes.
/// Method: the tables, the fuzzer's corpus and generated hostile framings, each sent whole to real servers and to a real
/// engine; a `split` between any of them and us fails. What they refuse and we do not is listed in the output.
///
/// Where they are stricter, the RFC has us accept, and no end of a request is in question:
/// - h11: the empty line before a request (RFC 9112 §2.2), more than 20 digits of `Content-Length`, blanks in chunk
///   extensions (§7.1.1; llhttp, too)
/// - nginx and llhttp: methods that they do not know; HTTP/1.2 (llhttp); `*` (nginx); TRACE with content (nginx, Apache)
/// - nginx and llhttp: tabs around `Content-Length`, `Transfer-Encoding` or `Host`, which §5.1 has every recipient leave out
/// - llhttp: `Content-Length` among the trailers, which are dropped here (RFC 9110 §6.5.1)
/// - Apache: hosts that are well-formed and that no name server knows (`a~b`, `[v1.a]`); `Expect` in HTTP/1.0
/// nginx takes `Connection: xclose` for `close`, llhttp `Proxy-Connection: close`: they close, nothing follows.
///
/// Where they see other requests, we close: whatever has two lengths, a line end that is not CRLF, a folded line or a coding
/// that is not exactly `chunked` is refused; and what is asked to go on in another protocol and has content is answered
/// with `Connection: close`, because httptools takes the content for that protocol.
@Suite(.timeLimit(.minutes(5))) struct DifferentialTests {
    /// For a longer search by hand: SOJOURN_DIFFERENTIAL=COUNT,SEED.
    private static let generated: (count: Int, seed: UInt64) = {
        let words = getenv("SOJOURN_DIFFERENTIAL").map { String(cString: $0).split(separator: ",") } ?? []
        return words.count == 2
            ? (Int(words[0]) ?? 0, UInt64(words[1]) ?? 0) : (Lane.rounds(push: 1500, full: 12_000), 1)
    }()

    /// Each input alone, and with what looks like one more request behind it.
    private static var inputs: [[UInt8]] {
        let tables = (NamedInput.all.map(\.input) + FuzzCorpus.requests).filter { $0.utf8.count < 1000 }
        var generator = HostileFraming(seed: generated.seed)
        return (tables + tables.map { $0 + HostileFraming.tail } + (0..<generated.count).map { _ in generator.next() })
            .map(\.bytes)
    }

    @Test func whereAnotherServerSeesOtherRequests_weClose() async throws {
        let inputs = Self.inputs
        let peers = try await blocking { try Peers() }
        let loops = try EventLoopGroup(count: 1)
        let server = HTTPServer(loops: loops)
        let address = try server.listen(on: SocketAddress("127.0.0.1:0")) { request, _ in
            Response(
                status: .ok, fields: ["X-Seen": "\(request.method) \(written(request.target)) \(request.body.count)"],
                body: Array(hexadecimal(request.body).utf8))
        }
        async let ours = blocking {
            try inputs.map { View(answers: try exchange($0, with: address), showsContent: true) }
        }
        async let nginx = blocking {
            try inputs.map { View(answers: try exchange($0, with: peers.nginx), showsContent: false) }
        }
        async let apache = blocking {
            try inputs.map { View(answers: try exchange($0, with: peers.apache), showsContent: false) }
        }
        async let parsed = blocking { try peers.parse(inputs) }
        let engine = zip(inputs, try await ours).map { View(ofParserFor: $0, engine: $1) }
        compare(inputs, engine, with: try await parsed.h11, named: "h11")
        compare(inputs, engine, with: try await parsed.llhttp, named: "llhttp")
        compare(inputs, engine, with: try await nginx, named: "nginx")
        compare(inputs, engine, with: try await apache, named: "Apache")
        await server.stop(deadline: .zero)
        await loops.stop()
    }

    private func compare(_ inputs: [[UInt8]], _ ours: [View], with theirs: [View], named name: String) {
        #expect(theirs.count == inputs.count, "\(name) answered \(theirs.count) of \(inputs.count)")
        var outcomes: [String: (count: Int, shortest: [UInt8])] = [:]
        for (input, (our, their)) in zip(inputs, zip(ours, theirs)) {
            let outcome: String
            switch Agreement(our, their) {
            case .same: outcome = our.requests.isEmpty ? "both see nothing" : "same"
            case .weRefuse: outcome = "we refuse"
            case .theyRefuse(let reason): outcome = "they refuse (\(reason))"
            case .weClose: outcome = "we close"
            case .theyClose: outcome = "they close"
            case .split(let index):
                outcome = "SPLIT"
                Issue.record("\(name), request \(index): we: \(our), they: \(their), input: \(readable(input))")
            }
            let known = outcomes[outcome] ?? (0, input)
            outcomes[outcome] = (known.count + 1, known.shortest.count <= input.count ? known.shortest : input)
        }
        // Both of the same mind often enough, or the comparison says nothing.
        #expect(outcomes["same"]?.count ?? 0 > inputs.count / 10, "\(name)")
        for (outcome, found) in outcomes.sorted(by: { $0.key < $1.key }) {
            let example = outcome.hasPrefix("they") ? ", so with \(readable(found.shortest))" : ""
            print("\(name): \(outcome): \(found.count)\(example)")
        }
    }
}

private func readable(_ bytes: [UInt8]) -> String {
    bytes.reduce(into: "") { $0.unicodeScalars.append(Unicode.Scalar($1)) }.debugDescription
}

private func written(_ target: RequestTarget) -> String { target.path + (target.query.map { "?" + $0 } ?? "") }

/// Runs what blocks on a queue of its own.
private func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue(label: "peer").async { continuation.resume(with: Result(catching: body)) }
    }
}

extension View {
    /// What the parser says of the input, which is more exact about the end than answers are; the engine must have
    /// delivered the same requests.
    fileprivate init(ofParserFor bytes: [UInt8], engine: View) {
        let reading = Reading(of: bytes, limits: Limits())
        var view = View(
            requests: reading.requests.map { request, _ in
                Seen(
                    method: request.method.rawValue, target: written(request.target),
                    content: request.method == .head ? nil : hexadecimal(request.body), length: request.body.count,
                    isUpgradeWithContent: !request.body.isEmpty && request.fields.contains("upgrade"))
            },
            end: reading.failure.map { .refused($0.code) } ?? (reading.unread == 0 ? .idle : .waiting))
        if let last = reading.requests.firstIndex(where: { !$0.request.wantsKeepAlive }) {
            view.requests.removeSubrange((last + 1)...)
            view.end = .closed
        }
        let isSame =
            view.requests.count == engine.requests.count
            && zip(view.requests, engine.requests).allSatisfy { $0.isSame(as: $1) }
        #expect(
            isSame,
            "the parser: \(view), the engine: \(engine), \(readable(bytes))")
        self = view
    }
}
