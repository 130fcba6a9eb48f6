import SojournClient
import SojournTestKit

// Rule 14 once more: logins by a passkey and by a phone begin sessions that are bound like any other.
extension Scenario {
    static let otherLogins = [
        Scenario(
            rule: 14, name: "passkey",
            sentence: "a login by a passkey binds its session, and a canceled one sends nothing",
            renewal: .bound, needs: [.passkeys]
        ) { world in
            let driver = try await world.signedIn()
            _ = try await driver.addPasskey()
            let again = try await driver.ask("add-passkey")
            try require(again.error != nil, "one authenticator has made two passkeys for one user")
            _ = try await driver.ask("logout")
            let count = world.seen(.login).count
            try await driver.canceling { try await driver.ask("login-passkey") }
            try await driver.requireSignedOut("after a prompt that was canceled")
            try require(world.seen(.login).count == count, "a login was sent after the prompt was canceled")
            let login = try await driver.ask("login-passkey")
            try require(login.members.text("user") == "anna", "the login by a passkey: \(login)")
            let seen = world.seen(.login)
            try require(seen.count == count + 1, "\(seen.count - count) logins instead of one")
            try require(seen.last?.proofKey == seen.first?.proofKey, "the login by a passkey has another key")
            try await world.requireBound(driver, by: seen.last?.proofKey, "the login by a passkey")
        },
        Scenario(
            rule: 14, name: "phone", sentence: "a session that a phone lets in is bound to the key of this device",
            renewal: .bound, needs: [.phoneAsking]
        ) { world in
            let (phone, driver) = (try await world.phone(), try world.driver())
            try await phone.letIn(try await driver.askPhone(), driver)
            try await driver.requireLetIn()
            try await world.requireBound(driver, by: world.seen(.collection).last?.proofKey, "the login by a phone")
        },
    ]

    static let phones = [
        Scenario(
            rule: 4, name: "lost-approval",
            sentence: "an approval with a lost answer is sent again with the same key, and lets the device in",
            needs: [.phoneApproving]
        ) { world in
            let driver = try await world.signedIn()
            let login = try await world.server.requestLogin()
            let scanned = try await driver.ask("scan", ["text": .string(login.picture)])
            try require(scanned.members.text("input") == "WAIT_FOR_CONFIRMATION", "after the scan: \(scanned)")
            let number = try await world.server.number(of: login)
            world.plan(.approval, [.loseAnswer])
            try await driver.approve("confirm", ["number": .integer(Int64(number ?? 0))], in: world)
            world.plan(.approval, [.loseAnswer])
            try await driver.approve("prove", ["password": .string(World.password)], in: world)
            try require(try await world.server.collect(login) != nil, "the device is not let in")
            try await driver.requireSignedIn("after the approval")
        },
        Scenario(
            rule: 4, name: "lost-collection",
            sentence: "tokens after an approval, lost on their way, are asked for again with the same key",
            needs: [.phoneAsking]
        ) { world in
            let (phone, driver) = (try await world.phone(), try world.driver())
            // A device that asks for its tokens before the approval is told to wait, and that answer is not lost.
            try await phone.letIn(try await driver.askPhone(), driver) { world.plan(.collection, [.loseAnswer]) }
            try await driver.requireLetIn()
            _ = try await driver.requireToken("after the approval")
            let seen = world.seen(.collection)
            let keys = Set(seen.suffix(2).map(\.idempotencyKey))
            try require(seen.count > 1, "the tokens were not asked for again")
            try require(keys.count == 1 && keys != [nil], "the second try has another key, or none")
            // The phone's own, and the one of the device.
            let sessions = try await world.sessions(of: "anna")
            try require(sessions.count == 2, "\(sessions.count) sessions instead of two")
        },
    ]
}
