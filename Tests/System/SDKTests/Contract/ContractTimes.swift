import SojournClient
import SojournTestKit
import Testing

extension ContractCase {
    private static func begin(_ client: ContractClient, _ user: String) async throws -> ContractAnswer {
        try await client.server.createUser(user, password: nil)
        return try await client.open(user)
    }

    static let times = [
        ContractCase("the times of an answer") { (client, user) async throws in
            let answer = try await begin(client, user)
            let issuedAt = try #require(answer.integer("issued_at"))
            #expect(answer.integer("refresh_after") == issuedAt + 3600)
            #expect(answer.integer("expires_in") == 1_209_600)
            #expect(answer.integer("expires_at") == issuedAt + 1_209_600)
            #expect(answer.integer("session_idle_expires_at") == issuedAt + 1_209_600)
            #expect(answer.integer("session_expires_at") == issuedAt + 15_552_000)
        },
        ContractCase("the server tells its time") { (client, user) async throws in
            let issuedAt = try #require(try await begin(client, user).integer("issued_at"))
            let answer = try await client.renew("sjr_junk")
            let date = try #require(answer.fields["Date"].flatMap(HTTPDate.seconds))
            #expect(abs(date - issuedAt) <= 2)
        },
        ContractCase("a session that is not used ends", .idle) { (client, user) async throws in
            let session = try await begin(client, user)
            try await client.server.letPass(.milliseconds(4200))
            #expect(try await client.renew(session.refreshToken).summary == "400 idle_expired log in again")
        },
        ContractCase("an access token that has expired", .idle) { (client, user) async throws in
            let session = try await begin(client, user)
            try await client.server.letPass(.milliseconds(4200))
            #expect(try await client.send("GET", "/v1/me", bearer: session.accessToken).summary == "401 invalid_token")
            // It still ends its session.
            #expect(try await client.send("POST", "/v1/logout", bearer: session.accessToken).status == 204)
        },
        ContractCase("each rotation begins the idle time anew", .idle) { (client, user) async throws in
            var session = try await begin(client, user)
            for _ in 0..<3 {
                try await client.server.letPass(.milliseconds(2200))
                session = try await client.renew(session.refreshToken)
                #expect(session.status == 200)
            }
        },
        ContractCase("each answered refresh begins the idle time anew, without a rotation as well", .idleSlow) {
            (client, user) async throws in
            var session = try await begin(client, user)
            for _ in 0..<3 {
                try await client.server.letPass(.milliseconds(2200))
                session = try await client.renew(session.refreshToken)
                #expect(session.status == 200)
            }
        },
        ContractCase("a session that is used ends at its maximum", .short) { (client, user) async throws in
            var session = try await begin(client, user)
            let end = session.integer("session_expires_at")
            try await client.server.letPass(.milliseconds(2200))
            session = try await client.renew(session.refreshToken)
            #expect(session.integer("session_expires_at") == end)
            #expect(session.integer("expires_at") == end)
            try await client.server.letPass(.milliseconds(2000))
            #expect(try await client.renew(session.refreshToken).summary == "400 max_lifetime_reached log in again")
        },
        ContractCase("users who do not stay logged in", .own("single token")) { (client, user) async throws in
            try await client.server.createUser(user, password: "correct horse battery")
            try await client.server.change(ClientSettings(staysLoggedIn: false, accessTokenLifetime: 2))
            let answer = try await client.logIn(user, "correct horse battery")
            #expect(answer.json["renewal"]?.elements == [] && answer.text("refresh_token") == nil)
            #expect(answer.integer("session_expires_at") == answer.integer("expires_at"))
            #expect(answer.integer("expires_in") == 2)
            let sojourn = Sojourn(
                SojournConfiguration(server: client.server.url), store: MemoryStore(),
                keys: SoftwareKeys.temporary(), transport: client.server.transport,
                clock: (client.server as? FakeServer)?.clock ?? SystemClock())
            try await sojourn.signIn(username: user, password: "correct horse battery")
            try await client.server.letPass(.milliseconds(2200))
            // The key of the device is not that of the session, which has none: its end is told all the same.
            let key = try await SoftwareKeys.temporary().makeKey(.device)
            let assertion = try await AssertionMaker(key: key).assertion(
                issuer: answer.text("session_id") ?? "", subject: answer.json["user"]?.members?.text("user_id") ?? "",
                audience: try ServerAddress(client.server.url).base, issuedAt: answer.integer("issued_at") ?? 0,
                lifetime: 120)
            let form = [
                "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": assertion,
                "client_id": "mobile",
            ]
            let resumed = try await client.send("POST", "/oauth/token", form: form)
            #expect(resumed.summary == "400 max_lifetime_reached log in again")
            await #expect(throws: SojournError.ended(.maxLifetimeReached)) { try await sojourn.accessToken() }
            guard case .ended(.maxLifetimeReached, _, _) = sojourn.state else {
                Issue.record("\(sojourn.state)")
                return
            }
        },
        ContractCase("a renewal from another platform, or without attestation", .own("devices")) {
            (client, user) async throws in
            try await client.server.createUser(user, password: "correct horse battery")
            var configuration = SojournConfiguration(server: client.server.url)
            configuration.platform = "iOS 26"
            let store = MemoryStore()
            let clock: any ClientClock = (client.server as? FakeServer)?.clock ?? SystemClock()
            func app() -> Sojourn {
                Sojourn(
                    configuration, store: store, keys: SoftwareKeys.temporary(), transport: client.server.transport,
                    clock: clock)
            }
            configuration.renewal = .refreshToken
            try await client.server.change(ClientSettings(appData: .refuse))
            try await app().signIn(username: user, password: "correct horse battery")
            let session = try #require(try await store.load().map { try SessionRecord(parsing: $0.bytes) }?.session)
            func state() async -> SessionState {
                let sojourn = app()
                await sojourn.start()
                _ = await sojourn.settle(within: .seconds(30))
                return sojourn.state
            }
            let mismatch = SessionState.Reachability.suspended(Suspension(rawValue: "device_mismatch"))
            #expect(await state() == .signedIn(session.account, .current))
            configuration.platform = "Android 16"
            #expect(await state() == .signedIn(session.account, mismatch))
            configuration.platform = nil
            #expect(await state() == .signedIn(session.account, mismatch))
            configuration.platform = "iOS 27"
            #expect(await state() == .signedIn(session.account, .current))
            try await client.server.change(ClientSettings(attestation: .refuse))
            #expect(await state() == .signedIn(session.account, mismatch))
            try await client.server.setAttestation("genuine", ofSession: session.sessionID ?? "")
            #expect(await state() == .signedIn(session.account, .current))
        },
    ]
}
