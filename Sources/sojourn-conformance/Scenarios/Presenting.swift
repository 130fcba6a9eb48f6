import Foundation
import SojournClient
import SojournTestKit

// Rules 3 to 6: how a token is presented, and how its answer is taken.
extension Scenario {
    static let presenting = [
        Scenario(
            rule: 3, name: "patience", sentence: "an attempt is given up after a quarter of a short rotation interval",
            settings: ServerSettings(rotationInterval: 4, refreshAfter: World.refreshAfter)
        ) { world in
            let driver = try await world.signedIn()
            world.plan(.renewal, [.held(world.gate(), .pass)])
            try await driver.elapse()
            let token = driver.tokenLater(.fresh)
            // One second, and half a second before the retry, with time to spare for a slow machine.
            let seen = try await world.wait(for: 2, .renewal, upTo: 12)
            try require(seen[0].refreshToken == seen[1].refreshToken, "the retry presents another token")
            let answer = try await token.value
            try require(answer.token != nil, "the retry succeeds, and the answer to token is \(answer)")
        },
        Scenario(
            rule: 3, name: "frozen",
            sentence: "a process that stood still between loading and sending ends nothing, because it says sent_at",
            settings: ServerSettings(rotationInterval: 1, refreshAfter: World.refreshAfter), needs: [.freezing]
        ) { world in
            let frozen = try await world.signedIn()
            try await frozen.command("freeze", ["at": .string("before-send")])
            let late = frozen.tokenLater(.renewed)
            try await frozen.waitForStop("before-send")
            let stoppedAt = ContinuousClock.now
            let other = try world.driver()
            for _ in 0..<2 {
                // The rotation interval passes, so that the server rotates.
                try await Task.sleep(for: .milliseconds(1100))
                try await other.elapse()
                _ = try await other.requireToken(.fresh, "beside a process that stands still")
            }
            // The server lets requests decide for two seconds after `sent_at`, which has no fractions.
            try await Task.sleep(until: stoppedAt + .milliseconds(3200), clock: .continuous)
            frozen.signal(SIGCONT)
            let answer = try await late.value
            try require(answer.token != nil, "the process that stood still: \(answer)")
            try await frozen.requireSignedIn("the process that stood still")
            try await other.elapse()
            _ = try await other.requireToken(.fresh, "after the other process went on")
            try require(world.renewals.allSatisfy { $0.sentAt != nil }, "a renewal has no sent_at")
        },
        Scenario(rule: 3, name: "id-token", sentence: "a renewal declines the ID token, which the client does not use")
        {
            world in
            let driver = try await world.signedIn()
            try await driver.elapse()
            _ = try await driver.requireToken(.fresh, "after refresh_after")
            try require(world.renewals.allSatisfy { !$0.takesIDToken }, "a renewal has no id_token=false")
        },
        Scenario(
            rule: 4, name: "lost-answer",
            sentence: "a lost answer is asked for again with the same token and key, by the next process as well"
        ) { world in
            let driver = try await world.signedIn()
            world.plan(.renewal, [.cut(afterBytes: 0), .loseAnswer])
            try await driver.elapse()
            _ = try await driver.requireToken(.fresh, "after two lost answers")
            let first = world.renewals
            try require(first.count == 3, "\(first.count) attempts instead of three")
            let keys = Set(first.map(\.idempotencyKey))
            try require(Set(first.map(\.refreshToken)).count == 1, "the attempts present different tokens")
            try require(keys.count == 1 && keys != [nil], "the attempts have different keys, or none")

            world.plan(.renewal, then: .loseAnswer)
            try await driver.elapse()
            let lost = driver.tokenLater(.fresh)
            try await world.wait(for: 4, .renewal)
            lost.cancel()
            await driver.kill()
            world.plan(.renewal)
            let count = world.renewals.count
            let next = try world.driver()
            _ = try await next.requireToken(.renewed, "after a lost answer and a new start")
            let all = world.renewals
            let (before, after) = (all[3], all[count])
            try require(after.refreshToken == before.refreshToken, "another token is presented after the new start")
            try require(after.idempotencyKey == before.idempotencyKey, "the key is another one after the new start")
            try require(after.idempotencyKey != all[0].idempotencyKey, "two tokens are presented with one key")
        },
        Scenario(
            rule: 4, name: "lost-login",
            sentence: "a login whose answer was lost begins one session; the next login has another key"
        ) { world in
            world.plan(.login, [.loseAnswer])
            let driver = try world.driver()
            var answer = try await driver.ask(
                "login", ["username": .string("anna"), "password": .string(World.password)])
            // A client may leave it to the user to try again.
            if answer.error != nil {
                answer = try await driver.ask(
                    "login", ["username": .string("anna"), "password": .string(World.password)])
            }
            try require(answer.error == nil, "the second try of the login: \(answer)")
            let seen = world.seen(.login)
            try require(seen.count == 2, "\(seen.count) requests instead of two")
            try require(seen[0].idempotencyKey != nil, "a login has no Idempotency-Key")
            try require(seen[0].idempotencyKey == seen[1].idempotencyKey, "the second try has another key")
            let sessions = try await world.sessions(of: "anna")
            try require(sessions.count == 1, "\(sessions.count) sessions instead of one")
            _ = try await driver.ask("logout")
            try await driver.login("anna")
            try require(
                world.seen(.login).last?.idempotencyKey != seen[0].idempotencyKey,
                "a login after a logout has the key of the login before it")
            _ = try await driver.requireToken("after the second login")
        },
        Scenario(
            rule: 4, name: "repeated",
            sentence: "a renewal that the network sends twice, proof and all, is one renewal", renewal: .bound
        ) { world in
            let driver = try await world.signedIn()
            for number in 1...2 {
                world.plan(.renewal, [.repeated])
                try await driver.elapse()
                _ = try await driver.requireToken(.fresh, "when the network sends renewal \(number) twice")
            }
            try require(world.renewals.count == 2, "\(world.renewals.count) renewals instead of two")
            try require(try await world.sessions(of: "anna").count == 1, "the session has ended")
            await driver.kill()
            let next = try world.driver()
            _ = try await next.requireToken(.renewed, "after a new start")
        },
        Scenario(rule: 5, name: "late-answer", sentence: "an answer that comes after a logout signs nobody in") {
            world in
            let driver = try await world.signedIn()
            let gate = world.gate()
            world.plan(.renewal, [.held(gate, .pass)])
            // The logout cannot be told, so that nothing but the answer changes the record afterwards.
            world.plan(.logout, then: .status(503))
            try await driver.elapse()
            let late = driver.tokenLater(.fresh)
            try await world.wait(for: 1, .renewal)
            _ = try await driver.ask("logout")
            gate.open()
            let answer = try await late.value
            try require(answer.token == nil, "a call that waited for the renewal has got a token after the logout")
            try await driver.requireSignedOut("after the late answer")
            await driver.kill()
            let next = try world.driver()
            try await next.requireSignedOut("after the late answer and a new start")
        },
        Scenario(
            rule: 5, name: "late-refusal", sentence: "a refusal of the old session leaves the session of the next user"
        ) { world in
            try await world.createUser("ben")
            let driver = try await world.signedIn()
            let gate = world.gate()
            world.plan(.renewal, [.held(gate, .answer(.ending("refresh_token_reused")))])
            try await driver.elapse()
            let late = driver.tokenLater(.fresh)
            try await world.wait(for: 1, .renewal)
            try await driver.login("ben")
            gate.open()
            _ = try await late.value
            try await driver.requireSignedIn("after the refusal of the old session")
            _ = try await driver.requireToken("after the refusal of the old session")
            await driver.kill()
            let next = try world.driver()
            _ = try await next.requireToken(.renewed, "after a new start")
        },
        Scenario(
            rule: 6, name: "killed", sentence: "a process that is killed before or while it stores costs no session"
        ) { world in
            try await world.signedIn().kill()
            for point in ["received", "temp-written", "renamed"] {
                let victim = try world.driver()
                try await victim.command("crash", ["at": .string(point)])
                _ = try? await victim.token(.renewed)
                try await victim.waitForEnd(point)
                let (count, presented) = (world.renewals.count, world.renewals.last?.refreshToken)
                let next = try world.driver()
                _ = try await next.requireToken(.renewed, "killed at \(point)")
                try await next.requireSignedIn("killed at \(point)")
                let isSame = world.renewals[count].refreshToken == presented
                try require(
                    isSame == (point != "renamed"),
                    "killed at \(point): the token is \(isSame ? "the same" : "another")")
                await next.kill()
            }
        },
    ]
}
