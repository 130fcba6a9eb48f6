import Foundation
import SojournClient
import SojournTestKit

// Rules 8 to 12: time, and waiting.
extension Scenario {
    static let time = [
        Scenario(
            rule: 8, name: "wall-clock", sentence: "a wrong wall clock and a wrong Date neither renew nor end anything"
        ) { world in
            let day: Int64 = 86_400
            let driver = try await world.signedIn()
            let first = try await driver.requireToken("after the login")
            for change in [day, -2 * day, 401 * day] {
                try await driver.moveWall(change)
                let token = try await driver.requireToken("when the wall clock was moved by \(change) s")
                try require(token == first, "the token has changed, because the wall clock was moved by \(change) s")
            }
            try require(world.renewals.isEmpty, "the wall clock has brought a renewal")
            world.plan(.renewal, [.wrongDate(hours: 48)])
            try await driver.elapse()
            let second = try await driver.requireToken(.fresh, "when a renewal is due")
            let again = try await driver.requireToken("after an answer with a wrong Date")
            try require(second == again, "the wrong Date of an answer has brought a renewal")
            await driver.kill()
            let next = try world.driver()
            try await next.moveWall(400 * day)
            _ = try await next.requireToken(.renewed, "after a start with a wrong wall clock")
            try await next.requireSignedIn("after a start with a wrong wall clock")
        },
        Scenario(
            rule: 8, name: "strict", sentence: "at refresh_after a token is not due; one second later it is",
            settings: ServerSettings(rotationInterval: 0, refreshAfter: 3600)
        ) { world in
            let driver = try world.driver()
            for _ in 0..<8 {
                let before = try await world.sessions(of: "anna")
                // The client sets its clock when the answer comes, however long the server has worked on it.
                let gate = world.gate()
                world.plan(.login, [.held(gate, .pass)])
                let login = Task { try await driver.login("anna") }
                try await eventually("a new session") {
                    let sessions = try await world.sessions(of: "anna")
                    return !sessions.isEmpty && sessions != before
                }
                let begin = ContinuousClock.now
                gate.open()
                try await login.value
                let count = world.renewals.count
                try await driver.elapse(3600)
                _ = try await driver.requireToken("at refresh_after")
                let isEarly = world.renewals.count > count
                // If more than a second has passed since the login, a renewal was due.
                let isSure = ContinuousClock.now - begin < .seconds(1)
                try require(!(isEarly && isSure), "a renewal at refresh_after")
                guard !isEarly else { continue }
                try await driver.elapse(1)
                _ = try await driver.requireToken(.fresh, "one second after refresh_after")
                try require(world.renewals.count > count, "no renewal one second after refresh_after")
                return
            }
            throw Wrongdoing("this machine is too slow: three commands take a second")
        },
    ]

    static let waiting = [
        Scenario(rule: 9, name: "retry-after", sentence: "Retry-After holds all callers back") { world in
            let driver = try await world.signedIn()
            world.plan(.renewal, [.status(503, retryAfter: 30)])
            try await driver.elapse()
            let first = try await driver.requireToken("after a 503")
            for _ in 0..<5 {
                let token = try await driver.requireToken("within Retry-After")
                try require(token == first, "the token has changed")
            }
            _ = try await driver.ask("start")
            try await driver.elapse(20)
            _ = try await driver.requireToken("20 s of 30 s later")
            try require(world.renewals.count == 1, "\(world.renewals.count) requests instead of one within Retry-After")
            try await driver.elapse(12)
            _ = try await driver.requireToken(.fresh, "after Retry-After")
            try require(world.renewals.count > 1, "no request after Retry-After")
        },
        Scenario(rule: 9, name: "attempts", sentence: "a renewal that gets no answer is tried three times") { world in
            let driver = try await world.signedIn()
            world.plan(.renewal, then: .status(503))
            try await driver.elapse()
            let answer = try await driver.token(.fresh)
            try require(answer.error == "unreachable", "the answer to token is \(answer)")
            try require(world.renewals.count == 3, "\(world.renewals.count) attempts instead of three")
            _ = try await driver.requireToken("while the server is down")
            try await driver.requireSignedIn("while the server is down")
        },
        Scenario(
            rule: 10, name: "due", sentence: "a call gets the stored token after 3 s, and the renewal goes on"
        ) { world in
            let driver = try await world.signedIn()
            let first = try await driver.requireToken("after the login")
            let gate = world.gate()
            world.plan(.renewal, [.held(gate, .pass)])
            try await driver.elapse()
            let begin = ContinuousClock.now
            let second = try await driver.requireToken("while a renewal takes long")
            let seconds = (ContinuousClock.now - begin) / .seconds(1)
            try require(second == first, "the token has changed")
            // Several seconds more for a slow machine; without the limit of 3 s it would be 20.
            try require(seconds < 10, "the call took \(seconds) s")
            gate.open()
            // A client that has given the renewal up begins another one now.
            try await Task.sleep(for: .milliseconds(300))
            try await eventually("the renewal goes on, and its token is used") {
                try await driver.requireToken("after the answer") != first
            }
            try require(world.renewals.count == 1, "\(world.renewals.count) requests instead of one")
        },
        Scenario(rule: 11, name: "one-flight", sentence: "all callers wait for one renewal") { world in
            let driver = try await world.signedIn()
            let gate = world.gate()
            world.plan(.renewal, [.held(gate, .pass)])
            try await driver.elapse()
            let callers = (0..<20).map { _ in driver.tokenLater(.fresh) }
            try await world.wait(for: 1, .renewal)
            // A call that begins a renewal of its own does so before it answers this.
            _ = try await driver.ask("state")
            gate.open()
            var tokens: Set<String?> = []
            for caller in callers { tokens.insert(try await caller.value.token) }
            try require(tokens.count == 1 && tokens != [nil], "the callers have got \(tokens.count) tokens, or none")
            try require(world.renewals.count == 1, "\(world.renewals.count) requests instead of one")
        },
        Scenario(
            rule: 12, name: "two-processes", sentence: "no process waits for the network of another, and both agree",
            needs: [.freezing]
        ) { world in
            let first = try await world.signedIn()
            let second = try world.driver()
            let gate = world.gate()
            world.plan(.renewal, [.held(gate, .pass)])
            let late = first.tokenLater(.renewed)
            try await world.wait(for: 1, .renewal)
            let begin = ContinuousClock.now
            _ = try await second.requireToken(.renewed, "while another process awaits an answer")
            let seconds = (ContinuousClock.now - begin) / .seconds(1)
            try require(seconds < 10, "a process waited \(seconds) s for another one")
            gate.open()
            let answer = try await late.value
            try require(answer.token != nil, "the process that was late: \(answer)")

            try await first.command("freeze", ["at": .string("received")])
            // Enough for a client that has set its clock by the answer that was held back.
            try await first.elapse(60)
            let frozen = first.tokenLater(.fresh)
            try await first.waitForStop("received")
            try await second.elapse(60)
            _ = try await second.requireToken(.fresh, "while another process stands still")
            first.signal(SIGCONT)
            _ = try await frozen.value
            try await eventually("both processes have one token") {
                let token = try await first.requireToken("the process that stood still")
                return try await second.requireToken("the other process") == token
            }
        },
    ]
}
