import Foundation
import Testing

@testable import SojournClient

struct StorageNameTests {
    private static func name(_ server: String, client: String = "mobile", slot: String = "default") throws
        -> StorageName
    {
        var configuration = SojournConfiguration(server: try #require(URL(string: server)))
        (configuration.clientID, configuration.slot) = (client, slot)
        return StorageName(configuration)
    }

    @Test("each server, client and slot has a folder of its own")
    func folders() throws {
        let home = ["HOME": "/home/anna"]
        let base = "/home/anna/.local/state/sojourn/"
        #expect(try Self.name("https://Auth.Example").folder(home) == base + "mobile@auth.example/default")
        #expect(
            try Self.name("https://auth.example:8443/a").folder(home) == base + "mobile@auth.example%3A8443%2Fa/default"
        )
        #expect(try Self.name("https://a.b", client: "../x", slot: "..").folder(home) == base + "%2E.%2Fx@a.b/%2E.")
        #expect(try Self.name("https://a.b", slot: "ä b").folder(home) == base + "mobile@a.b/%C3%A4%20b")
    }

    @Test("XDG_STATE_HOME counts if it is absolute")
    func stateHome() throws {
        let name = try Self.name("https://a.b")
        #expect(name.folder(["HOME": "/h", "XDG_STATE_HOME": "/s"]) == "/s/sojourn/mobile@a.b/default")
        #expect(name.folder(["HOME": "/h", "XDG_STATE_HOME": "s"]) == "/h/.local/state/sojourn/mobile@a.b/default")
        #expect(name.folder(["HOME": "/h", "XDG_STATE_HOME": ""]) == "/h/.local/state/sojourn/mobile@a.b/default")
    }

    @Test("a missing entitlement is explained")
    func sentences() {
        #expect("\(StoreError.denied(-34018))".contains("entitlement"))
        #expect("\(KeyError.denied(-34018))".contains("entitlement"))
        #expect("\(StoreError.failed(5, "fsync"))" == "the store failed: fsync (5)")
    }
}
