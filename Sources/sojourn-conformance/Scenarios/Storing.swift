import SojournClient
import SojournTestKit

// Rules 1 and 2, and the end of rule 19: what a store says, and what is presented.
extension Scenario {
    static let storing = [
        Scenario(rule: 1, name: "locked", sentence: "a store that cannot be read shows no login, and is read again") {
            world in
            try await world.signedIn().kill()
            let driver = try world.driver()
            try await driver.failStore("read")
            let start = try await driver.ask("start")
            try require(["locked", "store-failed"].contains(start.state), "with a locked store the state is \(start)")
            let token = try await driver.token()
            try require(
                token.error != nil && token.error != "not-signed-in" && token.error != "ended",
                "with a locked store the answer to token is \(token)")
            try await driver.failStore("none")
            _ = try await driver.requireToken("when the store can be read again")
            try await driver.requireSignedIn("when the store can be read again")
        },
        Scenario(
            rule: 2, name: "unstored",
            sentence: "a token that could not be stored is not presented: the stored one is"
        ) { world in
            let driver = try await world.signedIn()
            try await driver.elapse()
            try await driver.failStore("write")
            _ = try await driver.token()
            try require(world.renewals.count == 1, "\(world.renewals.count) renewals instead of one")
            try await driver.failStore("none")
            try await driver.elapse()
            _ = try await driver.requireToken(.fresh, "when the store can be written again")
            let seen = world.renewals
            try require(seen.count == 2, "\(seen.count) renewals instead of two")
            try require(seen[0].refreshToken == seen[1].refreshToken, "a token was presented that was never stored")
            await driver.kill()
            let next = try world.driver()
            _ = try await next.requireToken(.renewed, "after a new start")
            try require(world.renewals.last?.refreshToken != seen[0].refreshToken, "the renewed token was not stored")
        },
    ]

    static let keeping = [
        Scenario(
            rule: 19, name: "nothing-deleted",
            sentence: "no error of the store deletes anything; a login keeps what could not be read"
        ) { world in
            try await world.signedIn().kill()
            for failure in ["read", "write"] {
                let victim = try world.driver()
                try await victim.failStore(failure)
                _ = try await victim.ask("start")
                _ = try await victim.token(.renewed)
                await victim.kill()
            }
            let next = try world.driver()
            _ = try await next.requireToken(.renewed, "after errors of the store and a new start")
            try await next.requireSignedIn("after errors of the store and a new start")
            await next.kill()
            let damage = "no record, and still something that nobody may delete"
            try await world.replaceFiles(by: damage)
            let last = try world.driver()
            let token = try await last.token()
            try require(token.token == nil && token.error != "ended", "with a damaged record: \(token)")
            try await last.login("anna")
            _ = try await last.requireToken("after a login")
            try require(try await world.files(last).contains(damage), "the damaged record was deleted")
        },
        Scenario(
            rule: 20, name: "log", sentence: "standard error holds no token, no proof, no password and no name",
            renewal: .bound
        ) { world in
            let driver = try await world.signedIn()
            var secrets = ["anna", World.password]
            world.plan(.renewal, [.status(503, retryAfter: 0), .cut(afterBytes: 10)])
            try await driver.elapse()
            secrets.append(try await driver.requireToken(.fresh, "after a 503 and a lost answer"))
            try await driver.elapse()
            world.plan(.renewal, [.answer(.json(400, #"{"error":"invalid_request","reason":"nonsense"}"#))])
            secrets.append(try await driver.requireToken("after a refusal"))
            _ = try await driver.ask("logout")
            _ = try? await world.wait(for: 1, .logout, upTo: 3)
            await driver.kill()
            secrets += (world.renewals + world.seen(.logout)).flatMap { [$0.refreshToken, $0.proof ?? ""] }
            let text = world.errors
            for secret in secrets where !secret.isEmpty {
                try require(!text.contains(secret), "standard error holds \(secret.prefix(8))…")
            }
        },
    ]
}
