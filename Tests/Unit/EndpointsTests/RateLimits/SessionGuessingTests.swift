import HTTP
import Sessions
import StoreConformance
import Testing

@testable import Endpoints

/// Guesses at the password of a user that is signed in are slowed down too, and wrong passwords of strangers do not disturb it.
@Suite struct SessionGuessingTests {
    private static let right = "&password=correct+horse"
    private static let wrong = "&password=wrong"

    private func logIn(
        _ server: EndpointsFixture, _ password: String = EndpointsFixture.password, device: String = "phone-1"
    ) async -> Answer {
        await server.call(
            .post, "/v1/login",
            #"{"username":"anna","password":"\#(password)","device":{"id":"\#(device)"}}"#)
    }

    /// Ten wrong ones at once, and then one each hundred seconds until the lock.
    private func lock(_ server: EndpointsFixture, from second: Int64, _ guess: () async -> Answer) async {
        for _ in 1...10 { #expect(await guess().status != 429) }
        for step in 1...10 as ClosedRange<Int64> {
            server.moveClock(to: second + step * 100)
            #expect(await guess().status != 429)
        }
        #expect(await guess().field("Retry-After") == "901")
    }

    @Test func theIDOfTheDeviceKeepsNoSessionFromItsPassword() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await GuardedPhone(server, .password)
            server.moveClock(to: 4000)
            await lock(server, from: 4000) { await logIn(server, "wrong") }
            #expect(await logIn(server).status == 429)
            #expect(await phone.refresh(Self.right).status == 200)
            server.moveClock(to: 5001)
            let changed = await server.call(
                .put, "/v1/me/password",
                #"{"old_password":"\#(EndpointsFixture.password)","new_password":"another horse"}"#,
                bearer: phone.tokens.access)
            #expect(changed.status == 204)
        }
    }

    @Test func aStolenTokenGuessesSlowly_andKeepsNoOtherSessionOut() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await GuardedPhone(server, .password)
            let other = try await server.logIn(device: "phone-2", more: #","authentication_mode":"PASSWORD""#)
            server.moveClock(to: 4000)
            await lock(server, from: 4000) { await phone.refresh(Self.wrong) }
            // It is one row, whichever call the guess comes with.
            #expect(await phone.refresh(Self.right).status == 429)
            #expect(await phone.resume(Self.right).status == 429)
            #expect(await phone.show(#"{"password":"\#(EndpointsFixture.password)"}"#).status == 429)
            #expect(await server.refresh(other.refresh, more: Self.right).status == 200)
            // The owner has a way on at once: a login, which leaves the thief nothing.
            #expect(await logIn(server).status == 200)
            #expect(await phone.refresh(Self.right).string("reason") == "replaced")
        }
    }

    @Test func whatWouldBeRefusedWithTheRightPasswordTriesNone() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await GuardedPhone(server, .no)
            for _ in 1...12 {
                let elsewhere = await phone.refresh("&device_id=other" + Self.wrong)
                #expect(elsewhere.string("reason") == "device_mismatch")
            }
            #expect(await phone.refresh(Self.right).status == 200)
            var token = phone.tokens.refresh
            for second in [200, 400, 600] as [Int64] {
                server.moveClock(to: second)
                token = try #require(await server.refresh(token).string("refresh_token"))
            }
            #expect(await phone.refresh(Self.wrong).string("reason") == "refresh_token_reused")
            #expect(await server.admin(.get, "/admin/v1/events?limit=200").text.contains("login_failed") == false)
        }
    }

    @Test func anAdminLiftsItOnEveryNode() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await GuardedPhone(server, .password)
            let nodes = [server, try await server.anotherNode()]
            server.moveClock(to: 4000)
            for node in nodes {
                for _ in 1...12 { _ = await node.refresh(phone.tokens.refresh, more: Self.wrong) }
                #expect(await node.refresh(phone.tokens.refresh, more: Self.right).status == 429)
            }
            #expect(await server.admin(.post, "/admin/v1/users/username:anna/unlock").status == 200)
            for node in nodes {
                #expect(await node.refresh(phone.tokens.refresh, more: Self.right).status == 200)
            }
            // What comes later counts anew.
            server.moveClock(to: 8000)
            for _ in 1...12 { _ = await phone.refresh(Self.wrong) }
            #expect(await phone.refresh(Self.right).status == 429)
        }
    }

    /// Nodes learn of the unlocking from the user, whatever has happened to the user in the meantime.
    @Test func whatComesAfterAnUnlockingDoesNotUndoIt() async throws {
        try await EndpointsFixture.with { server in
            let other = try await server.anotherNode()
            let mode = #","authentication_mode":"PASSWORD""#
            let phones = [
                try await server.logIn(device: "phone-1", more: mode),
                try await server.logIn(device: "phone-2", more: mode),
            ]
            server.moveClock(to: 4000)
            for phone in phones {
                for _ in 1...12 { _ = await other.refresh(phone.refresh, more: Self.wrong) }
                #expect(await other.refresh(phone.refresh, more: Self.right).status == 429)
            }
            #expect(await server.admin(.post, "/admin/v1/users/username:anna/unlock").status == 200)
            #expect(await logIn(server, "wrong", device: "strange").status == 401)
            let user = await server.admin(.get, "/admin/v1/users/username:anna")
            #expect(user.integer("locked_until") == nil)
            #expect(await other.refresh(phones[0].refresh, more: Self.right).status == 200)
            #expect(await logIn(server, device: "tablet").status == 200)
            #expect(await other.refresh(phones[1].refresh, more: Self.right).status == 200)
        }
    }

    /// Many failedAttempts at once are none for free, and what they are answered does not tell the right one. With time the lock goes.
    @Test(arguments: [EndpointsFixture.password, "wrong"])
    func theLockHoldsForAPasswordThatIsBeingHashed(_ password: String) async throws {
        try await EndpointsFixture.with { server in
            let hash = try HeldHash()
            let node = try await server.anotherNode(passwords: hash.passwords)
            let phone = try await GuardedPhone(node, .password)
            server.moveClock(to: 4000)
            let refresh = try await hash.during {
                await phone.refresh(password == "wrong" ? Self.wrong : Self.right)
            } _: {
                await lock(node, from: 4000) { await phone.refresh(Self.wrong) }
            }
            #expect(refresh.status == 429)
            let login = try await hash.during {
                await logIn(node, password)
            } _: {
                await lock(node, from: 5000) { await logIn(node, "wrong") }
            }
            #expect(login.status == 429)
            server.moveClock(to: 6900)
            #expect(await phone.refresh(Self.right).status == 200)
            #expect(await logIn(node).status == 200)
        }
    }
}
