import Foundation
import SojournClient
import SojournTestKit

// Rule 7: what is final, and what is not.
extension Scenario {
    static let deciding = [
        Scenario(rule: 7, name: "pages", sentence: "pages, later statuses and half an answer sign nobody out") {
            world in
            let driver = try await world.signedIn()
            let page = "<html><body>Please accept our terms of use.</body></html>"
            let faults: [Fault] =
                [503, 502, 500, 408, 429, 418, 401, 400, 403, 404, 511].map { .answer(.page($0, page)) } + [
                    .page(page), .page(""), .cut(afterBytes: 20), .loseRequest,
                ]
            try await Self.survive(faults, world, driver)
        },
        Scenario(
            rule: 7, name: "foreign-json", sentence: "JSON that is not the server's word about the session keeps it"
        ) { world in
            let driver = try await world.signedIn()
            let answers = [
                (400, #"{"error":"invalid_grant"}"#), (401, #"{"error":"invalid_token"}"#),
                (400, #"{"error":"invalid_client"}"#), (400, #"{"reauthenticate":true}"#), (400, #"[true]"#),
                (401, #"{"code":"refresh_token_reused","reauthenticate":"true"}"#),
                (400, #"{"reason":"refresh_token_reused","reauthenticate":1}"#),
                (403, #"{"reason":"refresh_token_reused","reauthenticate":true}"#),
                (500, #"{"reason":"refresh_token_reused","reauthenticate":true}"#),
                (200, #"{"reason":"refresh_token_reused","reauthenticate":true}"#),
                (400, #"{"reason":"device_mismatch","reauthenticate":false}"#),
            ]
            try await Self.survive(answers.map { .answer(.json($0, $1)) }, world, driver)
        },
        Scenario(
            rule: 7, name: "ended",
            sentence: "the server's end of a session is final, is remembered, and has its reason"
        ) { world in
            let driver = try await world.signedIn()
            try await world.server.revokeAll("anna")
            try await driver.elapse()
            try await Self.requireEnded(driver, "revoked_by_admin")
            let state = try await driver.ask("state")
            try require(state.state == "ended", "after the end the state is \(state)")
            await driver.kill()
            let count = world.renewals.count
            let next = try world.driver()
            try await Self.requireEnded(next, "revoked_by_admin")
            try require(world.renewals.count == count, "the token of an ended session was presented again")
            try await next.login("anna")
            _ = try await next.requireToken("after a new login")
            // No login helps a deleted user; `reauthenticate` is false, and the session has ended all the same.
            try await world.server.deleteUser("anna")
            try await next.elapse()
            try await Self.requireEnded(next, "user_deleted")
        },
        Scenario(rule: 7, name: "disabled", sentence: "logins that are switched off keep the session") { world in
            let driver = try await world.signedIn()
            try await world.server.disable("anna")
            try await driver.elapse()
            let answer = try await driver.token()
            try require(answer.token != nil || answer.error == "suspended", "while logins are off: \(answer)")
            try await driver.requireSignedIn("while logins are off")
            try await world.server.enable("anna")
            try await driver.elapse()
            _ = try await driver.requireToken(.fresh, "when logins are on again")
        },
        Scenario(rule: 7, name: "opaque", sentence: "an answer without a field that can be read keeps the session") {
            world in
            let driver = try await world.signedIn()
            let answers = [401, 400, 403, 429, 503, 200].map { Fault.answer(HTTPAnswer(status: $0)) }
            try await Self.survive(answers, world, driver)
        },
        Scenario(rule: 7, name: "redirect", sentence: "a redirect is not followed: a token goes to no other server") {
            world in
            let other = try FaultProxy()
            defer { other.stop() }
            let driver = try await world.signedIn()
            let faults = [301, 302, 303, 307, 308].map { status in
                Fault.answer(.redirect(status, other.url.absoluteString + "/oauth/token"))
            }
            try await Self.survive(faults, world, driver)
            try require(other.requestCount == 0, "\(other.requestCount) requests went to another server")
        },
        Scenario(rule: 7, name: "api-401", sentence: "an API's 401 is no verdict: it renews once and repeats once") {
            world in
            let driver = try await world.signedIn()
            let url = world.proxy.url.absoluteString + "/api/thing"
            world.plan(.api, then: .answer(.json(401, #"{"error":"invalid_token"}"#)))
            let refused = try await driver.ask("call", ["url": .string(url)])
            try require(refused.status == 401, "an API that refuses every token: \(refused)")
            let calls = world.seen(.api)
            try require(calls.count == 2, "\(calls.count) calls instead of two")
            try require(calls[0].authorization != calls[1].authorization, "the call was repeated with the same token")
            try require(world.renewals.count == 1, "\(world.renewals.count) renewals instead of one")
            try await driver.requireSignedIn("after an API's 401")
            world.plan(.api, then: .answer(.json(200, "{}")))
            let granted = try await driver.ask("call", ["url": .string(url)])
            try require(granted.status == 200, "an API that accepts the token: \(granted)")
            let token = try await driver.requireToken("after a call")
            try require(world.seen(.api).last?.authorization == "Bearer \(token)", "the call has another token")
        },
    ]

    /// Lets each renewal end in a fault, as often as there are faults, and checks that the session goes on.
    private static func survive(
        _ faults: [Fault], _ world: World, _ driver: Driver
    ) async throws {
        var last = ""
        world.plan(.renewal, faults)
        while world.renewals.count < faults.count {
            let count = world.renewals.count
            // After failures in a row a client waits for up to a minute.
            try await driver.elapse(70)
            let answer = try await driver.token()
            let occasion = "after fault \(count + 1) of \(faults.count)"
            try require(world.renewals.count > count, "\(occasion): no renewal was tried when one was due")
            try require(answer.error != "ended" && answer.error != "not-signed-in", "\(occasion): \(answer)")
            try await driver.requireSignedIn(occasion)
            last = answer.token ?? last
        }
        try await driver.elapse(70)
        let token = try await driver.requireToken(.fresh, "when the server answers again")
        try require(token != last, "the token is the old one")
    }

    private static func requireEnded(_ driver: Driver, _ reason: String) async throws {
        // A usable one may be the stored one, while a slow renewal is under way.
        let answer = try await driver.token(.fresh)
        try require(answer.error == "ended" && answer.reason == reason, "instead of the end \(reason): \(answer)")
    }
}
