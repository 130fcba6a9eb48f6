import HTTP
import Sessions
import Testing

@testable import Endpoints

/// Devices at a distance from the phone (rule R6 against relayed codes).
@Suite("Remote logins") struct RemoteLoginTests {
    private static let (graz, lisbon, unknown) = ("192.0.2.2", "198.51.100.1", "10.0.0.1")

    @Test("R6: the phone hears of another country, and an admin of none")
    func otherCountry() async throws {
        try await DeviceLogin.with { server, phone in
            for (address, isAbroad) in [(Self.graz, false), (Self.lisbon, true), (Self.unknown, false)] {
                let login = try await DeviceLogin(server, from: address)
                let claimed = await login.scan(phone)
                #expect(claimed.bool("other_country") == isAbroad, "\(address): \(claimed.text)")
                #expect(await login.row().bool("other_country") == nil)
                _ = await login.act("stop", nil, phone)
            }
        }
    }

    @Test(
        "R6: a server can refuse devices that are not near the phone, which go on waiting",
        arguments: [
            (ProximityRule.off, [graz, lisbon, unknown]), (.country, [graz]), (.network, ["192.0.2.1"]),
        ])
    func near(_ same: ProximityRule, allowed: [String]) async throws {
        try await DeviceLogin.with { first, phone in
            let server = try await first.anotherNode(remoteLogins: EndpointsFixture.remoteLogins(same))
            for address in ["192.0.2.1", Self.graz, Self.lisbon, Self.unknown] {
                let isNear = allowed.contains(address) || address == "192.0.2.1"
                let login = try await DeviceLogin(server, from: address)
                let claimed = await login.scan(phone)
                #expect(claimed.status == (isNear ? 200 : 403), "\(same) \(address): \(claimed.text)")
                #expect(isNear || claimed.string("code") == "elsewhere")
                #expect(await login.look().string("event") == (isNear ? "number" : "waiting"))
                _ = await login.act("stop", nil, phone)
            }
            let events = await server.admin(.get, "/admin/v1/events?limit=200").items
            let refused = events.count { $0.string("event") == "login_refused" && $0.string("reason") == "elsewhere" }
            #expect(refused == (same == .off ? 0 : 4 - Set(allowed + ["192.0.2.1"]).count))
        }
    }

    @Test("R6: addresses without a country are alike, and IPv6 addresses of one network are")
    func edges() async throws {
        try await DeviceLogin.with { server, _ in
            let login = try await DeviceLogin(server, from: "2001:db8:1:2::1")
            let row = try #require(
                try await server.endpoints.services.phoneLogins.login(typed: login.opened.string("user_code") ?? ""))
            let country = EndpointsFixture.remoteLogins(.country)
            #expect(country.allows(row, .scanned, from: "2001:db8:9::9") && country.allows(row, .scanned, from: nil))
            #expect(!country.allows(row, .scanned, from: "192.0.2.1"))
            let network = EndpointsFixture.remoteLogins(.network)
            #expect(network.allows(row, .scanned, from: "2001:db8:1:2:ffff::7"))
            #expect(
                !network.allows(row, .scanned, from: "2001:db8:1:3::1") && !network.allows(row, .scanned, from: nil))
            #expect(network.allows(row, .linked, from: "192.0.2.1"))
        }
    }

    @Test("R6: a typed code of another country has a second screen, and an approval before it counts for nothing")
    func secondScreen() async throws {
        try await DeviceLogin.with { server, _ in
            let pages = AccountPages(server)
            let login = try await DeviceLogin(server, from: Self.lisbon)
            let code: String = try #require(login.opened.string("user_code"))
            let typing = try await pages.open("/device?user_code=\(code)")
            let review = AccountPage(try await pages.send("/device", of: typing, ["user_code": code]))
            let first = AccountPage(
                try await pages.send(
                    "/device/decision", of: review, ["user_code": code, "decision": "approve"]))
            #expect(first.text.contains("another country") && first.text.contains("Lisbon, Portugal"))
            #expect(first.text.contains("Graz &lt;b&gt;, Austria") && !first.text.contains("Graz <b>"))
            #expect(await login.collect().string("error") == "authorization_pending")
            let done = try await pages.send(
                "/device/decision", of: first, ["user_code": code, "decision": "approve_abroad"])
            #expect(done.status == 200, "\(done.text)")
            #expect(await login.collect().status == 200)
        }
    }

    @Test("R6: a typed code of a device that is too far away lets no device in")
    func typedTooFar() async throws {
        try await DeviceLogin.with { first, _ in
            let server = try await first.anotherNode(remoteLogins: EndpointsFixture.remoteLogins(.country))
            let pages = AccountPages(server)
            let login = try await DeviceLogin(server, from: Self.lisbon)
            let code: String = try #require(login.opened.string("user_code"))
            let typing = try await pages.open("/device?user_code=\(code)")
            let review = AccountPage(try await pages.send("/device", of: typing, ["user_code": code]))
            let refused = try await pages.send(
                "/device/decision", of: review, ["user_code": code, "decision": "approve_abroad"])
            #expect(refused.status == 422 && refused.text.contains("too far away"), "\(refused.text)")
            #expect(await login.collect().string("error") == "authorization_pending")
        }
    }
}
