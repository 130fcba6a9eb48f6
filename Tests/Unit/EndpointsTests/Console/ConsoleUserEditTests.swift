import HTTP
import Sessions
import Testing

@testable import Endpoints

/// The form that edits a user.
@Suite struct ConsoleUserEditTests {
    private static func page(of browser: ConsoleBrowser, _ server: EndpointsFixture) async throws -> (String, Answer) {
        let id = try #require(await server.admin(.get, "/admin/v1/users/username:anna").string("user_id"))
        let path = "/console/users/\(id)"
        return (path, await browser.get(path))
    }

    /// What the form holds when it is shown.
    private static let shown = [
        "act": "edit", "username": "anna", "was_username": "anna", "display_name": "", "was_display_name": "",
        "email": "", "was_email": "", "phone_number": "", "was_phone_number": "", "country": "", "was_country": "",
        "was_email_verified": "",
    ]

    @Test func whatDiffersIsChangedAndRecorded() async throws {
        try await ConsoleBrowser.with { browser, server in
            let (path, page) = try await Self.page(of: browser, server)
            #expect(page.words.contains("Change the profile of anna ("))
            let form = Self.shown.merging([
                "display_name": "Anna <b>", "email": "anna@example.org", "email_verified": "1", "country": "DE",
            ]) { $1 }
            let after = try await browser.follow(page, path, form)
            #expect(after.words.contains("The profile is changed.") && after.text.contains("Anna &lt;b&gt;"))
            let user = await server.admin(.get, "/admin/v1/users/username:anna")
            #expect(user.string("email") == "anna@example.org" && user.bool("email_verified") == true)
            #expect(user.string("country") == "DE" && user.string("username") == "anna")
            let events = await server.admin(.get, "/admin/v1/events?limit=200").items
            let changed = try #require(events.last { $0.string("event") == "user_changed" })
            #expect(changed.string("actor")?.hasPrefix("admin:") == true)
        }
    }

    @Test func aFormUndoesNothingThatItHasNotChanged() async throws {
        try await ConsoleBrowser.with { browser, server in
            let (path, page) = try await Self.page(of: browser, server)
            let other = #"{"display_name":"By another","country":"FR"}"#
            #expect(await server.admin(.patch, "/admin/v1/users/username:anna", other).status == 200)
            let after = try await browser.follow(page, path, Self.shown.merging(["phone_number": "+49 30 1"]) { $1 })
            #expect(after.words.contains("The profile is changed."))
            let user = await server.admin(.get, "/admin/v1/users/username:anna")
            #expect(user.string("display_name") == "By another" && user.string("country") == "FR")
            let same = try await browser.follow(after, path, Self.shown)
            #expect(same.words.contains("Nothing was changed."))
        }
    }

    @Test("a form that was refused undoes no change of another admin either")
    func aRefusedFormUndoesNothing() async throws {
        try await ConsoleBrowser.with { browser, server in
            let (path, page) = try await Self.page(of: browser, server)
            let other = #"{"phone_number":"+49 30 1"}"#
            #expect(await server.admin(.patch, "/admin/v1/users/username:anna", other).status == 200)
            let refused = try await browser.act(page, path, Self.shown.merging(["country": "Germany"]) { $1 })
            #expect(refused.status == 422)
            let shown = try #require(refused.acts.first { $0.fields["act"] == "edit" }).fields
            let after = try await browser.follow(refused, path, shown.merging(["country": "DE"]) { $1 })
            #expect(after.words.contains("The profile is changed."))
            let user = await server.admin(.get, "/admin/v1/users/username:anna")
            #expect(user.string("country") == "DE" && user.string("phone_number") == "+49 30 1")
        }
    }

    @Test("a command names a user by the id if the name would be read as another user's")
    func namesOfOthers() async throws {
        try await ConsoleBrowser.with { browser, server in
            _ = await server.admin(.post, "/admin/v1/users", #"{"username":"username:anna"}"#)
            let id = try #require(await server.admin(.get, "/admin/v1/users/username:username:anna").string("user_id"))
            let page = await browser.get("/console/users/\(id)")
            #expect(page.words.contains("sojourn user delete \(id)") && !page.words.contains("delete username:anna"))
        }
    }

    @Test func claimsAreEdited() async throws {
        try await ConsoleBrowser.with { browser, server in
            let (path, page) = try await Self.page(of: browser, server)
            let claims = ["claims": #"{"role":"a <b>"}"#]
            let after = try await browser.follow(page, path, Self.shown.merging(claims) { $1 })
            #expect(after.words.contains(#"Claims{"role":"a <b>"}"#), "\(after.words)")
            var shown = Self.shown
            shown["was_claims"] = claims["claims"]
            for text in ["[1]", "{", "7", #"{"n":12345678901234567890}"#] {
                let refused = try await browser.act(after, path, shown.merging(["claims": text]) { $1 })
                #expect(refused.status == 422 && refused.words.contains("claims"), "\(text): \(refused.words)")
            }
            let without = try await browser.follow(after, path, shown.merging(["claims": ""]) { $1 })
            #expect(!without.words.contains(#"Claims{"role""#))
        }
    }

    @Test(arguments: [
        (["country": "Germany"], "country"), (["email": "no address"], "email"), (["username": ""], "username"),
        (["username": "bert"], "another user"), (["display_name": String(repeating: "x", count: 5000)], "display_name"),
    ])
    func whatIsWrongIsSaid(_ change: [String: String], _ word: String) async throws {
        try await ConsoleBrowser.with { browser, server in
            _ = await server.admin(.post, "/admin/v1/users", #"{"username":"bert"}"#)
            let (path, page) = try await Self.page(of: browser, server)
            let before = await server.admin(.get, "/admin/v1/users/username:anna").text
            let answer = try await browser.act(page, path, Self.shown.merging(change) { $1 })
            #expect(answer.status == 422 && answer.words.contains(word), "\(answer.words)")
            #expect(await server.admin(.get, "/admin/v1/users/username:anna").text == before)
        }
    }

    @Test("a user has a longest session of its own, or the one of the settings again")
    func theOwnMaximumIsEdited() async throws {
        try await ConsoleBrowser.with { browser, server in
            let (path, page) = try await Self.page(of: browser, server)
            let set = try await browser.follow(page, path, Self.shown.merging(["offline_session_max": "30d"]) { $1 })
            #expect(set.words.contains("Own longest session30 days"), "\(set.words)")
            var user = await server.admin(.get, "/admin/v1/users/username:anna")
            #expect(user.integer("offline_session_max") == 2_592_000)
            let form = Self.shown.merging(["was_offline_session_max": "30d", "offline_session_max": "soon"]) { $1 }
            let refused = try await browser.act(set, path, form)
            #expect(refused.status == 422 && refused.words.contains("Own longest session must be a duration"))
            #expect(refused.text.contains("value=\"soon\""))
            _ = try await browser.follow(set, path, form.merging(["offline_session_max": ""]) { $1 })
            user = await server.admin(.get, "/admin/v1/users/username:anna")
            #expect(user.integer("offline_session_max") == nil)
        }
    }

    @Test("a user is made without a password, gets a link for one, and is deleted")
    func aUserIsMadeAndDeleted() async throws {
        try await ConsoleBrowser.with { browser, server in
            #expect(await browser.get("/console/users").text.contains("href=\"/console/new-user\""))
            let page = await browser.get("/console/new-user")
            let form = page.fields(after: "<main>").merging(["display_name": "Bert <b>", "country": "DE"]) { $1 }
            let refused = try await browser.act(page, "/console/new-user", form)
            #expect(
                refused.status == 422 && refused.words.contains("username") && refused.text.contains("Bert &lt;b&gt;"))
            let made = try await browser.follow(
                refused, "/console/new-user", form.merging(["username": "bert"]) { $1 })
            #expect(made.words.contains("The user is made, without a password") && made.words.contains("User bert ("))
            let id = try #require(await server.admin(.get, "/admin/v1/users/username:bert").string("user_id"))
            let path = "/console/users/\(id)"
            let link = try await browser.act(made, path, ["act": "reset"])
            let token = try #require(link.words.firstMatch(of: #/reset#(sjv_[A-Za-z0-9_-]+)/#)?.1)
            let set = await server.call(
                .post, "/v1/password-reset", #"{"reset_token":"\#(token)","new_password":"a new long word"}"#)
            #expect(set.status == 204)
            let gone = try await browser.follow(made, path, ["act": "delete"])
            #expect(gone.words.contains("It is deleted.") && !gone.words.contains("bert"))
            #expect(await server.admin(.get, "/admin/v1/users/username:bert").status == 404)
        }
    }

    @Test func aKeyOfTheHelpDeskEditsNoUser() async throws {
        try await ConsoleBrowser.with(.support) { browser, server in
            let (path, page) = try await Self.page(of: browser, server)
            #expect(!page.words.contains("Change the profile"))
            let answer = try await browser.act(page, path, Self.shown.merging(["display_name": "x"]) { $1 })
            #expect(answer.status == 403)
            for act in ["delete", "reset"] { #expect(try await browser.act(page, path, ["act": act]).status == 403) }
            #expect(await browser.get("/console/new-user").status == 403)
            #expect(!(await browser.get("/console/users")).text.contains("/console/new-user"))
        }
    }
}
