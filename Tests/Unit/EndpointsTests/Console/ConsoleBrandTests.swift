import HTTP
import Sessions
import Testing

@testable import Endpoints

/// The brand of the service and of a client in the console.
@Suite("Brands in the console") struct ConsoleBrandTests {
    /// A form with a picture, as a browser sends it.
    private static func multipart(_ fields: [String: String], _ picture: [UInt8]) -> [UInt8] {
        let boundary = "----WebKitFormBoundary7MA4"
        let texts = fields.sorted { $0.key < $1.key }.map { name, value in
            "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n"
        }
        let head =
            "--\(boundary)\r\nContent-Disposition: form-data; name=\"picture\"; filename=\"a;b.png\"\r\n"
            + "Content-Type: image/png\r\n\r\n"
        return Array((texts.joined() + head).utf8) + picture + Array("\r\n--\(boundary)--\r\n".utf8)
    }

    @Test("a logo is chosen on the page of a client, shown there, and removed") func logo() async throws {
        try await ConsoleBrowser.with { browser, server in
            let path = "/console/clients/mobile"
            let page = await browser.get(path)
            #expect(page.text.contains("enctype=\"multipart/form-data\"") && page.text.contains("type=\"file\""))
            let token = try #require(page.csrf(path))
            let set = await browser.send(
                Self.multipart(["csrf": token, "act": "logo"], BrandingTests.picture), to: path,
                type: "multipart/form-data; boundary=----WebKitFormBoundary7MA4")
            #expect(set.status == 303, "\(set.text)")
            let shown = await browser.get(try #require(set.field("Location")))
            let client = try #require(try await server.store.client("mobile"))
            let digest = try #require(client.branding.logo)
            #expect(
                shown.text.contains(
                    "<image x=\"20\" y=\"20\" width=\"40\" height=\"40\" href=\"/assets/logo/\(digest)\""))
            let gone = try await browser.act(shown, path, ["act": "remove-logo"])
            #expect(gone.status == 303)
            #expect(try await server.store.client("mobile")?.branding.logo == nil)
        }
    }

    @Test("a picture that is none is refused on the page with the reason") func refused() async throws {
        try await ConsoleBrowser.with { browser, server in
            let path = "/console/settings"
            let token = try #require(await browser.get(path).csrf(path))
            for (picture, reason) in [([], "neither PNG nor WebP"), (Array("<svg/>".utf8), "neither PNG nor WebP")] {
                let answer = await browser.send(
                    Self.multipart(["csrf": token, "act": "logo"], picture), to: path,
                    type: "multipart/form-data; boundary=----WebKitFormBoundary7MA4")
                #expect(answer.status == 422 && answer.words.contains(reason), "\(answer.words)")
            }
            #expect(try await server.store.settings().branding == Branding())
        }
    }

    @Test("a field that was left as it was does not undo what another admin has stored since") func late() async throws
    {
        try await ConsoleBrowser.with { browser, server in
            let path = "/console/settings"
            let page = await browser.get(path)
            _ = await server.admin(.put, "/admin/v1/settings/branding", #"{"tos_uri":"https://example.com/terms"}"#)
            let form = try #require(page.acts.first { $0.fields["act"] == "brand" }).fields
            let done = try await browser.act(page, path, form.merging(["accent": "#0b7a75"]) { $1 })
            #expect(done.status == 303, "\(done.words)")
            #expect(
                try await server.store.settings().branding
                    == Branding(accent: "#0b7a75", termsURL: "https://example.com/terms"))
            let bad = try await browser.act(
                await browser.get(path), path, form.merging(["accent": "red"]) { $1 })
            #expect(bad.status == 422 && bad.words.contains("accent must be a color like #0a5fd1"), "\(bad.words)")
        }
    }
}
