import Endpoints
import HTTP
import Testing

/// Bodies that are not as they must be. Each has the name of the member in its answer.
@Suite struct BodyTests {
    /// Every JSON call with a body, and a body that it would take.
    static let calls: [(Method, String, String, admin: Bool)] = [
        (.post, "/v1/login", #""username":"anna","password":"x","device":{"id":"p"}"#, false),
        (.post, "/v1/refresh", #""refresh_token":"x""#, false),
        (.post, "/v1/logout", #""refresh_token":"x""#, false),
        (.patch, "/v1/me", #""email":"a@b""#, false),
        (.put, "/v1/me/login-settings", #""logins_disabled":false"#, false),
        (.patch, "/v1/me/devices/phone-1", #""name":"x""#, false),
        (.put, "/v1/me/password", #""old_password":"x","new_password":"y""#, false),
        (.put, "/v1/me/pin", #""pin":"x","password":"y""#, false),
        (.post, "/v1/password-reset", #""reset_token":"x","new_password":"y""#, false),
        (.post, "/admin/v1/users", #""username":"x""#, true),
        (.patch, "/admin/v1/users/username:anna", #""email":"a@b""#, true),
        (.post, "/admin/v1/users/username:anna/disable", #""reason":"x""#, true),
        (.post, "/admin/v1/users/username:anna/enable", #""include_own_switch":true"#, true),
        (.post, "/admin/v1/users/username:anna/revoke", "", true),
        (.post, "/admin/v1/users/username:anna/sessions", #""client_id":"mobile""#, true),
        (.put, "/admin/v1/users/username:anna/password", #""new_password":"x""#, true),
        (.post, "/admin/v1/users/username:anna/password-reset", "", true),
        (.put, "/admin/v1/settings/sessions", #""refresh_after":60"#, true),
        (.post, "/admin/v1/settings/sessions/preview", #""refresh_after":60"#, true),
        (.post, "/admin/v1/clients/mobile/preview", #""refresh_after":60"#, true),
        (.post, "/admin/v1/users/username:anna/preview", #""offline_session_max":60"#, true),
        (.post, "/admin/v1/clients", #""client_id":"x""#, true),
        (.patch, "/admin/v1/clients/mobile", #""client_name":"x""#, true),
        (.post, "/admin/v1/revoke-all", "", true),
        (.post, "/admin/v1/keys/rotate", #""immediately":false"#, true),
        (.post, "/admin/v1/admin-keys", #""name":"x""#, true),
    ]

    @Test func areRefusedUnlessTheyAreOneObjectOfKnownMembers() async throws {
        try await EndpointsFixture.with { stage in
            let token = try await stage.logIn().access
            for (method, path, members, isAdmin) in Self.calls {
                let send = { (body: String, type: String?) async -> Answer in
                    let isOpen = ["/v1/login", "/v1/refresh", "/v1/logout", "/v1/password-reset"].contains(path)
                    var fields: Fields = isOpen ? [:] : ["Authorization": "Bearer \(isAdmin ? stage.adminKey : token)"]
                    if let type { fields.append("Content-Type", type) }
                    let request = Request(method, path, fields: fields, body: Array(body.utf8))
                    return await stage.send(request, on: isAdmin ? .admin : .public)
                }
                let json = "application/json"
                let first = members.isEmpty ? "" : members + ","

                let unknown = await send("{\(first)\"zebra\":1}", json)
                #expect(unknown.status == 400, "\(path)")
                #expect(unknown.string("member") == "zebra", "\(path)")
                #expect(unknown.string("code") == "invalid_request")

                for type in [nil, "text/plain", "application/x-www-form-urlencoded", "application/jsonx"] {
                    let answer = await send("{\(members)}", type)
                    #expect(answer.status == 415, "\(path)")
                    #expect(answer.string("code") == "unsupported_media_type")
                }
                for body in [
                    "[]", "null", "7", #""x""#, "{", "{\(members)} {}", "{\(first)}", "\u{FEFF}{\(members)}", "{'a':1}",
                    "{/* */}",
                ] where body != "{}" {
                    let answer = await send(body, json)
                    #expect(answer.status == 400, "\(path) \(body)")
                    #expect(answer.string("code") == "invalid_request")
                }
                let deep = await send("{\(first)\"zebra\":" + String(repeating: "[", count: 5000) + "}", json)
                #expect(deep.status == 400)
                if !members.isEmpty {
                    let twice = await send("{\(members),\(members)}", json)
                    #expect(twice.status == 400)
                    #expect(twice.string("detail") == "A member of the JSON object appears twice.")
                }
            }
        }
    }

    @Test func haveTheirMembersChecked() async throws {
        try await EndpointsFixture.with { stage in
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
                let answer = await stage.admin(method, "/admin/v1/" + path, body)
                #expect(answer.status == 400, "\(path) \(body)")
                #expect(answer.string("member") == member, "\(path) \(body): \(answer.text)")
            }
        }
    }

    /// PostgreSQL cannot keep one; no answer depends on the database.
    @Test func areRefusedWithNULInAnyString() async throws {
        try await EndpointsFixture.with { stage in
            let token = try await stage.logIn().access
            let first = [
                "/v1/login": "username", "/v1/refresh": "refresh_token", "/v1/logout": "refresh_token",
                "/v1/me": "email",
                "/v1/me/devices/phone-1": "name", "/v1/me/password": "old_password",
                "/v1/password-reset": "reset_token",
            ]
            for (method, path, members, isAdmin) in Self.calls {
                guard let end = members.firstRange(of: #":""#)?.upperBound else { continue }
                let isOpen = ["/v1/login", "/v1/refresh", "/v1/logout", "/v1/password-reset"].contains(path)
                var fields: Fields = isOpen ? [:] : ["Authorization": "Bearer \(isAdmin ? stage.adminKey : token)"]
                fields.append("Content-Type", "application/json")
                let body = "{\(members[..<end])\\u0000\(members[end...])}"
                let request = Request(method, path, fields: fields, body: Array(body.utf8))
                let answer = await stage.send(request, on: isAdmin ? .admin : .public)
                #expect(answer.status == 400, "\(path) \(body)")
                #expect(answer.string("code") == "invalid_request", "\(path) \(body)")
                if let member = first[path] { #expect(answer.string("member") == member, "\(path): \(answer.text)") }
            }
            let device = #"{"username":"anna","password":"x","device":{"id":"p\u0000"}}"#
            #expect(await stage.call(.post, "/v1/login", device).string("member") == "device.id")
            // The place `a\0` in a list.
            #expect(await stage.admin(.get, "/admin/v1/users?cursor=YQA").status == 400)
        }
    }

    @Test func canBeMissingWhereAllMembersAreOptional() async throws {
        try await EndpointsFixture.with { stage in
            for path in [
                "users/username:anna/disable", "users/username:anna/enable", "users/username:anna/revoke",
                "users/username:anna/password-reset", "users/username:anna/sessions", "keys/rotate", "revoke-all",
            ] {
                #expect(await stage.admin(.post, "/admin/v1/" + path).response.status.isSuccess, "\(path)")
            }
            for path in ["users", "clients", "admin-keys"] {
                #expect(await stage.admin(.post, "/admin/v1/" + path).status == 400)
            }
        }
    }
}
