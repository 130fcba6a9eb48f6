import HTTP
import Locks
import Sessions
import Testing

@testable import Endpoints

/// Preflights: `OPTIONS` of a browser before a call of a page of another origin.
@Suite struct PreflightTests {
    private static func request(
        _ path: String, _ method: String = "POST", from origin: String = PageOrigin.own.rawValue
    ) -> Request {
        Request(
            .options, path,
            fields: [
                "Origin": origin, "Access-Control-Request-Method": method,
                "Access-Control-Request-Headers": "dpop,idempotency-key,baggage",
            ])
    }

    @Test(
        "A preflight of a registered origin is answered with the methods, the fields and the time, and without credentials"
    )
    func granted() async throws {
        try await EndpointsFixture.with { server in
            try await server.makeOrigins()
            for origin in [PageOrigin.own, .ofAnotherClient, .issuer] {
                let answer = await server.send(Self.request("/v1/refresh", from: origin.rawValue))
                #expect(answer.status == 204 && answer.text.isEmpty)
                #expect(answer.field("Access-Control-Allow-Origin") == origin.rawValue)
                #expect(answer.field("Access-Control-Allow-Methods") == "GET, POST, PUT, PATCH, DELETE")
                #expect(
                    answer.field("Access-Control-Allow-Headers")
                        == "Authorization, Content-Type, DPoP, Idempotency-Key, traceparent, tracestate, baggage")
                #expect(answer.field("Access-Control-Max-Age") == "7200")
                #expect(
                    answer.response.fields.values("Vary") == [
                        "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"
                    ])
                answer.checkCORS(from: origin, "preflight")
            }
            let metadata = await server.send(Self.request("/oauth/jwks", "GET", from: "https://unknown.example"))
            #expect(metadata.field("Access-Control-Allow-Origin") == "*")
        }
    }

    @Test("A preflight of another origin, method or path gets the methods of the path alone")
    func refused() async throws {
        try await EndpointsFixture.with { server in
            try await server.makeOrigins()
            for origin in PageOrigin.allCases where !origin.isOfSomeClient {
                let answer = await server.send(Self.request("/v1/refresh", from: origin.rawValue))
                #expect(answer.status == 204 && answer.field("Allow") == "OPTIONS, POST")
                #expect(!answer.response.fields.contains("Access-Control-Allow-Origin"), "\(origin)")
                #expect(!answer.response.fields.contains("Access-Control-Allow-Methods"), "\(origin)")
            }
            for (path, method) in [
                ("/v1/refresh", "GET"), ("/v1/refresh", "post"), ("/oauth/introspect", "POST"), ("/healthz", "GET"),
                ("/oauth/authorize", "GET"), ("/login/password", "POST"), ("/account/end", "POST"),
            ] {
                let answer = await server.send(Self.request(path, method))
                #expect(
                    answer.status == 204 && !answer.response.fields.contains("Access-Control-Allow-Origin"), "\(path)")
            }
            #expect(await server.send(Self.request("/nowhere")).status == 404)
            var bare = Self.request("/v1/refresh")
            bare.fields.remove("Access-Control-Request-Method")
            #expect(await server.send(bare).field("Access-Control-Allow-Origin") == nil)
            let admin = await server.send(Self.request("/admin/v1/clients"), on: .admin)
            #expect(admin.status == 204 && admin.field("Access-Control-Allow-Origin") == nil)
        }
    }

    @Test("A preflight knows a new origin at once, and strangers make it ask the store ten times a second at most")
    func union() async throws {
        try await EndpointsFixture.with { server in
            try await server.makeOrigins()
            let time = Locked<Int64>(1_000_000_000)
            let origins = ClientOrigins(server.context, stopwatch: { time.withLock { $0 } })
            #expect(!origins.isSure(of: PageOrigin.own.rawValue))
            await origins.look()
            #expect(origins.isSure(of: PageOrigin.own.rawValue) && origins.contains(PageOrigin.own.rawValue))
            let patch = #"{"allowed_origins":["https://own.example","https://new.example"]}"#
            _ = await server.admin(.patch, "/admin/v1/clients/mobile", patch)
            #expect(!origins.isSure(of: "https://new.example"))
            for _ in 0..<20 { await origins.look() }
            #expect(origins.contains("https://new.example"))
            _ = await server.admin(.patch, "/admin/v1/clients/mobile", #"{"allowed_origins":[]}"#)
            await origins.look()
            #expect(origins.contains("https://new.example"), "the looks of this second are used up")
            time.withLock { $0 = 2_000_000_000 }
            await origins.look()
            #expect(!origins.contains("https://new.example"))
            time.withLock { $0 += 2 * ClientOrigins.lifetime }
            #expect(!origins.isSure(of: PageOrigin.ofAnotherClient.rawValue), "what is old is read again")
            #expect(!origins.contains("https://other.example\u{301}"))
        }
    }

    @Test("A preflight needs no store while its origin is known")
    func withoutStore() async throws {
        try await EndpointsFixture.with { server in
            try await server.makeOrigins()
            #expect(await server.send(Self.request("/v1/refresh")).field("Access-Control-Allow-Origin") != nil)
            let caller = Caller(remoteAddress: "192.0.2.1", listener: .public)
            guard case .now(let answer) = server.endpoints.reply(to: Self.request("/v1/refresh"), from: caller) else {
                Issue.record("the preflight was not answered at once")
                return
            }
            #expect(answer.fields.first("Access-Control-Allow-Origin") == PageOrigin.own.rawValue)
        }
    }

    @Test("An origin of a client is validated by the admin API, which says what is wrong with it")
    func validation() async throws {
        try await EndpointsFixture.with { server in
            for (list, reason) in [
                (#"["https://Shop.example"]"#, "cannot have 'https://Shop.example': it must be lower case"),
                (#"["null"]"#, "sandboxed frame"), (#"["https://a.example","https://a.example"]"#, "each once"),
                ("[" + (0..<21).map { "\"https://a\($0).example\"" }.joined(separator: ",") + "]", "at most 20"),
                ("null", "must not be null"), (#""https://a.example""#, "must be an array of strings"),
            ] {
                let answer = await server.admin(
                    .patch, "/admin/v1/clients/mobile", #"{"allowed_origins":\#(list)}"#)
                #expect(answer.status == 400 && answer.string("member") == "allowed_origins", "\(answer.text)")
                #expect(answer.string("detail")?.contains(reason) == true, "\(answer.text)")
            }
            _ = await server.admin(.patch, "/admin/v1/clients/mobile", #"{"allowed_origins":["https://a.example"]}"#)
            let events = await server.admin(.get, "/admin/v1/events?limit=200").items
            #expect(events.contains { $0.string("event") == "client_changed" && $0.text.contains("https://a.example") })
        }
    }
}
