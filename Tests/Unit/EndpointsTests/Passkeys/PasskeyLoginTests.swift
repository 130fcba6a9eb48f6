import Cryptography
import HTTP
import JSON
import Sessions
import Synchronization
import Testing
import WebAuthn
import WebAuthnFixture

@testable import Endpoints

@Suite struct PasskeyLoginTests {
    @Test("options of a login name no user and store nothing") func options() async throws {
        try await EndpointsFixture.withPasskeys { server in
            let writes = server.environment.writes.load(ordering: .relaxed)
            let answer = await server.call(.post, "/v1/passkeys/options")
            #expect(answer.status == 200)
            #expect(answer.string("publicKey", "rpId") == "example.org")
            #expect(answer.value(["publicKey", "allowCredentials"]) == .array([]))
            #expect(answer.string("publicKey", "userVerification") == "required")
            #expect(server.environment.writes.load(ordering: .relaxed) == writes)
            #expect(await server.call(.post, "/v1/passkeys/options", #"{"username":"anna"}"#).status == 400)
        }
    }

    @Test(
        "a passkey logs its user in",
        arguments: [
            (SoftAuthenticator.synced, ["swk", "user", "mfa"]),
            (SoftAuthenticator.deviceBound, ["hwk", "user", "mfa"]),
        ])
    func logsIn(_ flags: UInt8, _ methods: [String]) async throws {
        try await EndpointsFixture.withPasskeys { server in
            let tokens = try await server.logIn()
            let authenticator = try await server.passkey(of: tokens) { $0.flags = flags }
            server.moveClock(to: 1000)
            let login = try Tokens(try await server.logIn(by: authenticator))
            #expect(login.userID == tokens.userID)
            #expect(login.answer.names == tokens.answer.names)
            let claims = try Answer.claims(of: login.access)
            #expect(claims.strings("amr") == methods)
            #expect(claims.integer("auth_time") == EndpointsFixture.start + 1000)
            #expect(await server.refresh(login.refresh).status == 200)
            #expect(await server.refresh(tokens.refresh).status == 200, "the other device goes on")
            let listed = await server.call(.get, "/v1/me/passkeys", bearer: login.access).items
            #expect(listed.first?.integer("last_used_at") == EndpointsFixture.start + 1000)
            // The login is a fresh proof of presence.
            _ = try await server.challenge(for: login.access)
            #expect(await server.passkeyEvents(of: login.userID).count == 1)
        }
    }

    @Test("the origin of an app logs in as well, and the session on the same device is replaced") func apps()
        async throws
    {
        try await EndpointsFixture.withPasskeys { server in
            let tokens = try await server.logIn()
            var authenticator = try await server.passkey(of: tokens)
            authenticator.origin = EndpointsFixture.android
            let login = try Tokens(try await server.logIn(by: authenticator, device: "phone-1"))
            #expect(login.sessionID != tokens.sessionID)
            #expect(await server.refresh(tokens.refresh).string("error") == "invalid_grant")
        }
    }

    @Test(
        "an assertion that is wrong is refused for what is wrong",
        arguments: ["origin", "relying party", "type", "not verified", "cross origin"])
    func wrong(_ cause: String) async throws {
        try await EndpointsFixture.withPasskeys { server in
            let tokens = try await server.logIn()
            var authenticator = try await server.passkey(of: tokens)
            switch cause {
            case "origin": authenticator.origin = "https://example.com"
            case "relying party": authenticator.rpID = "example.com"
            case "type": authenticator.type = "webauthn.create"
            case "not verified": authenticator.flags = 0x09
            default: authenticator.moreClientData = #","crossOrigin":true"#
            }
            let known = try await server.logIn(by: authenticator)
            #expect(known.status == 400 && known.string("code") == "invalid_passkey", "\(known.text)")
            // An unknown passkey is refused for the same, so that the answer tells of none.
            authenticator.credentialID = [3]
            #expect(try await server.logIn(by: authenticator).text == known.text)
            #expect(await server.admin(.get, "/admin/v1/users/username:anna/sessions").items.count == 1)
        }
    }

    @Test("an unknown passkey, another user's and a wrong signature get one answer, disabled or not") func equal()
        async throws
    {
        try await EndpointsFixture.withPasskeys { server in
            let tokens = try await server.logIn()
            let authenticator = try await server.passkey(of: tokens)
            var (unknown, forged, stranger, nameless) = (authenticator, authenticator, authenticator, authenticator)
            unknown.credentialID = [3]
            forged.key = SigningKey.generate(.es256)
            stranger.userHandle = [UInt8](repeating: 1, count: 16)
            nameless.userHandle = nil
            var answers: [Answer] = []
            for isDisabled in [false, true] {
                if isDisabled {
                    #expect(await server.admin(.post, "/admin/v1/users/username:anna/disable", "{}").status == 200)
                }
                for other in [unknown, forged, stranger, nameless] {
                    answers.append(try await server.logIn(by: other))
                }
            }
            #expect(Set(answers.map(\.text)).count == 1)
            #expect(answers.allSatisfy { $0.status == 401 && $0.string("code") == "invalid_credentials" })
            let events = await server.admin(.get, "/admin/v1/events").items
            let reasons = events.filter { $0.string("event") == "login_failed" }.map { $0.string("reason") ?? "" }
            #expect(
                reasons
                    == Array(
                        repeating: ["unknown_passkey", "wrong_passkey", "wrong_passkey", "wrong_passkey"], count: 2
                    ).flatMap(\.self))
            // That logins are disabled is said to the holder of the passkey alone.
            let refused = try await server.logIn(by: authenticator)
            #expect(refused.status == 403 && refused.string("code") == "login_disabled_by_admin", "\(refused.text)")
        }
    }

    @Test("no other fault tells whether a passkey exists", arguments: [[UInt8](), [1, 2, 3]])
    func noOracle(handle: [UInt8]) async throws {
        try await EndpointsFixture.withPasskeys { server in
            var known = try await server.passkey(of: try await server.logIn())
            known.userHandle = handle
            let edits: [@Sendable (inout SoftAuthenticator) -> Void] = [
                { $0.origin = "https://evil.example" }, { $0.flags = 0x01 }, { $0.flags = 0x04 },
                { $0.rpID = "evil.example" }, { $0.type = "webauthn.create" }, { $0.trailer = [1] },
                { $0.flags = 0x15 }, { $0.moreClientData = #","crossOrigin":true"# },
            ]
            for edit in edits {
                var (one, other) = (known, known)
                other.credentialID = [3]
                edit(&one)
                edit(&other)
                let answers = [try await server.logIn(by: one), try await server.logIn(by: other)]
                #expect(answers[0].text == answers[1].text && answers[0].status == answers[1].status)
            }
        }
    }

    @Test("the signature of a public test key opens nothing") func knownKey() async throws {
        try await EndpointsFixture.withPasskeys { server in
            // The stand-in for unknown passkeys has the private key 1; an assertion with it is as unknown as any.
            var forger = SoftAuthenticator(credentialID: [3], userHandle: [1])
            forger.key = try #require(SigningKey(pkcs8DER: Hex.decode(Self.privateKeyOne) ?? []))
            let refused = try await server.logIn(by: forger)
            #expect(refused.status == 401 && refused.string("code") == "invalid_credentials")
        }
    }

    /// The private key 1 on P-256 as PKCS #8.
    private static let privateKeyOne =
        "3041020100301306072a8648ce3d020106082a8648ce3d030107042730250201010420"
        + "0000000000000000000000000000000000000000000000000000000000000001"

    @Test(
        "a challenge serves one login for five minutes",
        arguments: ["invented", "changed", "expired", "used", "registration"])
    func challenges(_ cause: String) async throws {
        try await EndpointsFixture.withPasskeys { server in
            let tokens = try await server.logIn()
            let authenticator = try await server.passkey(of: tokens)
            var challenge = try await server.challenge()
            switch cause {
            case "invented": challenge = [UInt8](repeating: 1, count: 41)
            case "changed": challenge[challenge.count - 1] ^= 1
            case "expired": server.moveClock(to: 300)
            case "used": #expect(try await server.logIn(authenticator.assert(challenge)).status == 200)
            default: challenge = try await server.challenge(for: tokens.access)
            }
            let sessions = await server.admin(.get, "/admin/v1/users/username:anna/sessions").items.count
            let refused = try await server.anotherNode().logIn(authenticator.assert(challenge))
            #expect(refused.status == 400 && refused.string("code") == "invalid_passkey", "\(refused.text)")
            #expect(await server.admin(.get, "/admin/v1/users/username:anna/sessions").items.count == sessions)
        }
    }

    @Test("logins at once with one challenge start one session") func race() async throws {
        try await EndpointsFixture.withPasskeys { server in
            let authenticator = try await server.passkey(of: try await server.logIn())
            let credential = authenticator.assert(try await server.challenge())
            let answers = try await withThrowingTaskGroup(of: Answer.self) { group in
                for device in 1...8 { group.addTask { try await server.logIn(credential, device: "d\(device)") } }
                return try await group.reduce(into: [Answer]()) { $0.append($1) }
            }
            #expect(answers.count { $0.status == 200 } == 1)
            #expect(answers.count { $0.string("code") == "invalid_passkey" } == 7)
        }
    }

    @Test("a lost answer is repeated for the same Idempotency-Key, on any node, and for no other") func retry()
        async throws
    {
        try await EndpointsFixture.withPasskeys { server in
            let authenticator = try await server.passkey(of: try await server.logIn())
            let credential = authenticator.assert(try await server.challenge())
            let first = try Tokens(try await server.logIn(credential, key: "one"))
            let again = try Tokens(try await server.anotherNode().logIn(credential, key: "one"))
            #expect(again.sessionID == first.sessionID && again.refresh == first.refresh)
            #expect(try await server.logIn(credential, key: "two").status == 400)
            #expect(try await server.logIn(credential).status == 400)
            #expect(try await server.logIn(credential, device: "other", key: "one").status == 400)
            #expect(await server.passkeyEvents(of: first.userID).count == 1)
        }
    }

    @Test("a counter that does not grow and a flipped eligibility are recorded, and refuse no login") func oddities()
        async throws
    {
        try await EndpointsFixture.withPasskeys { server in
            var authenticator = try await server.passkey(of: try await server.logIn()) { $0.signCount = 10 }
            for (count, flags) in [(11, 0x1D), (11, 0x1D), (5, 0x05), (12, 0x05), (0, 0x1D)] as [(UInt32, UInt8)] {
                (authenticator.signCount, authenticator.flags) = (count, flags)
                #expect(try await server.logIn(by: authenticator).status == 200)
            }
            let userID = Hex.encode(authenticator.userHandle ?? [])
            let label = PasskeyRegistrationTests.label
            #expect(
                await server.passkeyEvents(of: userID).dropFirst() == [
                    "passkey_changed \(label) counter", "passkey_changed \(label) counter backup",
                    "passkey_changed \(label) counter backup",
                ])
            // The greatest counter stays, so that a clone shows each time.
            #expect(try await server.store.passkey(authenticator.credentialID)?.signCount == 12)
        }
    }

    @Test("a removed passkey starts no session; its sessions go on") func removed() async throws {
        try await EndpointsFixture.withPasskeys { server in
            let authenticator = try await server.passkey(of: try await server.logIn())
            let login = try Tokens(try await server.logIn(by: authenticator))
            let path = "/v1/me/passkeys/\(Base64URL.encode(authenticator.credentialID))"
            #expect(await server.call(.delete, path, bearer: login.access).status == 204)
            #expect(try await server.logIn(by: authenticator).status == 401)
            #expect(await server.refresh(login.refresh).status == 200)
        }
    }

    @Test(
        "members of other logins are refused beside a passkey",
        arguments: ["username", "password", "id_token", "anonymous", "session_id"])
    func members(_ name: String) async throws {
        try await EndpointsFixture.withPasskeys { server in
            let authenticator = try await server.passkey(of: try await server.logIn())
            let refused = try await server.logIn(
                authenticator.assert(try await server.challenge()), more: [name: .string("x")])
            #expect(refused.status == 400 && refused.string("code") == "invalid_request", "\(refused.text)")
        }
    }

    @Test("a login that is refused leaves the challenge valid") func refusal() async throws {
        try await EndpointsFixture.withPasskeys { server in
            let authenticator = try await server.passkey(of: try await server.logIn())
            let credential = authenticator.assert(try await server.challenge())
            #expect(try await server.logIn(credential, more: ["scope": .string("admin")]).status == 400)
            #expect(try await server.logIn(credential, more: ["client_id": .string("none")]).status == 400)
            #expect(try await server.logIn(credential).status == 200)
        }
    }

    @Test("a user without a password cannot use the mode PASSWORD, because a passkey is none") func mode() async throws
    {
        try await EndpointsFixture.withPasskeys { server in
            let created = await server.admin(.post, "/admin/v1/users", #"{"username":"eve"}"#)
            let user = try #require(created.string("user_id").flatMap { Identifier<User>($0) })
            let authenticator = SoftAuthenticator(userHandle: user.bytes)
            let passkey = try Passkey(
                id: authenticator.credentialID, userID: user, rpID: "example.org",
                publicKey: COSEKey(SoftAuthenticator.coseKey(authenticator.key.publicKey)), signCount: 0,
                isBackupEligible: true, isBackedUp: true, isUserVerified: true, transports: [], aaguid: nil,
                name: "x", createdAt: server.context.clock.now)
            #expect(try await server.store.importPasskeys([passkey], .replacing) == [.written])
            let refused = try await server.logIn(
                authenticator.assert(try await server.challenge()), more: ["authentication_mode": .string("PASSWORD")])
            #expect(refused.status == 400 && refused.string("member") == "authentication_mode", "\(refused.text)")
            #expect(try await server.logIn(by: authenticator).status == 200)
        }
    }

    @Test("a passkey of another relying party opens nothing") func movedRelyingParty() async throws {
        try await EndpointsFixture.withPasskeys { server in
            let tokens = try await server.logIn()
            let authenticator = SoftAuthenticator(userHandle: Hex.decode(tokens.userID))
            let user = try #require(Identifier<User>(tokens.userID))
            let known = try await server.passkey(of: tokens, id: [9])
            let template = try #require(try await server.store.passkey(known.credentialID))
            let moved = Passkey(
                id: authenticator.credentialID, userID: user, rpID: "old.example",
                publicKey: try .init(SoftAuthenticator.coseKey(authenticator.key.publicKey)), signCount: 0,
                isBackupEligible: true, isBackedUp: true, isUserVerified: true, transports: [], aaguid: nil,
                name: template.name, createdAt: template.createdAt)
            #expect(try await server.store.importPasskeys([moved], .replacing) == [.written])
            #expect(try await server.logIn(by: authenticator).status == 401)
            #expect(try await server.logIn(by: known).status == 200)
        }
    }
}
