import HTTP
import Sessions
import Testing

@testable import Endpoints

/// Logins of a device that a link begins: the app on the phone leads back to the app that waits, with a token.
struct DeepLinkTests {
    private static let back = "com.example.tv:/back"

    private static func with(_ body: (EndpointsFixture, Tokens) async throws -> Void) async throws {
        try await EndpointsFixture.with { server in
            try await DeviceLogin.makeClient(server, #","redirect_uris":["\#(back)","https://tv.example/back?a=1"]"#)
            try await body(server, try await server.logIn())
        }
    }

    /// Lets the phone follow the link and approve. Returns the URL to which it leads.
    private func approve(_ login: DeviceLogin, _ phone: Tokens) async throws -> String {
        let link = try #require(login.opened.string("link"), "\(login.opened.text)")
        #expect(await login.scan(phone, source: "qr", code: link).status == 404)
        let claimed = await login.scan(phone, source: "deep_link", code: link)
        #expect(claimed.status == 200 && claimed.bool("number_required") == false, "\(claimed.text)")
        let confirmed = await login.act("confirm", nil, phone)
        #expect(confirmed.string("input") == "WAIT_FOR_SECOND_FACTOR" && confirmed.string("return_url") == nil)
        let proved = await login.act("second-factor", #"{"password":"\#(EndpointsFixture.password)"}"#, phone)
        return try #require(proved.string("return_url"), "\(proved.text)")
    }

    private func token(_ url: String) throws -> String {
        try #require(url.split(separator: "=").last.map(String.init))
    }

    @Test("the phone hands a token to the return URI of the app, and with it alone the app is let in")
    func wholeLogin() async throws {
        try await Self.with { server, phone in
            let login = try await DeviceLogin(server, "&redirect_uri=\(Self.back)")
            let url = try await approve(login, phone)
            try #require(url.hasPrefix("\(Self.back)?login_id=\(login.id)&return_token="))
            // It never completes by polling, however often the device asks.
            for _ in 0..<3 {
                #expect(["authorization_pending", "slow_down"].contains(await login.collect().string("error") ?? ""))
            }
            let token = try token(url)
            let other = try await DeviceLogin(server, "&redirect_uri=\(Self.back)")
            let others = try self.token(try await approve(other, phone))
            for wrong in ["x", String(token.reversed()), others] {
                let answer = await login.collect("&device_id=tv-1&return_token=\(wrong)")
                #expect(answer.string("error") == "invalid_grant", "\(wrong): \(answer.text)")
            }
            let tokens = await login.collect("&device_id=tv-1&return_token=\(token)", key: "k")
            #expect(tokens.status == 200 && tokens.string("session_id") == login.id, "\(tokens.text)")
            // A lost answer is repeated, and the token is good once.
            #expect(await login.collect("&device_id=tv-1&return_token=\(token)", key: "k").status == 200)
            let again = await login.collect("&device_id=tv-1&return_token=\(token)")
            #expect(again.string("error") == "invalid_grant", "\(again.text)")
            let seen = await server.call(.get, "/v1/me/logins/\(login.id)", bearer: phone.access)
            #expect(seen.string("history") == "LOGGED_IN" && seen.string("return_url") == nil, "\(seen.text)")
        }
    }

    @Test("a URI with a query keeps it, and one that is not registered is refused")
    func returnURIs() async throws {
        try await Self.with { server, phone in
            let login = try await DeviceLogin(server, "&redirect_uri=https%3A%2F%2Ftv.example%2Fback%3Fa%3D1")
            let url = try await approve(login, phone)
            #expect(url.hasPrefix("https://tv.example/back?a=1&login_id=\(login.id)&return_token="), "\(url)")
            for uri in ["https%3A%2F%2Fevil.example%2F", "com.example.tv%3A%2Fback2", ""] {
                let answer = await server.form("/oauth/device_authorization", "client_id=tv&redirect_uri=\(uri)")
                let isAbsent = uri.isEmpty && answer.status == 200 && answer.string("link") == nil
                #expect(isAbsent || answer.string("error") == "invalid_request", "\(uri): \(answer.text)")
            }
        }
    }

    @Test("a picture needs no token, also where there is a link, and a token does not stand in for the approval")
    func picture() async throws {
        try await Self.with { server, phone in
            let login = try await DeviceLogin(server, "&redirect_uri=\(Self.back)")
            try await login.approve(phone)
            let seen = await server.call(.get, "/v1/me/logins/\(login.id)", bearer: phone.access)
            #expect(seen.string("return_url") == nil)
            #expect(await login.collect().status == 200)
        }
    }

    @Test("a link that was sent to another person lets neither browser in")
    func sentLink() async throws {
        try await Self.with { server, victim in
            let login = try await DeviceLogin(server, "&redirect_uri=\(Self.back)")
            _ = try await approve(login, victim)
            // The thief asks until the time is over, and the victim's app gets a token for a login that it has not begun.
            #expect(await login.collect().string("error") == "authorization_pending")
            server.moveClock(to: 61)
            #expect(await login.collect().string("error") == "expired_token")
            #expect(await login.row().string("cause") == "not_collected")
        }
    }
}
