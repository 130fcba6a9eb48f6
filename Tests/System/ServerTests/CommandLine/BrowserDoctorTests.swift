import Doctor
import HostileServer
import JSON
import Testing

/// `sojourn doctor --url`: a server behind proxies that spoil the fields of CORS, each in its own way.
@Suite("Doctor: pages of another origin", .timeLimit(.minutes(1)))
struct BrowserDoctorTests {
    private static let origin = "https://shop.example"

    /// What a proxy does to an answer of this server: it removes, replaces or adds lines.
    private struct Proxy: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// The check that finds it, and a part of its sentence.
        let check: String
        let word: String
        var edit: @Sendable (Kind, inout Reply) -> Void

        init(
            _ name: String, _ check: String, _ word: String, _ edit: @escaping @Sendable (Kind, inout Reply) -> Void
        ) {
            (testDescription, self.check, self.word, self.edit) = (name, check, word, edit)
        }
    }

    /// The four requests.
    private enum Kind: String, CaseIterable { case metadata, preflight, refusal, foreign }

    private struct Reply: Sendable {
        var status: Int
        var lines: [String]
        var body = ""

        mutating func remove(_ name: String) { lines.removeAll { $0.hasPrefix("\(name):") } }

        var text: String {
            "HTTP/1.1 \(status) X\r\n" + lines.map { $0 + "\r\n" }.joined()
                + "Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n" + body
        }
    }

    private static let allow = "Access-Control-Allow-Origin"

    /// What this server answers without a proxy.
    private static func reply(_ kind: Kind, issuer: String) -> Reply {
        let own = ["\(allow): \(origin)", "Vary: Origin"]
        switch kind {
        case .metadata: return Reply(status: 200, lines: ["\(allow): *"], body: #"{"issuer":"\#(issuer)"}"#)
        case .preflight:
            return Reply(
                status: 204,
                lines: own + [
                    "Access-Control-Allow-Methods: GET, POST, PUT, PATCH, DELETE",
                    "Access-Control-Allow-Headers: Authorization, Content-Type, DPoP, Idempotency-Key, traceparent",
                ])
        case .refusal:
            return Reply(
                status: 400,
                lines: own + [
                    "Access-Control-Expose-Headers: DPoP-Nonce, WWW-Authenticate, Retry-After, Date, Age, X-Request-Id"
                ], body: #"{"error":"invalid_grant"}"#)
        case .foreign: return Reply(status: 403, lines: ["Vary: Origin"], body: #"{"error":"access_denied"}"#)
        }
    }

    private static func kind(_ request: String) -> Kind {
        if request.hasPrefix("GET ") { return .metadata }
        if request.hasPrefix("OPTIONS ") { return .preflight }
        return request.contains("https://origin.invalid") ? .foreign : .refusal
    }

    /// The findings about a server behind that proxy.
    private func findings(_ edit: @escaping @Sendable (Kind, inout Reply) -> Void) async -> [Finding] {
        let server = HostileServer { request in
            let host = request.split(separator: "\r\n").first { $0.hasPrefix("Host: ") }?.dropFirst(6) ?? ""
            let kind = Self.kind(request)
            var reply = Self.reply(kind, issuer: "http://\(host)")
            edit(kind, &reply)
            return [.say(reply.text)]
        }
        defer { server.stop() }
        return await BrowserCheck(url: server.origin, origin: Self.origin, client: "shop-web").run()
    }

    @Test("A server without a proxy passes each check")
    func sound() async {
        let findings = await findings { _, _ in }
        #expect(findings.map(\.check) == ["metadata", "preflight", "refused POST", "other origins"])
        #expect(findings.allSatisfy { $0.result == .ok && !$0.detail.isEmpty })
    }

    private static let proxies = [
        Proxy("adds the field to every answer", "refused POST", "has 2 values") { kind, reply in
            if kind != .metadata { reply.lines.append("\(allow): \(origin)") }
        },
        Proxy("joins two values", "preflight", "has 2 values (*, https://shop.example)") { kind, reply in
            guard kind == .preflight else { return }
            reply.remove(allow)
            reply.lines.append("\(allow): *, \(origin)")
        },
        Proxy("allows every origin", "refused POST", "is *, and must be https://shop.example") { kind, reply in
            guard kind == .refusal else { return }
            reply.remove(allow)
            reply.lines.append("\(allow): *")
        },
        Proxy("reflects every origin", "other origins", "a page of every origin may read") { kind, reply in
            if kind == .foreign { reply.lines.append("\(allow): https://origin.invalid") }
        },
        Proxy("names another origin", "refused POST", "is https://other.example") { kind, reply in
            guard kind == .refusal else { return }
            reply.remove(allow)
            reply.lines.append("\(allow): https://other.example")
        },
        Proxy("removes the fields", "refused POST", "sees no error") { kind, reply in
            if kind == .refusal { reply.remove(allow) }
        },
        Proxy("adds credentials", "preflight", "Access-Control-Allow-Credentials is there") { kind, reply in
            if kind == .preflight { reply.lines.append("Access-Control-Allow-Credentials: true") }
        },
        Proxy("hides the nonce", "refused POST", "Access-Control-Expose-Headers lacks DPoP-Nonce, Age") { kind, reply in
            guard kind == .refusal else { return }
            reply.remove("Access-Control-Expose-Headers")
            reply.lines.append("Access-Control-Expose-Headers: www-authenticate, Retry-After, Date")
        },
        Proxy("removes Vary", "refused POST", "Vary lacks Origin") { kind, reply in
            if kind == .refusal { reply.remove("Vary") }
        },
        Proxy("answers preflights itself", "preflight", "lacks Authorization, DPoP") { kind, reply in
            guard kind == .preflight else { return }
            reply.remove("Access-Control-Allow-Headers")
            reply.lines.append("Access-Control-Allow-Headers: content-type, idempotency-key")
        },
        Proxy("takes * for Authorization", "preflight", "lacks Authorization:") { kind, reply in
            guard kind == .preflight else { return }
            reply.remove("Access-Control-Allow-Headers")
            reply.lines.append("Access-Control-Allow-Headers: *")
        },
        Proxy("lets few methods through", "preflight", "Access-Control-Allow-Methods lacks PUT, PATCH, DELETE") {
            kind, reply in
            guard kind == .preflight else { return }
            reply.remove("Access-Control-Allow-Methods")
            reply.lines.append("Access-Control-Allow-Methods: GET, POST")
        },
        Proxy("refuses OPTIONS", "preflight", "it is answered 405") { kind, reply in
            if kind == .preflight { reply = Reply(status: 405, lines: []) }
        },
        Proxy("wants credentials for preflights", "preflight", "a preflight has no credentials") { kind, reply in
            if kind == .preflight { reply = Reply(status: 401, lines: []) }
        },
        Proxy("redirects", "preflight", "answered by a redirect (301)") { kind, reply in
            if kind == .preflight { reply = Reply(status: 301, lines: ["Location: https://elsewhere.example/"]) }
        },
        Proxy("is another server", "metadata", "answers 404 and no metadata") { _, reply in
            reply = Reply(status: 404, lines: [], body: "<html>")
        },
        Proxy("hides the metadata", "metadata", "Access-Control-Allow-Origin is missing") { kind, reply in
            if kind == .metadata { reply.remove(allow) }
        },
        Proxy("serves another issuer", "metadata", "the issuer is https://login.example") { kind, reply in
            if kind == .metadata { reply.body = #"{"issuer":"https://login.example"}"# }
        },
        Proxy("has no such origin", "preflight", "sojourn client update shop-web --origins 'https://shop.example'") {
            kind, reply in
            if kind == .preflight { reply = Reply(status: 204, lines: ["Allow: POST"]) }
        },
        Proxy("has no such client", "refused POST", "there is no public client shop-web") { kind, reply in
            if kind == .refusal { (reply.status, reply.body) = (401, #"{"error":"invalid_client"}"#) }
        },
        Proxy("has other origins", "refused POST", "the client shop-web has other origins") { kind, reply in
            if kind == .refusal { (reply.status, reply.body) = (403, #"{"error":"access_denied"}"#) }
        },
        Proxy("answers a page of its own", "refused POST", "it is answered 502") { kind, reply in
            if kind == .refusal { reply = Reply(status: 502, lines: [], body: "<html>Bad gateway") }
        },
    ]

    @Test("Each fault of a proxy is found by its check, and named in a sentence", arguments: proxies)
    private func fault(_ proxy: Proxy) async {
        let findings = await findings(proxy.edit)
        #expect(
            findings.contains { $0.result == .fail && $0.check == proxy.check && $0.detail.contains(proxy.word) },
            "\(findings.map(\.detail))")
    }

    @Test("A server that cannot be reached is said to be so, and nothing else is asked")
    func unreachable() async {
        let closed = HostileServer { _ in [] }
        closed.stop()
        let findings = await BrowserCheck(url: closed.origin, origin: Self.origin, client: "shop-web").run()
        #expect(findings.count == 1 && findings.first?.result == .fail)
        #expect(findings.first?.detail.contains("cannot be reached from here") == true)
    }

    @Test("The command needs the three options together")
    func options() async throws {
        var program = CommandLineProgram(StartingFolder())
        program.environment = [:]
        let ended = try await program.run(["doctor", "--url", "http://127.0.0.1:9"])
        #expect(ended.status == 2 && ended.errors.contains("--url, --origin and --client go together"))
    }
}
