import Cryptography
import Federation
import HTTP
import JSON
import Sessions
import Testing
import WebAuthnFixture

@testable import Endpoints

/// The five attacks of "Pre-hijacked accounts" (Sudhodanan and Paverd, USENIX Security 2022): an account is prepared for the
/// mailbox of a victim, and waits for the victim's first login by an identity provider.
struct PreHijackTests {
    private static let mailbox = "victim@corp.example"
    private static let password = "a long enough one"

    /// `acme` proves mailboxes, `globex` does not.
    private static func with(_ body: (ProviderFixture) async throws -> Void) async throws {
        let passkeys = PasskeyPolicy(rpID: "example.org", origins: ["https://example.org"], countMax: 20)
        try await ProviderFixture.with(twice: true, passkeys: passkeys, { $0.linksByProvenEmail = true }) { world in
            try await world.server.allowAnonymousUsers()
            try await body(world)
        }
    }

    /// Claims of a provider that says the mailbox is the subject's.
    private static func claims(of subject: String) -> String {
        #"{"sub":"\#(subject)","email":"\#(mailbox)","email_verified":true}"#
    }

    /// The victim's first login, by a provider that proves the mailbox.
    private static func victim(_ world: ProviderFixture) async throws -> Tokens {
        let claims =
            #"{"sub":"victim","jti":"\#(Identifier<User>(random: .system))","email":"\#(mailbox)","email_verified":true}"#
        return try Tokens(await world.present(try world.provider.token(claims), device: "own-phone"))
    }

    /// Expects that the victim's login gets an account of its own, and deletes that again, so that no other has the mailbox.
    private static func expectApart(_ world: ProviderFixture, from userID: String) async throws {
        let victim = try await victim(world)
        #expect(victim.userID != userID)
        #expect(await world.server.admin(.delete, "/admin/v1/users/\(victim.userID)").status == 204)
    }

    /// An account that a stranger has made in an app, with the name and the password of the stranger.
    private static func stranger(_ server: EndpointsFixture) async throws -> Tokens {
        let tokens = try Tokens(await server.anonymous(device: "evil-phone"))
        #expect(await server.name(tokens, "mallory", password).status == 200)
        return tokens
    }

    /// An admin writes the victim's mailbox into the account and calls it verified, as support may be talked into.
    private static func give(_ server: EndpointsFixture, to userID: String) async {
        let given = await server.admin(
            .patch, "/admin/v1/users/\(userID)", #"{"email":"\#(mailbox)","email_verified":true}"#)
        #expect(given.status == 200, "\(given.text)")
    }

    private static func sources(_ server: EndpointsFixture, _ userID: String) async -> [String?] {
        let user = await server.admin(.get, "/admin/v1/users/\(userID)")
        return ["username", "email", "password", "access"].map { user.string("sources", $0) }
    }

    private static func logIn(_ server: EndpointsFixture, _ username: String, _ password: String) async -> Answer {
        await server.call(
            .post, "/v1/login",
            #"{"username":"\#(username)","password":"\#(password)","device":{"id":"evil-phone"}}"#)
    }

    @Test("Classic-federated merge: a login by a proven address never becomes the account that a stranger named so")
    func classicFederatedMerge() async throws {
        try await Self.with { world in
            let server = world.server
            let signedUp = await server.admin(
                .post, "/admin/v1/users",
                #"{"username":"\#(Self.mailbox)","password":"\#(Self.password)","source":"user"}"#)
            #expect(signedUp.status == 201, "\(signedUp.text)")
            try await Self.expectApart(world, from: try #require(signedUp.string("user_id")))
            let stranger = try Tokens(await Self.logIn(server, Self.mailbox, Self.password))
            #expect(stranger.userID == signedUp.string("user_id"))
        }
    }

    @Test(
        "Classic-federated merge: neither the name nor the mailbox of an invitation opens the account to its first holder"
    )
    func invitedMerge() async throws {
        for members in [
            #""username":"\#(Self.mailbox)""#, #""username":"ada","email":"\#(Self.mailbox)","email_verified":true"#,
        ] {
            try await Self.with { world in
                let made = await world.server.admin(.post, "/admin/v1/invitations", "{\(members)}")
                let phone = try await InvitedPhone(world.server, made)
                #expect(await phone.act("confirm").status == 200)
                let invited = try Tokens(await phone.finish(#""password":"\#(Self.password)""#))
                try await Self.expectApart(world, from: invited.userID)
                // The trail of the victim's own account stays apart after all sessions of the other have ended.
                #expect(await world.server.admin(.post, "/admin/v1/users/\(invited.userID)/revoke").status == 200)
                try await Self.expectApart(world, from: invited.userID)
            }
        }
    }

    @Test(
        "Trojan identifier: what would bring a stranger the next password keeps the account apart",
        arguments: ["a telephone number", "a reset token"])
    func trojanIdentifier(_ left: String) async throws {
        try await Self.with { world in
            let server = world.server
            // A backend signs a stranger up without a password; no session, passkey or identity is left.
            let made = await server.admin(.post, "/admin/v1/users", #"{"username":"mallory","source":"user"}"#)
            let userID = try #require(made.string("user_id"))
            await Self.give(server, to: userID)
            let path = "/admin/v1/users/\(userID)"
            if left == "a reset token" {
                #expect(await server.admin(.post, path + "/password-reset").status == 200)
                try await Self.expectApart(world, from: userID)
                // A new password of an admin ends the token.
                let recovered = #"{"new_password":"a recovered one"}"#
                #expect(await server.admin(.put, path + "/password", recovered).status == 204)
            } else {
                #expect(await server.admin(.patch, path, #"{"phone_number":"+666"}"#).status == 200)
                try await Self.expectApart(world, from: userID)
                #expect(await server.admin(.patch, path, #"{"phone_number":null}"#).status == 200)
            }
            #expect(try await Self.victim(world).userID == userID)
        }
    }

    @Test("A provider names no user by an address that it has not proven", arguments: ["\u{FF20}", "@\u{301}"])
    func providedNames(_ sign: String) async throws {
        try await ProviderFixture.with({ $0.claims.username = "nick" }) { world in
            let claims = #"{"sub":"evil","jti":"1","nick":"victim\#(sign)corp.example"}"#
            let stranger = try Tokens(await world.present(try world.provider.token(claims), device: "evil-phone"))
            let name = await world.server.admin(.get, "/admin/v1/users/\(stranger.userID)").string("username")
            #expect(name?.unicodeScalars.contains("@") == false)
        }
    }

    @Test("No user takes a name that looks like a mailbox", arguments: ["@", "\u{FF20}", "\u{FE6B}", "@\u{338}"])
    func chosenNames(_ sign: String) async throws {
        try await EndpointsFixture.withAnonymousUsers { server in
            let name = "victim\(sign)corp.example"
            let tokens = try Tokens(await server.anonymous())
            let refused = await server.name(tokens, name)
            #expect(refused.status == 400 && refused.string("member") == "username", "\(refused.text)")
            #expect(await server.anonymousUsers() == 1)
            let phone = try await InvitedPhone(server, await server.admin(.post, "/admin/v1/invitations", "{}"))
            #expect(await phone.act("confirm").status == 200)
            let enrolled = await phone.finish(#""username":"\#(name)","password":"\#(Self.password)""#)
            #expect(enrolled.status == 400 && enrolled.string("member") == "username", "\(enrolled.text)")
            guard sign == "@" || sign == "\u{FF20}" else { return }
            // An admin gives such names, to a person and in an invitation.
            #expect(await server.admin(.post, "/admin/v1/users", #"{"username":"\#(name)"}"#).status == 201)
            let given = await server.admin(.post, "/admin/v1/invitations", #"{"username":"b\#(sign)corp.example"}"#)
            let other = try await InvitedPhone(server, given)
            #expect(await other.act("confirm").status == 200)
            #expect(await other.finish(#""password":"\#(Self.password)""#).status == 200)
        }
    }

    @Test(
        "Unexpired session: an account in which a stranger's session lives is linked after that has ended, and not before"
    )
    func unexpiredSession() async throws {
        try await Self.with { world in
            let server = world.server
            let stranger = try await Self.stranger(server)
            await Self.give(server, to: stranger.userID)
            #expect(await Self.sources(server, stranger.userID) == ["user", "admin", "user", "user"])
            try await Self.expectApart(world, from: stranger.userID)
            #expect(await server.refresh(stranger.refresh).status == 200)

            // The victim recovers the account with the help of an admin: every session ends.
            let path = "/admin/v1/users/\(stranger.userID)/password"
            #expect(await server.admin(.put, path, #"{"new_password":"a recovered one"}"#).status == 204)
            #expect(await server.refresh(stranger.refresh).status == 400)
            #expect(await Self.logIn(server, "mallory", Self.password).status == 401)
            #expect(try await Self.victim(world).userID == stranger.userID)
            #expect(await Self.sources(server, stranger.userID) == ["user", "admin", "admin", "proof"])
        }
    }

    @Test(
        "Unexpired session: a password that the stranger chose, or set anew with a reset token, keeps the account apart"
    )
    func keptPassword() async throws {
        try await Self.with { world in
            let server = world.server
            let stranger = try await Self.stranger(server)
            await Self.give(server, to: stranger.userID)
            let changed = await server.call(
                .put, "/v1/me/password",
                #"{"old_password":"\#(Self.password)","new_password":"another long one"}"#, bearer: stranger.access)
            #expect(changed.status == 204, "\(changed.text)")
            let reset = await server.admin(.post, "/admin/v1/users/\(stranger.userID)/password-reset")
            let token = try #require(reset.string("reset_token"))
            let used = await server.call(
                .post, "/v1/password-reset", #"{"reset_token":"\#(token)","new_password":"a third long one"}"#)
            #expect(used.status == 204, "\(used.text)")
            #expect(await Self.sources(server, stranger.userID) == ["user", "admin", "user", "user"])
            try await Self.expectApart(world, from: stranger.userID)
        }
    }

    @Test("Trojan identifier: a stranger's passkey keeps the account apart after the recovery, until it is removed")
    func trojanPasskey() async throws {
        try await Self.with { world in
            let server = world.server
            let stranger = try await Self.stranger(server)
            let trojan = try await server.passkey(of: stranger)
            await Self.give(server, to: stranger.userID)
            let path = "/admin/v1/users/\(stranger.userID)"
            #expect(await server.admin(.put, path + "/password", #"{"new_password":"a recovered one"}"#).status == 204)
            try await Self.expectApart(world, from: stranger.userID)
            let id = try #require(await server.admin(.get, path + "/passkeys").items.first?.string("id"))
            #expect(await server.admin(.delete, path + "/passkeys?id=\(id)").status == 204)
            #expect(try await server.logIn(by: trojan).status == 401)
            #expect(try await Self.victim(world).userID == stranger.userID)
        }
    }

    @Test("Trojan identifier: an identity that proves no mailbox keeps the account apart, whatever else is replaced")
    func trojanIdentity() async throws {
        try await Self.with { world in
            let server = world.server
            let stranger = try Tokens(
                await world.present(try world.other.token(#"{"sub":"mallory"}"#), provider: "globex"))
            await Self.give(server, to: stranger.userID)
            let path = "/admin/v1/users/\(stranger.userID)"
            #expect(await server.admin(.put, path + "/password", #"{"new_password":"a recovered one"}"#).status == 204)
            try await Self.expectApart(world, from: stranger.userID)
            #expect(await server.admin(.delete, path + "/identities?provider=globex&subject=mallory").status == 204)
            #expect(try await Self.victim(world).userID == stranger.userID)
        }
    }

    @Test("Unexpired email change: what was sent to the stranger's mailbox ends when the account gets the victim's")
    func unexpiredEmailChange() async throws {
        try await Self.with { world in
            let server = world.server
            let stranger = try await Self.stranger(server)
            let own = await server.call(
                .patch, "/v1/me", #"{"email":"mallory@evil.example","password":"\#(Self.password)"}"#,
                bearer: stranger.access)
            #expect(own.status == 200, "\(own.text)")
            let reset = await server.admin(.post, "/admin/v1/users/\(stranger.userID)/password-reset")
            let token = try #require(reset.string("reset_token"))
            // The stranger writes the victim's mailbox into the account, which proves nothing.
            let moved = await server.call(
                .patch, "/v1/me", #"{"email":"\#(Self.mailbox)","password":"\#(Self.password)"}"#,
                bearer: stranger.access)
            #expect(moved.status == 200, "\(moved.text)")
            #expect(await Self.sources(server, stranger.userID)[1] == "user")
            try await Self.expectApart(world, from: stranger.userID)
            let late = await server.call(
                .post, "/v1/password-reset", #"{"reset_token":"\#(token)","new_password":"a third long one"}"#)
            #expect(late.status == 400, "\(late.text)")
            // After the recovery no session is left that could change the mailbox back.
            await Self.give(server, to: stranger.userID)
            let path = "/admin/v1/users/\(stranger.userID)/password"
            #expect(await server.admin(.put, path, #"{"new_password":"a recovered one"}"#).status == 204)
            let back = await server.call(
                .patch, "/v1/me", #"{"email":"mallory@evil.example"}"#, bearer: stranger.access)
            #expect(back.status == 401)
        }
    }

    @Test("Non-verifying identity provider: its word about a mailbox makes an account that no proof joins")
    func nonVerifyingProvider() async throws {
        try await Self.with { world in
            let server = world.server
            let claims = Self.claims(of: "m")
            let stranger = try Tokens(await world.present(try world.other.token(claims), provider: "globex"))
            #expect(await Self.sources(server, stranger.userID) == ["provider", "provider", nil, "provider"])
            try await Self.expectApart(world, from: stranger.userID)
            // Its identity gone, and the name that of the mailbox: the session of the stranger is still there.
            #expect(
                await server.admin(.delete, "/admin/v1/users/\(stranger.userID)/identities?provider=globex&subject=m")
                    .status == 204)
            try await Self.expectApart(world, from: stranger.userID)
            await Self.give(server, to: stranger.userID)
            try await Self.expectApart(world, from: stranger.userID)
        }
    }

    @Test("Non-verifying identity provider: it never becomes an account that has the mailbox")
    func nonVerifyingProviderLater() async throws {
        try await Self.with { world in
            let victim = try await Self.victim(world)
            let claims = Self.claims(of: "m")
            let stranger = try Tokens(await world.present(try world.other.token(claims), provider: "globex"))
            #expect(stranger.userID != victim.userID)
            #expect(await Self.sources(world.server, victim.userID) == ["proof", "proof", nil, "proof"])
            // A second provider that proves the mailbox does.
            let token = try world.provider.token(Self.claims(of: "x"))
            #expect(try Tokens(await world.present(token, provider: "acme-2")).userID == victim.userID)
        }
    }

    @Test("A proof in the session of an anonymous user makes the account the user's own")
    func provenName() async throws {
        try await Self.with { world in
            let server = world.server
            let tokens = try Tokens(await server.anonymous())
            #expect(await Self.sources(server, tokens.userID) == ["user", nil, nil, "user"])
            let token = try world.provider.token(Self.claims(of: "v"))
            let named = await server.call(
                .post, "/v1/me/account", #"{"provider":"acme","id_token":"\#(token)"}"#, bearer: tokens.access)
            #expect(named.status == 200, "\(named.text)")
            #expect(await Self.sources(server, tokens.userID) == ["proof", "proof", nil, "proof"])
            let second = try world.provider.token(Self.claims(of: "w"))
            #expect(try Tokens(await world.present(second, provider: "acme-2")).userID == tokens.userID)
        }
    }

    @Test("An invitation into an account without a password keeps the account apart while its session lives")
    func invitedDevice() async throws {
        try await Self.with { world in
            let server = world.server
            let made = await server.admin(.post, "/admin/v1/users", #"{"username":"\#(Self.mailbox)"}"#)
            let userID = try #require(made.string("user_id"))
            #expect(await Self.sources(server, userID) == ["admin", nil, nil, "admin"])
            let phone = try await InvitedPhone(
                server, await server.admin(.post, "/admin/v1/invitations", #"{"user":"\#(userID)"}"#))
            let confirmed = await phone.act("confirm")
            let (finger, anna) = (ProvingDevice(.eddsa), try await server.logIn())
            let touch = finger.assertion(server, anna) { draft in
                for (name, value) in [("iss", phone.id), ("sub", userID), ("login", phone.id)] {
                    draft.set(name, value)
                }
            }
            let enrolled = await phone.finish(
                #""authentication_mode":"BIOMETRIC","presence_key":\#(finger.jwk),"user_assertion":"\#(touch)""#)
            #expect(enrolled.status == 200, "\(confirmed.text) \(enrolled.text)")
            #expect(await Self.sources(server, userID)[3] == "invitation")
            try await Self.expectApart(world, from: userID)
            #expect(await server.admin(.post, "/admin/v1/users/\(userID)/revoke").status == 200)
            #expect(try await Self.victim(world).userID == userID)
        }
    }

    @Test("A name that a stranger chose hides no account that an admin has made for the mailbox")
    func hiddenAccount() async throws {
        try await Self.with { world in
            let server = world.server
            let made = await server.admin(
                .post, "/admin/v1/users",
                #"{"username":"victim","password":"\#(Self.password)","email":"\#(Self.mailbox)","email_verified":true}"#
            )
            let signedUp = await server.admin(
                .post, "/admin/v1/users", #"{"username":"\#(Self.mailbox)","source":"user"}"#)
            #expect(signedUp.status == 201)
            // The password of the admin, changed by its user, and a session by it, are the user's own.
            let session = try Tokens(await Self.logIn(server, "victim", Self.password))
            let changed = await server.call(
                .put, "/v1/me/password",
                #"{"old_password":"\#(Self.password)","new_password":"another long one"}"#, bearer: session.access)
            #expect(changed.status == 204, "\(changed.text)")
            #expect(try await Self.victim(world).userID == made.string("user_id"))
        }
    }
}
