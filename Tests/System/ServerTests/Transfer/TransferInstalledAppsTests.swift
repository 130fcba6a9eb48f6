import Sessions
import Testing

@testable import Transfer
@testable import sojourn

/// What a client has registered for logins on the server's page moves with it.
@Suite("Export and import: the apps of a client", .timeLimit(.minutes(5)))
struct TransferInstalledAppsTests {
    private let transfer: TransferTests

    init() throws { transfer = try TransferTests() }

    @Test("the apps of a client move, and are the same in both databases")
    func roundTrip() async throws {
        let fingerprint = Array(repeating: "0A", count: 32).joined(separator: ":")
        let app = try #require(AndroidApp("com.example.shop/\(fingerprint)"))
        try await transfer.withRoute { first, postgres, last in
            _ = try await first.administration.createClient(id: "shop", by: .system) { client in
                client.page.appleAppIDs = ["ABCDE12345.com.example.shop"]
                client.page.androidApps = [app]
                client.scopeClaims = ScopeClaims(text: #"{"team":["tenant"]}"#) ?? .preset
                client.backchannel.deliveryMode = .ping
                client.backchannel.notificationEndpoint = "https://shop.example/ping"
                return nil
            }
            let text = try await first.export(to: transfer.folder)
            #expect(text.contains(#""android_apps":["com.example.shop/\#(fingerprint)"]"#))
            for stage in [postgres, last] {
                #expect(try await stage.load(transfer.folder).refused.isEmpty)
                let client = try #require(try await stage.store.client("shop"))
                #expect(client.scopeClaims.names == ["team": ["tenant"]])
                #expect(client.page.appleAppIDs == ["ABCDE12345.com.example.shop"])
                #expect(client.page.androidApps == [app])
                #expect(client.backchannel.deliveryMode == .ping)
                #expect(client.backchannel.notificationEndpoint == "https://shop.example/ping")
            }
        }
    }
}
