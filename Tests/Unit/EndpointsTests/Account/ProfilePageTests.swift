import HTTP
import Pages
import Sessions
import Testing

@testable import Endpoints

/// What users change of their accounts, on the page of the profile and by `PATCH /v1/me`.
struct ProfilePageTests {
    private static let path = "/account/profile"
    private static let values: [ProfileMember: String] = [
        .username: "annette", .email: "eve@example.org", .phoneNumber: "+49 30 1", .displayName: "Anna A.",
        .givenName: "Anna", .familyName: "Acker", .country: "DE",
    ]

    private static func with(
        _ editable: [ProfileMember] = ProfileMember.usual, mails: MailWaker? = nil,
        _ body: (EndpointsFixture, AccountPages) async throws -> Void
    ) async throws {
        try await EndpointsFixture.with { server in
            let server = server.over(server.store, mails: mails, editable: editable)
            try await body(server, AccountPages(server))
        }
    }

    private static func value(_ member: ProfileMember, _ server: EndpointsFixture) async -> String? {
        let users = await server.admin(.get, "/admin/v1/users").items
        return users.first?.string(member.rawValue)
    }

    @Test("The page shows the user id and no token") func shown() async throws {
        try await Self.with { server, account in
            let phone = try await server.logIn()
            let page = try await account.open(Self.path)
            let id = try #require(await server.admin(.get, "/admin/v1/users/username:anna").string("user_id"))
            #expect(page.answer.status == 200 && page.text.contains(id))
            #expect(page.text.contains(#"value="anna@example.org""#))
            let cookie = try #require(account.browser.cookies[AccountPages.cookie])
            #expect(!page.text.contains(phone.access) && !page.text.contains(cookie))
        }
    }

    @Test(
        "A member is changed by the page and by the API where the configuration names it, and by neither elsewhere",
        arguments: ProfileMember.allCases, [true, false])
    func alike(_ member: ProfileMember, isEditable: Bool) async throws {
        let editable = ProfileMember.allCases.filter { ($0 == member) == isEditable }
        try await Self.with(editable) { server, account in
            let new = try #require(Self.values[member])
            let page = try await account.open(Self.path)
            let hasField = page.text.contains(#"<input id="\#(member.rawValue)""#)
            #expect(hasField == isEditable, "\(page.text)")
            let before = await Self.value(member, server)
            if isEditable {
                let done = try await account.act(Self.path, of: page, [member.rawValue: new])
                #expect(done.text.contains("Your profile is saved."), "\(done.text)")
            } else {
                let more = ["username": "anna"].merging([member.rawValue: new]) { $1 }
                #expect(try await account.send(Self.path, of: page, more).status == 303)
            }
            #expect(await Self.value(member, server) == (isEditable ? new : before))
        }
        try await Self.with(editable) { server, _ in
            let new = try #require(Self.values[member])
            let tokens = try await server.logIn()
            let before = await Self.value(member, server)
            let body = #"{"\#(member.rawValue)":"\#(new)"}"#
            let answer = await server.call(.patch, "/v1/me", body, bearer: tokens.access)
            #expect(answer.status == (isEditable ? 200 : 409), "\(answer.text)")
            if !isEditable { #expect(answer.string("code") == "not_editable") }
            #expect(await Self.value(member, server) == (isEditable ? new : before))
        }
    }

    @Test("Where the server sends mails, a mailbox is changed by its proof alone") func mailbox() async throws {
        try await Self.with(mails: MailWaker()) { server, account in
            let tokens = try await server.logIn()
            for body in [#"{"email":"eve@example.org"}"#, #"{"email":null}"#, #"{"email":"Anna@example.org"}"#] {
                let answer = await server.call(.patch, "/v1/me", body, bearer: tokens.access)
                #expect(answer.status == 409 && answer.string("code") == "email_needs_proof", "\(answer.text)")
            }
            let same = #"{"email":"anna@example.org","country":"DE"}"#
            #expect(await server.call(.patch, "/v1/me", same, bearer: tokens.access).status == 200)
            let page = try await account.open(Self.path)
            #expect(!page.text.contains(#"name="email""#) && page.text.contains(#"href="/account/email""#))
            _ = try await account.act(Self.path, of: page, ["email": "eve@example.org", "country": "AT"])
            #expect(await Self.value(.email, server) == "anna@example.org")
            #expect(await Self.value(.country, server) == "AT")
            // An admin sets it as before.
            let changed = await server.admin(.patch, "/admin/v1/users/username:anna", #"{"email":"b@example.org"}"#)
            #expect(changed.status == 200, "\(changed.text)")
        }
    }

    @Test(
        "A value that is not allowed is shown again with its sentence, and nothing is stored",
        arguments: [
            ("country", "Germany", 422, "two capital letters"), ("email", "nobody", 422, "anna@example.com"),
            ("username", "eve@example.org", 422, "A username has no @"), ("username", "", 422, "A username has no @"),
            ("username", "BERT", 409, "belongs to someone else"),
            ("phone_number", String(repeating: "1", count: 300), 422, "too long"),
        ])
    func refused(_ field: String, _ value: String, _ status: Int, _ sentence: String) async throws {
        try await Self.with(ProfileMember.allCases) { server, account in
            _ = await server.admin(.post, "/admin/v1/users", #"{"username":"bert","password":"a long password"}"#)
            let page = try await account.open(Self.path)
            let before = await server.admin(.get, "/admin/v1/users/username:anna").text
            var form = ["username": "anna", "email": "anna@example.org", "display_name": "New name"]
            form[field] = value
            let answer = try await account.send(Self.path, of: page, form)
            #expect(answer.status == status && answer.text.contains(sentence), "\(answer.text)")
            #expect(answer.text.contains(#"value="New name""#))
            #expect(await server.admin(.get, "/admin/v1/users/username:anna").text == before)
        }
    }

    @Test("A new username, mailbox or number needs a newer login, and the change is made after it; a name needs none")
    func newerLogin() async throws {
        try await Self.with(ProfileMember.allCases) { server, account in
            var kept = ["username": "anna", "email": "anna@example.org"]
            for (seconds, field, value) in [(400, "phone_number", "+49 2"), (900, "username", "annette")] {
                let page = try await account.open(Self.path)
                server.moveClock(to: Int64(seconds))
                let name = try await account.send(Self.path, of: page, kept.merging(["given_name": "A"]) { $1 })
                #expect(name.field("Location")?.contains("/account/profile?done=profile") == true)
                let answer = try await account.send(Self.path, of: page, kept.merging([field: value]) { $1 })
                let done = try await account.logIn(answer)
                let after = AccountPage(await account.browser.get(try #require(done.field("Location"))))
                #expect(after.text.contains("Your profile is saved."), "\(after.text)")
                #expect(after.text.contains(#"value="\#(value)""#), "\(after.text)")
                kept[field] = value
            }
        }
    }

    @Test("A form of another session stores nothing") func stale() async throws {
        try await Self.with { server, account in
            let page = try await account.open(Self.path)
            let answer = await account.browser.post(
                Self.path, ["csrf": "x", "country": "DE"], fields: AccountPages.sameOrigin)
            #expect(answer.status == 200 && answer.text.contains("Please press once more"))
            #expect(await Self.value(.country, server) == nil)
            _ = try await account.act(Self.path, of: page, ["country": "DE"])
            #expect(await Self.value(.country, server) == "DE")
        }
    }
}
