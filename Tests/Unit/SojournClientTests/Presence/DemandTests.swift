import Foundation
import SojournClient
import SojournTestKit
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Demands of the server for the user's presence (RFC 9470), in each mode.
struct DemandTests {
    private func demand(_ phone: Phone) async -> PresenceRequirement? {
        let error = await UnlockTests.failure { () throws(SojournError) in
            _ = try await phone.sojourn.accessToken(.fresh)
        }
        if case .presenceRequired(let requirement)? = error { return requirement }
        return nil
    }

    @Test func modeNo_isNeverAsked() async throws {
        let phone = try await Phone.signedIn()
        try await phone.server.askForUser(every: 60)
        for _ in 0..<3 {
            phone.clock.advance(by: .seconds(86_400))
            _ = try await phone.sojourn.accessToken(.fresh)
        }
    }

    @Test(arguments: [true, false])
    func demandOfARenewal_isAnsweredByTheKey_orByThePassword(isByKey: Bool) async throws {
        let phone = try await Phone.signedIn(mode: .biometric)
        try await phone.server.askForUser(every: 900)
        phone.clock.advance(by: .seconds(3700))
        let requirement = try #require(await demand(phone))
        #expect(requirement == PresenceRequirement(ways: ["presence", "password"], maxAge: 900))
        guard case .presenceRequired(requirement, _) = phone.sojourn.state else {
            Issue.record("\(phone.sojourn.state)")
            return
        }
        // The gate is still open, and asks all the same, because the user may have left.
        if isByKey { try await phone.sojourn.unlock() } else { try await phone.sojourn.unlock(password: "pw") }
        #expect(phone.gate.promptCount == (isByKey ? 2 : 1))
        #expect(phone.record?.session?.mode == .biometric && phone.record?.session?.sessionID == "session1")
        _ = try await phone.sojourn.accessToken(.fresh)
        guard case .signedIn = phone.sojourn.state else {
            Issue.record("\(phone.sojourn.state)")
            return
        }
    }

    @Test func demandThatCannotBeAnsweredNow_remains() async throws {
        let phone = try await Phone.signedIn(mode: .biometric)
        try await phone.server.askForUser(every: 900)
        phone.clock.advance(by: .seconds(3700))
        _ = await demand(phone)
        phone.wire.always(Wire.loseRequest)
        let unlock = Task { try await phone.sojourn.unlock() }
        await until("the renewal waits") { phone.clock.sleeperCount > 0 || phone.wire.renewals.count > 3 }
        for _ in 0..<3 {
            phone.clock.advanceToNextWake()
            await whileOthersRun()
        }
        await #expect(throws: SojournError.self) { try await unlock.value }
        guard case .presenceRequired = phone.sojourn.state else {
            Issue.record("\(phone.sojourn.state)")
            return
        }
        phone.wire.always(nil)
        try await phone.sojourn.unlock()
    }

    @Test func passwordMode_asksWhenARenewalIsDue() async throws {
        let phone = try await Phone.signedIn(mode: .password)
        phone.clock.advance(by: .seconds(3700))
        let requirement = try #require(await demand(phone))
        #expect(requirement == PresenceRequirement(ways: ["password"], maxAge: 3600))
        await #expect(throws: SojournError.presenceRequired(requirement)) { try await phone.sojourn.unlock() }
        try await phone.sojourn.unlock(password: "pw")
        _ = try await phone.sojourn.accessToken(.fresh)
        #expect(phone.record?.session?.sessionID == "session1")
    }

    @Test func keyThatResumes_isAlwaysAskedForThePassword() async throws {
        let phone = try await Phone.signedIn(renewal: .deviceKey, mode: .password)
        await #expect(
            throws: SojournError.presenceRequired(PresenceRequirement(ways: ["password", "id_token"], maxAge: 3600))
        ) {
            try await phone.sojourn.accessToken(.renewed(after: try await phone.sojourn.accessToken()))
        }
        try await phone.sojourn.unlock(password: "pw")
        _ = try await phone.sojourn.accessToken()
        #expect(phone.record?.session?.sessionID == "session1" && phone.record?.session?.refreshToken == nil)
    }

    @Test(arguments: [true, false])
    func resumptionInModeBiometric(isByKey: Bool) async throws {
        let phone = try await Phone.signedIn(renewal: .deviceKey, mode: .biometric)
        try await phone.server.askForUser(every: 900)
        phone.clock.advance(by: .seconds(3700))
        #expect(await demand(phone)?.ways == ["presence", "password"])
        if isByKey { try await phone.sojourn.unlock() } else { try await phone.sojourn.unlock(password: "pw") }
        _ = try await phone.sojourn.accessToken(.fresh)
        #expect(phone.record?.session?.sessionID == "session1" && phone.record?.session?.mode == .biometric)
    }

    @Test func demandOfAnAPI_isShown_andLastsUntilTheUserWasThere() async throws {
        let answers = Guarded(401)
        let phone = try await Phone.signedIn(mode: .biometric) { configuration in
            configuration.perform = { request in
                let challenge =
                    #"Bearer error="insufficient_user_authentication", acr_values="presence password", max_age="60""#
                let status = answers.withLock { $0 }
                let url = try #require(request.url)
                let response = HTTPURLResponse(
                    url: url, statusCode: status, httpVersion: nil,
                    headerFields: status == 401 ? ["WWW-Authenticate": challenge] : [:])
                return (Data(), try #require(response))
            }
        }
        let request = URLRequest(url: try #require(URL(string: "https://api.example/transfer")))
        #expect(try await phone.sojourn.data(for: request).1.statusCode == 401)
        let requirement = PresenceRequirement(ways: ["presence", "password"], maxAge: 60)
        guard case .presenceRequired(requirement, _) = phone.sojourn.state else {
            Issue.record("\(phone.sojourn.state)")
            return
        }
        // A renewal without the user is no answer to it.
        phone.clock.advance(by: .seconds(3700))
        _ = try await phone.sojourn.accessToken(.fresh)
        guard case .presenceRequired = phone.sojourn.state else {
            Issue.record("\(phone.sojourn.state)")
            return
        }
        try await phone.sojourn.unlock()
        #expect(phone.wire.renewals.last?.form["user_assertion"] != nil)
        answers.withLock { $0 = 200 }
        #expect(try await phone.sojourn.data(for: request).1.statusCode == 200)
        guard case .signedIn = phone.sojourn.state else {
            Issue.record("\(phone.sojourn.state)")
            return
        }
    }

    @Test func callOfTheAccount_isAskedToo() async throws {
        let phone = try await Phone.signedIn(mode: .biometric)
        try await phone.server.askForUser(every: 900)
        phone.clock.advance(by: .seconds(1000))
        await #expect(
            throws: SojournError.presenceRequired(PresenceRequirement(ways: ["presence", "password"], maxAge: 900))
        ) { try await phone.sojourn.refreshProfile() }
        try await phone.sojourn.unlock()
        try await phone.sojourn.refreshProfile()
    }
}
