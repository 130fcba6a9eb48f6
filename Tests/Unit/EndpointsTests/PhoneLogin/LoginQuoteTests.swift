import FoundationEssentials
import HTTP
import Testing

@testable import Endpoints

/// What a client says to the user on the phone. A public client proves nothing, so that any stranger can have written it.
struct LoginQuoteTests {
    private static func encoded(_ text: String) -> String {
        text.utf8.map { "%" + (String($0, radix: 16).count == 1 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func info(_ text: String) -> String {
        let data = (try? JSONEncoder().encode(["text": text])) ?? Data()
        return encoded(String(decoding: data, as: UTF8.self))
    }

    @Test(
        "the words of a public client are one line of plain text, and nothing else",
        arguments: [
            "1", "[]", "\"TV\"", "{}", #"{"text":1}"#, #"{"text":""}"#, #"{"text":"TV","url":"https://x.example"}"#,
            #"{"what":"TV"}"#, #"{"text":{"text":"TV"}}"#, #"{"text":"TV"}x"#,
        ])
    func form(_ json: String) async throws {
        try await DeviceLogin.with { server, _ in
            for name in ["announce_info", "session_info"] {
                let answer = await server.form(
                    "/oauth/device_authorization", "client_id=tv&\(name)=\(Self.encoded(json))")
                #expect(answer.status == 400 && answer.string("error") == "invalid_request", "\(name)")
            }
        }
    }

    @Test(
        "they have no control, no line break, no mark that turns the direction of writing, and 200 characters at most",
        arguments: [
            "a\nb", "a\rb", "a\u{0}b", "a\u{7F}b", "a\u{85}b", "a\u{2028}b", "a\u{2029}b", "a\tb", "a\u{202E}b",
            "a\u{202A}b", "a\u{2066}b", "a\u{2069}b", "a\u{200E}b", "a\u{200F}b", "a\u{61C}b", "a\u{200B}b",
            "a\u{FEFF}b",
            "a\u{AD}b", "a\u{E0041}b", "a\u{E000}b", "a\u{FFFE}b", String(repeating: "a", count: 201),
            // One character for the eye, and many for the memory.
            "a" + String(repeating: "\u{301}", count: 200),
            // Nothing for the eye.
            "  ", "\u{200D}\u{200C}", "\u{3164}", "a\u{3164}b", "\u{301}",
        ])
    func characters(_ text: String) async throws {
        try await DeviceLogin.with { server, _ in
            for name in ["announce_info", "session_info"] {
                let answer = await server.form(
                    "/oauth/device_authorization", "client_id=tv&\(name)=\(Self.info(text))")
                #expect(answer.status == 400, "\(name)")
            }
        }
    }

    @Test(
        "every script is plain text",
        arguments: [
            "Living room", "Wohnzimmer \u{201C}oben\u{201D}", "\u{5BA2}\u{5385}",
            "\u{645}\u{6CC}\u{200C}\u{62E}\u{648}\u{627}\u{647}\u{645}", String(repeating: "\u{1F4FA}", count: 200),
            "\u{1F469}\u{200D}\u{1F680}", "<b>\"'&",
        ])
    func plain(_ text: String) async throws {
        try await DeviceLogin.with { server, phone in
            let login = try await DeviceLogin(server, "&announce_info=\(Self.info(text))")
            let claimed = await login.scan(phone)
            #expect(claimed.string("announce_quote") == text && claimed.value(["announce_info"]) == nil)
            #expect(await login.row().string("announce_quote") == text)
        }
    }

    @Test("a confidential client says what it wants, as an object that is marked as its own") func confidential()
        async throws
    {
        try await EndpointsFixture.with { server in
            let secret = try await server.makeClient(
                #"{"client_id":"box","client_name":"Box","grant_types":["\#(DeviceLogin.grant)"],"token_endpoint_auth_method":"client_secret_basic"}"#
            )
            let phone = try await server.logIn()
            let opened = await server.form(
                "/oauth/device_authorization", "announce_info=\(Self.encoded(#"{"lines":["a\nb"]}"#))",
                basic: "box:" + (try #require(secret)))
            #expect(opened.status == 200, "\(opened.text)")
            let id = try #require(opened.string("login_id"))
            let seen = await server.call(.get, "/v1/logins/\(id)", bearer: opened.string("device_code"))
            let claimed = await server.call(
                .post, "/v1/me/logins", #"{"code":"\#(seen.string("qr") ?? "")","source":"qr"}"#, bearer: phone.access)
            #expect(claimed.strings("announce_info", "lines") == ["a\nb"], "\(claimed.text)")
            #expect(claimed.value(["announce_quote"]) == nil)
        }
    }
}
