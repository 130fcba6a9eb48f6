import AdminActs
import HTTP
import JSON
import Locks
import Sessions
import Testing

@testable import Console
@testable import Endpoints

/// The pages of the console about the whole server.
@Suite struct ConsoleOperationTests {
    // MARK: Now

    @Test func theLastHourIsCountedByMinute() async throws {
        try await ConsoleBrowser.with(.read) { browser, server in
            let tokens = try await server.logIn()
            _ = await server.refresh(tokens.refresh)
            _ = await server.refresh("sjr_x")
            _ = await server.call(
                .post, "/v1/login", #"{"username":"anna","password":"x","device":{"id":"p"}}"#)
            let page = await browser.get("/console/now")
            #expect(page.words.contains("Refreshes in the last hour2, 1 refused"), "\(page.words)")
            #expect(page.words.contains("Logins in the last hour2, 1 failed"))
            #expect(page.words.contains("Sessions in the last hour1 began, 0 ended"))
            // The charts say the same.
            #expect(page.words.contains("Refreshes per minute 2 in all, 2 at most, 1 refused"))
            #expect(page.words.contains("Logins per minute 2 in all, 2 at most, 1 failed"))
            #expect(page.words.contains("Sessions that began and ended, per minute 1 in all, 1 at most, 0 ended"))
            #expect(page.words.contains("repeated the newest token, again within the rotation interval1"))
            #expect(page.words.contains("session started") && page.words.contains("malformed refused1"))
            server.moveClock(to: 3660)
            try await browser.enter()
            let later = await browser.get("/console/now").words
            #expect(later.contains("Refreshes in the last hour0, 0 refused") && later.contains("per minute 0 in all"))
        }
    }

    @Test func aLivePageIsLoadedAgain() async throws {
        try await ConsoleBrowser.with(.read) { browser, _ in
            #expect(await browser.get("/console/now").field("Refresh") == nil)
            #expect(await browser.get("/console/now?live=1").field("Refresh") == "5")
        }
    }

    @Test func theReasonsOfEndsLeadToTheirEvents() async throws {
        try await ConsoleBrowser.with(.read) { browser, server in
            let tokens = try await server.logIn()
            _ = await server.admin(.delete, "/admin/v1/sessions/\(tokens.sessionID)")
            let page = await browser.get("/console/now")
            let link = "/console/events?kind=session_ended&amp;reason=revoked_by_admin"
            #expect(page.text.contains("href=\"\(link)\""))
            #expect(await browser.get(link.replacing("&amp;", with: "&")).words.contains("revoked_by_admin"))
        }
    }

    // MARK: Settings

    @Test func settingsSayWhatWouldHappen() async throws {
        try await ConsoleBrowser.with(.read) { browser, server in
            for number in 0..<3 { _ = try await server.logIn(device: "phone-\(number)") }
            server.moveClock(to: 1500)
            _ = try await server.logIn(device: "phone-9")
            let form = [
                "act": "preview", "offline_session_idle": "20m", "offline_session_max": "180d",
                "offline_session_max_limited": "1", "refresh_after": "5m", "rotation_interval": "2m",
            ]
            let page = try await browser.act(await browser.get("/console/settings"), "/console/settings", form)
            #expect(page.status == 200 && page.words.contains("All 4 living sessions were looked at."))
            #expect(page.words.contains("3 (75 %) would end at once"))
            #expect(
                page.words.contains(
                    "1 would end earlier than with today's settings unless they are refreshed, and 0 later."))
            #expect(!page.words.contains("Change the settings …"))
            let unread = try await browser.act(
                page, "/console/settings", form.merging(["refresh_after": "soon"]) { $1 })
            #expect(unread.status == 422 && unread.words.contains("Refresh after (refresh_after) must be a duration"))
            // What a change refuses is not foretold.
            for (name, value, sentence) in [
                ("offline_session_idle", "0", "offline_session_idle must be at least one second."),
                ("offline_session_idle", "400d", "offline_session_idle must not exceed absolute_max_lifetime"),
                ("offline_session_max", "9223372036854775807s", "offline_session_max must not exceed"),
                ("rotation_interval", "15m", "rotation_interval must not exceed half of offline_session_idle."),
            ] {
                let refused = try await browser.act(page, "/console/settings", form.merging([name: value]) { $1 })
                #expect(refused.status == 422 && refused.words.contains(sentence), "\(name) \(value): \(refused.words)")
                #expect(!refused.words.contains("would end"))
            }
            let change = try await browser.act(page, "/console/settings", form.merging(["act": "change"]) { $1 })
            #expect(change.status == 403)
            #expect(
                await server.admin(.get, "/admin/v1/settings/sessions").integer("offline_session_idle") == 1_209_600)
        }
    }

    @Test func settingsChangeAfterThePreview() async throws {
        try await ConsoleBrowser.with { browser, server in
            let form = [
                "act": "preview", "offline_session_idle": "30d", "offline_session_max": "200d", "refresh_after": "2h",
                "rotation_interval": "90s",
            ]
            let page = try await browser.act(await browser.get("/console/settings"), "/console/settings", form)
            #expect(page.words.contains("There is no living session to look at."))
            #expect(page.words.contains("sojourn settings set --offline-session-idle 30d --offline-session-max 200d"))
            #expect(page.words.contains(#"-d '{"offline_session_idle":2592000,"#))
            #expect(page.words.contains("--rotation-interval 90s --offline-session-max-limited false"))
            let done = try await browser.follow(page, "/console/settings", form.merging(["act": "change"]) { $1 })
            #expect(done.words.contains("The change is made, and acts from now on."))
            let events = await server.admin(.get, "/admin/v1/events?limit=200").text
            let same = try await browser.follow(done, "/console/settings", form.merging(["act": "change"]) { $1 })
            #expect(same.words.contains("Nothing was changed."))
            #expect(await server.admin(.get, "/admin/v1/events?limit=200").text == events)
            let settings = await server.admin(.get, "/admin/v1/settings/sessions")
            #expect(settings.integer("offline_session_idle") == 2_592_000)
            #expect(settings.bool("offline_session_max_limited") == false)
            let wrong = form.merging(["act": "change", "refresh_after": "31d"]) { $1 }
            let refused = try await browser.act(done, "/console/settings", wrong)
            #expect(refused.status == 422 && refused.words.contains("refresh_after must be less"))
        }
    }

    // MARK: Clients

    /// A JWK set, as it is typed.
    static let keys = #"""
        {"keys":[{"kty":"EC","crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}]}
        """#

    @Test func aClientIsMadeFromAPreset() async throws {
        try await ConsoleBrowser.with { browser, server in
            for preset in ClientPreset.all {
                let page = await browser.get("/console/new-client?preset=\(preset.name)")
                var form = page.fields
                #expect(preset.examples.keys.allSatisfy { form[$0] ?? "" == "" }, "an example is sent: \(form)")
                form["client_id"] = "c-\(preset.name)"
                for (name, example) in preset.examples { form[name] = example }
                if preset.name == "fapi" {
                    form["jwks"] = Self.keys
                }
                form["act"] = "preview"
                let preview = try await browser.act(page, "/console/new-client", form)
                #expect(preview.words.contains("Nothing has happened yet."), "\(preview.words)")
                #expect(await server.admin(.get, "/admin/v1/clients/c-\(preset.name)").status == 404)
                form["act"] = "change"
                let answer = try await browser.act(page, "/console/new-client", form)
                let client = await server.admin(.get, "/admin/v1/clients/c-\(preset.name)")
                #expect(client.status == 200, "\(preset.name): \(answer.words)")
                for (name, value) in preset.values {
                    #expect(client.value([name]) == value, "\(preset.name) \(name)")
                }
                let hasSecret = ["web", "backend"].contains(preset.name)
                #expect(answer.status == (hasSecret ? 200 : 303))
                #expect(answer.text.contains("sjc_") == hasSecret)
            }
        }
    }

    @Test func aFormThatChangesNothingChangesNothing() async throws {
        try await ConsoleBrowser.with { browser, server in
            _ = try await server.makeClient(
                #"""
                {"client_id":"shop","client_name":"Sh\"op","grant_types":["authorization_code","refresh_token"],
                 "scope":"openid read","redirect_uris":["https://a.example/cb","com.example.app:/cb"],"offline_session_idle":90061,
                 "resources":["https://api.example/a"],"browser_session":"client","dpop":"required"}
                """#)
            let before = await server.admin(.get, "/admin/v1/clients/shop").text
            let page = await browser.get("/console/clients/shop")
            var form = page.fields(after: "class=\"editor\"")
            form["act"] = "preview"
            let preview = try await browser.act(page, "/console/clients/shop", form)
            #expect(preview.status == 303)
            form["act"] = "change"
            #expect(
                try await browser.follow(page, "/console/clients/shop", form).words.contains("Nothing was changed."))
            form["client_name"] = "New <name>"
            form["offline_session_idle"] = "10d"
            let changed = try await browser.follow(page, "/console/clients/shop", form)
            #expect(changed.words.contains("The change is made"))
            let after = await server.admin(.get, "/admin/v1/clients/shop")
            #expect(after.string("client_name") == "New <name>" && after.integer("offline_session_idle") == 864_000)
            #expect(
                before.contains("90061")
                    && after.strings("redirect_uris") == ["https://a.example/cb", "com.example.app:/cb"])
            form = changed.fields(after: "class=\"editor\"")
            (form["act"], form["redirect_uris"]) = ("change", "http://evil.example/")
            let refused = try await browser.act(changed, "/console/clients/shop", form)
            #expect(refused.status == 422 && refused.words.contains("redirect_uris must be"))
            #expect(refused.text.contains("http://evil.example/"))
        }
    }

    @Test func redirectURIsAreTested() async throws {
        try await PageLoginFixture.with { login in
            let browser = ConsoleBrowser(login.server)
            try await browser.enter()
            for (uri, words) in [
                ("com.example.app:/callback", "accepted It is registered as it stands."),
                ("http://127.0.0.1:4711/cb", "accepted It differs from a registered one in the port"),
                ("com.example.app:/Callback", "byte for byte"),
                ("https://evil.example/", "not registered for this client"),
                ("javascript:alert(1)", "No client can register it"),
            ] {
                let page = await browser.get("/console/clients/shop?redirect_uri=\(PercentEncoding.encode(uri))")
                #expect(page.words.contains(words), "\(uri): \(page.words)")
            }
        }
    }

    @Test func clientsGetANewSecretAndAreDeleted() async throws {
        try await ConsoleBrowser.with { browser, server in
            let old = try #require(
                try await server.makeClient(#"{"client_id":"api","token_endpoint_auth_method":"client_secret_basic"}"#))
            let path = "/console/clients/api"
            let page = try await browser.act(await browser.get(path), path, ["act": "rotate-secret"])
            let new = try #require(page.text.firstMatch(of: #/sjc_[A-Za-z0-9_-]{43}/#)?.0)
            #expect(String(new) != old)
            #expect(!(await browser.get(path)).text.contains(new))
            let deleted = try await browser.follow(page, path, ["act": "delete"])
            #expect(deleted.words.contains("It is deleted."))
            #expect(await server.admin(.get, "/admin/v1/clients/api").status == 404)
        }
    }

    // MARK: Keys

    @Test func keysAreMadeAndTakenAway() async throws {
        try await ConsoleBrowser.with { browser, server in
            let page = await browser.get("/console/keys")
            let made = try await browser.act(
                page, "/console/keys",
                ["act": "create", "name": "help <desk>", "scope": "support", "expires_in": "90d"])
            let secret = try #require(made.text.firstMatch(of: #/sja_[A-Za-z0-9_-]{43}/#)?.0)
            #expect(made.status == 200 && made.words.contains("help <desk>"))
            let key = try #require(try await server.store.adminKeys().last)
            #expect(key.scope == .support && key.expiresAt == server.context.clock.now + .seconds(7_776_000))
            #expect(!(await browser.get("/console/keys")).text.contains(secret))
            let refused = try await browser.act(
                page, "/console/keys", ["act": "create", "name": "x", "expires_in": "1s"])
            #expect(refused.status == 422 && refused.words.contains("must be 60 seconds or more"))
            let deleted = try await browser.follow(page, "/console/keys", ["act": "delete", "key": key.id])
            #expect(deleted.words.contains("It is deleted.") && !deleted.words.contains("help <desk>"))
            let kid = try #require(Administration(server.context).signingKeys().first?.id)
            _ = try await browser.follow(page, "/console/keys", ["act": "rotate", "immediately": "1"])
            let withdrawn = try await browser.follow(page, "/console/keys", ["act": "withdraw", "key": kid])
            #expect(withdrawn.words.contains("It is deleted."))
            let events = await server.admin(.get, "/admin/v1/events?limit=200").items.compactMap { $0.string("event") }
            #expect(events.contains("signing_key_withdrawn") && events.contains("admin_key_deleted"))
        }
    }

    // MARK: Deliveries

    @Test func deliveriesSayWhatWaitsAndWhy() async throws {
        try await ConsoleBrowser.with(.support) { browser, server in
            let now = server.context.clock.now
            _ = try await server.store.updateDelivery("mails") { $0 = DeliveryProgress(since: now) }
            #expect(await browser.get("/console/deliveries").words.contains("mails"))
            #expect(!(await browser.get("/console/deliveries")).words.contains("Try again now"))
            _ = try await server.store.updateDelivery("mails") { progress in
                _ = progress?.take(by: "n", at: now, for: .seconds(30))
                _ = progress?.fail(by: "n", at: now, for: .seconds(64), .seconds(30))
            }
            server.context.deliveries.note("status 500 <b>", of: "mails", at: now, for: .seconds(64))
            _ = try await server.logIn()
            let page = await browser.get("/console/deliveries")
            #expect(page.words.contains("The last error was status 500 <b>"), "\(page.words)")
            #expect(page.words.contains("Try again now"))
            #expect(page.words.contains("-X POST http://localhost:8081/admin/v1/deliveries/retry"))
            #expect(page.words.contains("sojourn webhook retry"))
            // Only a call that ends the wait ends these loops.
            for isForm in [true, false] {
                let isOver = Locked(false)
                let waiting = Task {
                    await server.context.deliveries.wait(for: .seconds(3600))
                    isOver.withLock { $0 = true }
                }
                while !isOver.withLock({ $0 }) {
                    if isForm {
                        let retried = try await browser.follow(page, "/console/deliveries", ["act": "retry"])
                        #expect(retried.words.contains("tried again now"))
                    } else {
                        #expect(await server.admin(.post, "/admin/v1/deliveries/retry").status == 204)
                    }
                }
                await waiting.value
            }
        }
    }

    // MARK: Bulk

    @Test func whatTheListShowsIsWhatEnds() async throws {
        try await ConsoleBrowser.with { browser, server in
            let old = try await server.logIn(device: "old")
            server.moveClock(to: 1000)
            let new = try await server.logIn(device: "new")
            #expect(await browser.get("/console/bulk").words.contains("Say which sessions"))
            let page = await browser.get("/console/bulk?age=10m&client=mobile&platform=&version=&method=pwd&unused=")
            #expect(page.words.contains("End this session …"), "\(page.words)")
            #expect(page.text.contains(old.sessionID) && !page.text.contains(new.sessionID))
            // A session that came since is not in the list, so that it does not end.
            var form = page.fields(after: "class=\"act\"")
            form["act"] = "end"
            let ended = try await browser.follow(page, "/console/bulk", form)
            #expect(ended.words.contains("1 session ended.") && ended.words.contains("No living session matches"))
            // A second click finds it ended, and says so.
            #expect(try await browser.follow(page, "/console/bulk", form).words.contains("0 sessions ended."))
            #expect(await server.refresh(old.refresh).string("reason") == "revoked_by_admin")
            #expect(await server.refresh(new.refresh).status == 200)
            _ = await server.admin(.patch, "/admin/v1/users/username:anna", #"{"country":"AT"}"#)
            for (country, isThere) in [("at", true), ("PT", false)] {
                let page = await browser.get("/console/bulk?country=\(country)")
                #expect(page.text.contains(new.sessionID) == isThere, "\(country)")
                #expect(page.words.contains("Authenticated by (pwd, hwk, swk, phone)"))
            }
            #expect(await browser.get("/console/bulk?age=soon").words.contains("Older than must be a"))
        }
    }

    // MARK: Events

    @Test func eventsAreAFile() async throws {
        try await ConsoleBrowser.with(.read) { browser, server in
            let tokens = try await server.logIn()
            let file = await browser.get("/console/events.jsonl?session=\(tokens.sessionID)")
            #expect(file.field("Content-Disposition") == "attachment; filename=\"events.jsonl\"")
            let lines = file.text.split(separator: "\n")
            #expect(lines.count == 1 && lines[0].contains(#""event":"session_started""#))
            #expect(await browser.get("/console/events.jsonl").text.split(separator: "\n").count > 2)
        }
    }

    @Test func eventsGoOnByACursor() async throws {
        try await ConsoleBrowser.with(.read) { browser, server in
            for number in 0..<120 {
                try await server.store.append([
                    AuditEvent(.settingsChanged, at: server.context.clock.now, by: .system, reason: "n\(number)")
                ])
            }
            var (path, seen): (String?, [String]) = ("/console/events?kind=settings_changed", [])
            while let next = path {
                let page = await browser.get(next)
                seen += page.text.matches(of: #/<bdi>(n\d+)<\/bdi>/#).map { String($0.1) }
                path = page.text.firstMatch(of: #/href="([^"]*)">Next page/#).map {
                    String($0.1).replacing("&amp;", with: "&")
                }
            }
            #expect(seen == (0..<120).reversed().map { "n\($0)" })
        }
    }
}
