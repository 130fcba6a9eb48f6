import Cryptography
import HTTP
import JSON
import Locks
import Sessions
import Testing

@testable import AdminActs
@testable import Console
@testable import Endpoints

/// The commands that the console prints beside its forms. The browser tests run those of `sojourn`.
@Suite struct ConsoleCommandTests {
    /// An act with what is typed into its form.
    struct Case: CustomTestStringConvertible {
        let page: Page
        let act: String
        var typed: [String: String] = [:]
        /// Whether a second look at the server shows what was done.
        var isSeen = true

        var testDescription: String { "\(page) \(act) \(typed)" }
    }

    enum Page: String, CaseIterable {
        case user, disabledUser, newUser, session, client, keys, deliveries, settings
    }

    private static let cases = [
        Case(page: .user, act: "disable"),
        Case(
            page: .user, act: "disable",
            typed: ["reason": "lost, 'found' $(id)", "effective": "on_expiry", "revoke_sessions": "1"]),
        Case(page: .user, act: "unlock"), Case(page: .user, act: "revoke"), Case(page: .user, act: "delete"),
        Case(page: .user, act: "reset"),
        Case(page: .user, act: "edit", typed: ["display_name": "Anna O'Hara \"x\"", "offline_session_max": "30d"]),
        Case(
            page: .user, act: "edit",
            typed: ["email": "", "claims": #"{"role":"a b"}"#, "country": "AT"]),
        Case(page: .user, act: "require-factor", typed: ["second_factor": "required"]),
        Case(page: .user, act: "require-factor", typed: ["second_factor": "exempt", "keep_sessions": "1"]),
        Case(page: .disabledUser, act: "enable"),
        Case(page: .disabledUser, act: "enable", typed: ["include_own_switch": "1"]),
        Case(
            page: .newUser, act: "create",
            typed: [
                "username": "bert", "email": "bert@example.org", "email_verified": "1", "offline_session_max": "12h",
            ]),
        Case(page: .session, act: "end"),
        Case(page: .client, act: "rotate-secret"),
        Case(page: .client, act: "rotate-secret", typed: ["secret_overlap": "7d"]),
        Case(page: .client, act: "delete"),
        Case(page: .client, act: "logo", typed: ["picture": Base64URL.encode(BrandingTests.picture)]),
        Case(page: .keys, act: "create", typed: ["name": "help <desk>"]),
        Case(page: .keys, act: "create", typed: ["name": "CI", "scope": "owner", "expires_in": ""]),
        Case(page: .keys, act: "delete"), Case(page: .keys, act: "rotate"),
        Case(page: .keys, act: "rotate", typed: ["immediately": "1"]), Case(page: .keys, act: "withdraw"),
        Case(page: .deliveries, act: "webhook-test", isSeen: false),
        Case(page: .deliveries, act: "retry", isSeen: false), Case(page: .deliveries, act: "mail-retry"),
        Case(page: .deliveries, act: "stream-pause"),
        Case(page: .deliveries, act: "stream-pause", typed: ["reason": "until 'six'"]),
        Case(page: .deliveries, act: "stream-disable", typed: ["reason": "moved"]),
        Case(page: .deliveries, act: "stream-verify", isSeen: false), Case(page: .deliveries, act: "stream-delete"),
        Case(page: .settings, act: "change"),
        Case(page: .settings, act: "second-factor", typed: ["second_factor_policy": "required_at_login"]),
        Case(page: .settings, act: "brand", typed: ["accent": "#0b7a75", "tos_uri": "https://example.com/it's"]),
        Case(page: .settings, act: "logo", typed: ["picture": Base64URL.encode(BrandingTests.picture)]),
    ]

    /// Gives `body` a browser before a server that has one of everything with which something can be done, and the page.
    private static func with(
        _ page: Page, _ body: (ConsoleBrowser, EndpointsFixture, Answer) async throws -> Void
    ) async throws {
        try await EventStreamFixture.with { receiver in
            let server = receiver.server
            let browser = ConsoleBrowser(server)
            try await browser.enter()
            let tokens = try await server.logIn()
            let path = try await prepare(page, receiver, tokens)
            var shown = await browser.get(path)
            if page == .settings {
                var wish = shown.fields
                (wish["act"], wish["refresh_after"], wish["rotation_interval"]) = ("preview", "2h", "90s")
                shown = try await browser.act(shown, path, wish)
            }
            #expect(shown.status == 200, "\(shown.text)")
            try await body(browser, server, shown)
        }
    }

    /// Makes what a page shows. Returns its path.
    private static func prepare(
        _ page: Page, _ receiver: EventStreamFixture, _ tokens: Tokens
    ) async throws -> String {
        let server = receiver.server
        switch page {
        case .user:
            _ = await server.call(.post, "/v1/login", #"{"username":"anna","password":"x","device":{"id":"p"}}"#)
            return "/console/users/\(tokens.userID)"
        case .disabledUser:
            _ = await server.call(.put, "/v1/me/login-settings", #"{"logins_disabled":true}"#, bearer: tokens.access)
            _ = await server.admin(.post, "/admin/v1/users/username:anna/disable")
            return "/console/users/\(tokens.userID)"
        case .newUser: return "/console/new-user"
        case .session: return "/console/sessions/\(tokens.sessionID)"
        case .client:
            _ = try await server.makeClient(
                #"{"client_id":"-x'y","token_endpoint_auth_method":"client_secret_basic","grant_types":["client_credentials"]}"#
            )
            return "/console/clients/-x%27y"
        case .keys: return "/console/keys"
        case .settings: return "/console/settings"
        case .deliveries:
            _ = try await receiver.make()
            let now = server.context.clock.now
            _ = try await server.store.updateDelivery("mails") { progress in
                progress = DeliveryProgress(since: now)
                _ = progress?.take(by: "n", at: now, for: .seconds(30))
                _ = progress?.fail(by: "n", at: now, for: .seconds(64), .seconds(30))
            }
            try await server.refuseMail(Identifier(drawn: Array(0..<16)))
            server.environment.machine.withLock { machine in
                machine.testWebhook = { _ in WebhookTest(id: "t", isTaken: true, milliseconds: 1, status: 200) }
            }
            return "/console/deliveries"
        }
    }

    /// What an admin can see of the server, without what is random.
    private static func state(_ server: EndpointsFixture) async -> String {
        var texts: [String] = []
        for path in [
            "users", "users/username:anna", "users/username:anna/sessions", "clients", "settings/sessions",
            "settings/branding", "admin-keys",
            "event-streams", "mails", "mails?dead=true",
        ] { texts.append(await server.admin(.get, "/admin/v1/" + path).text) }
        // Which key comes first is random, and some are made when they are first needed.
        for path in ["keys", "events?limit=200"] {
            let items = await server.admin(.get, "/admin/v1/" + path).text.split(separator: "},{").map(Self.plain)
            let own = items.map { $0.replacing(#/"(id|alg)":("[^"]*"|\d+),?/#, with: "") }
            texts += Set(own).filter { !$0.contains("signing_key_created") }.sorted()
        }
        return texts.map(plain).joined(separator: "\n")
    }

    /// The text without what is random.
    private static func plain(_ text: some StringProtocol) -> String {
        // A few of these have digits alone, or letters alone.
        let named = String(text).replacing(#/"(stream_id|request_id|kid)":"[^"]*"/#) { "\($0.1)" }
        return named.replacing(#/\b[0-9a-f]{8}\b/#, with: "*").replacing(
            #/[A-Za-z0-9_-]{8,}/#
        ) { match in
            let word = match.0
            return word.contains(where: \.isNumber) && word.contains(where: \.isLetter) ? "*" : String(word)
        }
    }

    /// The act with that name, and the page's path to which its form goes.
    private static func act(_ name: String, on page: Answer) throws -> (fields: [String: String], path: String, Answer)
    {
        let act = try #require(page.acts.first { $0.fields["act"] == name }, "\(page.words)")
        let path = try #require(act.part.text.firstMatch(of: #/action="([^"]*)"/#)?.1)
        return (act.fields, Answer.unescaped(path), act.part)
    }

    @Test("a printed command does what its form does with what was typed", arguments: cases)
    func commandsDoWhatFormsDo(_ one: Case) async throws {
        var states: [String] = []
        for isForm in [true, false] {
            try await Self.with(one.page) { browser, server, page in
                let before = await Self.state(server)
                let (shown, path, part) = try Self.act(one.act, on: page)
                let form = shown.merging(one.typed) { $1 }
                if isForm {
                    let done = try await browser.act(page, path, form)
                    #expect([200, 303].contains(done.status), "\(done.words)")
                } else {
                    var printed = part.printed
                    if printed.isEmpty {
                        let asked = try await browser.act(page, path, form.merging(["show": "commands"]) { $1 })
                        #expect(asked.status == 200)
                        #expect(await Self.state(server) == before)
                        printed = try Self.act(one.act, on: asked).2.printed
                    }
                    #expect(printed.count == 2 && printed.last?.hasPrefix("sojourn ") == true, "\(printed)")
                    #expect(!printed.contains { $0.contains("…") })
                    let answer = try await PrintedCommand(try #require(printed.first)).run(server)
                    #expect((200..<300).contains(answer.status), "\(printed) \(answer.text)")
                }
                let after = await Self.state(server)
                #expect((after != before) == one.isSeen)
                states.append(after)
            }
        }
        // The actor and the last use of the own key are all that differs.
        let plain = states.map { $0.replacing(#/"last_used_at":\d+,?/#, with: "") }
        #expect(plain[0] == plain[1])
    }

    @Test("each act of a page is one of those cases, and no two have one label", arguments: Page.allCases)
    func everyActIsTried(_ page: Page) async throws {
        try await Self.with(page) { _, _, shown in
            let labels = shown.acts.map(\.label)
            #expect(Set(labels).count == labels.count, "\(labels)")
            let names = Set(shown.acts.compactMap { $0.fields["act"] })
            let disabled: Set =
                page == .disabledUser
                ? ["unlock", "revoke", "edit", "reset", "delete", "disable", "require-factor"] : []
            #expect(names.subtracting(disabled) == Set(Self.cases.filter { $0.page == page }.map(\.act)))
        }
    }

    @Test("each act with a form is tried on its page") func everyFormIsTried() {
        let forms = Acts.all.compactMap { $0 as? any FormAct.Type }
        #expect(forms.count > 20)
        // A session without a PIN, a user without a passkey and a client without a logo have no form for it; logins have tests
        // of their own.
        let others: Set = ["remove-pin", "remove-passkey", "remove-factor", "stream-enable", "remove-logo"]
        let tried = Set(Self.cases.map { "\($0.page) \($0.act)" })
        for form in forms where form.page != .login {
            let page = form.page
            for name in form.names where !others.contains(name) {
                #expect(tried.contains("\(page) \(name)") || tried.contains("disabledUser \(name)"), "\(page) \(name)")
                #expect(page.acts.filter { $0.names.contains(name) }.count == 1, "\(name)")
            }
        }
    }

    @Test(arguments: ["localhost:8081", "[::1]:8081"]) func aListIsEndedWhole(_ host: String) async throws {
        try await ConsoleBrowser.with { browser, server in
            browser.host = host
            try await browser.enter()
            var ids: Set<String> = []
            for number in 0..<5 { ids.insert(try await server.logIn(device: "phone-\(number)").sessionID) }
            let page = await browser.get("/console/bulk?client=mobile")
            let commands = page.words.matches(of: #/for id in ([0-9a-f ]+); do ([^;]+); done/#)
            for command in commands { #expect(Set(command.1.split(separator: " ").map(String.init)) == ids) }
            #expect(
                commands.map { String($0.2) } == [
                    "curl -X DELETE \"http://\(host)/admin/v1/sessions/$id\" -H \"Authorization: Bearer $SOJOURN_ADMIN_KEY\"",
                    "sojourn session end $id",
                ], "\(page.words)")
        }
    }

    @Test func aNameWithAHyphenIsNoOption() async throws {
        try await ConsoleBrowser.with { browser, server in
            _ = try await server.makeClient(
                #"{"client_id":"--help","token_endpoint_auth_method":"client_secret_basic"}"#)
            let page = await browser.get("/console/clients/--help")
            #expect(page.words.contains("sojourn client delete --yes -- --help"))
            let asked = try await browser.act(
                page, "/console/clients/--help", ["act": "rotate-secret", "secret_overlap": "7d", "show": "commands"])
            #expect(asked.words.contains("sojourn client update --rotate-secret --secret-overlap 7d -- --help"))
            #expect(await browser.get("/console/clients/mobile").words.contains("sojourn client delete --yes mobile"))
        }
    }

    @Test(
        "each of both commands of a client's form does what the form does",
        arguments: ClientPreset.all.map(\.name) + ["change", "clear"])
    func aClientHasBothCommands(_ kind: String) async throws {
        let preset = ClientPreset.all.first { $0.name == kind }
        var clients: [String] = []
        for isForm in [true, false] {
            try await ConsoleBrowser.with { browser, server in
                let path = preset == nil ? "/console/clients/mobile" : "/console/new-client"
                let page = await browser.get(preset == nil ? path : "\(path)?preset=\(kind)")
                var form = page.fields(after: "class=\"editor\"").merging(preset?.examples ?? [:]) { $1 }
                if kind == "fapi" { form["jwks"] = ConsoleOperationTests.keys }
                if preset != nil { form["client_id"] = "mine" }
                (form["client_name"], form["offline_session_idle"]) = ("Anna's \"shop\" $(id)", "20d")
                form["grant_types.password"] = "1"
                (form["login_methods.passkey"], form["stay_logged_in"]) = ("1", nil)
                if kind == "clear" {
                    (form["client_name"], form["scope"], form["grant_types.refresh_token"]) = ("", "", nil)
                }
                form["act"] = isForm ? "change" : "preview"
                let answer = try await browser.act(page, path, form)
                if isForm {
                    #expect([200, 303].contains(answer.status), "\(answer.words)")
                } else {
                    #expect(answer.status == 200 && answer.words.contains("Either command does what the form does"))
                    let section = try #require(answer.text.firstRange(of: "The same by hand</h2>"))
                    let rest = Answer(Response(.ok, "text/html", Array(answer.text[section.upperBound...].utf8)))
                    let printed = Array(rest.printed.prefix(2))
                    let curl = try PrintedCommand(#require(printed.first))
                    var body = try StrictJSON.object(Array(#require(curl.words.last).utf8))
                    #expect((200..<300).contains(try await curl.run(server).status), "\(printed)")
                    body["client_id"] = nil
                    let act: any AdminAct =
                        preset == nil
                        ? EditClient(ActSubject("mobile"), body) : CreateClient(ActSubject("mine"), body)
                    #expect(act.line != nil && printed.last == act.line)
                }
                let id = preset == nil ? "mobile" : "mine"
                clients.append(await server.admin(.get, "/admin/v1/clients/\(id)").text)
            }
        }
        #expect(clients[0] == clients[1] && clients[0].contains("1728000"))
    }

    /// A part of a command does something else, and a character that no browser shows cannot be copied.
    @Test func aCommandIsWholeAndCanBeCopied() async throws {
        try await ConsoleBrowser.with { browser, server in
            let page = await browser.get("/console/new-client?preset=page")
            var form = page.fields
            form["client_id"] = "shop"
            form["client_name"] = "a\u{202E}b'c"
            form["act"] = "preview"
            form["redirect_uris"] = (0..<100).map { "https://app.example.com/callback/\($0)" }.joined(separator: "\n")
            let preview = try await browser.act(page, "/console/new-client", form)
            #expect(preview.words.contains(#"a\u202eb'\''c"#), "\(preview.words)")
            #expect(preview.words.contains("https://app.example.com/callback/99"))
            #expect(preview.words.contains(#"callback/99"],"scope":"openid profile email account"}'Copy"#))
            let path = "/console/users/" + (try await server.logIn().userID)
            let user = try await browser.act(
                await browser.get(path), path, ["act": "disable", "reason": "a\u{202E}'\\b", "show": "commands"])
            #expect(user.words.contains(#"--reason $'a\xe2\x80\xae\'\\b'"#), "\(user.words)")
        }
    }

    @Test("a refused form keeps its typed values, and shows its commands")
    func nothingTypedIsLost() async throws {
        try await ConsoleBrowser.with { browser, server in
            let path = "/console/users/" + (try await server.logIn().userID)
            let page = await browser.get(path)
            let fields = try Self.act("edit", on: page).fields
            for more in [["country": "Austria"], ["offline_session_max": "soon"], ["show": "commands"]] {
                let form = fields.merging(["display_name": "An <na>"]) { $1 }.merging(more) { $1 }
                let answer = try await browser.act(page, path, form)
                #expect(answer.status == (more["show"] == nil ? 422 : 200), "\(answer.words)")
                let again = try Self.act("edit", on: answer)
                #expect(again.2.text.hasPrefix(" open>"))
                var expected = form
                expected["show"] = nil
                #expect(again.fields == expected.filter { !$0.value.isEmpty || fields[$0.key] != nil })
            }
            #expect(await server.admin(.get, "/admin/v1/users/username:anna").string("display_name") == nil)
        }
    }
}
