import HTTP
import JSON
import Testing

@testable import Console
@testable import Endpoints

/// The form of a client.
@Suite struct ConsoleFormTests {
    @Test("an emptied field of JSON takes the claims and the keys away")
    func emptiedObjects() throws {
        let stored = ClientForm([
            "scope_claims": .object(["shop": .array([.string("email")])]), "jwks": .object(["keys": .array([])]),
        ])
        var form = stored
        form.texts["scope_claims"] = ""
        form.texts["jwks"] = ""
        #expect(try form.changes(from: stored) == ["scope_claims": .object([:]), "jwks": .null])
    }

    @Test("ways to log in are boxes; of none, every way is one")
    func waysToLogInAreBoxes() async throws {
        try await ConsoleBrowser.with { browser, server in
            let path = "/console/clients/mobile"
            let page = await browser.get(path)
            var form = page.fields(after: "class=\"editor\"")
            #expect(form["login_methods.offered"] == "password passkey phone anonymous invitation email")
            (form["act"], form["login_methods.passkey"], form["login_methods.phone"]) = ("change", "1", "1")
            let changed = try await browser.follow(page, path, form)
            #expect(
                await server.admin(.get, "/admin/v1/clients/mobile").strings("login_methods") == ["passkey", "phone"])
            form = changed.fields(after: "class=\"editor\"")
            #expect(form["login_methods.passkey"] == "1" && form["login_methods.password"] == nil)
            (form["act"], form["login_methods.passkey"], form["login_methods.phone"]) = ("change", nil, nil)
            _ = try await browser.follow(changed, path, form)
            #expect(await server.admin(.get, "/admin/v1/clients/mobile").value(["login_methods"]) == nil)
            // A provider that is not configured any more has a box as long as the client names it.
            let body = #"{"login_methods":["provider:old","password"]}"#
            #expect(await server.admin(.patch, "/admin/v1/clients/mobile", body).status == 200)
            #expect(await browser.get(path).fields(after: "class=\"editor\"")["login_methods.provider:old"] == "1")
        }
    }

    @Test func eachMemberIsInOneGroup() {
        let names = ClientForm.groups.flatMap(\.names)
        #expect(names.count == Set(names).count && Set(names) == Set(ClientForm.members.map(\.name)))
    }

    @Test func theNameIsFirstAndGrantsHavePlainWords() async throws {
        try await ConsoleBrowser.with { browser, _ in
            let page = await browser.get("/console/clients/mobile")
            let form = try #require(page.text.firstRange(of: "<fieldset><legend>App</legend>")?.upperBound)
            let first = try #require(page.text[form...].firstMatch(of: #/name="([a-z_]+)"/#)?.1)
            #expect(first == "client_name")
            let words = page.words
            #expect(words.contains("device with a code urn:ietf:params:oauth:grant-type:device_code"), "\(words)")
            #expect(words.contains("Grantssilent renewal"))
            #expect(await browser.get("/console/clients").words.contains("silent renewal"))
            // What matters for a television is open, and all else is folded.
            let new = await browser.get("/console/new-client?preset=device")
            let open = try #require(new.text.firstRange(of: "<details class=\"group\"")?.lowerBound)
            let names = new.text[..<open].matches(of: #/ name="([a-z_]+)"/#).map { String($0.1) }
            #expect(names.contains("client_id") && names.contains("scope") && !names.contains("jwks"), "\(names)")
            #expect(new.text[open...].contains("name=\"jwks\""))
            #expect(
                new.text.contains(
                    "name=\"grant_types.urn:ietf:params:oauth:grant-type:device_code\" value=\"1\" checked"))
        }
    }
}
