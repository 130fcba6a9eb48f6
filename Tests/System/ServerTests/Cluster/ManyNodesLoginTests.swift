import FoundationEssentials
import HTTP
import JSON
import PostgresFixture
import Server
import Sockets
import Testing

@testable import sojourn

/// One login on the server's page that several nodes serve, behind a real nginx that sends each request to the next one.
@Suite("Many nodes: logins on the page", .timeLimit(.minutes(5)))
struct ManyNodesLoginTests {
    private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    private static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    private static let callback = "https://shop.example/cb"
    private static let password = "correct horse battery"

    /// A browser, and the node of its last answer.
    private final class Browser {
        let proxy: SocketAddress
        private(set) var node: String?
        private var cookies: [String: String] = [:]

        init(_ proxy: SocketAddress) { self.proxy = proxy }

        func get(_ target: String) throws -> Response { try send(.get, target, nil) }

        func post(_ target: String, _ form: [String: String]) throws -> Response { try send(.post, target, form) }

        private func send(_ method: HTTP.Method, _ target: String, _ form: [String: String]?) throws -> Response {
            var fields: Fields = ["Host": "login.example"]
            if form != nil {
                fields.append("Content-Type", "application/x-www-form-urlencoded")
                fields.append("Sec-Fetch-Site", "same-origin")
            }
            if !cookies.isEmpty {
                fields.append("Cookie", cookies.map { "\($0)=\($1)" }.sorted().joined(separator: "; "))
            }
            let path = target.hasPrefix("https://login.example") ? String(target.dropFirst(21)) : target
            let body = (form ?? [:]).map { "\($0)=\(PercentEncoding.encode($1))" }.sorted().joined(separator: "&")
            let answer = try HTTPExchange.send(
                Request(method, path, fields: fields, body: Array(body.utf8)), to: proxy)
            node = answer.fields.first("X-Node")
            for line in answer.fields.values("Set-Cookie") {
                let pair = line.prefix { $0 != ";" }.split(
                    separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                cookies[String(pair[0])] = line.contains("Max-Age=0") ? nil : String(pair[1])
            }
            return answer
        }
    }

    private static func hidden(_ name: String, in page: Response) throws -> String {
        let text = String(decoding: page.body, as: UTF8.self)
        let start = try #require(text.firstRange(of: "name=\"\(name)\" value=\""), "\(text)")
        return String(text[start.upperBound...].prefix { $0 != "\"" })
    }

    /// The parameters of a redirect.
    private static func query(_ answer: Response) throws -> [String: String] {
        #expect(answer.status.code == 303, "\(String(decoding: answer.body, as: UTF8.self))")
        let location = try #require(answer.fields.first("Location"))
        let pairs = try FormDecoder.decode(Array(location.drop { $0 != "?" }.dropFirst().utf8))
        return Dictionary(pairs.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
    }

    private static func authorize(_ more: String = "") -> String {
        "/oauth/authorize?response_type=code&client_id=shop&state=s&scope=openid&code_challenge_method=S256"
            + "&code_challenge=\(challenge)&redirect_uri=\(PercentEncoding.encode(callback))\(more)"
    }

    /// Makes the user anna at one node, and the client at another.
    private static func prepare(_ nodes: [CrashServer]) throws {
        let user = JSONValue.object(["username": .string("anna"), "password": .string(password)])
        #expect(nodes[0].admin(.post, "/users", user)?.status == 201)
        let client = JSONValue.object([
            "client_id": .string("shop"),
            "grant_types": .array([.string("authorization_code"), .string("refresh_token")]),
            "scope": .string("openid"), "redirect_uris": .array([.string(callback)]),
            "browser_session": .string("client"),
        ])
        #expect(nodes[1].admin(.post, "/clients", client)?.status == 201)
    }

    /// Logs in on the page, with a part for each of the three nodes. Returns the code.
    private static func logIn(_ browser: Browser, _ nodes: [CrashServer]) throws -> String {
        let asked = try browser.get(authorize())
        let login = try #require(
            asked.fields.first("Location"), "\(asked.status): \(String(decoding: asked.body, as: UTF8.self))")
        let first = try #require(browser.node)
        let page = try browser.get(login)
        let second = try #require(browser.node)
        let form = try [
            "r": hidden("r", in: page), "csrf": hidden("csrf", in: page), "username": "anna", "password": password,
        ]
        let answer = try browser.post("/login/password", form)
        let third = try #require(browser.node)
        #expect(Set([first, second, third]) == Set(nodes.map(\.publicAddress)), "each has a part")
        return try #require(try query(answer)["code"])
    }

    @Test("a login begins at one node, takes the password at another, and its code at a third; all see its logout")
    func oneLogin() async throws {
        let folder = StartingFolder()
        let cluster = try await ManyNodes(
            3, on: PostgresServer.shared.newDatabase(), environment: ["SOJOURN_SERVER_TRUSTED_PROXIES": "127.0.0.1"])
        let nodes = cluster.nodes
        try Self.prepare(nodes)
        let servers = nodes.map { "server \($0.publicAddress);" }.joined(separator: " ")
        try Nginx.run(
            """
            upstream sojourn { \(servers) }
            server {
                listen unix:\(folder.file("proxy.sock"));
                location / {
                    proxy_pass http://sojourn;
                    proxy_set_header Host $host;
                    proxy_set_header X-Forwarded-Proto https;
                    add_header X-Node $upstream_addr always;
                }
            }
            """, folder
        ) { proxy in
            let browser = Browser(proxy)
            let code = try Self.logIn(browser, nodes)
            let lastNode = browser.node
            let app = Browser(proxy)
            let form = [
                "grant_type": "authorization_code", "code": code, "client_id": "shop", "redirect_uri": Self.callback,
                "code_verifier": Self.verifier,
            ]
            let tokens = try app.post("/oauth/token", form)
            #expect(tokens.status.code == 200 && app.node != lastNode)
            let json = try #require(JSONValue(text: tokens.body))
            let access = try #require(json["access_token"]?.string)
            // The browser's session answers at every node, and the code is used up at every node.
            var served: Set<String?> = []
            for _ in nodes {
                #expect(try Self.query(browser.get(Self.authorize("&prompt=none")))["code"] != nil)
                served.insert(browser.node)
            }
            #expect(served.count == nodes.count)
            // The app logs out at one node. At every other the token is refused, and the browser has to log in.
            #expect(nodes[0].call(.post, "/v1/logout", bearer: access)?.status == 204)
            for node in nodes { #expect(node.call(.get, "/v1/me", bearer: access)?.status == 401) }
            served = []
            for _ in nodes {
                #expect(try Self.query(browser.get(Self.authorize("&prompt=none")))["error"] == "login_required")
                served.insert(browser.node)
                #expect(try app.post("/oauth/token", form).status.code == 400)
            }
        }
        for node in nodes { #expect(await node.stop() == "") }
    }
}
