import Dispatch
import FoundationEssentials
import Glibc
import HTTP
import JSON
import PostgresFixture
import Repository
import Server
import Sockets
import TLSFixture
import Testing

@testable import sojourn

/// The snippets that the manual quotes, run as they stand in their files.
@Suite("Snippets of the manual", .timeLimit(.minutes(5)))
struct RecipeTests {
    /// The text of a file in `Snippets`.
    private static func snippet(_ name: String) throws -> String {
        let path = Repository.path("Tests/System/ServerTests/Snippets/\(name)")
        return String(decoding: try #require(FileManager.default.contents(atPath: path), "\(name)"), as: UTF8.self)
    }

    /// The snippet `name` with other addresses, each of which it must name.
    private static func snippet(_ name: String, _ addresses: [(old: String, new: String)]) throws -> String {
        var text = try snippet(name)
        for (old, new) in addresses {
            #expect(text.contains(old), "\(name): \(old)")
            text = text.replacing(old, with: new)
        }
        return text
    }

    /// Runs nginx with the snippet for forward authentication in front of an API that answers with what it receives, and gives
    /// `body` the address of nginx.
    private static func withNginx(
        _ server: CrashServer, _ folder: StartingFolder, _ body: (SocketAddress) throws -> Void
    ) throws {
        let locations = try snippet(
            "nginx-auth-request.conf",
            [
                ("http://127.0.0.1:8080", "http://\(server.publicAddress)"),
                ("http://127.0.0.1:9000", "http://unix:\(folder.file("api.sock"))"),
            ])
        try Nginx.run(
            """
            server { listen unix:\(folder.file("proxy.sock")); \(locations) }
            server {
                listen unix:\(folder.file("api.sock"));
                return 200 "api for $http_x_user_id [$http_authorization]";
            }
            """, folder, body)
    }

    @Test("nginx asks before each request, and refuses tokens of a session that is over")
    func forwardAuthentication() async throws {
        let folder = StartingFolder()
        let server = try await CrashServer(folder)
        let stay = try makeStay("phone", at: server)
        try Self.withNginx(server, folder) { proxy in
            func ask(_ token: String?) throws -> Response {
                let fields: Fields = token.map { ["Authorization": "Bearer \($0)"] } ?? Fields()
                return try HTTPExchange.send(Request(.get, "/api/thing", fields: fields, body: []), to: proxy)
            }
            let answer = try ask(stay.access)
            #expect(answer.status.code == 200)
            let user = server.admin(.get, "/users/username:anna")?.json["user_id"]?.string ?? "?"
            #expect(String(decoding: answer.body, as: UTF8.self) == "api for \(user) []")
            #expect(try ask(nil).status.code == 401)
            #expect(try ask("junk").status.code == 401)
            // Each challenge once, as the server says it; nginx before 1.23 hands on the first alone.
            for refused in [try ask(nil), try ask("junk")] {
                let challenges = refused.fields.values("WWW-Authenticate")
                #expect(challenges.first?.hasPrefix("Bearer ") == true, "\(challenges)")
                #expect(challenges.dropFirst().allSatisfy { $0.hasPrefix("DPoP ") }, "\(challenges)")
                #expect(challenges.count < 3, "\(challenges)")
            }
            for method in ["PROPFIND", "REPORT", "LOCK"] {
                let fields: Fields = ["Authorization": "Bearer \(stay.access)"]
                let request = Request(Method(rawValue: method), "/api/thing", fields: fields, body: [])
                #expect(try HTTPExchange.send(request, to: proxy).status.code == 200, "\(method)")
            }
            #expect(server.admin(.delete, "/sessions/\(stay.sessionID)")?.status == 204)
            let refusal = try ask(stay.access)
            #expect(refusal.status.code == 401)
            #expect(refusal.fields.first("WWW-Authenticate")?.hasPrefix("Bearer") == true)
        }
        await server.kill()
    }

    @Test("behind nginx a proof is good only for the request that it was made for, whatever fields the request has")
    func forwardedProofs() async throws {
        let folder = StartingFolder()
        let server = try await CrashServer(
            folder, environment: ["SOJOURN_SERVER_TRUSTED_PROXIES": "127.0.0.1", "SOJOURN_DPOP_NONCE": "required"])
        let key = PhoneKey()
        let token = try makeStay("phone", at: server, boundTo: key).access
        try Self.withNginx(server, folder) { proxy in
            var nonce: String?
            func ask(
                _ method: HTTP.Method = .get, _ target: String = "/api/thing?page=2", proof: (HTTP.Method, String),
                _ fields: Fields = Fields()
            ) throws -> Response {
                var fields = fields
                fields.append("Authorization", "DPoP \(token)")
                fields.append("DPoP", key.proof(proof.0, proof.1, token: token, nonce: nonce))
                let answer = try HTTPExchange.send(Request(method, target, fields: fields, body: []), to: proxy)
                nonce = answer.fields.first("DPoP-Nonce") ?? nonce
                return answer
            }
            let honest = (HTTP.Method.get, "http://api.example/api/thing")
            let first = try ask(proof: honest)
            #expect(first.status.code == 401)
            #expect(
                first.fields.values("WWW-Authenticate").contains {
                    $0.hasPrefix("DPoP") && $0.contains(#"error="use_dpop_nonce""#)
                }, "\(first.fields)")
            try #require(nonce != nil, "what the proof must hold is passed on")
            let answer = try ask(proof: honest)
            #expect(answer.status.code == 200)
            #expect(answer.fields.first("DPoP-Nonce") != nil)
            #expect(String(decoding: answer.body, as: UTF8.self).hasSuffix("[]"))
            // Made for another request, which the thief names.
            let stolen = (HTTP.Method.post, "https://other.example/orders")
            let forged: [Fields] = [
                [:],
                [
                    "X-Forwarded-Method": "POST", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "other.example",
                    "X-Forwarded-Uri": "/orders",
                ],
                ["X-Forwarded-Host": "other.example", "X-Forwarded-Uri": "/orders"],
                ["Forwarded": "for=127.0.0.1;host=other.example;proto=https", "X-Original-URL": "/orders"],
            ]
            for fields in forged {
                #expect(try ask(.delete, "/api/transfer", proof: stolen, fields).status.code == 401)
                #expect(try ask(.post, "/orders", proof: stolen, fields).status.code == 404, "outside of the API")
                #expect(try ask(.delete, "/api/transfer", proof: honest, fields).status.code == 401)
                // What is made up beside an honest request does no harm.
                #expect(try ask(proof: honest, fields).status.code == 200)
            }
            for scheme in ["Bearer", "bearer"] {
                let fields: Fields = ["Authorization": "\(scheme) \(token)"]
                let request = Request(.get, "/api/thing", fields: fields, body: [])
                #expect(try HTTPExchange.send(request, to: proxy).status.code == 401)
            }
        }
        await server.kill()
    }

    @Test("nginx in front passes requests on, with the scheme and the client that it has seen itself")
    func proxy() async throws {
        let folder = StartingFolder()
        let server = try await CrashServer(folder, environment: ["SOJOURN_SERVER_TRUSTED_PROXIES": "127.0.0.1"])
        let whole = try Self.snippet(
            "nginx-proxy.conf", [("server unix:/run/sojourn/public.sock;", "server \(server.publicAddress);")])
        let location = try #require(whole.firstRange(of: "proxy_http_version "))
        let lines =
            whole[..<location.lowerBound]
            + "server { listen unix:\(folder.file("proxy.sock")); \(whole[location.lowerBound...]) }"
        try Nginx.run(String(lines), folder) { proxy in
            // Two, because the second one comes over the connection that nginx has kept.
            for _ in 1...2 {
                let fields: Fields = ["X-Forwarded-Proto": "https"]
                let request = Request(.get, "/oauth/jwks", fields: fields, body: [])
                let answer = try HTTPExchange.send(request, to: proxy)
                #expect(answer.status.code == 200)
                #expect(!answer.fields.contains("Strict-Transport-Security"), "the client's word about the scheme")
            }
        }
        await server.kill()
    }

    /// What the verifier sees of sessions, settings, clients and users that end.
    private static let verifierLife = """

        import subprocess, sys, urllib.parse
        one, far, far_admin, key, thumbprint, program, database, root_key, folder = sys.argv[1:]
        admin_url, admin_key = f"http://{one}/admin/v1", "\(CrashServer.adminKey)"
        def admin(method, path, body=None):
            request = urllib.request.Request(
                admin_url + path, json.dumps(body).encode() if body is not None else None, method=method,
                headers={"Authorization": "Bearer " + admin_key, "Content-Type": "application/json"})
            answer = urllib.request.urlopen(request).read()
            return json.loads(answer) if answer else None
        user = "/users/username:anna"
        def login(device): return admin("POST", user + "/sessions", {"device": {"id": device}})
        bound = admin("POST", user + "/sessions", {"device": {"id": "bound"}, "dpop_jkt": thumbprint})
        def state(token):
            try: return verifier.verify(token).get("sid")
            except jwt.InvalidTokenError as error: return str(error)
        def wait(token, wanted):
            end = time.time() + 20
            while state(token) != wanted:
                if time.time() > end: sys.exit(f"{state(token)} is not {wanted}")
                time.sleep(0.005)
            print(wanted)

        early = login("early")
        admin("DELETE", "/sessions/" + early["session_id"])
        verifier = Verifier("https://login.example", "https://login.example",
            f"http://{far}/oauth/jwks", f"http://{far_admin}/admin/v1/revocations", key)
        wait(early["access_token"], "session_ended")
        phone, tablet = login("phone"), login("tablet")
        wait(phone["access_token"], phone["session_id"])
        wait(bound["access_token"], "no bearer token")
        admin("DELETE", "/sessions/" + phone["session_id"])
        wait(phone["access_token"], "session_ended")
        wait(tablet["access_token"], tablet["session_id"])
        admin("POST", user + "/disable", {"effective": "immediate"})
        wait(tablet["access_token"], "user_blocked")
        admin("POST", user + "/enable")
        wait(tablet["access_token"], tablet["session_id"])
        def login_after(type, device):
            at = max(item["at"] for item in verifier.cuts if item["type"] == type)
            while True:
                late = login(device)
                if late["issued_at"] > at: return late
        admin("PATCH", user, {"offline_session_max": 86400})
        wait(tablet["access_token"], "lifetimes_shortened")
        desk = login_after("lifetimes_shortened", "desk")
        wait(desk["access_token"], desk["session_id"])
        admin("POST", user + "/disable", {"effective": "immediate"})
        wait(desk["access_token"], "user_blocked")
        admin("PATCH", user, {"offline_session_max": 80000})
        admin("POST", user + "/enable")
        wait(desk["access_token"], "lifetimes_shortened")
        wait(tablet["access_token"], "lifetimes_shortened")
        watch = login_after("lifetimes_shortened", "watch")
        wait(watch["access_token"], watch["session_id"])
        admin("PATCH", "/clients/mobile", {"offline_session_idle": 86400})
        wait(watch["access_token"], "lifetimes_shortened")
        watch = login_after("lifetimes_shortened", "watch")
        wait(watch["access_token"], watch["session_id"])
        admin("PUT", "/settings/sessions", {"offline_session_max": 70000})
        wait(watch["access_token"], "lifetimes_shortened")
        watch = login_after("lifetimes_shortened", "watch")
        wait(watch["access_token"], watch["session_id"])
        backend = admin("POST", "/clients", {"client_id": "backend", "scope": "read",
            "token_endpoint_auth_method": "client_secret_post", "grant_types": ["client_credentials"]})
        form = {"grant_type": "client_credentials", "client_id": "backend", "client_secret": backend["client_secret"]}
        def post(path, form):
            answer = urllib.request.urlopen(f"http://{far}/oauth/{path}", urllib.parse.urlencode(form).encode())
            return answer.read()
        def get_own(): return json.loads(post("token", form))["access_token"]
        own, other = get_own(), get_own()
        assert "sid" not in verifier.verify(own)
        post("revoke", {**form, "token": own})
        wait(own, "client_token_revoked")
        assert "sid" not in verifier.verify(other)
        form["client_secret"] = admin("PATCH", "/clients/backend", {"rotate_secret": True})["client_secret"]
        wait(other, "client_tokens_ended")
        own = get_own()
        assert "sid" not in verifier.verify(own), "what the new secret gave in the same second is good"
        admin("POST", "/revoke-all")
        wait(watch["access_token"], "all_sessions_ended")
        wait(own, "client_tokens_ended")
        own = get_own()
        assert "sid" not in verifier.verify(own)
        late = login_after("all_sessions_ended", "late")
        wait(late["access_token"], late["session_id"])
        admin("DELETE", "/clients/backend")
        wait(own, "client_deleted")
        sub = admin("GET", user)["user_id"]
        admin("DELETE", user)
        wait(late["access_token"], "session_ended")
        while verifier.over[sub]["type"] != "user_deleted": time.sleep(0.005)
        line = json.dumps({"type": "user", "user_id": sub, "username": "anna"}) + "\\n"
        subprocess.run([program, "import", "-", "--replace", "--database", database], input=line,
            text=True, check=True, stdout=subprocess.DEVNULL, cwd=folder, env={"SOJOURN_ROOT_KEY": root_key})
        while True:
            back = login("back")
            if back["issued_at"] > verifier.over[sub]["at"]: break
        wait(back["access_token"], back["session_id"])
        late = back
        admin("DELETE", "/clients/mobile")
        wait(late["access_token"], "client_deleted")
        wait(early["access_token"], "session_ended")
        print("done")
        """

    @Test("the verifier in Python refuses tokens that the feed of another node has revoked")
    func verifier() async throws {
        let folder = StartingFolder()
        let nodes = try await ManyNodes(2, on: PostgresServer.shared.newDatabase())
        let (one, other) = (nodes.nodes[0], nodes.nodes[1])
        #expect(one.admin(.post, "/users", .object(["username": .string("anna")]))?.status == 201)
        let made = one.admin(.post, "/admin-keys", .object(["name": .string("api"), "scope": .string("feed")]))
        let key = try #require(made?.json["admin_key"]?.string)
        let verifier = try Self.snippet("verifier.py")
        #expect(verifier.split(separator: "\n").count <= 34, "lines of the verifier")
        let python = Repository.root.appending(path: ".build/peers/bin/python").path
        let result = try await Tool.run([
            python, "-c", verifier + Self.verifierLife, one.adminAddress, other.publicAddress, other.adminAddress, key,
            PhoneKey().thumbprint, CommandLineProgram.path, nodes.database, nodes.rootKey, folder.path,
        ])
        #expect(result.text.hasSuffix("done\n"), "\(result.text)")
        #expect(result.status == 0)
        for node in nodes.nodes { await node.kill() }
    }

    private func makeStay(
        _ device: String, at server: CrashServer, boundTo key: PhoneKey? = nil
    ) throws -> ManyNodes.Stay {
        #expect(server.admin(.post, "/users", .object(["username": .string("anna")]))?.status == 201)
        var body = ["device": JSONValue.object(["id": .string(device)])]
        if let key { body["dpop_jkt"] = .string(key.thumbprint) }
        return try ManyNodes.Stay(server.admin(.post, "/users/username:anna/sessions", .object(body)))
    }
}
