import Foundation
import SojournClient
import SojournTestKit
import Testing

/// A login by a link with the SDK on the phone and an app without any library beside it, by the program itself.
@Suite("A phone that follows a link", .timeLimit(.minutes(5)))
struct DeepLinkPhoneTests {
    private static let password = "correct horse battery"
    private static let grant = "urn:ietf:params:oauth:grant-type:device_code"

    @Test("the SDK follows the link, leads back to the app that waits, and that app alone is let in")
    func wholeLogin() async throws {
        let server = try await LocalServer.start(LocalServer.Options())
        try await server.createUser("anna", password: Self.password)
        _ = try await server.admin(
            "POST", "clients",
            [
                "client_id": .string("shop"), "scope": .string("read"),
                "grant_types": .array([.string(Self.grant), .string("refresh_token")]),
                "redirect_uris": .array([.string("com.example.shop:/back")]),
            ])
        func send(_ path: String, _ form: String) async throws -> [String: JSONValue] {
            let message = HTTPMessage(
                method: "POST", url: server.url.appendingPathComponent(path),
                fields: [HTTPMessageField("Content-Type", "application/x-www-form-urlencoded")],
                body: Array("client_id=shop&\(form)".utf8))
            let answer = try await server.transport.send(message, within: .seconds(60))
            return try #require(JSONValue(parsing: answer.body)?.members)
        }
        let folder = try PhoneFolder()
        let app = Sojourn(
            SojournConfiguration(server: server.url), store: FileStore(directory: folder.url()),
            keys: SoftwareKeys(directory: folder.url()))
        _ = try await app.signIn(username: "anna", password: Self.password)
        #expect(try await send("oauth/device_authorization", "scope=read")["link"] == nil)
        let asked = try await send("oauth/device_authorization", "scope=read&redirect_uri=com.example.shop:/back")
        let code = try #require(asked.text("device_code"))
        let session = try await app.startSession(link: #require(asked.text("link").flatMap { URL(string: $0) }))
        for await status in session.statuses where status.input == .confirmation { break }
        #expect(session.details?.needsNumber == false)
        try await session.confirm()
        try await session.enterSecondFactor(password: Self.password)
        let form = "grant_type=\(Self.grant)&device_id=shop-1&device_code=\(code)"
        #expect(try await send("oauth/token", form).text("error") == "authorization_pending")
        let url = try #require(session.details?.returnURL)
        #expect(url.absoluteString.hasPrefix("com.example.shop:/back?login_id="))
        let items = URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems
        let token = try #require(items?.first { $0.name == "return_token" }?.value)
        let tokens = try await send("oauth/token", form + "&return_token=\(token)")
        #expect(tokens.text("session_id") == session.details?.id && tokens.text("access_token") != nil, "\(tokens)")
    }
}
