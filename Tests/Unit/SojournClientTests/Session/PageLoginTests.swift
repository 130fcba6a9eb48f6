import Foundation
import SojournClient
import SojournTestKit
import Testing

/// A browser with an answer that a test decides.
private struct Browser: LoginPresenter {
    let open: @Sendable (URL) async throws(LoginPresentationError) -> URL

    func present(_ url: URL, redirectURI: URL) async throws(LoginPresentationError) -> URL { try await open(url) }
}

struct PageLoginTests {
    private static let redirectURI = "com.example.app:/callback"

    private func page(_ text: String = redirectURI) throws -> LoginPage {
        LoginPage(redirectURI: try #require(URL(string: text)))
    }

    private func phone(
        _ renewal: SojournConfiguration.Renewal = .refreshToken,
        _ edit: (inout SojournConfiguration) -> Void = { _ in }
    ) async throws -> Phone {
        let phone = try await Phone.new(renewal: renewal, edit)
        try await phone.server.setRedirectURIs([Self.redirectURI])
        return phone
    }

    private func browser(_ phone: Phone) -> FormLoginPresenter {
        FormLoginPresenter(phone.server, username: "anna", password: "pw")
    }

    /// A browser that changes the answer's parameters; nil removes one.
    private func browser(_ phone: Phone, _ changes: [String: String?]) -> Browser {
        let honest = browser(phone)
        return Browser { url throws(LoginPresentationError) in
            let answer = try await honest.present(url, redirectURI: URL(string: Self.redirectURI) ?? url)
            return Self.changed(answer, changes)
        }
    }

    private static func changed(_ url: URL, _ changes: [String: String?]) -> URL {
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: false) else { return url }
        var items = parts.queryItems ?? []
        for (name, value) in changes {
            items.removeAll { $0.name == name }
            if let value { items.append(URLQueryItem(name: name, value: value)) }
        }
        parts.queryItems = items
        return parts.url ?? url
    }

    private func refusal(_ error: SojournError?) -> String? {
        if case .refused(let refusal) = error { refusal.code } else { error.map { "\($0)" } }
    }

    @Test(arguments: [
        SojournConfiguration.Renewal.refreshToken, .boundRefreshToken, .deviceKey,
    ])
    func login_isStored_andRenewed(renewal: SojournConfiguration.Renewal) async throws {
        let phone = try await phone(renewal)
        let account = try await phone.sojourn.signIn(through: browser(phone), try page())
        #expect(account.username == "anna" && phone.record?.session?.account == account)
        #expect(phone.record?.pendingLogin == nil)
        phone.clock.advance(by: .seconds(3700))
        _ = try await phone.sojourn.accessToken(.fresh)
    }

    @Test func url_hasWhatTheAppAsksFor() async throws {
        let phone = try await phone(.boundRefreshToken) { $0.scope = "openid read" }
        var page = try page()
        (page.prompt, page.loginHint) = ("login", "anna@example.org")
        (page.uiLocales, page.acrValues) = (["de-CH", "en"], ["password"])
        let url = try await phone.sojourn.beginSignIn(page, mode: .password)
        let items = URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems ?? []
        let query = Dictionary(items.map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { $1 })
        let login = try #require(phone.record?.pendingLogin)
        #expect(
            query == [
                "response_type": "code", "client_id": "mobile", "redirect_uri": Self.redirectURI,
                "scope": "openid read", "state": login.state, "nonce": login.nonce,
                "code_challenge": login.challenge, "code_challenge_method": "S256",
                "dpop_jkt": try #require(try await phone.sojourn.deviceIdentity().keyThumbprint), "prompt": "login",
                "login_hint": "anna@example.org", "ui_locales": "de-CH en", "acr_values": "password",
            ])
        #expect(login.mode == .password && login.verifier.count == 43 && !url.absoluteString.contains(login.verifier))
    }

    @Test func verifier_isStoredBeforeTheBrowserOpens_andAnotherStartOfTheAppGoesOn() async throws {
        let phone = try await phone()
        let honest = browser(phone)
        let callback = Guarded<URL?>(nil)
        let sojourn = phone.sojourn
        let page = try page()
        let killed = Task {
            try await sojourn.signIn(
                through: Browser { url throws(LoginPresentationError) in
                    #expect(phone.record?.pendingLogin != nil)
                    let answer = try await honest.present(url, redirectURI: page.redirectURI)
                    callback.withLock { $0 = answer }
                    // The app is ended here: nothing of it runs any more.
                    while !Task.isCancelled { await Task.yield() }
                    throw .failed("ended")
                }, page, mode: .password)
        }
        await until("the browser has come back") { callback.withLock { $0 } != nil }
        let url = try #require(callback.withLock { $0 })
        let restarted = phone.other()
        #expect(try await restarted.sojourn.signIn(callback: url).username == "anna")
        #expect(phone.record?.session?.mode == .password && phone.record?.pendingLogin == nil)
        killed.cancel()
        _ = await killed.result
        #expect(phone.record?.session?.account.username == "anna")
        let again = await #expect(throws: SojournError.self) { try await restarted.sojourn.signIn(callback: url) }
        #expect(refusal(again) == "no_login_pending")
    }

    @Test(
        arguments: [
            (["state": "other"], "state_mismatch"), (["state": nil], "state_mismatch"),
            (["iss": "https://evil.test"], "iss_mismatch"), (["iss": nil], "iss_mismatch"),
            (["code": nil, "error": "access_denied"], "access_denied"), (["code": nil], "invalid_callback"),
        ] as [([String: String?], String)])
    func wrongAnswer_isRefused_andChangesNothing(changes: [String: String?], code: String) async throws {
        let phone = try await phone()
        try await phone.sojourn.signIn(username: "berta", password: "pw")
        let record = phone.record
        let page = try page()
        let error = await #expect(throws: SojournError.self) {
            try await phone.sojourn.signIn(through: browser(phone, changes), page)
        }
        #expect(refusal(error) == code)
        #expect(phone.record == record && phone.wire.renewals.isEmpty)
    }

    @Test(arguments: [
        "com.example.app:/other", "com.evil.app:/callback", "com.example.app://host/callback",
    ])
    func answerToAnotherURI_isRefused(uri: String) async throws {
        let phone = try await phone()
        _ = try await phone.sojourn.beginSignIn(try page())
        let login = try #require(phone.record?.pendingLogin)
        let url = try #require(URL(string: "\(uri)?code=c&state=\(login.state)&iss=https://sojourn.test"))
        let error = await #expect(throws: SojournError.self) { try await phone.sojourn.signIn(callback: url) }
        #expect(refusal(error) == "redirect_uri_mismatch")
        #expect(phone.record?.pendingLogin == login && phone.wire.requests().isEmpty)
    }

    @Test func closedPage_isCancelled_andChangesNothing() async throws {
        let phone = try await phone()
        try await phone.sojourn.signIn(username: "berta", password: "pw")
        let record = phone.record
        let page = try page()
        await #expect(throws: SojournError.cancelled) {
            try await phone.sojourn.signIn(
                through: Browser { _ throws(LoginPresentationError) in throw .cancelled }, page)
        }
        #expect(phone.record == record)
    }

    @Test func lostAnswer_isRepeatedWithTheSameKey() async throws {
        let phone = try await phone(.boundRefreshToken)
        phone.wire.next(Wire.loseAnswer)
        try await phone.sojourn.signIn(through: browser(phone), try page())
        let calls = phone.wire.renewals
        #expect(calls.count == 2 && calls[0].body == calls[1].body && calls[0]["DPoP"] != calls[1]["DPoP"])
        #expect(calls[0]["Idempotency-Key"] == calls[1]["Idempotency-Key"] && calls[0]["Idempotency-Key"]?.count == 22)
        #expect(phone.record?.session?.sessionID == "session1")
    }

    @Test func answersThatStayLost_leaveTheLoginWaiting() async throws {
        let phone = try await phone()
        let url = try await phone.sojourn.beginSignIn(try page())
        let callback = try await browser(phone).present(url, redirectURI: try page().redirectURI)
        phone.wire.next(Wire.loseAnswer, Wire.loseAnswer, Wire.loseAnswer)
        await #expect(throws: SojournError.self) { try await phone.sojourn.signIn(callback: callback) }
        let restarted = phone.other()
        try await restarted.sojourn.signIn(callback: callback)
        #expect(Set(phone.wire.renewals.map { $0["Idempotency-Key"] }).count == 1)
        #expect(phone.record?.session?.sessionID == "session1")
    }

    @Test func biometry_isAskedBeforeTheBrowserOpens() async throws {
        let phone = try await phone()
        let page = try page()
        phone.gate.next(.code(2))
        await #expect(throws: SojournError.self) {
            try await phone.sojourn.signIn(through: browser(phone), page, mode: .biometric)
        }
        #expect(phone.record == nil && phone.wire.requests().isEmpty && phone.server.requestCount == 0)
        try await phone.sojourn.signIn(through: browser(phone), page, mode: .biometric)
        #expect(phone.record?.session?.sealed != nil && phone.wire.renewals[0].form["presence_key"] != nil)
    }

    @Test func wrongNonceInTheIDToken_isRefused_andTheSessionIsEnded() async throws {
        let phone = try await phone { $0.scope = "openid" }
        try await phone.server.setScope("openid account")
        let url = try await phone.sojourn.beginSignIn(try page())
        let forged = Self.changed(url, ["nonce": "other"])
        let callback = try await browser(phone).present(forged, redirectURI: try page().redirectURI)
        let error = await #expect(throws: SojournError.self) { try await phone.sojourn.signIn(callback: callback) }
        #expect(refusal(error) == "nonce_mismatch" && phone.record?.session == nil)
        await until("the server is told") { !phone.wire.logouts.isEmpty }
    }
}
