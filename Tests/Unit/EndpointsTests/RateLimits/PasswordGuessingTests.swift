import HTTP
import SQLiteStore
import Sessions
import StoreConformance
import Testing

@testable import Endpoints

@Suite struct PasswordGuessingTests {
    private func fail(_ server: EndpointsFixture, _ count: Int, as name: String = "anna", device: String = "strange")
        async
    {
        for _ in 0..<count { _ = await logIn(server, "wrong", as: name, device: device) }
    }

    private func logIn(
        _ server: EndpointsFixture, _ password: String = EndpointsFixture.password, as name: String = "anna",
        device: String = "strange"
    ) async -> Answer {
        await server.call(
            .post, "/v1/login",
            #"{"username":"\#(name)","password":"\#(password)","device":{"id":"\#(device)"}}"#)
    }

    @Test func delaysGrowForEveryNameAlike() async throws {
        try await EndpointsFixture.with { server in
            var second: Int64 = 0
            for name in ["anna", "nobody"] {
                await fail(server, 10, as: name)
                for wait in [1, 2, 4, 8, 16, 32, 60, 60] as [Int64] {
                    let early = await logIn(server, as: name)
                    #expect(early.status == 429, "\(name) \(wait)")
                    #expect(early.string("code") == "too_many_requests")
                    #expect(early.field("Retry-After") == "\(wait + 1)", "\(name)")
                    second += wait
                    server.moveClock(to: second)
                    let wrong = await logIn(server, "wrong", as: name)
                    #expect(wrong.status == 401)
                    #expect(wrong.string("code") == "invalid_credentials")
                }
            }
        }
    }

    @Test func aRightPasswordBeginsTheRowAnew() async throws {
        try await EndpointsFixture.with { server in
            await fail(server, 9)
            let kept1 = try await server.store.user(.username("anna"))
            #expect(kept1?.wrongPasswords?.count == 9)
            let right = await logIn(server)
            #expect(right.status == 200)
            let kept2 = try await server.store.user(.username("anna"))
            #expect(kept2?.wrongPasswords == nil)
            await fail(server, 9, device: "other")
            let again = await logIn(server, device: "other")
            #expect(again.status == 200)
        }
    }

    @Test func aStrangersGuessesKeepTheOwnerOutOfNothingThatIsTheirs() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn(device: "phone-1")
            await fail(server, 12)
            let strange = await logIn(server)
            #expect(strange.status == 429)
            let refreshed = await server.refresh(tokens.refresh)
            #expect(refreshed.status == 200)
            let profile = await server.call(.get, "/v1/me", bearer: tokens.access)
            #expect(profile.status == 200)
            let known = await logIn(server, device: "phone-1")
            #expect(known.status == 200)
            // The strangers still wait.
            let still = await logIn(server)
            #expect(still.status == 429)
        }
    }

    @Test func aKnownDeviceHasARowOfItsOwn() async throws {
        try await EndpointsFixture.with { server in
            _ = try await server.logIn(device: "phone-1")
            await fail(server, 10, device: "phone-1")
            let known = await logIn(server, device: "phone-1")
            #expect(known.status == 429)
            let elsewhere = await logIn(server)
            #expect(elsewhere.status == 200)
        }
    }

    /// The id of an old phone is no way in.
    @Test func aDeviceIsKnownAsLongAsItsSessionLives() async throws {
        try await EndpointsFixture.with { server in
            _ = try await server.logIn(device: "phone-1")
            await fail(server, 12)
            #expect(await logIn(server, device: "phone-1").status == 200)
            #expect(await server.admin(.post, "/admin/v1/users/username:anna/revoke").status == 200)
            #expect(await logIn(server, device: "phone-1").status == 429)
        }
    }

    /// Another node has counted: this one knows of it from the store alone.
    private func lock(until seconds: Int64, _ server: EndpointsFixture) async throws {
        _ = try await server.store.updateUser(.username("anna")) { change in
            let start = Instant(secondsSinceEpoch: EndpointsFixture.start)
            change.user.wrongPasswords = User.WrongPasswords(
                count: 20, lastAt: start, lockedUntil: start + .seconds(seconds))
        }
    }

    @Test func aLockOfAnotherNodeLooksLikeAWrongPassword_andEndsByTime() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn(device: "phone-1")
            try await lock(until: 900, server)
            server.moveClock(to: 899)
            let (right, unknown) = (await logIn(server), await logIn(server, as: "nobody"))
            #expect(right.status == 401)
            #expect(right.text == unknown.text)
            let refreshed = await server.refresh(tokens.refresh)
            #expect(refreshed.status == 200)
            let known = await logIn(server, device: "phone-1")
            #expect(known.status == 200)
            server.moveClock(to: 900)
            let later = await logIn(server)
            #expect(later.status == 200)
        }
    }

    /// Many failedAttempts at once are none for free: what is being compared when the lock comes opens nothing from a strange device.
    @Test(arguments: [("strange", 401), ("phone-1", 200)])
    func aLockHoldsForAPasswordThatIsBeingHashed(_ device: String, _ status: Int) async throws {
        try await EndpointsFixture.with { server in
            _ = try await server.logIn(device: "phone-1")
            let hash = try HeldHash()
            let node = try await server.anotherNode(passwords: hash.passwords)
            let login = try await hash.during {
                await logIn(node, device: device)
            } _: {
                try await lock(until: 900, server)
            }
            #expect(login.status == status)
            // It is no wrong password: the row ends when it would have.
            #expect(try await server.store.user(.username("anna"))?.wrongPasswords?.count == 20)
        }
    }

    @Test func anAdminLiftsTheLockAndTheDelays() async throws {
        try await EndpointsFixture.with { server in
            try await lock(until: 900, server)
            await fail(server, 12)
            let before = await logIn(server)
            #expect(before.status == 429)
            let shown = await server.admin(.get, "/admin/v1/users/username:anna")
            #expect(shown.integer("locked_until") == EndpointsFixture.start + 900)
            let unlocked = await server.admin(.post, "/admin/v1/users/username:anna/unlock")
            #expect(unlocked.status == 200)
            #expect(unlocked.integer("locked_until") == nil)
            let after = await logIn(server)
            #expect(after.status == 200)
            let missing = await server.admin(.post, "/admin/v1/users/username:nobody/unlock")
            #expect(missing.status == 404)
        }
    }

    @Test func aNewPasswordLiftsTheLockAndTheDelays() async throws {
        try await EndpointsFixture.with { server in
            try await lock(until: 900, server)
            await fail(server, 12)
            #expect(await logIn(server).status == 429)
            let set = await server.admin(
                .put, "/admin/v1/users/username:anna/password", #"{"new_password":"battery staple"}"#)
            #expect(set.status == 204)
            #expect(await logIn(server, "battery staple").status == 200)
        }
    }

    /// The delays are each node's own: one that hears of the lifting last hears of it all the same.
    @Test func aLoginAtOneNodeDoesNotKeepTheLiftingFromAnother() async throws {
        try await EndpointsFixture.with { server in
            let other = try await server.anotherNode()
            await fail(other, 12)
            #expect(await server.admin(.post, "/admin/v1/users/username:anna/unlock").status == 200)
            await fail(server, 1)
            #expect(await logIn(server).status == 200)
            #expect(await logIn(other, device: "tablet").status == 200)
        }
    }

    @Test func theLockComesWithTheTwentiethAndIsKeptWithTheUser() async throws {
        try await EndpointsFixture.with { server in
            await fail(server, 10)
            for step in 1...10 {
                server.moveClock(to: Int64(step) * 100)
                let wrong = await logIn(server, "wrong")
                #expect(wrong.status == 401)
            }
            let kept = try await server.store.user(.username("anna"))?.wrongPasswords
            #expect(kept?.count == 20)
            #expect(kept?.lockedUntil == Instant(secondsSinceEpoch: EndpointsFixture.start + 1900))
            let events = await server.admin(.get, "/admin/v1/events?limit=200").items.map { $0.string("reason") }
            #expect(events.filter { $0 == "wrong_password" }.count == 19)
            #expect(events.filter { $0 == "wrong_password_locked" }.count == 1)
        }
    }

    @Test func theOldPasswordCannotBeGuessedWithAStolenToken() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn(device: "phone-1")
            func change(_ old: String) async -> Answer {
                await server.call(
                    .put, "/v1/me/password", #"{"old_password":"\#(old)","new_password":"another horse"}"#,
                    bearer: tokens.access)
            }
            for _ in 1...10 {
                let answer = await change("wrong")
                #expect(answer.status == 401)
            }
            let limited = await change(EndpointsFixture.password)
            #expect(limited.status == 429)
            server.moveClock(to: 1)
            let changed = await change(EndpointsFixture.password)
            #expect(changed.status == 204)
        }
    }
}
