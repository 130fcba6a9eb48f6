import Testing

@testable import Endpoints

/// The form of a client.
@Suite struct ConsoleFormTests {
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
            let new = await browser.get("/console/new-client?preset=device")
            #expect(
                new.text.contains(
                    "name=\"grant_types.urn:ietf:params:oauth:grant-type:device_code\" value=\"1\" checked"))
        }
    }
}
