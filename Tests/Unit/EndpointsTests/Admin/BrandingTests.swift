import Cryptography
import HTTP
import Pages
import Sessions
import Testing

@testable import Endpoints

@Suite("Branding") struct BrandingTests {
    /// 16 x 16 pixels in PNG.
    static let picture =
        Base64URL.decode(
            "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mPgriolCTGMah"
                + "jVMHw1AAB_cvoBCUj9-AAAAABJRU5ErkJggg") ?? []

    static func put(
        _ picture: [UInt8], _ path: String, on server: EndpointsFixture, key: String? = nil
    ) async -> Answer {
        let fields: Fields = ["Authorization": "Bearer \(key ?? server.adminKey)", "Content-Type": "image/png"]
        return await server.send(Request(.put, path, fields: fields, body: picture), on: .admin)
    }

    @Test("a login page has the brand of its client, and for the rest that of the service")
    func loginPage() async throws {
        try await PageLoginFixture.with { login in
            let server = login.server
            #expect(try await !login.page(Browser(server)).answer.text.contains("/assets/accent/"))
            let service = await server.admin(
                .put, "/admin/v1/settings/branding",
                ##"{"accent":"#0b7a75","policy_uri":"https://example.com/privacy","support_email":"help@example.com"}"##
            )
            #expect(service.status == 200 && service.string("accent") == "#0b7a75", "\(service.text)")
            _ = await server.admin(
                .patch, "/admin/v1/clients/shop",
                ##"{"accent":"#d13a5a","tos_uri":"https://shop.example/terms","support_uri":"https://shop.example/help"}"##
            )
            let logo = await Self.put(Self.picture, "/admin/v1/clients/shop/logo", on: server)
            let path = try #require(logo.string("logo"))
            let text = try await login.page(Browser(server)).answer.text
            for part in [
                "/assets/accent/d13a5a.css", "<img src=\"\(path)\"", "<a href=\"https://example.com/privacy\"",
                "<a href=\"https://shop.example/terms\"", "<a href=\"https://shop.example/help\"",
                "<span>help@example.com</span>",
            ] { #expect(text.contains(part), "\(part)") }
            // Null gives a member back to the service.
            _ = await server.admin(.patch, "/admin/v1/clients/shop", #"{"accent":null}"#)
            #expect(try await login.page(Browser(server)).answer.text.contains("/assets/accent/0b7a75.css"))
            #expect(await server.admin(.delete, "/admin/v1/clients/shop/logo").status == 204)
            #expect(try await !login.page(Browser(server)).answer.text.contains("<img"))
        }
    }

    @Test("the account pages, and the login before them, have the brand of the service")
    func accountPages() async throws {
        try await EndpointsFixture.with { server in
            _ = await server.admin(.put, "/admin/v1/settings/branding", ##"{"accent":"#0b7a75"}"##)
            let path = try #require(await Self.put(Self.picture, "/admin/v1/logo", on: server).string("logo"))
            let account = AccountPages(server)
            for page in ["/account", "/account/security", "/account/activity"] {
                let text = try await account.open(page).text
                #expect(text.contains("<img src=\"\(path)\"") && text.contains("/assets/accent/0b7a75.css"), "\(page)")
            }
            let browser = Browser(server)
            let login = try #require(await browser.get("/account").field("Location"))
            #expect(await browser.get(login).text.contains("<img src=\"\(path)\""))
        }
    }

    @Test("a logo is served by its digest, as what it is, and for ever") func served() async throws {
        try await EndpointsFixture.with { server in
            let set = await Self.put(Self.picture, "/admin/v1/logo", on: server)
            let path = "/assets/logo/\(Hex.encode(sha256(Self.picture)))"
            #expect(set.status == 200 && set.string("logo") == path, "\(set.text)")
            for listener in [Caller.Listener.public, .admin] {
                let answer = await server.send(Request(.get, path), on: listener)
                #expect(answer.status == 200 && answer.response.body == Self.picture)
                #expect(answer.field("Content-Type") == "image/png")
                #expect(answer.field("Cache-Control") == "public, max-age=31536000, immutable")
                #expect(answer.field("X-Content-Type-Options") == "nosniff")
                #expect(answer.field("Content-Security-Policy") == "default-src 'none'; sandbox")
            }
            for other in ["x", path.uppercased(), String(repeating: "0", count: 64), "../settings"] {
                #expect(await server.send(Request(.get, "/assets/logo/\(other)")).status == 404, "\(other)")
            }
            #expect(await server.admin(.delete, "/admin/v1/logo").status == 204)
            #expect(await server.send(Request(.get, path)).status == 404)
        }
    }

    @Test("a picture is kept as long as the service or a client shows it") func kept() async throws {
        try await EndpointsFixture.with { server in
            _ = try await server.makeClient(#"{"client_id":"shop"}"#)
            let path = try #require(await Self.put(Self.picture, "/admin/v1/logo", on: server).string("logo"))
            _ = await Self.put(Self.picture, "/admin/v1/clients/shop/logo", on: server)
            _ = await server.admin(.delete, "/admin/v1/logo")
            #expect(await server.send(Request(.get, path)).status == 200)
            #expect(await server.admin(.delete, "/admin/v1/clients/shop").status == 204)
            #expect(await server.send(Request(.get, path)).status == 404)
        }
    }

    @Test("a picture that is no logo is refused with the reason, and changes nothing") func refused() async throws {
        try await EndpointsFixture.with { server in
            _ = await Self.put(Self.picture, "/admin/v1/logo", on: server)
            let before = await server.admin(.get, "/admin/v1/settings/branding").text
            for (picture, reason) in [
                ([], "is neither PNG nor WebP"), (Array("<svg onload='x'/>".utf8), "is neither PNG nor WebP"),
                (Self.picture + [0], "is damaged"), (Array(Self.picture.dropLast()), "is damaged"),
                ([UInt8](repeating: 0, count: 65_537), "has more than 65536 bytes"),
            ] {
                let answer = await Self.put(picture, "/admin/v1/logo", on: server)
                #expect(answer.status == 400 && answer.string("member") == "logo", "\(answer.text)")
                #expect(answer.string("detail")?.contains(reason) == true, "\(answer.text)")
            }
            #expect(await Self.put(Self.picture, "/admin/v1/clients/nobody/logo", on: server).status == 404)
            for body in [
                #"{"accent":"red"}"#, #"{"policy_uri":"javascript:alert(1)"}"#, #"{"support_email":"a b@c"}"#,
                #"{"logo":"x"}"#, #"{"accent":7}"#,
            ] {
                #expect(await server.admin(.put, "/admin/v1/settings/branding", body).status == 400, "\(body)")
                #expect(await server.admin(.patch, "/admin/v1/clients/mobile", body).status == 400, "\(body)")
            }
            #expect(await server.admin(.get, "/admin/v1/settings/branding").text == before)
        }
    }

    @Test("a change of the brand is in the audit trail with what it was") func audit() async throws {
        try await EndpointsFixture.with { server in
            _ = await server.admin(.put, "/admin/v1/settings/branding", ##"{"accent":"#0b7a75"}"##)
            _ = await server.admin(.put, "/admin/v1/settings/branding", ##"{"accent":"#0b7a75"}"##)
            _ = await Self.put(Self.picture, "/admin/v1/clients/mobile/logo", on: server)
            let events = await server.admin(.get, "/admin/v1/events").items
            let changes = events.filter { $0.string("event") == "settings_changed" }
            #expect(changes.count == 1)
            #expect(changes.first?.string("reason") == ##"{"accent":[null,"#0b7a75"]}"##)
            #expect(events.filter { $0.string("event") == "client_changed" }.count == 1)
        }
    }
}
