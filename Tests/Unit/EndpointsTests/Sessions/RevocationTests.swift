import HTTP
import Locks
import SQLiteStore
import Sessions
import Synchronization
import Telemetry
import Testing

@testable import Endpoints

/// The feed of revocations over the endpoints: every call that ends something is in it.
@Suite(.timeLimit(.minutes(5))) struct RevocationTests {
    /// Something that ends sessions, or what tokens are good for.
    private struct Ending: CustomTestStringConvertible, Sendable {
        let name: String
        /// Type and reason of what comes, in order.
        let events: [String]
        let act: @Sendable (EndpointsFixture, Tokens) async throws -> Void
        var testDescription: String { name }
    }

    private static let user = "/admin/v1/users/username:anna"

    private static func bearer(_ method: Method, _ target: String, _ json: String? = nil, _ status: Int = 204)
        -> @Sendable (EndpointsFixture, Tokens) async throws -> Void
    {
        { server, tokens in
            #expect(await server.call(method, target, json, bearer: tokens.access).status == status)
        }
    }

    private static func admin(_ method: Method, _ target: String, _ json: String? = nil, _ status: Int = 200)
        -> @Sendable (EndpointsFixture, Tokens) async throws -> Void
    {
        { server, _ in #expect(await server.admin(method, target, json).status == status) }
    }

    /// One row for each call that ends anything, and for each reason of an end.
    private static let endings: [Ending] = [
        Ending(name: "logout", events: ["session_ended logged_out"], act: bearer(.post, "/v1/logout")),
        Ending(name: "logout by refresh token", events: ["session_ended logged_out"]) { server, tokens in
            #expect(await server.call(.post, "/v1/logout", #"{"refresh_token":"\#(tokens.refresh)"}"#).status == 204)
        },
        Ending(name: "RFC 7009", events: ["session_ended logged_out"]) { server, tokens in
            #expect(await server.form("/oauth/revoke", "token=\(tokens.refresh)&client_id=mobile").status == 200)
        },
        Ending(name: "a login on the same device", events: ["session_ended replaced"]) { server, _ in
            _ = try await server.logIn()
        },
        Ending(
            name: "one device", events: ["session_ended revoked_by_user"],
            act: bearer(.delete, "/v1/me/devices/phone-1")),
        Ending(
            name: "all devices", events: ["session_ended revoked_by_user", "session_ended revoked_by_user"],
            act: bearer(.delete, "/v1/me/devices", nil, 200)),
        Ending(
            name: "a changed password spares the session that asked", events: ["session_ended password_changed"],
            act: bearer(
                .put, "/v1/me/password",
                #"{"old_password":"\#(EndpointsFixture.password)","new_password":"another long one"}"#)),
        Ending(
            name: "a password set by an admin",
            events: ["session_ended password_changed", "session_ended password_changed"],
            act: admin(.put, "\(user)/password", #"{"new_password":"another long one"}"#, 204)),
        Ending(
            name: "a reset password",
            events: ["session_ended password_changed", "session_ended password_changed"]
        ) { server, _ in
            let reset = try #require(await server.admin(.post, "\(user)/password-reset").string("reset_token"))
            #expect(
                await server.call(
                    .post, "/v1/password-reset",
                    #"{"reset_token":"\#(reset)","new_password":"another long one"}"#
                ).status == 204)
        },
        Ending(name: "one session", events: ["session_ended revoked_by_admin"]) { server, tokens in
            #expect(await server.admin(.delete, "/admin/v1/sessions/\(tokens.sessionID)").status == 204)
        },
        Ending(
            name: "all sessions of a user",
            events: ["session_ended revoked_by_admin", "session_ended revoked_by_admin"],
            act: admin(.post, "\(user)/revoke")),
        Ending(
            name: "a reused token", events: ["session_ended refresh_token_reused"]
        ) { server, tokens in
            server.moveClock(to: 1000)
            let second = try Tokens(await server.refresh(tokens.refresh))
            server.moveClock(to: 2000)
            let third = try Tokens(await server.refresh(second.refresh))
            server.moveClock(to: 3000)
            _ = await server.refresh(third.refresh)
            #expect(await server.refresh(tokens.refresh).string("reason") == "refresh_token_reused")
        },
        Ending(
            name: "a deleted user",
            events: ["user_deleted", "session_ended user_deleted", "session_ended user_deleted"]
        ) { server, _ in
            #expect((200...204).contains(await server.admin(.delete, user).status))
        },
        Ending(
            name: "an admin's switch", events: ["user_blocked", "user_unblocked"]
        ) { server, _ in
            #expect(await server.admin(.post, "\(user)/disable", #"{"effective":"immediate"}"#).status == 200)
            #expect(await server.admin(.post, "\(user)/enable").status == 200)
        },
        Ending(
            name: "an admin's switch that ends sessions too",
            events: ["user_blocked", "session_ended revoked_by_admin", "session_ended revoked_by_admin"],
            act: admin(.post, "\(user)/disable", #"{"effective":"immediate","revoke_sessions":true}"#)),
        Ending(
            name: "a switch that lets tokens live tells nothing", events: [],
            act: admin(.post, "\(user)/disable", #"{"effective":"on_expiry"}"#)),
        Ending(name: "the user's own switch", events: ["user_blocked"]) { server, tokens in
            let answer = await server.call(
                .put, "/v1/me/login-settings", #"{"logins_disabled":true,"effective":"immediate"}"#,
                bearer: tokens.access)
            #expect(answer.status == 200)
        },
        Ending(
            name: "an admin does not lift the user's own switch", events: ["user_blocked"]
        ) { server, tokens in
            _ = await server.call(
                .put, "/v1/me/login-settings", #"{"logins_disabled":true,"effective":"immediate"}"#,
                bearer: tokens.access)
            #expect(await server.admin(.post, "\(user)/disable", #"{"effective":"immediate"}"#).status == 200)
            #expect(await server.admin(.post, "\(user)/enable").status == 200)
        },
        Ending(
            name: "break glass", events: ["all_sessions_ended"], act: admin(.post, "/admin/v1/revoke-all", nil, 204)),
        Ending(
            name: "break glass, with a client that gets tokens for itself",
            events: ["all_sessions_ended", "client_tokens_ended"]
        ) { server, _ in
            _ = try await server.makeClient(ClientTokenFixture.backend("backend"))
            #expect(await server.admin(.post, "/admin/v1/revoke-all").status == 204)
        },
        Ending(
            name: "a token that a client got for itself", events: ["client_token_revoked"]
        ) { server, _ in
            let basic = "backend:" + (try await server.makeClient(ClientTokenFixture.backend("backend")) ?? "")
            let own = await server.form("/oauth/token", ClientTokenFixture.grant, basic: basic)
            let form = "token=\(try #require(own.string("access_token")))"
            #expect(await server.form("/oauth/revoke", form, basic: basic).status == 200)
        },
        Ending(
            name: "a deleted client", events: ["client_deleted"],
            act: admin(.delete, "/admin/v1/clients/mobile", nil, 204)),
        Ending(
            name: "a shorter idle time", events: ["lifetimes_shortened"],
            act: admin(.put, "/admin/v1/settings/sessions", #"{"offline_session_idle":86400}"#)),
        Ending(name: "the clock ends idle sessions, and their tokens with them", events: []) { server, tokens in
            server.moveClock(to: 15 * EndpointsFixture.day)
            #expect(await server.refresh(tokens.refresh).string("reason") == "idle_expired")
        },
    ]

    @Test(arguments: endings)
    private func everyEndingIsInTheFeed(_ ending: Ending) async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            _ = try await server.logIn(device: "tablet")
            #expect(await server.admin(.get, "/admin/v1/revocations").items.isEmpty)
            try await ending.act(server, tokens)
            // Nothing that still matters is hidden by the time that has passed.
            let items = await server.admin(.get, "/admin/v1/revocations").items
            #expect(
                items.map { [$0.string("type"), $0.string("reason")].compactMap(\.self).joined(separator: " ") }
                    == ending.events)
            for item in items {
                let at = try #require(item.integer("at"))
                #expect(try #require(item.integer("until")) == at + 1_209_600)
                switch item.string("type") {
                case "session_ended":
                    #expect(item.string("sid")?.isEmpty == false && item.string("sub") == tokens.userID)
                case "client_deleted": #expect(item.string("client_id") == "mobile")
                case "client_tokens_ended": #expect(item.integer("epoch") ?? 0 > 0 && item.string("client_id") == nil)
                case "client_token_revoked": #expect(item.string("client_id") == "backend" && item.string("jti") != nil)
                case "all_sessions_ended", "lifetimes_shortened": #expect(item.string("sub") == nil)
                default: #expect(item.string("sub") == tokens.userID)
                }
            }
        }
    }

    /// Every reason that a session can end for has a row above, but those of the clock, of providers that are asked again, of
    /// codes and of phones.
    @Test func everyReasonIsTried() {
        let tried = Self.endings.flatMap(\.events).joined(separator: " ")
        let others: [EndReason] = [
            .idleExpired, .maxLifetimeReached, .revokedByProvider, .recheckLost, .codeReused, .parentEnded,
            .presenceLost, .notMe,
        ]
        for reason in EndReason.allCases where !others.contains(reason) {
            #expect(tried.contains(" \(reason.rawValue)"))
        }
        for kind in Revocation.Kind.allCases { #expect(tried.contains(kind.rawValue)) }
    }

    @Test func pagesFollowEachOtherAndACursorIsForEver() async throws {
        try await EndpointsFixture.with { server in
            for number in 0..<5 { _ = try await server.logIn(device: "d\(number)") }
            #expect(await server.admin(.post, "\(Self.user)/revoke").status == 200)
            var cursor = ""
            var seen: [String] = []
            for (count, hasMore) in [(2, true), (2, true), (1, false), (0, false)] {
                let page = await server.admin(.get, "/admin/v1/revocations?limit=2" + cursor)
                #expect(page.items.count == count && page.bool("has_more") == hasMore)
                seen += page.items.compactMap { $0.string("sid") }
                cursor = "&cursor=" + (try #require(page.string("next_cursor")))
            }
            #expect(Set(seen).count == 5)
            // What no follower needs any more is not in an answer to any of them.
            server.moveClock(to: 1_209_600)
            #expect(await server.admin(.get, "/admin/v1/revocations").items.isEmpty)
            #expect(await server.admin(.get, "/admin/v1/revocations?cursor=1").items.isEmpty)
        }
    }

    @Test(arguments: [
        ("cursor=x", 400), ("cursor=-1", 400), ("cursor=99999999999999999999", 400), ("wait=61", 400),
        ("wait=1.5", 400),
        ("cursor=1-", 400), ("cursor=-", 400), ("cursor=1-2-3-4", 400), ("cursor=1-2-", 400), ("cursor=1-x", 400),
        ("cursor=1%2D-2", 400), ("cursor=00000000000000000000", 400),
        ("cursor=9223372036854775807", 410), ("cursor=9223372036854775807-9223372036854775807", 410),
        ("cursor=1-9223372036854775807", 410), ("cursor=0-1", 200),
        ("limit=201", 400), ("user=1", 400), ("cursor=1&cursor=2", 400), ("cursor=987654321", 410),
    ])
    func impossibleQuestionsAreRefused(_ query: String, _ status: Int) async throws {
        try await EndpointsFixture.with { server in
            let answer = await server.admin(.get, "/admin/v1/revocations?\(query)")
            #expect(answer.status == status)
            if status == 410 { #expect(answer.string("code") == "unknown_cursor") }
        }
    }

    @Test func aLongPollWaitsForWhatIsNew() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            async let answer = server.admin(.get, "/admin/v1/revocations?wait=60")
            try await waitForAWaiter(at: server.endpoints.revocations)
            #expect(await server.call(.post, "/v1/logout", bearer: tokens.access).status == 204)
            #expect(await answer.items.map { $0.string("sid") } == [tokens.sessionID])
            #expect(server.endpoints.revocations.waitingCount == 0)
        }
    }

    struct NotSeen: Error, CustomStringConvertible { let description: String }

    /// Waits until `condition` holds, but not for ever: what does not come fails the test by `sentence`.
    func wait(_ sentence: String, until condition: () -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(5)
        while !condition() {
            if ContinuousClock.now > deadline { throw NotSeen(description: sentence) }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    func waitForAWaiter(at feed: RevocationFeed) async throws {
        try await wait("nobody waits for the feed") { feed.waitingCount > 0 }
    }

    @Test func aLongPollWithoutNewsEndsWhenItsTimeIsOver() async throws {
        try await EndpointsFixture.with { server in
            let nanoseconds = Atomic<Int64>(0)
            let now = { @Sendable in ContinuousClock.Instant.now + .nanoseconds(nanoseconds.load(ordering: .relaxed)) }
            let feed = RevocationFeed(source: server.store, clock: server.context.clock, now: now)
            async let page = feed.next(after: .start, limit: 9, patience: .seconds(3600))
            try await waitForAWaiter(at: feed)
            nanoseconds.store(3_601_000_000_000, ordering: .relaxed)
            try await wait("a long poll outlives its time") { feed.waitingCount == 0 }
            #expect(try await page == [])
            #expect(feed.waitingCount == 0)
        }
    }

    @Test func aLongPollTellsNothingAfterItsKeyIsGone() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            let made = await server.admin(.post, "/admin/v1/admin-keys", #"{"name":"api","scope":"feed"}"#)
            let (key, id) = (try #require(made.string("admin_key")), try #require(made.string("id")))
            let request = Request(
                .get, "/admin/v1/revocations?wait=60", fields: ["Authorization": "Bearer \(key)"], body: [])
            async let answer = server.send(request, on: .admin)
            try await waitForAWaiter(at: server.endpoints.revocations)
            #expect(await server.admin(.delete, "/admin/v1/admin-keys/\(id)").status == 204)
            #expect(await server.call(.post, "/v1/logout", bearer: tokens.access).status == 204)
            #expect(await answer.status == 401)
        }
    }

    @Test func aCursorOfAnotherPastIsUnknownAndOneBeforeWhatWasSweptIsKnown() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            #expect(await server.call(.post, "/v1/logout", bearer: tokens.access).status == 204)
            let page = await server.admin(.get, "/admin/v1/revocations")
            let cursor = try #require(page.string("next_cursor"))
            #expect(page.items.first?.string("id") == cursor)
            let number = try #require(cursor.split(separator: "-").first)
            func status(_ cursor: String) async -> Int {
                await server.admin(.get, "/admin/v1/revocations?cursor=\(cursor)").status
            }
            #expect(await status(cursor) == 200)
            // The same number, which a database gave before it was restored from a backup.
            for other in ["\(EndpointsFixture.start + 1_209_599)", "\(EndpointsFixture.start + 1_209_600)-1"] {
                #expect(await status("\(number)-\(other)") == 410)
            }
            // As an operator may write it by hand.
            for short in [number, "\(number)-\(EndpointsFixture.start + 1_209_600)"] {
                #expect(await status(String(short)) == 200)
            }
            server.moveClock(to: 1_209_600)
            let now = server.context.clock.now
            #expect(try await server.store.sweepRevocations(before: now, limit: 9) == 1)
            #expect(await status(cursor) == 200)
        }
    }
}
