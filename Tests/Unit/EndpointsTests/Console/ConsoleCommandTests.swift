import HTTP
import Sessions
import Testing

@testable import Endpoints

/// The commands that the console prints beside its forms. The browser tests run them.
@Suite struct ConsoleCommandTests {
    @Test(arguments: ["localhost:8081", "[::1]:8081"]) func aListIsEndedWhole(_ host: String) async throws {
        try await ConsoleBrowser.with { browser, stage in
            browser.host = host
            try await browser.enter()
            var ids: Set<String> = []
            for number in 0..<5 { ids.insert(try await stage.logIn(device: "phone-\(number)").sessionID) }
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
        try await ConsoleBrowser.with { browser, stage in
            _ = try await stage.makeClient(
                #"{"client_id":"--help","token_endpoint_auth_method":"client_secret_basic"}"#)
            let page = await browser.get("/console/clients/--help")
            #expect(page.words.contains("sojourn client delete --yes -- --help"))
            #expect(page.words.contains("sojourn client update --rotate-secret -- --help"))
            #expect(await browser.get("/console/clients/mobile").words.contains("sojourn client delete --yes mobile"))
        }
    }

    @Test func aCommandDoesWhatTheFormDoesAsItStands() async throws {
        try await ConsoleBrowser.with(.support) { browser, stage in
            let tokens = try await stage.logIn()
            let off = await stage.call(
                .put, "/v1/me/login-settings", #"{"logins_disabled":true}"#, bearer: tokens.access)
            #expect(off.status == 200, "\(off.text)")
            let user = try await browser.find("anna")
            #expect(user.words.contains("Reset the user's own switch"), "\(user.words)")
            #expect(user.words.contains(#"{"include_own_switch":false}"#) && !user.words.contains("--include-own"))
        }
    }

    /// A part of a command does something else, and a character that no browser shows cannot be copied.
    @Test func aCommandIsWholeAndCanBeCopied() async throws {
        try await ConsoleBrowser.with { browser, _ in
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
        }
    }
}
