import HTTP
import JSON
import Locks
import SQLiteStore
import Sessions
import Synchronization
import Telemetry
import Testing

@testable import Endpoints

@Suite struct HealthTests {
    @Test func bothListenersSayWhetherTheyAreReady() async throws {
        try await EndpointsFixture.with { server in
            for listener in [Caller.Listener.public, .admin, .adminSocket] {
                #expect(await server.send(Request(.get, "/healthz"), on: listener).status == 200)
                let ready = await server.send(Request(.get, "/readyz"), on: listener)
                #expect(ready.text == #"{"status":"ready","store":"ok"}"#)
            }
            server.environment.machine.withLock { $0.isClockOutvoted = { true } }
            let outvoted = await server.send(Request(.get, "/readyz"))
            #expect(outvoted.status == 503 && outvoted.string("store") == "clock")
            server.environment.machine.withLock { $0.isClockOutvoted = { false } }
            server.environment.isStopping.store(true, ordering: .relaxed)
            let stopping = await server.send(Request(.get, "/readyz"))
            #expect(stopping.status == 503)
            #expect(stopping.string("store") == "stopping")
            #expect(await server.send(Request(.get, "/healthz")).status == 200)
        }
    }

    @Test("the root of each listener leads a browser to its pages, and tells a program what there is")
    func root() async throws {
        try await EndpointsFixture.with { server in
            for (listener, page, path) in [
                (Caller.Listener.public, "\(EndpointsFixture.issuer)/account", "metadata"),
                (.admin, "/console", "metrics"),
            ] {
                let browser = await server.send(
                    Request(.get, "/", fields: ["Accept": "text/html,application/xhtml+xml,*/*;q=0.8"]), on: listener)
                let program = await server.send(Request(.get, "/", fields: ["Accept": "*/*"]), on: listener)

                #expect(browser.status == 303)
                #expect(browser.field("Location") == page)
                #expect(program.status == 200)
                let paths = try #require(JSONValue(text: Array(program.text.utf8))?["paths"])
                #expect(paths[path] != nil && paths["api"]?.string == "/openapi.json", "\(program.text)")
                guard case .object(let named) = paths else { continue }
                for target in named.values.compactMap(\.string) where target != "/metrics" {
                    let answer = await server.send(Request(.get, target), on: listener)
                    #expect(answer.status != 404, "\(target)")
                }
            }
        }
    }

    /// A store that cannot answer ends no session: 503, and when to try again.
    @Test func aStoreThatCannotAnswerIs503() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            await server.store.close()
            let answers = [
                await server.refresh(tokens.refresh),
                await server.call(.post, "/v1/refresh", #"{"refresh_token":"\#(tokens.refresh)"}"#),
                await server.call(.get, "/v1/verify", bearer: tokens.access),
                await server.call(.post, "/v1/logout", bearer: tokens.access),
                await server.call(
                    .post, "/v1/login", #"{"username":"anna","password":"correct horse","device":{"id":"p"}}"#),
                await server.admin(.get, "/admin/v1/users"), await server.send(Request(.get, "/readyz")),
            ]
            for answer in answers {
                #expect(answer.status == 503, "\(answer.text)")
                #expect(!answer.names.contains("reauthenticate"))
            }
            #expect(answers[0].string("error") == "temporarily_unavailable")
            #expect(answers[1].string("code") == "unavailable")
            #expect(answers[6].string("store") == "unavailable")
            #expect(server.log.contains { $0.contains(#""level":"error""#) && $0.contains("store unavailable") })
        }
    }

    @Test func requestsAndOutcomesAreCounted() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            _ = await server.refresh(tokens.refresh)
            server.moveClock(to: 130)
            _ = await server.refresh(tokens.refresh)
            _ = await server.call(.post, "/v1/login", #"{"username":"x","password":"y","device":{"id":"p"}}"#)
            _ = await server.call(.get, "/no/such/path")
            let text = await server.admin(.get, "/metrics").text
            for line in [
                #"sojourn_http_requests_total{route="POST /v1/login",status="2xx"} 1"#,
                #"sojourn_http_requests_total{route="POST /v1/login",status="4xx"} 1"#,
                #"sojourn_http_requests_total{route="POST /oauth/token",status="2xx"} 2"#,
                #"sojourn_http_requests_total{route="other",status="4xx"} 1"#,
                #"sojourn_refreshes_total{outcome="repeated"} 1"#,
                #"sojourn_refreshes_total{outcome="rotated"} 1"#,
                #"sojourn_refreshes_total{outcome="refresh_token_reused"} 0"#,
                #"sojourn_logins_total{outcome="started"} 1"#,
                #"sojourn_logins_total{outcome="invalid_credentials"} 1"#,
                #"sojourn_http_request_duration_seconds_count{route="POST /oauth/token"} 2"#,
            ] {
                #expect(text.contains(line + "\n"), "\(line)")
            }
            #expect(await server.admin(.get, "/metrics").field("Content-Type") == MetricsRegistry.contentType)
        }
    }

    @Test("metrics are served by addresses and by names of the operator, so that no other page's DNS leads here")
    func metricsHost() async throws {
        try await EndpointsFixture.with { server in
            func ask(_ host: String?, on listener: Caller.Listener = .admin) async -> Answer {
                var fields = Fields()
                if let host { fields.append("Host", host) }
                return await server.send(Request(.get, "/metrics", fields: fields), on: listener)
            }
            let own = [nil, "localhost", "LOCALHOST:8081", "127.0.0.1:8081", "[::1]:8081", "10.1.2.3", "[fd00::1]:80"]
            for host in own { #expect(await ask(host).status == 200, "\(host ?? "none")") }
            let others = ["evil.example", "evil.example:8081", "127.0.0.1.evil.example", "localhost.", "db", "0x7f.1"]
            for host in others {
                let refused = await ask(host)
                #expect(refused.status == 421 && refused.string("code") == "unknown_host", "\(host)")
            }
            #expect(await ask("anything", on: .adminSocket).status == 200)
            let named = ConsoleSettings(hosts: ["Sojourn-Admin.example"])
            #expect(named.admits("sojourn-admin.example") && !named.admits("sojourn.example"))
        }
    }

    @Test func theLogNamesTheCauseAndTheRequest() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            server.moveClock(to: 200)
            let second = try #require(await server.refresh(tokens.refresh).string("refresh_token"))
            server.moveClock(to: 400)
            _ = await server.refresh(second)
            _ = await server.refresh(tokens.refresh, fields: ["X-Request-Id": "thief-1"])
            let line = try #require(server.log.first { $0.contains(#""cause":"refresh_token_reused""#) })
            #expect(line.contains(#""level":"notice""#))
            #expect(line.contains(#""request_id":"thief-1""#))
            #expect(line.contains(#""remote_address":"192.0.2.1""#))
        }
    }
}

@Suite struct ErrorMappingTests {
    @Test func whatIsUnexpectedIs500AndToldToTheLogAlone() async throws {
        struct Surprise: Error {}
        try await EndpointsFixture.with { server in
            for (path, errorFormat) in [("/v1/me", Route.ErrorFormat.problem), ("/oauth/token", .oauth)] {
                let route = try #require(Route.all.first { $0.pattern == path && $0.errorFormat == errorFormat })
                let call = Call(
                    request: Request(.get, path), caller: Caller(remoteAddress: nil, listener: .public), requestID: "r",
                    route: route, parameter: "")
                for error in [Surprise(), ServiceError.store(.corrupted("row 7"))] as [any Error] {
                    let answer = Answer(server.endpoints.errorResponse(error, to: call))
                    #expect(answer.status == 500)
                    #expect(["1", "2"].contains(answer.field("Retry-After")))
                    #expect(!answer.text.contains("Surprise"))
                    #expect(!answer.text.contains("row 7"))
                }
                // The second of these two is at most a second of an outage, however long the machine takes.
                let busy = Answer(server.endpoints.errorResponse(ServiceError.overloaded, to: call))
                #expect(busy.status == 503)
                #expect(["1", "2"].contains(busy.field("Retry-After")))
            }
            #expect(server.log.contains { $0.contains("Surprise") && $0.contains(#""level":"error""#) })
            #expect(server.log.contains { $0.contains("row 7") })
        }
    }

    @Test func everyReasonHasASentenceOfItsOwn() {
        let sentences = RefusalReason.allCases.map(\.sentence)
        #expect(Set(sentences).count == sentences.count)
    }
}
