import HTTP
import SQLiteStore
import Sessions
import Testing

/// Every reason for which a refresh is refused, brought about and read on the wire.
@Suite struct RefreshReasonTests {
    /// Brings the reason about; returns what to present, and more parameters of the form.
    typealias Cause = @Sendable (EndpointsFixture, Tokens) async throws -> (token: String, more: String)

    struct Case: Sendable {
        let reason: String
        let reauthenticate: Bool
        let cause: Cause

        init(_ reason: String, reauthenticate: Bool, _ cause: @escaping Cause) {
            self.reason = reason
            self.reauthenticate = reauthenticate
            self.cause = cause
        }
    }

    static let cases: [Case] = [
        Case("malformed", reauthenticate: true) { _, tokens in
            (String(tokens.refresh.dropLast()) + (tokens.refresh.hasSuffix("A") ? "Q" : "A"), "")
        },
        Case("unknown_session", reauthenticate: true) { server, _ in
            let token = RefreshToken(sessionID: Identifier(random: server.context.random), serial: 1)
            return (server.context.refreshTokens.encode(token), "")
        },
        Case("logged_out", reauthenticate: true) { server, tokens in
            #expect(await server.call(.post, "/v1/logout", bearer: tokens.access).status == 204)
            return (tokens.refresh, "")
        },
        Case("replaced", reauthenticate: true) { server, tokens in
            _ = try await server.logIn()
            return (tokens.refresh, "")
        },
        Case("revoked_by_user", reauthenticate: true) { server, tokens in
            let other = try await server.logIn(device: "tablet")
            #expect(await server.call(.delete, "/v1/me/devices/phone-1", bearer: other.access).status == 204)
            return (tokens.refresh, "")
        },
        Case("revoked_by_admin", reauthenticate: true) { server, tokens in
            #expect(await server.admin(.delete, "/admin/v1/sessions/\(tokens.sessionID)").status == 204)
            return (tokens.refresh, "")
        },
        Case("password_changed", reauthenticate: true) { server, tokens in
            let answer = await server.admin(
                .put, "/admin/v1/users/\(tokens.userID)/password", #"{"new_password":"battery staple"}"#)
            #expect(answer.status == 204)
            return (tokens.refresh, "")
        },
        Case("login_disabled_by_user", reauthenticate: false) { server, tokens in
            let answer = await server.call(
                .put, "/v1/me/login-settings", #"{"logins_disabled":true}"#, bearer: tokens.access)
            #expect(answer.status == 200)
            return (tokens.refresh, "")
        },
        Case("login_disabled_by_admin", reauthenticate: false) { server, tokens in
            #expect(await server.admin(.post, "/admin/v1/users/username:anna/disable").status == 200)
            return (tokens.refresh, "")
        },
        Case("idle_expired", reauthenticate: true) { server, tokens in
            server.moveClock(to: 14 * EndpointsFixture.day)
            return (tokens.refresh, "")
        },
        Case("max_lifetime_reached", reauthenticate: true) { server, tokens in
            let settings = await server.admin(.put, "/admin/v1/settings/sessions", #"{"offline_session_max":5000}"#)
            #expect(settings.status == 200)
            server.moveClock(to: 5000)
            return (tokens.refresh, "")
        },
        Case("refresh_token_reused", reauthenticate: true) { server, tokens in
            server.moveClock(to: 200)
            let second = try #require(await server.refresh(tokens.refresh).string("refresh_token"))
            server.moveClock(to: 400)
            #expect(await server.refresh(second).status == 200)
            return (tokens.refresh, "")
        },
        Case("device_mismatch", reauthenticate: false) { _, tokens in (tokens.refresh, "&device_id=another") },
        Case("binding_mismatch", reauthenticate: false) { server, tokens in
            _ = try await server.makeClient(#"{"client_id":"other-app"}"#)
            return (tokens.refresh, "&client_id=other-app")
        },
        Case("user_deleted", reauthenticate: false) { server, tokens in
            #expect(await server.admin(.delete, "/admin/v1/users/\(tokens.userID)").status == 204)
            return (tokens.refresh, "")
        },
        Case("revoked_by_provider", reauthenticate: true) { server, tokens in
            try await end(.revokedByProvider, server, tokens)
        },
        Case("recheck_lost", reauthenticate: true) { server, tokens in try await end(.recheckLost, server, tokens) },
        // A code that is used again is a test of logins on the page.
        Case("code_reused", reauthenticate: true) { server, tokens in try await end(.codeReused, server, tokens) },
        // The ends by a phone are tests of sign-in with the phone.
        Case("parent_ended", reauthenticate: true) { server, tokens in try await end(.parentEnded, server, tokens) },
        Case("presence_lost", reauthenticate: true) { server, tokens in try await end(.presenceLost, server, tokens) },
        Case("not_me", reauthenticate: true) { server, tokens in try await end(.notMe, server, tokens) },
    ]

    /// As a recheck ends it; when that does so, the suite of rechecks has.
    private static func end(_ reason: EndReason, _ server: EndpointsFixture, _ tokens: Tokens) async throws -> (
        String, String
    ) {
        let id = try #require(Identifier<Session>(tokens.sessionID))
        _ = try await server.store.updateProviderCheck(id) { change in
            change.session.end(reason, at: server.context.clock.now)
        }
        return (tokens.refresh, "")
    }

    @Test func everyReasonIsReached() {
        // Of an assertion that is not good, which is another grant, DeviceKeyTests have the table.
        let others: Set = [
            RefusalReason.invalidAssertion.rawValue, RefusalReason.insufficientUserAuthentication.rawValue,
        ]
        #expect(Set(Self.cases.map(\.reason)) == Set(RefusalReason.allCases.map(\.rawValue)).subtracting(others))
    }

    @Test(arguments: cases.indices) func isToldAtTheTokenEndpoint(_ index: Int) async throws {
        let expected = Self.cases[index]
        try await EndpointsFixture.with { server in
            let (token, more) = try await expected.cause(server, try await server.logIn())
            // An end that was answered once is final: the same answer again.
            for _ in 1...2 {
                let answer = await server.refresh(token, more: more)
                #expect(answer.status == 400)
                #expect(answer.string("error") == "invalid_grant")
                #expect(answer.string("reason") == expected.reason)
                #expect(answer.bool("reauthenticate") == expected.reauthenticate)
                #expect(answer.names == ["error", "error_description", "reason", "reauthenticate"])
                #expect(answer.field("Cache-Control") == "no-store")
            }
        }
    }

    @Test(arguments: cases.indices) func isToldByTheJSONCall(_ index: Int) async throws {
        let expected = Self.cases[index]
        // The JSON call knows no clients.
        if expected.reason == "binding_mismatch" { return }
        try await EndpointsFixture.with { server in
            let (token, more) = try await expected.cause(server, try await server.logIn())
            let device = more.isEmpty ? "" : #","device_id":"another""#
            let answer = await server.call(.post, "/v1/refresh", #"{"refresh_token":"\#(token)"\#(device)}"#)
            #expect(answer.status == 401)
            #expect(answer.string("code") == expected.reason)
            #expect(answer.bool("reauthenticate") == expected.reauthenticate)
            let metrics = await server.admin(.get, "/metrics")
            #expect(metrics.text.contains(#"sojourn_refreshes_total{outcome="\#(expected.reason)"} 1"#))
        }
    }

    /// What must not end with the refusal goes on afterwards.
    @Test func aMismatchEndsNothing() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            #expect(await server.refresh(tokens.refresh, more: "&device_id=another").status == 400)
            #expect(await server.refresh(tokens.refresh, more: "&client_id=unknown").status == 401)
            #expect(await server.refresh(tokens.refresh, more: "&device_id=phone-1&client_id=mobile").status == 200)
        }
    }
}
