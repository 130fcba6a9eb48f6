import SojournClient
import SojournTestKit

// Rules 16 to 18: what a demand for the user gets, sealed tokens, and prompts.
extension Scenario {
    /// The server's demand for the user, which keeps the session.
    static let demand = Fault.answer(
        .json(
            400,
            """
            {"error":"insufficient_user_authentication","reason":"insufficient_user_authentication",\
            "reauthenticate":false,"acr_values":"presence password"}
            """))

    static let demanding = [
        Scenario(rule: 16, name: "demand", sentence: "a demand for the user keeps everything") { world in
            let driver = try await world.signedIn()
            world.plan(.renewal, [demand])
            try await driver.elapse()
            let answer = try await driver.token(.fresh)
            try require(
                answer.error != nil && answer.error != "ended" && answer.error != "not-signed-in",
                "the answer to token is \(answer)")
            let state = try await driver.ask("state")
            try require(["presence-required", "signed-in"].contains(state.state), "the state is \(state)")
            try await driver.elapse()
            _ = try await driver.requireToken(.fresh, "when the server asks for nothing")
            let seen = world.renewals
            try require(seen[0].refreshToken == seen[1].refreshToken, "another token was presented")
        },
        Scenario(
            rule: 16, name: "password", sentence: "the password answers a demand; a wrong one keeps everything"
        ) { world in
            try await world.server.askForUser(every: 1)
            let driver = try world.driver()
            try await driver.login("anna", mode: "PASSWORD")
            let sessions = try await world.sessions(of: "anna")
            try await demanded(driver, "when the password is older than its longest age")
            let wrong = try await driver.ask("unlock", ["password": .string("wrong horse battery")])
            try require(
                wrong.error == "refused" && wrong.reason == "invalid_credentials", "the wrong password: \(wrong)")
            try await driver.requireLocked("after the wrong password")
            try await driver.command("unlock", ["password": .string(World.password)])
            _ = try await driver.requireToken("after the password")
            try await driver.requireSignedIn("after the password")
            try require(try await world.sessions(of: "anna") == sessions, "the session is another one")
        },
        Scenario(
            rule: 16, name: "biometry", sentence: "the presence key answers a demand, and the session goes on",
            needs: [.biometry]
        ) { world in
            try await world.server.askForUser(every: 1)
            let driver = try world.driver()
            try await driver.login("anna", mode: "BIOMETRIC")
            let sessions = try await world.sessions(of: "anna")
            try await demanded(driver, "when the presence is older than its longest age")
            try await driver.command("unlock", [:])
            _ = try await driver.requireToken("after the check")
            try await driver.requireSignedIn("after the check")
            try require(try await world.sessions(of: "anna") == sessions, "the session is another one")
            try require(world.seen(.login).count == 1, "the user has logged in again")
        },
        Scenario(
            rule: 16, name: "passkey", sentence: "a passkey answers a demand, and the session goes on",
            needs: [.passkeys]
        ) { world in
            let driver = try await world.signedIn()
            let sessions = try await world.sessions(of: "anna")
            _ = try await driver.addPasskey()
            world.plan(.renewal, then: demand)
            try await driver.elapse()
            let asked = try await driver.token(.fresh)
            try require(asked.error == "presence-required", "when the server asks: \(asked)")
            try await driver.canceling { try await driver.ask("show-presence") }
            try await driver.requireLocked("after a prompt that was canceled")
            world.plan(.renewal)
            try await driver.command("show-presence", [:])
            let shown = world.seen(.presence).count
            try require(shown == 1, "the server has got \(shown) proofs of presence instead of one")
            _ = try await driver.requireToken(.fresh, "after the passkey")
            try await driver.requireSignedIn("after the passkey")
            try require(try await world.sessions(of: "anna") == sessions, "the session is another one")
        },
    ]

    static let sealing = [
        Scenario(
            rule: 17, name: "sealed", sentence: "no file holds a token, and each process needs one prompt to open them",
            needs: [.biometry]
        ) { world in
            let driver = try world.driver()
            try await driver.login("anna", mode: "BIOMETRIC")
            var tokens = [try await driver.requireToken("after the login")]
            var files = try await world.files(driver)
            for _ in 0..<2 {
                try await driver.elapse()
                tokens.append(try await driver.requireToken(.fresh, "while the session is open"))
                files += try await world.files(driver)
            }
            tokens += world.renewals.map(\.refreshToken)
            for token in tokens {
                try require(!files.contains { $0.contains(token) }, "a file holds the token \(token.prefix(8))…")
            }
            try await driver.command("lock", [:])
            try await driver.requireLocked("after lock")
            await driver.kill()
            let next = try world.driver()
            _ = try await next.ask("start")
            try await next.requireLocked("after a new start")
            let count = world.renewals.count
            try await next.elapse()
            _ = try await next.token(.fresh)
            try require(world.renewals.count == count, "a sealed token was presented")
            try await next.requirePrompts(0, "at a new start")
            try await next.command("unlock", [:])
            _ = try await next.requireToken(.fresh, "after the check")
            try await next.requirePrompts(1, "when the user opens the session")
        },
        Scenario(
            rule: 17, name: "mode", sentence: "a change of the mode seals the stored tokens, or opens them",
            needs: [.biometry]
        ) { world in
            let driver = try await world.signedIn()
            let sessions = try await world.sessions(of: "anna")
            let token = try await driver.requireToken("after the login")
            try await driver.command("mode", ["to": .string("BIOMETRIC")])
            try await driver.requirePrompts(1, "for the change")
            let files = try await world.files(driver)
            try require(!files.contains { $0.contains(token) }, "a file holds the token that was stored before")
            let other = try world.driver()
            try await other.requireLocked("another process, after the change")
            try await driver.command("mode", ["to": .string("NO")])
            try await other.requirePrompts(0, "in another process")
            await other.kill()
            await driver.kill()
            let next = try world.driver()
            _ = try await next.requireToken(.renewed, "after the change back and a new start")
            try await next.requirePrompts(0, "in the mode NO")
            try require(try await world.sessions(of: "anna") == sessions, "the session is another one")
        },
        Scenario(
            rule: 17, name: "enrollment",
            sentence: "other biometry opens nothing, and the password goes on with the session",
            needs: [.biometry]
        ) { world in
            let driver = try world.driver()
            try await driver.login("anna", mode: "BIOMETRIC")
            let sessions = try await world.sessions(of: "anna")
            try await driver.command("presence", ["enrolled": .bool(true)])
            try await driver.command("lock", [:])
            let refused = try await driver.ask("unlock")
            try require(
                refused.error == "presence" && refused.reason == "enrollment-changed", "other biometry: \(refused)")
            try await driver.requireLocked("after other biometry was enrolled")
            try await driver.command("unlock", ["password": .string(World.password)])
            _ = try await driver.requireToken("after the password")
            try require(try await world.sessions(of: "anna") == sessions, "the session is another one")
            await driver.kill()
            let next = try world.driver()
            _ = try await next.ask("start")
            try await next.requireLocked("after a new start")
            try await next.command("unlock", ["password": .string(World.password)])
            _ = try await next.requireToken(.renewed, "after the password and a new start")
            try require(try await world.sessions(of: "anna") == sessions, "the session is another one")
        },
    ]

    static let prompting = [
        Scenario(
            rule: 18, name: "background", sentence: "in the background nothing prompts, and nothing is lost",
            needs: [.biometry]
        ) { world in
            let driver = try world.driver()
            try await driver.login("anna", mode: "BIOMETRIC")
            try await driver.command("lock", [:])
            try await driver.command("presence", ["background": .bool(true)])
            let prompts = try await driver.prompts()
            let refused = try await driver.ask("unlock")
            try require(refused.error != nil, "a check in the background: \(refused)")
            try await driver.requireLocked("in the background")
            try await driver.requirePrompts(prompts, "in the background")
            try await driver.command("presence", ["background": .bool(false)])
            try await driver.command("unlock", [:])
            _ = try await driver.requireToken("in the foreground again")
            try await driver.requirePrompts(prompts + 1, "in the foreground again")
        },
        Scenario(
            rule: 18, name: "canceled", sentence: "a prompt that fails or is canceled sends and changes nothing",
            needs: [.biometry]
        ) { world in
            let driver = try world.driver()
            try await driver.login("anna", mode: "BIOMETRIC")
            try await driver.command("lock", [:])
            let (files, prompts) = (try await world.files(driver), try await driver.prompts())
            let count = world.count
            try await driver.answers("canceled", "failed")
            for (number, reason) in ["canceled", "failed"].enumerated() {
                let answer = try await driver.ask("unlock")
                try require(
                    answer.error == "presence" && answer.reason == reason, "a check that is \(reason): \(answer)")
                try await driver.requireLocked("after a check that is \(reason)")
                try await driver.requirePrompts(prompts + Int64(number) + 1, "a check that is \(reason)")
            }
            try require(world.count == count, "\(world.count - count) requests")
            try require(try await world.files(driver) == files, "the store has changed")
            try await driver.command("unlock", [:])
            _ = try await driver.requireToken("after the check")
        },
        Scenario(
            rule: 18, name: "renewal", sentence: "no renewal prompts: a demand waits until the user acts",
            needs: [.biometry]
        ) { world in
            let driver = try world.driver()
            try await driver.login("anna", mode: "BIOMETRIC")
            let prompts = try await driver.prompts()
            world.plan(.renewal, then: demand)
            for _ in 0..<2 {
                try await driver.elapse(70)
                let answer = try await driver.token(.fresh)
                try require(answer.error == "presence-required", "when the server asks: \(answer)")
                _ = try await driver.ask("start")
                try await driver.requirePrompts(prompts, "by renewals alone")
            }
            world.plan(.renewal)
            try await driver.command("unlock", [:])
            try await driver.requirePrompts(prompts + 1, "when the user acts")
            _ = try await driver.requireToken(.fresh, "after the check")
        },
    ]

    /// Waits until the server asks for the user at a renewal, and checks that the client tells it.
    private static func demanded(_ driver: Driver, _ occasion: String) async throws {
        // Seconds are whole at the server.
        try await Task.sleep(for: .milliseconds(2100))
        try await driver.elapse()
        let answer = try await driver.token(.fresh)
        try require(answer.error == "presence-required", "\(occasion): \(answer)")
        try await driver.requireLocked(occasion)
    }
}
