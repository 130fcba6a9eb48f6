import Cryptography
import HTTP
import JSON
import Sessions
import Testing
import WebAuthnFixture

@testable import Endpoints

/// Registrations of passkeys, and the user's list of them.
@Suite struct PasskeyRegistrationTests {
    /// The short name of the credential ID 01…10 in the audit trail.
    static let label = Hex.encode(Array(sha256(Array(1...16)).prefix(8)))

    @Test("options name the user, the relying party and the passkeys that are there") func options() async throws {
        try await EndpointsFixture.withPasskeys { server in
            let tokens = try await server.logIn()
            _ = try await server.passkey(of: tokens)
            let answer = await server.call(.post, "/v1/me/passkeys/options", "{}", bearer: tokens.access)
            #expect(answer.status == 200)
            #expect(answer.integer("expires_in") == 300)
            #expect(answer.string("publicKey", "rp", "id") == "example.org")
            #expect(answer.string("publicKey", "user", "name") == "anna")
            #expect(
                answer.string("publicKey", "user", "id").flatMap { Base64URL.decode($0) }
                    == Hex.decode(tokens.userID))
            #expect(answer.string("publicKey", "attestation") == "none")
            #expect(answer.string("publicKey", "authenticatorSelection", "userVerification") == "required")
            let excluded = answer.value(["publicKey", "excludeCredentials"])?.elements ?? []
            #expect(excluded.map { $0["id"]?.string } == [Base64URL.encode(Array(1...16))])
            let again = try await server.challenge(for: tokens.access)
            #expect(again.count == 41)
            #expect(answer.string("publicKey", "challenge") != Base64URL.encode(again), "no two are equal")
        }
    }

    @Test("a passkey is added, listed, renamed and removed", arguments: [SignatureAlgorithm.es256, .eddsa])
    func walk(_ algorithm: SignatureAlgorithm) async throws {
        try await EndpointsFixture.withPasskeys { server in
            let tokens = try await server.logIn()
            _ = try await server.passkey(of: tokens, algorithm, name: "Laptop")
            let path = "/v1/me/passkeys/\(Base64URL.encode(Array(1...16)))"
            let listed = await server.call(.get, "/v1/me/passkeys", bearer: tokens.access).items
            #expect(listed.count == 1)
            let first = try #require(listed.first)
            #expect(first.names.isSuperset(of: ["id", "name", "algorithm", "transports", "created_at"]))
            #expect(first.string("id") == Base64URL.encode(Array(1...16)))
            #expect(first.string("name") == "Laptop")
            #expect(first.string("algorithm") == algorithm.rawValue)
            #expect(first.string("aaguid") == "07070707-0707-0707-0707-070707070707")
            #expect(first.strings("transports") == ["hybrid", "internal"])
            #expect(first.bool("backed_up") == true && first.bool("backup_eligible") == true)
            #expect(first.integer("last_used_at") == nil)
            let renamed = await server.call(.patch, path, #"{"name":"Phone"}"#, bearer: tokens.access)
            #expect(renamed.status == 200 && renamed.string("name") == "Phone")
            for wrong in [#"{}"#, #"{"name":null}"#, #"{"name":""}"#, #"{"names":"x"}"#] {
                #expect(await server.call(.patch, path, wrong, bearer: tokens.access).status == 400)
            }
            #expect(await server.call(.delete, path, bearer: tokens.access).status == 204)
            #expect(await server.call(.delete, path, bearer: tokens.access).status == 404)
            #expect(await server.call(.patch, path, #"{"name":"x"}"#, bearer: tokens.access).status == 404)
            #expect(await server.call(.delete, "/v1/me/passkeys/é", bearer: tokens.access).status >= 400)
            #expect(await server.call(.get, "/v1/me/passkeys", bearer: tokens.access).items.isEmpty)
            #expect(
                await server.passkeyEvents(of: tokens.userID) == [
                    "passkey_added \(Self.label)", "passkey_removed \(Self.label)",
                ])
        }
    }

    @Test("without a name a passkey is called like the device, or just so") func names() async throws {
        try await EndpointsFixture.withPasskeys { server in
            _ = try await server.passkey(of: try await server.logIn())
            let named = await server.call(
                .post, "/v1/login",
                #"{"username":"anna","password":"\#(EndpointsFixture.password)","device":{"id":"p","name":"Pixel"}}"#)
            let tokens = try Tokens(named)
            _ = try await server.passkey(of: tokens, id: [9])
            let listed = await server.call(.get, "/v1/me/passkeys", bearer: tokens.access).items
            #expect(Set(listed.map { $0.string("name") }) == ["Passkey", "Pixel"])
        }
    }

    @Test("the same registration again is answered again, from any node, and writes nothing") func retry() async throws
    {
        try await EndpointsFixture.withPasskeys { server in
            let tokens = try await server.logIn()
            let authenticator = SoftAuthenticator(userHandle: [1])
            let credential = authenticator.register(try await server.challenge(for: tokens.access))
            let first = try await server.add(credential, tokens.access)
            let again = try await server.anotherNode().add(credential, tokens.access)
            #expect(first.status == 201 && again.status == 201)
            #expect(first.text == again.text)
            #expect(await server.passkeyEvents(of: tokens.userID).count == 1)
        }
    }

    @Test(
        "a registration that is wrong is refused for what is wrong, and adds nothing",
        arguments: ["origin", "relying party", "type", "not verified", "algorithm", "not base64url"])
    func wrong(_ cause: String) async throws {
        try await EndpointsFixture.withPasskeys { server in
            let tokens = try await server.logIn()
            var authenticator = SoftAuthenticator()
            switch cause {
            case "origin": authenticator.origin = "https://evil.test"
            case "relying party": authenticator.rpID = "evil.test"
            case "type": authenticator.type = "webauthn.get"
            case "not verified": authenticator.flags = 0x01
            case "algorithm": authenticator.publicKey = [0xA2, 1, 2, 3, 0x38, 0x2E]
            default: break
            }
            var credential = authenticator.register(try await server.challenge(for: tokens.access))
            if cause == "not base64url" { credential["id"] = .string("+") }
            let answer = try await server.add(credential, tokens.access)
            #expect(answer.status == 400 && answer.string("code") == "invalid_passkey", "\(answer.text)")
            #expect(answer.string("detail")?.hasSuffix(".") == true)
            #expect(await server.call(.get, "/v1/me/passkeys", bearer: tokens.access).items.isEmpty)
            #expect(await server.passkeyEvents(of: tokens.userID).isEmpty)
        }
    }

    @Test(
        "a challenge serves one registration of one session for five minutes",
        arguments: ["invented", "changed", "expired", "used", "another session", "another user", "login"])
    func challenges(_ cause: String) async throws {
        try await EndpointsFixture.withPasskeys { server in
            let tokens = try await server.logIn()
            var (challenge, sender) = (try await server.challenge(for: tokens.access), tokens)
            switch cause {
            case "invented": challenge = [UInt8](repeating: 1, count: 41)
            case "changed": challenge[20] ^= 1
            case "expired": server.moveClock(to: 300)
            case "used":
                let other = SoftAuthenticator(credentialID: [5])
                #expect(try await server.add(other.register(challenge), tokens.access).status == 201)
            case "another session": sender = try await server.logIn(device: "other")
            case "another user":
                _ = await server.admin(.post, "/admin/v1/users", #"{"username":"ben","password":"correct horse ben"}"#)
                sender = try Tokens(
                    await server.call(
                        .post, "/v1/login",
                        #"{"username":"ben","password":"correct horse ben","device":{"id":"phone-1"}}"#))
            default: challenge = try await server.challenge()
            }
            let before = await server.call(.get, "/v1/me/passkeys", bearer: tokens.access).items.count
            let answer = try await server.add(SoftAuthenticator().register(challenge), sender.access)
            #expect(answer.status == 400 && answer.string("code") == "invalid_passkey", "\(answer.text)")
            #expect(await server.call(.get, "/v1/me/passkeys", bearer: tokens.access).items.count == before)
        }
    }

    @Test("a challenge is good until its last second") func lastSecond() async throws {
        try await EndpointsFixture.withPasskeys { server in
            let tokens = try await server.logIn()
            let challenge = try await server.challenge(for: tokens.access)
            server.moveClock(to: 299)
            #expect(try await server.add(SoftAuthenticator().register(challenge), tokens.access).status == 201)
        }
    }

    @Test("options and removals take a proof of presence of the last five minutes") func presence() async throws {
        try await EndpointsFixture.withPasskeys { server in
            let tokens = try await server.logIn()
            _ = try await server.passkey(of: tokens)
            let path = "/v1/me/passkeys/\(Base64URL.encode(Array(1...16)))"
            server.moveClock(to: 300)
            for (method, target) in [(Method.post, "/v1/me/passkeys/options"), (.delete, path)] {
                let refused = await server.call(method, target, bearer: tokens.access)
                #expect(refused.status == 401 && refused.string("code") == "insufficient_user_authentication")
            }
            // Reading and renaming do not.
            #expect(await server.call(.get, "/v1/me/passkeys", bearer: tokens.access).items.count == 1)
            #expect(await server.call(.patch, path, #"{"name":"x"}"#, bearer: tokens.access).status == 200)
            let shown = await server.call(
                .post, "/v1/me/presence", #"{"password":"\#(EndpointsFixture.password)"}"#, bearer: tokens.access)
            #expect(shown.status == 200)
            _ = try await server.challenge(for: tokens.access)
            #expect(await server.call(.delete, path, bearer: tokens.access).status == 204)
        }
    }

    @Test("a user has as many passkeys as the limit says") func limit() async throws {
        try await EndpointsFixture.withPasskeys(limit: 2) { server in
            let tokens = try await server.logIn()
            let challenge = try await server.challenge(for: tokens.access)
            for id in 1...2 { _ = try await server.passkey(of: tokens, id: [UInt8(id)]) }
            let refused = await server.call(.post, "/v1/me/passkeys/options", bearer: tokens.access)
            #expect(refused.status == 409 && refused.string("code") == "too_many_passkeys")
            // The options were given out before.
            let late = try await server.add(SoftAuthenticator().register(challenge), tokens.access)
            #expect(late.status == 409 && late.string("code") == "too_many_passkeys")
            #expect(await server.call(.delete, "/v1/me/passkeys/AQ", bearer: tokens.access).status == 204)
            #expect(try await server.add(SoftAuthenticator().register(challenge), tokens.access).status == 201)
        }
    }

    @Test("the passkey of another user is not taken over") func taken() async throws {
        try await EndpointsFixture.withPasskeys { server in
            let tokens = try await server.logIn()
            _ = try await server.passkey(of: tokens)
            _ = await server.admin(.post, "/admin/v1/users", #"{"username":"ben","password":"correct horse ben"}"#)
            let ben = try Tokens(
                await server.call(
                    .post, "/v1/login",
                    #"{"username":"ben","password":"correct horse ben","device":{"id":"b"}}"#))
            let challenge = try await server.challenge(for: ben.access)
            let refused = try await server.add(SoftAuthenticator().register(challenge), ben.access)
            #expect(refused.status == 409 && refused.string("code") == "passkey_taken")
            let path = "/v1/me/passkeys/\(Base64URL.encode(Array(1...16)))"
            #expect(await server.call(.delete, path, bearer: ben.access).status == 404)
            #expect(await server.call(.patch, path, #"{"name":"x"}"#, bearer: ben.access).status == 404)
            #expect(await server.call(.get, "/v1/me/passkeys", bearer: tokens.access).items.count == 1)
        }
    }

    @Test("a new registration of a passkey that is there is taken, and leaves its name") func again() async throws {
        try await EndpointsFixture.withPasskeys { server in
            let tokens = try await server.logIn()
            let authenticator = try await server.passkey(of: tokens, name: "First")
            let credential = authenticator.register(try await server.challenge(for: tokens.access))
            let refused = try await server.add(credential, tokens.access, name: "Second")
            #expect(refused.status == 409 && refused.string("code") == "passkey_taken")
            let names = await server.call(.get, "/v1/me/passkeys", bearer: tokens.access).items.map {
                $0.string("name")
            }
            #expect(names == ["First"])
        }
    }

    @Test("an anonymous user gets a name before a passkey") func anonymous() async throws {
        try await EndpointsFixture.withPasskeys { server in
            _ = await server.admin(.patch, "/admin/v1/clients/mobile", #"{"anonymous_users":true}"#)
            let tokens = try Tokens(
                await server.call(.post, "/v1/login", #"{"anonymous":true,"device":{"id":"d"}}"#))
            let refused = await server.call(.post, "/v1/me/passkeys/options", bearer: tokens.access)
            #expect(refused.status == 409 && refused.string("code") == "user_is_anonymous")
        }
    }

    @Test("without an RP ID there are no passkeys") func off() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            #expect(await server.call(.post, "/v1/passkeys/options").status == 404)
            #expect(await server.call(.post, "/v1/me/passkeys/options", bearer: tokens.access).status == 404)
            #expect(try await server.logIn(SoftAuthenticator().assert([1])).status == 404)
            #expect(try await server.add(SoftAuthenticator().register([1]), tokens.access).status == 404)
            #expect(await server.call(.get, "/v1/me/passkeys", bearer: tokens.access).items.isEmpty)
        }
    }

    @Test("an admin lists and removes passkeys; the deletion of the user takes them along") func admin() async throws {
        try await EndpointsFixture.withPasskeys { server in
            let tokens = try await server.logIn()
            _ = try await server.passkey(of: tokens)
            let second = try await server.passkey(of: tokens, id: [2])
            let path = "/admin/v1/users/username:anna/passkeys"
            #expect(await server.admin(.get, path).items.count == 2)
            let id = Base64URL.encode(Array(1...16))
            #expect(await server.admin(.delete, path).status == 400)
            #expect(await server.admin(.delete, "\(path)?id=AAAA").status == 404)
            #expect(await server.admin(.delete, "\(path)?id=\(id)").status == 204)
            #expect(await server.admin(.delete, "\(path)?id=\(id)").status == 404)
            #expect(await server.admin(.get, path).items.map { $0.string("id") } == ["Ag"])
            #expect(await server.refresh(tokens.refresh).status == 200, "sessions go on")
            #expect(await server.admin(.delete, "/admin/v1/users/username:anna").status == 204)
            #expect(await server.admin(.get, path).status == 404)
            #expect(try await server.logIn(by: second).status == 401)
            #expect(try await server.store.passkeys(after: nil, limit: 9).isEmpty)
        }
    }
}
