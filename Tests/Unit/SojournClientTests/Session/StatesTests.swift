import SojournClient
import SojournTestKit
import Testing

/// States are values that can be asked for at any time, not events that can be missed.
struct StatesTests {
    @Test func states_andReasons_printAsALine() {
        let anna = Account(userID: "42", username: "anna")
        let nobody = Account(userID: "42")
        let rows: [(SessionState, String)] = [
            (.starting, "starting"), (.locked, "locked"), (.storeFailed(.failed(5, "disk")), "store failed: "),
            (.signedOut(.never), "signed out"), (.signedOut(.byUser), "signed out by the user"),
            (.signedOut(.deleted), "signed out: the account was deleted"),
            (.signedOut(.unreadable), "signed out: the record cannot be read"),
            (.signedIn(anna, .current), "signed in as anna"), (.signedIn(nobody, .current), "signed in as 42"),
            (.signedIn(anna, .unreachable(since: 7)), "signed in as anna, server unreachable since 7"),
            (
                .signedIn(anna, .suspended(Suspension(rawValue: "login_disabled_by_user"))),
                "signed in as anna, suspended: login_disabled_by_user"
            ),
            (
                .presenceRequired(PresenceRequirement(ways: ["presence", "password"], maxAge: nil), anna),
                "presence required of anna: presence or password"
            ),
            (.ended(.revokedByAdmin, anna, .no), "ended for anna: revoked_by_admin"),
        ]
        for (state, text) in rows {
            #expect("\(state)" == text || state == .storeFailed(.failed(5, "disk")) && "\(state)".hasPrefix(text))
        }
        #expect("\(SojournError.ended(.revokedByAdmin))" == "ended(revoked_by_admin)")
        #expect("\(SojournError.unreachable(Unreachable("lost", status: 502)))" == "unreachable(lost)")
    }

    private func kind(_ state: SessionState?) -> String {
        switch state {
        case .starting: "starting"
        case .locked: "locked"
        case .storeFailed: "storeFailed"
        case .signedOut(let reason): "signedOut \(reason)"
        case .signedIn(_, .current): "signedIn"
        case .signedIn(_, .unreachable): "unreachable"
        case .signedIn(_, .suspended): "suspended"
        case .presenceRequired: "presenceRequired"
        case .ended: "ended"
        case nil: "none"
        }
    }

    @Test func firstValue_comesAtOnce_toEachReader() async throws {
        let phone = try await Phone.new()
        var first = phone.sojourn.states.makeAsyncIterator()
        var second = phone.sojourn.states.makeAsyncIterator()
        #expect(await first.next() == .starting)
        #expect(await phone.sojourn.start() == .signedOut(.never))
        #expect(await first.next() == .signedOut(.never))
        #expect(await second.next() == .signedOut(.never))
        var third = phone.sojourn.states.makeAsyncIterator()
        #expect(await third.next() == .signedOut(.never))
    }

    @Test func slowReader_getsTheNewestOnly() async throws {
        let phone = try await Phone.new()
        var reader = phone.sojourn.states.makeAsyncIterator()
        _ = await reader.next()
        try await phone.sojourn.signIn(username: "anna", password: "pw")
        await phone.sojourn.signOut()
        try await phone.sojourn.signIn(username: "anna", password: "pw")
        #expect(kind(await reader.next()) == "signedIn")
        // And nothing more, until something happens.
        let next = Task { await phone.sojourn.states.first { $0 == .signedOut(.byUser) } }
        await whileOthersRun()
        await phone.sojourn.signOut()
        #expect(await next.value == .signedOut(.byUser))
        #expect(kind(await reader.next()) == "signedOut byUser")
    }

    @Test func twoReadersThatKeepUp_getEveryChangeInOrder() async throws {
        let phone = try await Phone.new()
        let readers = (0..<2).map { _ in
            Guarded<[String]>([])
        }
        let tasks = readers.map { reader in
            Task {
                for await state in phone.sojourn.states { reader.withLock { $0.append(kind(state)) } }
            }
        }
        func all(_ expected: [String]) async {
            await until("\(expected)") { readers.allSatisfy { $0.withLock { $0 } == expected } }
        }
        await all(["starting"])
        await phone.sojourn.start()
        await all(["starting", "signedOut never"])
        try await phone.sojourn.signIn(username: "anna", password: "pw")
        await all(["starting", "signedOut never", "signedIn"])
        phone.server.setReachable(false)
        phone.clock.advance(by: .seconds(3700))
        _ = try await phone.sojourn.accessToken()
        await all(["starting", "signedOut never", "signedIn", "unreachable"])
        phone.server.setReachable(true)
        _ = try await phone.sojourn.accessToken(.fresh)
        await all(["starting", "signedOut never", "signedIn", "unreachable", "signedIn"])
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    @Test func cancelledReader_ends_andSoDoesOneOfAForgottenSession() async throws {
        var phone: Phone? = try await Phone.new()
        let states = try #require(phone?.sojourn.states)
        let cancelled = Task { for await _ in states {} }
        cancelled.cancel()
        await cancelled.value
        let reader = Task { for await _ in states {} }
        await whileOthersRun()
        phone = nil
        await reader.value
    }

    @Test func noChangeIsLost_betweenStateAndStates() async throws {
        let phone = try await Phone.signedIn()
        for _ in 0..<50 {
            let before = phone.sojourn.state
            async let change: Void = { _ = await phone.sojourn.signOut() }()
            var reader = phone.sojourn.states.makeAsyncIterator()
            var seen = [before]
            while seen.last != .signedOut(.byUser) {
                guard let state = await reader.next() else { break }
                seen.append(state)
            }
            await change
            #expect(seen.last == .signedOut(.byUser))
            try await phone.sojourn.signIn(username: "anna", password: "pw")
        }
    }

    @Test func changeByAnotherProcess_isTold() async throws {
        let phone = try await Phone.new()
        await phone.sojourn.start()
        let other = phone.other()
        try await other.sojourn.signIn(username: "anna", password: "pw")
        #expect(phone.sojourn.state == .signedOut(.never))
        phone.store.tell()
        await until("the app knows") { kind(phone.sojourn.state) == "signedIn" }
        await other.sojourn.signOut()
        phone.store.tell()
        await until("the app knows") { phone.sojourn.state == .signedOut(.byUser) }
    }

    // MARK: Stores that cannot tell

    @Test(arguments: [
        (StoreError.locked, "locked"), (.denied(-34018), "storeFailed"), (.failed(5, "disk"), "storeFailed"),
        (.corrupted("no JSON"), "signedOut unreadable"),
    ])
    func storeThatCannotTell_isNoSignOut_andGoesOnWithoutARestart(error: StoreError, expected: String) async throws {
        let phone = try await Phone.signedIn()
        let text = phone.store.text
        phone.store.fail(loads: error)
        let restarted = phone.other()
        #expect(kind(await restarted.sojourn.start()) == expected)
        do {
            _ = try await restarted.sojourn.accessToken()
            Issue.record("a token from nowhere")
        } catch {
            #expect(error == (expected == "locked" ? .locked : .store(self.error(expected, error))))
        }
        await whileOthersRun()
        #expect(phone.store.text == text)
        phone.store.fail(loads: nil)
        phone.store.tell()
        await until("it is signed in") { kind(restarted.sojourn.state) == "signedIn" }
        _ = try await restarted.sojourn.accessToken()
    }

    private func error(_ kind: String, _ error: SojournError) -> StoreError {
        if case .store(let error) = error { error } else { .locked }
    }

    @Test func corruptedRecord_isSetAsideByALogin() async throws {
        let phone = try await Phone.new()
        phone.store.fail(loads: .corrupted("no JSON"))
        #expect(kind(await phone.sojourn.start()) == "signedOut unreadable")
        try await phone.sojourn.signIn(username: "anna", password: "pw")
        #expect(phone.store.isSetAside && kind(phone.sojourn.state) == "signedIn")
    }

    @Test func lockedKeyring_isNoSignOut() async throws {
        let phone = try await Phone.signedIn(renewal: .boundRefreshToken)
        phone.keys.fail(.locked)
        phone.clock.advance(by: .seconds(3700))
        await #expect(throws: SojournError.locked) { try await phone.sojourn.accessToken(.fresh) }
        #expect(kind(phone.sojourn.state) == "signedIn")
        #expect(phone.wire.renewals.isEmpty)
        phone.keys.fail(nil)
        _ = try await phone.sojourn.accessToken(.fresh)
    }

    @Test func missingKey_isALogin_onceTheServerHasSpoken() async throws {
        let phone = try await Phone.signedIn(renewal: .boundRefreshToken)
        try await phone.keys.deleteKey(.device)
        phone.clock.advance(by: .seconds(3700))
        await #expect(throws: SojournError.ended(.keyLost)) { try await phone.sojourn.accessToken(.fresh) }
        #expect(kind(phone.sojourn.state) == "ended" && phone.wire.renewals.count == 1)
        try await phone.sojourn.signIn(username: "anna", password: "pw")
        #expect(kind(phone.sojourn.state) == "signedIn")
    }

    @Test func keyThatIsNotTheSessions_isNeverUsed() async throws {
        let phone = try await Phone.signedIn(renewal: .boundRefreshToken)
        try await phone.keys.deleteKey(.device)
        _ = try await phone.keys.makeKey(.device)
        phone.clock.advance(by: .seconds(3700))
        await #expect(throws: SojournError.ended(.keyLost)) { try await phone.sojourn.accessToken(.fresh) }
        #expect(phone.wire.renewals.allSatisfy { $0["DPoP"] == nil })
    }

    @Test("the app can say when the session ends at the latest, and renewals do not move it")
    func sessionExpiresAt() async throws {
        let phone = try await Phone.new()
        #expect(await phone.sojourn.sessionExpiresAt == nil)
        try await phone.sojourn.signIn(username: "anna", password: "pw")
        #expect(await phone.sojourn.sessionExpiresAt == 1_800_000_000 + 15_552_000)
        phone.clock.advance(by: .seconds(3700))
        _ = try await phone.sojourn.accessToken(.fresh)
        #expect(await phone.sojourn.sessionExpiresAt == 1_800_000_000 + 15_552_000)
        // A shorter maximum counts for sessions that exist: the next renewal tells.
        try await phone.server.change(ServerSettings(maximum: 86_400))
        phone.clock.advance(by: .seconds(3700))
        _ = try await phone.sojourn.accessToken(.fresh)
        let restarted = phone.other()
        #expect(await restarted.sojourn.sessionExpiresAt == nil)
        await restarted.sojourn.restore()
        #expect(await restarted.sojourn.sessionExpiresAt == 1_800_000_000 + 86_400)
        try await phone.server.revokeAll("anna")
        await restarted.sojourn.start()
        #expect(await restarted.sojourn.settle(within: .seconds(5)))
        #expect(await restarted.sojourn.sessionExpiresAt == nil)
    }
}
