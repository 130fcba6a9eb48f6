import FoundationEssentials
import HTTP
import JSON
import Repository
import Server
import Sockets
import Testing

@testable import Endpoints

/// Proxies between an app in the browser and this server, by the snippets of the manual.
@Suite("Proxies of apps in the browser", .timeLimit(.minutes(1)))
struct BrowserProxyTests {
    private static func snippet(_ name: String) throws -> String {
        let path = Repository.path("Tests/System/ServerTests/Snippets/\(name)")
        return String(decoding: try #require(FileManager.default.contents(atPath: path), "\(name)"), as: UTF8.self)
    }

    private static let origin = "https://shop.example"

    /// A request of a page of the app, through nginx.
    private static func ask(
        _ method: HTTP.Method, _ path: String, _ fields: Fields = Fields(), _ form: String = "", host: String,
        through proxy: SocketAddress
    ) throws -> Response {
        var fields = fields
        fields.append("Host", host)
        fields.append("Origin", origin)
        if !form.isEmpty { fields.append("Content-Type", "application/x-www-form-urlencoded") }
        return try HTTPExchange.send(Request(method, path, fields: fields, body: Array(form.utf8)), to: proxy)
    }

    @Test("nginx with one site and two hosts passes the fields of CORS on, each once")
    func twoHosts() async throws {
        let folder = StartingFolder()
        let server = try await CrashServer(folder)
        let made = server.admin(
            .post, "/clients",
            .object([
                "client_id": .string("shop-web"), "grant_types": .array([.string("refresh_token"), .string("login")]),
                "allowed_origins": .array([.string(Self.origin)]),
            ]))
        #expect(made?.status == 201, "\(String(describing: made))")
        folder.write("index.html", "the app")
        let socket = folder.file("proxy.sock")
        let lines = try Self.snippet("nginx-two-hosts.conf")
            .replacing("listen 443 ssl", with: "listen unix:\(socket)")
            .replacing("root /srv/shop", with: "root \(folder.file(""))")
        try Nginx.run("upstream sojourn { server \(server.publicAddress); } \(lines)", folder) { proxy in
            let page = try Self.ask(.get, "/orders/7", host: "shop.example", through: proxy)
            #expect(page.status.code == 200 && String(decoding: page.body, as: UTF8.self) == "the app")
            #expect(page.fields.values("Content-Security-Policy").count == 1)
            let login = "login.shop.example"
            let preflight = try Self.ask(
                .options, "/oauth/token",
                ["Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "dpop"], host: login,
                through: proxy)
            #expect(preflight.status.code == 204)
            let refused = try Self.ask(
                .post, "/oauth/token", Fields(), "grant_type=refresh_token&refresh_token=x&client_id=shop-web",
                host: login, through: proxy)
            #expect(refused.status.code == 400, "\(String(decoding: refused.body, as: UTF8.self))")
            for answer in [preflight, refused] {
                #expect(answer.fields.values("Access-Control-Allow-Origin") == [Self.origin])
                #expect(answer.fields.values("Access-Control-Allow-Credentials").isEmpty)
            }
            #expect(refused.fields.values("Access-Control-Expose-Headers").count == 1)
        }
        await server.kill()
    }

    @Test("Vite's proxy hands every path of the public listener on, and none of the app")
    func vite() throws {
        let text = try Self.snippet("vite.config.js")
        let pages = try #require(text.split(separator: "\"").dropFirst().first).split(separator: "|")
        #expect(text.contains(#"[`^/(v1|oauth|\\.well-known|${pages})([/?]|$)`]"#))
        let segments = Set(["v1", "oauth", ".well-known"] + pages.map(String.init))
        // The document of the calls and the probes are not for browsers, and the first page is the app's.
        let others: Set = ["", "openapi.json", "healthz", "readyz", "metrics", "ssf"]
        for route in Route.all where route.listeners != .admin {
            let first = String(route.pattern.split(separator: "/").first ?? "")
            #expect(segments.contains(first) || others.contains(first), "\(route.pattern)")
        }
        #expect(segments.isDisjoint(with: ["src", "@vite", "node_modules", "index.html"]))
    }
}
