import HTTP
import SQLiteStore
import Sessions
import Testing

@testable import AdminActs
@testable import Console
@testable import Endpoints

/// What was typed into a form of the console, when something comes between.
@Suite struct ConsoleTypedTests {
    private static let client = "/console/clients/mobile"
    private static let editor = "class=\"editor\""

    @Test("the form of a client that comes late keeps what was typed, and names what is stored beside it")
    func aLateClientIsKept() async throws {
        try await ConsoleBrowser.with { browser, server in
            let page = await browser.get(Self.client)
            var form = page.fields(after: Self.editor)
            let scope = try #require(form["scope"])
            (form["client_name"], form["redirect_hops"], form["grant_types.password"]) = (
                "Mine <b>", "https://a.example/", "1"
            )
            let stored = #"""
                {"client_name":"Theirs <i>","scope":"read","dpop":"required","redirect_hops":["https://b.example/"],
                 "offline_session_idle":864000}
                """#
            for act in ["change", "preview"] {
                form["act"] = act
                _ = await server.admin(.patch, "/admin/v1/clients/mobile", stored)
                let late = try await browser.act(page, Self.client, form)
                #expect(late.status == 409 && late.words.contains("What you typed is kept"), "\(late.words)")
                let shown = late.fields(after: Self.editor)
                // What was typed is there, and what was left as it was has the stored value.
                #expect(shown["client_name"] == "Mine <b>" && shown["redirect_hops"] == "https://a.example/")
                #expect(shown["grant_types.password"] == "1")
                #expect(
                    shown["scope"] == "read" && shown["dpop"] == "required" && shown["offline_session_idle"] == "10d")
                for note in [
                    "Stored now: Theirs <i>", "Stored now: https://b.example/", "Changed meanwhile. Before: \(scope)",
                    "Changed meanwhile. Before: optional", "Changed meanwhile. Before: nothing",
                    "· Stored now: refresh_token",
                ] { #expect(late.words.contains(note), "\(note): \(late.words)") }
                #expect(late.words.matches(of: #/Stored now|Changed meanwhile/#).count == 6)
                // A note is in no group that is folded.
                for group in late.text.split(separator: "<details class=\"group\"><summary>").dropFirst() {
                    let end = group.firstRange(of: "</details>")?.lowerBound ?? group.endIndex
                    #expect(!group[..<end].contains("class=\"noted\""))
                }
                #expect(await server.admin(.get, "/admin/v1/clients/mobile").string("client_name") == "Theirs <i>")
                if act == "change" { continue }
                var again = shown
                again["act"] = "change"
                _ = try await browser.follow(late, Self.client, again)
                let client = await server.admin(.get, "/admin/v1/clients/mobile")
                #expect(client.string("client_name") == "Mine <b>" && client.string("scope") == "read")
                #expect(
                    client.string("dpop") == "required" && client.strings("redirect_hops") == ["https://a.example/"])
                #expect(client.strings("grant_types")?.contains("password") == true)
            }
        }
    }

    @Test("settings that come late keep what was typed, before the preview and after it")
    func lateSettingsAreKept() async throws {
        try await ConsoleBrowser.with { browser, server in
            let path = "/console/settings"
            let page = await browser.get(path)
            var wish = page.fields
            (wish["refresh_after"], wish["offline_session_max"]) = ("2h", "soon")
            let box = "offline_session_max_limited"
            let (wasLimited, interval) = (wish[box] == "1", try #require(wish["rotation_interval"]))
            wish[box] = wasLimited ? nil : "1"
            _ = await server.admin(
                .put, "/admin/v1/settings/sessions", #"{"rotation_interval":60,"refresh_after":1800}"#)
            let late = try await browser.act(page, path, wish)
            #expect(late.status == 409, "\(late.words)")
            var form = late.fields
            #expect(form["refresh_after"] == "2h" && form["offline_session_max"] == "soon")
            #expect(form["rotation_interval"] == "1m")
            #expect(form[box] == wish[box])
            for note in [
                "Stored now: 30m", "Stored now: \(try #require(page.fields["offline_session_max"]))",
                "Changed meanwhile. Before: \(interval)", "Stored now: \(wasLimited ? "" : "not ")ticked",
            ] {
                #expect(late.words.contains(note), "\(note): \(late.words)")
            }
            form["offline_session_max"] = "100d"
            let preview = try await browser.act(late, path, form)
            #expect(preview.words.contains("refresh_after: 30m → 2h"), "\(preview.words)")
            #expect(!preview.words.contains("rotation_interval:"))
            _ = await server.admin(.put, "/admin/v1/settings/sessions", #"{"rotation_interval":90}"#)
            let change = preview.fields(after: "class=\"act\"")
            let refused = try await browser.act(preview, path, change)
            #expect(refused.status == 409 && refused.fields["refresh_after"] == "2h")
            #expect(refused.words.contains("Changed meanwhile. Before: 1m"))
            #expect(await server.admin(.get, "/admin/v1/settings/sessions").integer("refresh_after") == 1800)
            let again = try await browser.act(refused, path, refused.fields)
            _ = try await browser.follow(again, path, again.fields(after: "class=\"act\""))
            let settings = await server.admin(.get, "/admin/v1/settings/sessions")
            #expect(settings.integer("refresh_after") == 7200 && settings.integer("rotation_interval") == 90)
            #expect(settings.integer("offline_session_max") == 8_640_000)
        }
    }

    @Test("a list that was asked for by a browser that was away is shown after the key, with its filter")
    func aFilterGoesOnAfterTheEntry() async throws {
        try await ConsoleBrowser.with { browser, server in
            var time: Int64 = 0
            for page in [
                "/console/bulk?client=a%20%26b&age=3d&unused=&platform=&version=&method=pwd&country=",
                "/console/events?user=anna&kind=", "/console/logins?user=&phase=aborted", "/console/users?q=a%2Bb",
            ] {
                time += 1800
                server.moveClock(to: time)
                let entry = await browser.get(try #require(await browser.get(page).field("Location")))
                var form = entry.fields
                form["key"] = server.adminKey
                let entered = try await browser.act(entry, "/console/enter", form)
                let location: String = try #require(entered.field("Location"))
                let expected = page.split(whereSeparator: { "?&".contains($0) }).filter { !$0.hasSuffix("=") }
                #expect(location.split(whereSeparator: { "?&".contains($0) }) == expected, "\(location)")
                if page.contains("bulk") {
                    let fields = await browser.get(location).fields
                    #expect(fields["client"] == "a &b" && fields["age"] == "3d" && fields["method"] == "pwd")
                }
            }
        }
    }

    @Test("the forms of Bulk and Settings are kept through an entry, and do then what they would have done")
    func lateFormsAreKept() async throws {
        try await ConsoleBrowser.with { browser, server in
            let session = try await server.logIn()
            let bulk = await browser.get("/console/bulk?client=mobile&method=pwd")
            let end = try #require(bulk.acts.first?.fields)
            let settings = await browser.get("/console/settings")
            let wish = settings.fields.merging(["refresh_after": "2h"]) { $1 }
            server.moveClock(to: 1800)
            var late: [Answer] = []
            for (page, path, form) in [(bulk, "/console/bulk", end), (settings, "/console/settings", wish)] {
                let entry = try await browser.act(page, path, form)
                #expect(entry.words.contains("What you typed is kept"), "\(entry.words)")
                late.append(entry)
            }
            #expect(await server.refresh(session.refresh).status == 200)
            for (entry, path) in zip(late, ["/console/bulk", "/console/settings"]) {
                let back = try await browser.act(
                    entry, "/console/enter", entry.fields.merging(["key": server.adminKey]) { $1 })
                let done = try await browser.act(back, path, back.fields(after: "action=\"\(path)\""))
                if path.hasSuffix("bulk") {
                    let list = await browser.get(try #require(done.field("Location")))
                    #expect(list.words.contains("1 session ended.") && list.fields["method"] == "pwd")
                } else {
                    #expect(done.words.contains("refresh_after: 1h → 2h"), "\(done.words)")
                }
            }
        }
    }

    @Test("a refusal of the key or of the server stands beside the typed values")
    func anErrorKeepsTheForm() async throws {
        try await ConsoleBrowser.with { browser, server in
            let path = "/console/users/" + (try await server.logIn().userID)
            let (user, settings) = (await browser.get(path), await browser.get("/console/settings"))
            let reader = ConsoleBrowser(server)
            let key = try await Administration(server.context).createAdminKey(name: "r", scope: .read, by: .system).1
            try await reader.enter(key)
            let change = settings.fields.merging(["act": "change", "refresh_after": "77m"]) { $1 }
            let refused = try await reader.act(await reader.get("/console/settings"), "/console/settings", change)
            #expect(refused.status == 403 && refused.words.contains("refresh_after77m"), "\(refused.words)")
            await server.store.close()
            let edit = ["act": "edit", "display_name": "Anna <Ö>"]
            for (page, path, form, typed) in [
                (user, path, edit, "display_nameAnna <Ö>"), (settings, "/console/settings", change, "refresh_after77m"),
            ] {
                let failed = try await browser.act(page, path, form)
                #expect(failed.status >= 500 && failed.words.contains(typed), "\(failed.status) \(failed.words)")
                let again = failed.fields(after: "action=\"\(path)\"")
                #expect(form.allSatisfy { again[$0.key] == $0.value }, "\(again)")
                #expect(failed.csrf(path) == page.csrf(path))
            }
            // A form of another site is not kept, and neither is a key.
            let strange = try await browser.act(user, path, edit, fields: ["Sec-Fetch-Site": "cross-site"])
            #expect(strange.status == 403 && !strange.text.contains("Anna") && !strange.text.contains("csrf"))
            let entry = await browser.get("/console/enter")
            #expect(!(try await browser.act(entry, "/console/enter", ["key": "sja_typed"])).text.contains("sja_typed"))
        }
    }

    @Test("each field for a duration says its units, shows them, and refuses a bare number as the command line does")
    func durationsHaveUnits() async throws {
        try await ConsoleBrowser.with { browser, server in
            let path = "/console/users/" + (try await server.logIn().userID)
            _ = try await server.makeClient(
                #"{"client_id":"api","token_endpoint_auth_method":"client_secret_basic","offline_session_idle":90061}"#)
            var found: [String] = []
            for path in [
                path, "/console/new-user", "/console/clients/api", "/console/new-client?preset=page", "/console/keys",
                "/console/settings", "/console/bulk", "/console/logins", "/console/deliveries", "/console/events",
            ] {
                let page = await browser.get(path)
                #expect(!page.words.contains("or seconds"))
                for part in page.text.split(separator: "<form ").dropFirst() {
                    let end = part.firstRange(of: "</form>")?.lowerBound ?? part.endIndex
                    let fields = part[..<end].matches(
                        of: #/<label class="field">[^<]*<input name="([^"]*)"(?:[^<]|<span)*/#
                    )
                    .filter { $0.0.contains(DurationText.hint) || $0.0.contains("(\(DurationText.example))") }.map {
                        String($0.1)
                    }
                    let target: String = try #require(part.firstMatch(of: #/action="([^"]*)"/#).map { String($0.1) })
                    let form = Answer(Response(.ok, "text/html", Array("<main>\(part[..<end])".utf8))).fields
                    for name in fields {
                        #expect(form[name].map { $0.isEmpty || DurationText.seconds($0) != nil } == true)
                        let sent = ["act": "change"].merging(form) { $1 }.merging([name: "90"]) { $1 }
                        let answer =
                            part.hasPrefix("method=\"get\"")
                            ? await browser.get("\(target)?\(name)=90") : try await browser.act(page, target, sent)
                        #expect(answer.status == 422, "\(path) \(name): \(answer.words)")
                        #expect(
                            answer.words.contains("must be a duration with a unit, like 90s, 15m, 12h or 14d, not '90'")
                        )
                        #expect(answer.words.contains("; is it 90s, 90m, 90h or 90d?"))
                        #expect(answer.text.contains("name=\"\(name)\" type=\"text\" value=\"90\""))
                        found.append(name)
                    }
                }
            }
            let client = ClientForm.members.compactMap { if case .duration = $0.kind { $0.name } else { nil } }
            let expected =
                ["offline_session_max", "offline_session_max", "secret_overlap", "expires_in"] + client + client
                + SettingsForm.durations + BulkFilter.durations
            #expect(found.sorted() == expected.sorted())
            #expect(await browser.get("/console/clients/api").text.contains("value=\"90061s\""))
        }
    }
}
