import HTTP
import JSON
import Sessions
import Testing

@testable import Endpoints

/// What a change of lifetimes would do, and which limits a session has.
@Suite struct PreviewTests {
    private static let day = EndpointsFixture.day

    /// Sessions on day 0, 4 and 6; today is day 8.
    private func logIns(_ server: EndpointsFixture) async throws -> [String] {
        var ids: [String] = []
        for day: Int64 in [0, 4, 6] {
            server.moveClock(to: day * Self.day)
            ids.append(try await server.logIn(device: "phone-\(day)").sessionID)
        }
        server.moveClock(to: 8 * Self.day)
        return ids
    }

    @Test("a preview counts what the change then ends, for all users, for a client and for a user, and changes nothing")
    func counts() async throws {
        let idle = #"{"offline_session_idle":345600,"rotation_interval":60}"#
        let cases: [(Method, String, String, Int64)] = [
            (.put, "settings/sessions", idle, 2), (.put, "settings/sessions", #"{"offline_session_max":604800}"#, 1),
            (.put, "settings/sessions", #"{"offline_session_idle":2592000}"#, 0),
            (.patch, "clients/mobile", #"{"offline_session_max":172801}"#, 2),
            (.patch, "clients/mobile", #"{"stay_logged_in":false}"#, 3),
            (.patch, "users/username:anna", #"{"offline_session_max":259200}"#, 2),
        ]
        for (method, path, body, ending) in cases {
            try await EndpointsFixture.with { server in
                let ids = try await logIns(server)

                let preview = await server.admin(.post, "/admin/v1/\(path)/preview", body)

                #expect(preview.status == 200, "\(preview.text)")
                #expect(preview.integer("sessions") == 3)
                #expect(preview.integer("ending_now") == ending, "\(path) \(body)")
                #expect(preview.bool("is_sample") == false)
                #expect(await active(ids, server) == 3)
                #expect(await server.admin(method, "/admin/v1/\(path)", body).status == 200)
                #expect(await active(ids, server) == 3 - ending, "\(path) \(body)")
            }
        }
    }

    @Test("a preview refuses what the change refuses")
    func refusals() async throws {
        try await EndpointsFixture.with { server in
            for (path, body, code) in [
                ("settings/sessions", #"{"offline_session_idle":31536001}"#, 400),
                ("settings/sessions", #"{"absolute_max_lifetime":60}"#, 400),
                ("clients/mobile", #"{"offline_session_max":31536001}"#, 400), ("clients/none", "{}", 404),
                ("clients/mobile", #"{"scope":"openid"}"#, 400), ("users/username:none", "{}", 404),
            ] {
                let preview = await server.admin(.post, "/admin/v1/\(path)/preview", body)
                #expect(preview.status == code, "\(path) \(body): \(preview.text)")
            }
        }
    }

    private func active(_ ids: [String], _ server: EndpointsFixture) async -> Int64 {
        var count: Int64 = 0
        for id in ids where await !server.admin(.get, "/admin/v1/sessions/\(id)").names.contains("ended_at") {
            count += 1
        }
        return count
    }

    @Test("a session has its limits by name, place and last change, and says whether its end is recorded")
    func limits() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            func limits() async throws -> [JSONValue] {
                let answer = await server.admin(.get, "/admin/v1/sessions/\(tokens.sessionID)")
                return try #require(JSONValue(text: Array(answer.text.utf8))?["limits"]?.elements)
            }
            func names() async throws -> [String] {
                try await limits().map { "\($0["source"]?.string ?? "") \($0["name"]?.string ?? "")" }
            }

            #expect(try await names() == ["settings offline_session_idle", "settings offline_session_max"])
            #expect(try await limits()[0]["changed_at"] == nil)
            server.moveClock(to: 60)
            _ = await server.admin(.put, "/admin/v1/settings/sessions", #"{"offline_session_idle":604800}"#)
            server.moveClock(to: 120)
            _ = await server.admin(.put, "/admin/v1/settings/sessions", #"{"refresh_after":60}"#)
            let idle = try await limits()[0]
            #expect(idle["seconds"]?.integer == 604_800 && idle["earlier_seconds"]?.integer == 1_209_600)
            #expect(idle["changed_at"]?.integer == EndpointsFixture.start + 60)
            #expect(idle["changed_by"]?.string?.hasPrefix("admin:") == true)

            _ = await server.admin(.patch, "/admin/v1/clients/mobile", #"{"offline_session_max":2592000}"#)
            #expect(try await names()[1] == "client offline_session_max")
            #expect(try await limits()[1]["changed_at"]?.integer == EndpointsFixture.start + 120)
            _ = await server.admin(.patch, "/admin/v1/users/username:anna", #"{"offline_session_max":86400}"#)
            #expect(try await names()[1] == "user offline_session_max")
            server.moveClock(to: 180)
            let forged = #"{"display_name":"x offline_session_max=1 y"}"#
            #expect(await server.call(.patch, "/v1/me", forged, bearer: tokens.access).status == 200)
            let ownLimit = try await limits()[1]
            #expect(ownLimit["changed_at"]?.integer == EndpointsFixture.start + 120)
            #expect(ownLimit["changed_by"]?.string?.hasPrefix("admin:") == true)
            #expect(ownLimit["earlier_seconds"]?.integer == nil && ownLimit["seconds"]?.integer == 86400)
            _ = await server.admin(.patch, "/admin/v1/clients/mobile", #"{"stay_logged_in":false}"#)
            #expect(try await names()[1] == "client access_token_lifetime")
        }
        try await EndpointsFixture.with { server in
            _ = await server.admin(.put, "/admin/v1/settings/sessions", #"{"offline_session_max_limited":false}"#)
            let tokens = try await server.logIn()
            let path = "/admin/v1/sessions/\(tokens.sessionID)"
            #expect(await server.admin(.get, path).text.contains(#""name":"absolute_max_lifetime""#))
            #expect(await !server.admin(.get, path).names.contains("end_recorded"))
            server.moveClock(to: 15 * Self.day)
            #expect(await server.admin(.get, path).bool("end_recorded") == false)
            _ = await server.refresh(tokens.refresh)
            #expect(await server.admin(.get, path).bool("end_recorded") == true)
        }
    }

    @Test("each signing key says whether it signs, and a reset has its link")
    func keysAndLinks() async throws {
        try await EndpointsFixture.with { server in
            func states() async -> [String: Int] {
                let items = JSONValue(text: Array(await server.admin(.get, "/admin/v1/keys").text.utf8))?["items"]?
                    .elements
                return Dictionary((items ?? []).map { ("\($0["alg"]?.string ?? "") \($0["state"]?.string ?? "")", 1) })
                { $0 + $1 }
            }
            let before = await states()
            _ = await server.admin(.post, "/admin/v1/keys/rotate", "{}")
            let published = await states()
            server.moveClock(to: 2 * Self.day)
            let after = await states()

            #expect(before["ES256 signing"] == 1 && before["ES256 next"] == nil)
            #expect(published["ES256 signing"] == 1 && published["ES256 next"] == 1)
            #expect(after["ES256 signing"] == 1 && after["ES256 next"] == nil && after["ES256 retired"] == 1)

            _ = try await server.logIn()
            let reset = await server.admin(.post, "/admin/v1/users/username:anna/password-reset")
            let token = try #require(reset.string("reset_token"))
            #expect(reset.string("link") == "\(EndpointsFixture.issuer)/reset#\(token)")
        }
    }
}
