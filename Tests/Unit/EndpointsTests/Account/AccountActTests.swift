import Cryptography
import HTTP
import OAuth
import Pages
import Sessions
import Testing

@testable import Endpoints

/// An act of the account pages that needs a login first is done after it.
struct AccountActTests {
    /// A form of each act, its page, and what the browser sees once it is done.
    private struct Sample {
        let path: String
        let page: String
        let form: [String: String]
        let sentence: String
        let event: String
    }

    private static let passkey = Base64URL.encode(Array(1...16) as [UInt8])

    private static let recent: [Sample] = [
        Sample(
            path: "/account/logins", page: "/account/security", form: ["pause": "1", "effective": "on_expiry"],
            sentence: "nobody can sign in now", event: "logins_disabled on_expiry"),
        Sample(
            path: "/account/passkeys", page: "/account/security",
            form: ["act": "rename", "passkey": passkey, "name": "Green key"], sentence: "Green key", event: ""),
        Sample(
            path: "/account/passkeys", page: "/account/security", form: ["act": "remove", "passkey": passkey],
            sentence: "The passkey is removed", event: "passkey_removed"),
        Sample(
            path: "/account/passkeys", page: "/account/security", form: ["act": "add"],
            sentence: "You can add the passkey now", event: ""),
    ]

    private static let end = Sample(
        path: "/account/end", page: "/account", form: ["which": "others"], sentence: "One device was signed out.",
        event: "session_ended revoked_by_user")

    /// Gives `body` anna with a passkey, and the answer to a form that came after `age` seconds.
    private func withForm(
        _ sample: Sample, age: Int64, _ body: (AccountPages, Answer) async throws -> Void
    ) async throws {
        try await EndpointsFixture.withPasskeys { server in
            _ = try await server.passkey(of: try await server.logIn())
            let account = AccountPages(server)
            let page = try await account.open(sample.page)
            server.moveClock(to: age)
            try await body(account, try await account.send(sample.path, of: page, sample.form))
        }
    }

    private func follow(_ account: AccountPages, _ answer: Answer) async throws -> AccountPage {
        AccountPage(await account.browser.get(try #require(answer.field("Location"), "\(answer.text)")))
    }

    @Test("An act that needs a newer login leads to the login page, and is done right after it", arguments: 0..<4)
    func oldLogin(_ number: Int) async throws {
        let sample = Self.recent[number]
        try await withForm(sample, age: 300) { account, answer in
            let login = await account.browser.get(try #require(answer.field("Location")))
            #expect(login.text.contains("What you asked for happens right after."))
            #expect(!(await account.events().contains { $0.hasPrefix(sample.event) && !sample.event.isEmpty }))
            let done = try await follow(account, try await account.logIn(answer))
            #expect(done.text.contains(sample.sentence), "\(done.text)")
            #expect(await account.events().contains { $0.hasPrefix(sample.event) })
        }
    }

    @Test("A form that has waited for a login is done once, however often its page is opened again")
    func once() async throws {
        try await withForm(Self.recent[0], age: 300) { account, answer in
            let paused = try await follow(account, try await account.logIn(answer))
            #expect(paused.text.contains(Self.recent[0].sentence))
            let resumed = try await account.act("/account/logins", of: paused, ["pause": "0"])
            #expect(resumed.text.contains("Sign-ins are possible again."))
            let back = try await follow(account, try await account.logIn(answer))
            #expect(!back.text.contains(Self.recent[0].sentence) && back.csrf("/account/password") != nil)
            #expect(await account.events().count { $0.hasPrefix("logins_disabled") } == 1)
        }
    }

    @Test("An act that was sent from a session that is over is done after the login of the same user", arguments: 0..<3)
    func endedSession(_ number: Int) async throws {
        let sample = number < 2 ? Self.recent[number] : Self.end
        try await withForm(sample, age: 1800) { account, answer in
            let done = try await follow(account, try await account.logIn(answer))
            #expect(done.text.contains(sample.sentence), "\(done.text)")
            #expect(await account.events().contains { $0.hasPrefix(sample.event) })
        }
    }

    @Test("A form with a wrong token is not done after the login, nor after that of another user")
    func nothingForged() async throws {
        for (isForged, age) in [(true, 300), (true, 1800), (false, 300), (false, 1800)] as [(Bool, Int64)] {
            try await EndpointsFixture.with { server in
                _ = await server.admin(
                    .post, "/admin/v1/users", #"{"username":"bert","password":"another long horse"}"#)
                let account = AccountPages(server)
                let page = try await account.open("/account/security")
                server.moveClock(to: age)
                var form = ["pause": "1"]
                form["csrf"] = isForged ? page.csrf("/oauth/logout") : page.csrf("/account/logins")
                var answer = await account.browser.post("/account/logins", form)
                if answer.status == 303 {
                    answer =
                        isForged
                        ? try await account.logIn(answer)
                        : try await account.logIn(answer, username: "bert", password: "another long horse")
                    #expect(try await follow(account, answer).answer.status == 200)
                }
                #expect(!(await account.events().contains { $0.hasPrefix("logins_disabled") }))
            }
        }
    }

    @Test("A code that was typed is kept by a login that comes between")
    func typedCode() async throws {
        try await DeviceLogin.with { server, _ in
            let account = AccountPages(server)
            let first = try await account.open("/device")
            server.moveClock(to: 1800)
            let code = try #require(try await DeviceLogin(server).opened.string("user_code"))
            let answer = try await account.logIn(
                try await account.send("/device", of: first, ["user_code": code.lowercased()]))
            #expect(try await follow(account, answer).text.contains(#"value="\#(code)""#))
        }
    }

    @Test("The page of a code says that a decision after a login has failed, and no other link makes it say so")
    func failedDecision() async throws {
        try await DeviceLogin.with { server, _ in
            let account = AccountPages(server)
            let code = try #require(try await DeviceLogin(server).opened.string("user_code"))
            let path = Endpoints.devicePath(try FormParameters([FormPair(name: "user_code", value: code)])).text
            _ = try await account.open(path)
            let flow = try #require(account.browser.cookies["__Host-sojourn-flow"].flatMap { FlowSecret($0) })
            for token in [flow.formToken("/device", "again"), "x"] {
                let page = await account.browser.get("\(path)&done=again&t=\(token)")
                #expect(page.text.contains("Please press once more") == (token != "x"), "\(page.text)")
                #expect(page.text.contains(#"value="\#(code)""#))
            }
        }
    }

    @Test("Too many wrong codes are said on the page, which keeps what was typed, and says when to try again")
    func wrongCodes() async throws {
        try await DeviceLogin.with { server, _ in
            let account = AccountPages(server)
            let page = try await account.open("/device")
            let code = try #require(try await DeviceLogin(server).opened.string("user_code"))
            let review = AccountPage(try await account.send("/device", of: page, ["user_code": code]))
            var last: Answer?
            for _ in 0..<200 where last?.status != 429 {
                last = try await account.send("/device", of: page, ["user_code": "BCDF-GHJK"])
            }
            let form = ["user_code": code, "decision": "approve"]
            let decided = try await account.send("/device/decision", of: review, form)
            for (answer, typed) in [(try #require(last), "BCDF-GHJK"), (decided, code)] {
                #expect(answer.status == 429 && answer.field("Retry-After") != nil, "\(answer.status)")
                #expect(answer.text.contains("Too many attempts.") && answer.text.contains(#"value="\#(typed)""#))
            }
        }
    }

    @Test("A typed value is shown again with an error or a stale token")
    func typedIsKept() async throws {
        try await EndpointsFixture.withPasskeys { server in
            _ = try await server.passkey(of: try await server.logIn())
            let account = AccountPages(server)
            let page = try await account.open("/account/security")
            let long = String(repeating: "x", count: 129)
            let rename = ["act": "rename", "passkey": Self.passkey, "name": long]
            let refused = try await account.send("/account/passkeys", of: page, rename)
            #expect(
                refused.text.contains(#"value="\#(long)""#) && refused.text.contains("<details class=\"ask\" open>"))
            let stale = await account.browser.post("/account/passkeys", rename)
            #expect(stale.text.contains(#"value="\#(long)""#))
            let pause = ["pause": "1", "effective": "on_expiry", "end_sessions": "1"]
            let paused = await account.browser.post("/account/logins", pause)
            #expect(paused.text.contains(#"value="on_expiry" checked"#))
            #expect(paused.text.contains(#"name="end_sessions" value="1" checked"#))
        }
    }

    @Test("Every act has a path of its own, and a form of it survives the way through the request")
    func actsAreCarried() throws {
        #expect(Set(AccountAct.allCases.map(\.path)).count == AccountAct.allCases.count)
        for field in FormField.allCases {
            let pair = FormPair(name: field.rawValue, value: "v")
            let pending = PendingForm(
                .end, try FormParameters([pair]),
                of: try #require(Identifier<User>(bytes: [UInt8](repeating: 7, count: 16))))
            let isSecret = [.password, .newPassword, .code, .token, .csrf, .request].contains(field)
            let isOfLogin = [.remember, .offer, .again, .loginToken].contains(field)
            #expect(pending.fields.isEmpty == (isSecret || isOfLogin), "\(field)")
        }
    }
}
