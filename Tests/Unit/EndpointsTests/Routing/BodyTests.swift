import FoundationEssentials
import HTTP
import JSON
import Testing

@testable import Endpoints

/// Bodies that are not as they must be. Each has the name of the member in its answer.
@Suite struct BodyTests {
    /// A call that takes JSON.
    private struct Call {
        let route: Route
        /// Members that it knows: those of the example of its schema, or the texts that it requires, or its first text.
        let members: [String: JSONValue]

        /// The members without the braces.
        var text: String { get throws { String(try Self.text(members).dropFirst().dropLast()) } }

        static func text(_ members: [String: JSONValue]) throws -> String {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(members), as: UTF8.self)
        }
    }

    /// Every call that takes JSON by its row.
    private static func calls() throws -> [Call] {
        let parts = try APIDocument.Parts()
        return Route.all.compactMap { route in
            guard let schema = parts.schema(ofJSON: route.operation) else { return nil }
            if let example = schema["examples"]?.elements.first?.members { return Call(route: route, members: example) }
            let texts = (schema["properties"]?.members ?? [:]).filter { $0.value.members["type"]?.string == "string" }
            let required = (schema["required"]?.elements ?? []).compactMap(\.string).filter { texts[$0] != nil }
            let names = required.isEmpty ? Array(texts.keys.sorted().prefix(1)) : required
            let values = names.map { ($0, texts[$0]?.members["enum"]?.elements.first ?? .string("x")) }
            return Call(route: route, members: Dictionary(uniqueKeysWithValues: values))
        }
    }

    /// Texts that the example of a call leaves out, though the call can change them.
    private static let more: [String: [String: JSONValue]] = [
        "PATCH /v1/me": ["email": .string("a@b")], "PATCH /admin/v1/users/{user}": ["email": .string("a@b")],
        "PATCH /admin/v1/clients/{client_id}": ["client_name": .string("x")],
    ]

    /// Calls that look at no text of their body here: they refuse first, for the token of an enrolment, for a test clock or a
    /// database file that is not there; a new stream gets its id from the server.
    private static let unread: Set = [
        "POST /v1/enrolments/{login_id}/second-factor", "POST /admin/v1/test/logins", "POST /admin/v1/backup",
        "POST /ssf/stream",
    ]

    @Test func areRefusedUnlessTheyAreOneObjectOfKnownMembers() async throws {
        try await EndpointsFixture.with { server in
            let credentials = try await server.routeCredentials()
            let calls = try Self.calls()
            #expect(calls.count > 60)
            for call in calls {
                let name = call.route.name
                let send = { await server.ask(call.route, $0, type: $1, credentials) }
                let json = "application/json"
                let members = try call.text
                let first = members.isEmpty ? "" : members + ","

                let unknown = await send("{\(first)\"zebra\":1}", json)
                #expect(unknown.status == 400, "\(name)")
                #expect(unknown.string("member") == "zebra", "\(name): \(unknown.text)")
                #expect(unknown.string("code") == "invalid_request")

                for type in [nil, "text/plain", "application/x-www-form-urlencoded", "application/jsonx"] {
                    let answer = await send("{\(members)}", type)
                    #expect(answer.status == 415, "\(name)")
                    #expect(answer.string("code") == "unsupported_media_type")
                }
                for body in [
                    "[]", "null", "7", #""x""#, "{", "{\(members)} {}", "{\(first)}", "\u{FEFF}{\(members)}", "{'a':1}",
                    "{/* */}",
                ] where body != "{}" {
                    let answer = await send(body, json)
                    #expect(answer.status == 400, "\(name) \(body)")
                    #expect(answer.string("code") == "invalid_request")
                }
                let deep = await send("{\(first)\"zebra\":" + String(repeating: "[", count: 5000) + "}", json)
                #expect(deep.status == 400)
                let twice = await send("{\(first)\"zebra\":1,\"zebra\":1}", json)
                #expect(twice.status == 400)
                #expect(twice.string("detail") == "A member of the JSON object appears twice.", "\(name)")
            }
        }
    }

    @Test func haveTheirMembersChecked() async throws {
        try await EndpointsFixture.with { server in
            let cases: [(Method, String, String, String)] = [
                (.post, "users", #"{"username":7}"#, "username"), (.post, "users", #"{"username":null}"#, "username"),
                (.post, "users", #"{"username":"a\u0007"}"#, "username"),
                (.post, "users", #"{"username":"b","password":"short"}"#, "password"),
                (.post, "users", #"{"username":"b","password":"long enough\u0000"}"#, "password"),
                (.post, "users", #"{"username":"b","offline_session_max":-1}"#, "offline_session_max"),
                (.post, "users", #"{"username":"b","offline_session_max":1.5}"#, "offline_session_max"),
                (.post, "users", #"{"username":"b","offline_session_max":"60"}"#, "offline_session_max"),
                (
                    .post, "users", #"{"username":"b","offline_session_max":99999999999999999999}"#,
                    "offline_session_max"
                ),
                (.post, "users", #"{"username":"b","offline_session_max":true}"#, "offline_session_max"),
                (.patch, "users/username:anna", #"{"username":null}"#, "username"),
                (.patch, "users/username:anna", #"{"username":""}"#, "username"),
                (.post, "users/username:anna/disable", #"{"effective":"soon"}"#, "effective"),
                (.post, "users/username:anna/disable", #"{"revoke_sessions":1}"#, "revoke_sessions"),
                (.post, "users/username:anna/disable", #"{"reason":""}"#, "reason"),
                (.post, "users/username:anna/sessions", #"{"device":"phone"}"#, "device"),
                (.post, "users/username:anna/sessions", #"{"device":{"name":"x"}}"#, "device.id"),
                (.post, "users/username:anna/sessions", #"{"client_id":"a b"}"#, "client_id"),
                (.put, "settings/sessions", #"{"offline_session_idle":null}"#, "offline_session_idle"),
                (.put, "settings/sessions", #"{"offline_session_max_limited":"no"}"#, "offline_session_max_limited"),
                (.put, "settings/sessions", #"{"offline_session_idle":0}"#, "offline_session_idle"),
                (.put, "settings/sessions", #"{"offline_session_idle":31536001}"#, "offline_session_idle"),
                (.put, "settings/sessions", #"{"refresh_after":1209600}"#, "refresh_after"),
                (.put, "settings/sessions", #"{"rotation_interval":604801}"#, "rotation_interval"),
                (.put, "settings/sessions", #"{"offline_session_max":31536001}"#, "offline_session_max"),
                (.post, "clients", #"{"client_id":"a b"}"#, "client_id"),
                (.post, "clients", #"{}"#, "client_id"),
                (.post, "clients", #"{"client_id":"c","grant_types":"password"}"#, "grant_types"),
                (.post, "clients", #"{"client_id":"c","grant_types":["implicit"]}"#, "grant_types"),
                (.post, "clients", #"{"client_id":"c","grant_types":["password","password"]}"#, "grant_types"),
                (.post, "clients", #"{"client_id":"c","token_style":"double"}"#, "token_style"),
                (.post, "clients", #"{"client_id":"c","token_style":null}"#, "token_style"),
                (
                    .post, "clients", #"{"client_id":"c","token_endpoint_auth_method":"tls"}"#,
                    "token_endpoint_auth_method"
                ),
                (.post, "clients", #"{"client_id":"c","grant_types":["client_credentials"]}"#, "grant_types"),
                (.post, "clients", #"{"client_id":"c","access_token_lifetime":9999999}"#, "access_token_lifetime"),
                (.patch, "clients/mobile", #"{"client_name":"\u0001"}"#, "client_name"),
                (.patch, "clients/mobile", #"{"rotate_secret":true}"#, "rotate_secret"),
                (.patch, "clients/mobile", #"{"refresh_after":1209600}"#, "refresh_after"),
                (.post, "keys/rotate", #"{"immediately":"yes"}"#, "immediately"),
                (.post, "admin-keys", #"{"name":""}"#, "name"), (.post, "admin-keys", "{}", "name"),
            ]
            for (method, path, body, member) in cases {
                let answer = await server.admin(method, "/admin/v1/" + path, body)
                #expect(answer.status == 400, "\(path) \(body)")
                #expect(answer.string("member") == member, "\(path) \(body): \(answer.text)")
            }
        }
    }

    /// PostgreSQL cannot keep one; no answer depends on the database.
    @Test func areRefusedWithNULInAnyString() async throws {
        try await EndpointsFixture.with { server in
            let credentials = try await server.routeCredentials()
            var count = 0
            for call in try Self.calls() where !Self.unread.contains(call.route.name) {
                for (name, value) in call.members.merging(Self.more[call.route.name] ?? [:], uniquingKeysWith: { $1 }) {
                    guard case .string(let text) = value else { continue }
                    var members = call.members
                    members[name] = .string("\0" + text)

                    let answer = await server.ask(call.route, try Call.text(members), credentials)

                    count += 1
                    #expect(answer.status == 400, "\(call.route.name) \(name): \(answer.text)")
                    #expect(answer.string("code") == "invalid_request", "\(call.route.name) \(name): \(answer.text)")
                    #expect(answer.string("member") == name, "\(call.route.name) \(name): \(answer.text)")
                }
            }
            #expect(count > 50)
            let device = #"{"username":"anna","password":"x","device":{"id":"p\u0000"}}"#
            #expect(await server.call(.post, "/v1/login", device).string("member") == "device.id")
            // The place `a\0` in a list.
            #expect(await server.admin(.get, "/admin/v1/users?cursor=YQA").status == 400)
        }
    }

    @Test func canBeMissingWhereAllMembersAreOptional() async throws {
        try await EndpointsFixture.with { server in
            for path in [
                "users/username:anna/disable", "users/username:anna/enable", "users/username:anna/revoke",
                "users/username:anna/password-reset", "users/username:anna/sessions", "keys/rotate", "revoke-all",
            ] {
                #expect(await server.admin(.post, "/admin/v1/" + path).response.status.isSuccess, "\(path)")
            }
            for path in ["users", "clients", "admin-keys"] {
                #expect(await server.admin(.post, "/admin/v1/" + path).status == 400)
            }
        }
    }
}
