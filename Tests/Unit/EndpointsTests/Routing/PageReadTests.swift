import HTTP
import Sessions
import Testing

@testable import Endpoints
@testable import StoreConformance

/// What the pages ask of the store: one read for the browser, and one for what the page shows.
@Suite struct PageReadTests {
    /// A server with a session, a login with a phone, a stream and a receiver, and a store that counts.
    private static func with(
        _ body: (EndpointsFixture, ObservedStore, [String: String]) async throws -> Void
    ) async throws {
        try await DeviceLogin.with { server, phone in
            let (login, tokens) = try await DeviceLogin.complete(server, phone)
            _ = try await server.makeClient(
                #"{"client_id":"web","token_endpoint_auth_method":"client_secret_basic","backchannel_logout_uri":"https://a.example/"}"#
            )
            let store = ObservedStore(server.store)
            try await body(
                server.over(store, mails: MailWaker()), store,
                [
                    "user": phone.userID, "session_id": tokens.sessionID, "login_id": login.id, "client_id": "mobile",
                    "id": login.id, "code": "x",
                ])
        }
    }

    /// The path of a route with the parameter that it has.
    private static func path(of route: Route, _ parameters: [String: String]) throws -> String {
        guard let name = route.pattern.firstMatch(of: #/\{([a-z_]+)\}/#)?.1 else { return route.pattern }
        return route.pattern.replacing("{\(name)}", with: try #require(parameters[String(name)], "\(route.pattern)"))
    }

    private static func isStream(_ route: Route) -> Bool {
        if case .openStreaming = route.handler { true } else { false }
    }

    @Test("a page writes nothing and reads at most twice") func pagesReadTwice() async throws {
        try await Self.with { server, store, parameters in
            let (console, account) = (ConsoleBrowser(server), AccountPages(server))
            try await console.enter()
            _ = try await account.open()
            let pages = Route.all.filter {
                $0.method == .get && $0.errorFormat == .page && !Self.isStream($0)
            }
            #expect(pages.count > 35)
            for route in pages {
                let path = try Self.path(of: route, parameters)
                store.forget()

                let isOfConsole = path.hasPrefix("/console")
                let answer = isOfConsole ? await console.get(path) : await account.browser.get(path)

                let calls = store.calls
                let isShown = isOfConsole || path.hasPrefix("/account")
                #expect(!isShown || [200, 303].contains(answer.status), "\(path): \(answer.status)")
                #expect(!calls.contains { [.write, .changeSession].contains($0) }, "\(path): \(calls)")
                #expect(calls.count <= 2, "\(path): \(calls)")
            }
        }
    }

    @Test("the use of a browser's session is written once in five minutes") func useIsWritten() async throws {
        try await Self.with { server, store, _ in
            let account = AccountPages(server)
            _ = try await account.open()
            for (seconds, writes) in [(Int64(299), 0), (300, 1), (301, 0)] {
                server.moveClock(to: seconds)
                store.forget()
                #expect(await account.browser.get("/account").status == 200)
                #expect(store.calls.count { $0 == .changeSession } == writes, "\(seconds)")
            }
        }
    }
}
