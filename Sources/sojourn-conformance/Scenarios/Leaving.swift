import SojournClient
import SojournTestKit

// Rules 13 to 15: logouts, keys and proofs.
extension Scenario {
    static let leaving = [
        Scenario(
            rule: 13, name: "offline-logout", sentence: "a logout without a network is local at once, and is told later"
        ) { world in
            let driver = try await world.signedIn()
            world.proxy.target = nil
            let begin = ContinuousClock.now
            let logout = try await driver.ask("logout")
            let seconds = (ContinuousClock.now - begin) / .seconds(1)
            try require(logout.error == nil && seconds < 5, "the logout took \(seconds) s: \(logout)")
            try await driver.requireSignedOut("after the logout")
            await driver.kill()
            let next = try world.driver()
            _ = try await next.ask("start")
            try await next.requireSignedOut("after the logout and a new start")
            await next.kill()
            try require(try await world.sessions(of: "anna").count == 1, "the server knew of the logout")
            world.proxy.target = world.server.directURL
            let count = world.seen(.logout).count
            let last = try world.driver()
            _ = try await last.ask("start")
            try await world.wait(for: count + 1, .logout)
            try await eventually("the session ends at the server") { try await world.sessions(of: "anna").isEmpty }
            // The debt is paid once. A login and a call are time enough to see another request.
            await last.kill()
            let paid = world.seen(.logout).count
            let again = try world.driver()
            _ = try await again.ask("start")
            try await again.login("anna")
            _ = try await again.requireToken("after the next login")
            try require(world.seen(.logout).count <= paid + 1, "the logout is told again and again")
        },
        Scenario(
            rule: 13, name: "another-login", sentence: "a logout that is still to be told hinders no login, and is kept"
        ) { world in
            try await world.createUser("ben")
            let driver = try await world.signedIn()
            world.plan(.logout, then: .status(503))
            _ = try await driver.ask("logout")
            try await driver.login("ben")
            _ = try await driver.requireToken("after the login of another user")
            try require(try await world.sessions(of: "anna").count == 1, "the server knew of the logout")
            await driver.kill()
            world.plan(.logout)
            let next = try world.driver()
            _ = try await next.ask("start")
            try await eventually("the first session ends at the server") {
                try await world.sessions(of: "anna").isEmpty
            }
            _ = try await next.requireToken("when the first session has ended")
            try await next.requireSignedIn("when the first session has ended")
            try require(try await world.sessions(of: "ben").count == 1, "the session of the next user has ended")
        },
    ]

    static let signing = [
        Scenario(
            rule: 14, name: "key", sentence: "a session is bound by its login to a key that each new start uses",
            renewal: .bound
        ) { world in
            let driver = try await world.signedIn()
            let key = world.seen(.login).last?.proofKey
            try require(key != nil, "the login has no proof")
            for start in 1...2 {
                let next = try world.driver()
                _ = try await next.requireToken(.renewed, "after new start \(start)")
                try require(world.renewals.last?.proofKey == key, "after new start \(start) another key signs")
                await next.kill()
            }
            let answer = try await driver.token()
            try require(answer.members.text("type")?.lowercased() == "dpop", "the token is not bound: \(answer)")
        },
        Scenario(
            rule: 15, name: "nonce", sentence: "a nonce is taken from an answer, signed, and remembered",
            renewal: .bound, environment: ["SOJOURN_DPOP_NONCE": "required"]
        ) { world in
            let driver = try await world.signedIn()
            try await driver.elapse()
            _ = try await driver.requireToken(.fresh, "with a server that requires nonces")
            try require(world.renewals.count == 1, "\(world.renewals.count) renewals: the nonce was not remembered")
            try require(world.renewals[0].proofNonce != nil, "the proof has no nonce")
            world.plan(.renewal, [.staleNonce])
            try await driver.elapse()
            _ = try await driver.requireToken(.fresh, "before the nonce is replaced")
            try await driver.elapse()
            _ = try await driver.requireToken(.fresh, "after an answer with a wrong nonce")
            try require(world.renewals.count == 4, "\(world.renewals.count) renewals instead of four")
        },
        Scenario(
            rule: 15, name: "proof-clock",
            sentence: "a refused proof is signed again with the server's time, and not more than once", renewal: .bound
        ) { world in
            let driver = try world.driver()
            try await driver.moveWall(86_400)
            try await driver.login("anna")
            let logins = world.seen(.login).count
            try require(logins == 2, "\(logins) requests for a login with a clock that is a day ahead instead of two")
            try await driver.elapse()
            _ = try await driver.requireToken(.fresh, "with a clock that is a day ahead")
            let count = world.renewals.count
            world.plan(.renewal, then: .answer(.json(400, #"{"error":"invalid_dpop_proof"}"#)))
            try await driver.elapse()
            let answer = try await driver.token(.fresh)
            try require(
                answer.error != nil && answer.error != "ended" && answer.error != "not-signed-in",
                "every proof is refused, and the answer to token is \(answer)")
            try require(
                world.renewals.count == count + 2,
                "\(world.renewals.count - count) requests with a proof instead of two")
            world.plan(.renewal)
            try await driver.elapse()
            _ = try await driver.requireToken(.fresh, "when proofs are accepted again")
        },
    ]
}
