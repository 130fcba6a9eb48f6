import SojournClient
import SojournTestKit
import Testing

struct RenewingTests {
    @Test func renewalIsDue_strictlyAfterAnHour() async throws {
        let phone = try await Phone.signedIn()
        phone.clock.advance(by: .seconds(3600))
        _ = try await phone.sojourn.accessToken()
        #expect(phone.wire.renewals.isEmpty)
        phone.clock.advance(by: .seconds(1))
        _ = try await phone.sojourn.accessToken()
        #expect(phone.wire.renewals.count == 1)
    }

    @Test func everyStart_renewsInTheBackground() async throws {
        let phone = try await Phone.signedIn()
        // Two new processes, and the one that runs.
        for (count, process) in [phone.other(), phone.other(), phone].enumerated() {
            await process.sojourn.start()
            // The next process would be overtaken by a renewal that is not stored yet.
            #expect(await process.sojourn.settle(within: .seconds(5)))
            #expect(phone.wire.renewals.count == count + 1)
        }
    }

    @Test func start_restoresTheUser_withoutTheServer() async throws {
        let phone = try await Phone.signedIn()
        phone.server.setReachable(false)
        let restarted = phone.other()
        guard case .signedIn(let account, _) = await restarted.sojourn.start() else {
            Issue.record("\(restarted.sojourn.state)")
            return
        }
        #expect(account.username == "anna")
        #expect(try await restarted.sojourn.accessToken().value == phone.record?.session?.accessToken)
    }

    @Test func requestOfARenewal_hasWhatTheServerNeeds() async throws {
        let phone = try await Phone.signedIn { ($0.platform, $0.appVersion) = ("iOS 26", "2.1") }
        let token = try #require(phone.record?.session?.refreshToken)
        phone.clock.advance(by: .seconds(3700))
        phone.wire.next(Wire.loseAnswer)
        _ = try await phone.sojourn.accessToken(.fresh)
        let (first, second) = (phone.wire.renewals[0], phone.wire.renewals[1])
        #expect(first.form["grant_type"] == "refresh_token" && first.form["client_id"] == "mobile")
        #expect(first.form["refresh_token"] == token && first.form["device_id"] == phone.record?.deviceID)
        #expect(first.form["sent_at"] == "1800003700" && first.form["id_token"] == "false")
        #expect(first.form["device_platform"] == "iOS 26")
        #expect(first.form["device_app_version"] == "2.1")
        #expect(first["Idempotency-Key"]?.count == 22 && first["Idempotency-Key"] == second["Idempotency-Key"])
        #expect(second.form["refresh_token"] == token)
        // The next one has another key.
        phone.clock.advance(by: .seconds(3700))
        _ = try await phone.sojourn.accessToken(.fresh)
        #expect(phone.wire.renewals[2]["Idempotency-Key"] != first["Idempotency-Key"])
    }

    @Test func allCallers_shareOneRenewal() async throws {
        let phone = try await Phone.signedIn()
        phone.clock.advance(by: .seconds(3700))
        await withTaskGroup { group in
            for _ in 0..<50 { group.addTask { _ = try? await phone.sojourn.accessToken() } }
        }
        #expect(phone.wire.renewals.count == 1)
    }

    @Test func dueRenewal_doesNotStallTheApp() async throws {
        let phone = try await Phone.signedIn()
        let gate = Gate()
        let old = phone.record?.session?.accessToken
        phone.wire.next(Wire.holdAnswer(gate))
        phone.clock.advance(by: .seconds(3700))
        let caller = Task { try await phone.sojourn.accessToken() }
        await until("the caller waits") { await gate.waiting == 1 && phone.clock.sleeperCount == 1 }
        phone.clock.advance(by: .seconds(3))
        #expect(try await caller.value.value == old)
        await gate.open()
        await until("the renewal has finished") { phone.record?.session?.accessToken != old }
    }

    @Test func answerAfterTheTimeLimit_isDropped() async throws {
        let phone = try await Phone.signedIn()
        let gate = Gate()
        let record = phone.record
        phone.wire.next(Wire.holdAnswer(gate), Wire.loseRequest, Wire.loseRequest)
        phone.clock.advance(by: .seconds(3700))
        let caller = Task { try await phone.sojourn.accessToken(.fresh) }
        await until("the renewal is under way") { await gate.waiting == 1 }
        phone.clock.advance(by: .seconds(21))
        await gate.open()
        await #expect(throws: SojournError.self) { try await caller.value }
        #expect(phone.record == record)
    }

    @Test func answerThatCouldBeStoredOnlyAfterTheTimeLimit_isDropped() async throws {
        let phone = try await Phone.signedIn()
        let record = phone.record
        phone.clock.advance(by: .seconds(3700))
        let clock = FreezingClock(phone.clock)
        let sojourn = Sojourn(
            phone.sojourn.configuration, store: phone.store, keys: phone.keys, transport: phone.wire, clock: clock)
        phone.wire.next(Wire.answer(then: { clock.freezeAfterNextRead() }))
        phone.wire.always(Wire.loseRequest)
        _ = try? await sojourn.accessToken(.fresh)
        #expect(phone.record == record && clock.hasFrozen)
    }

    @Test func answerThatCouldNotBeStored_isNotUsed_andComesAgain() async throws {
        let phone = try await Phone.signedIn()
        let record = phone.record
        let token = try await phone.sojourn.accessToken()
        phone.clock.advance(by: .seconds(3700))
        phone.store.fail(writes: .failed(28, "disk full"))
        await #expect(throws: SojournError.store(.failed(28, "disk full"))) {
            try await phone.sojourn.accessToken(.fresh)
        }
        #expect(try await phone.sojourn.accessToken() == token)
        #expect(phone.record == record)
        phone.store.fail(writes: nil)
        _ = try await phone.sojourn.accessToken(.fresh)
        let renewals = phone.wire.renewals
        #expect(Set(renewals.map { $0.form["refresh_token"] }).count == 1)
        #expect(Set(renewals.map { $0["Idempotency-Key"] }).count == 1)
    }

    @Test func endOfASession_isTheServersWord() async throws {
        let phone = try await Phone.signedIn()
        try await phone.server.revokeAll("anna")
        phone.clock.advance(by: .seconds(3700))
        await #expect(throws: SojournError.ended(.revokedByAdmin)) { try await phone.sojourn.accessToken() }
        guard case .ended(.revokedByAdmin, let account, .no) = phone.sojourn.state else {
            Issue.record("\(phone.sojourn.state)")
            return
        }
        // The profile is kept until the user signs out.
        #expect(account.username == "anna" && phone.store.text.contains("anna"))
        await #expect(throws: SojournError.ended(.revokedByAdmin)) { try await phone.sojourn.accessToken() }
        #expect(phone.wire.renewals.count == 1)
        guard case .ended = await phone.other().sojourn.start() else {
            Issue.record("it is kept")
            return
        }
    }

    @Test func suspendedLogins_keepTheTokens() async throws {
        let phone = try await Phone.signedIn()
        let token = try await phone.sojourn.accessToken()
        try await phone.server.disable("anna")
        phone.clock.advance(by: .seconds(3700))
        #expect(try await phone.sojourn.accessToken() == token)
        await #expect(throws: SojournError.suspended(Suspension(rawValue: "login_disabled_by_admin"))) {
            try await phone.sojourn.accessToken(.fresh)
        }
        guard case .signedIn(_, .suspended) = phone.sojourn.state else {
            Issue.record("\(phone.sojourn.state)")
            return
        }
        try await phone.server.enable("anna")
        _ = try await phone.sojourn.accessToken(.fresh)
        guard case .signedIn(_, .current) = phone.sojourn.state else {
            Issue.record("\(phone.sojourn.state)")
            return
        }
    }

    @Test func outage_isNoStorm_andOneWaitHoldsAllCallersBack() async throws {
        let phone = try await Phone.signedIn(jitter: 0x80)
        phone.server.setReachable(false)
        phone.clock.advance(by: .seconds(3700))
        let caller = Task { try await phone.sojourn.accessToken(.fresh) }
        let isDone = Guarded(false)
        let watcher = Task {
            _ = try? await caller.value
            isDone.withLock { $0 = true }
        }
        await until("the renewal has given up") {
            phone.clock.advanceToNextWake()
            return isDone.withLock { $0 }
        }
        await watcher.value
        #expect(phone.wire.renewals.count == 3)
        for _ in 0..<50 {
            _ = try await phone.sojourn.accessToken()
            await #expect(throws: SojournError.self) { try await phone.sojourn.accessToken(.fresh) }
        }
        #expect(phone.wire.renewals.count == 3)
        phone.server.setReachable(true)
        phone.clock.advance(by: .seconds(3))
        _ = try await phone.sojourn.accessToken(.fresh)
        #expect(phone.wire.renewals.count == 4)
    }

    @Test func waitThatTheServerAsksFor_isKept_byStartToo() async throws {
        let phone = try await Phone.signedIn()
        phone.clock.advance(by: .seconds(3700))
        phone.wire.next(Wire.answer(503, "busy", [HTTPMessageField("Retry-After", "60")]))
        await #expect(throws: SojournError.self) { try await phone.sojourn.accessToken(.fresh) }
        phone.clock.advance(by: .seconds(59))
        await #expect(throws: SojournError.self) { try await phone.sojourn.accessToken(.fresh) }
        await phone.sojourn.start()
        await whileOthersRun()
        #expect(phone.wire.renewals.count == 1)
        phone.clock.advance(by: .seconds(2))
        _ = try await phone.sojourn.accessToken(.fresh)
    }

    @Test func refusedToken_isRenewedOnce() async throws {
        let phone = try await Phone.signedIn()
        let first = try await phone.sojourn.accessToken()
        await phone.sojourn.reject(first)
        phone.clock.advance(by: .seconds(1))
        let second = try await phone.sojourn.accessToken()
        #expect(second != first && phone.wire.renewals.count == 1)
        // An API that refuses everything does not make every call a renewal.
        for _ in 0..<20 { await phone.sojourn.reject(try await phone.sojourn.accessToken()) }
        #expect(phone.wire.renewals.count == 1)
        phone.clock.advance(by: .seconds(10))
        _ = try await phone.sojourn.accessToken()
        #expect(phone.wire.renewals.count == 2)
        #expect(try await phone.sojourn.accessToken(.renewed(after: first)) != first)
        #expect(phone.wire.renewals.count == 2)
    }

    @Test("a caller that needs another token never gets the refused one") func renewedAfter_isAnotherToken()
        async throws
    {
        let phone = try await Phone.signedIn()
        var token = try await phone.sojourn.accessToken()
        for _ in 0..<2 {
            phone.clock.advance(by: .seconds(1))
            let next = try await phone.sojourn.accessToken(.renewed(after: token))
            #expect(next != token)
            token = next
        }
        phone.clock.advance(by: .seconds(1))
        let error = await #expect(throws: SojournError.self) {
            try await phone.sojourn.accessToken(.renewed(after: token))
        }
        guard case .refused(let refusal)? = error, refusal.code == "invalid_token" else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(phone.wire.renewals.count == 2)
        #expect(try await phone.sojourn.accessToken() == token)
        phone.clock.advance(by: .seconds(9))
        #expect(try await phone.sojourn.accessToken(.renewed(after: token)) != token)
    }

    @Test("a session that ends right after a renewal is told as ended") func renewedAfter_tellsTheEnd() async throws {
        let phone = try await Phone.signedIn()
        let first = try await phone.sojourn.accessToken()
        phone.clock.advance(by: .seconds(1))
        let second = try await phone.sojourn.accessToken(.renewed(after: first))
        try await phone.server.revokeAll("anna")
        phone.clock.advance(by: .seconds(1))
        await #expect(throws: SojournError.ended(.revokedByAdmin)) {
            try await phone.sojourn.accessToken(.renewed(after: second))
        }
    }

    /// A phone that waits after a renewal without an answer.
    private func waiting() async throws -> Phone {
        let phone = try await Phone.signedIn(jitter: 0x80)
        phone.server.setReachable(false)
        phone.clock.advance(by: .seconds(3700))
        let isDone = Guarded(false)
        let caller = Task {
            await #expect(throws: SojournError.self) { try await phone.sojourn.accessToken(.fresh) }
            isDone.withLock { $0 = true }
        }
        await until("the renewal has given up") {
            phone.clock.advanceToNextWake()
            return isDone.withLock { $0 }
        }
        await caller.value
        phone.server.setReachable(true)
        return phone
    }

    @Test("during the wait after an outage the server's newer word counts") func newerWord_counts() async throws {
        let phone = try await waiting()
        try await phone.server.disable("anna")
        let suspended = SojournError.suspended(Suspension(rawValue: "login_disabled_by_admin"))
        await #expect(throws: suspended) { try await phone.sojourn.refreshProfile() }
        await #expect(throws: suspended) { try await phone.sojourn.accessToken(.fresh) }
    }

    @Test("the wait after an outage ends with an answer of the server") func answer_endsTheWait() async throws {
        let phone = try await waiting()
        await #expect(throws: SojournError.self) { try await phone.sojourn.accessToken(.fresh) }
        _ = try await phone.sojourn.refreshProfile()
        _ = try await phone.sojourn.accessToken(.fresh)
        #expect(phone.wire.renewals.count == 4)
    }

    @Test func processThatMayNotRenew_leavesItToTheOther() async throws {
        let phone = try await Phone.signedIn()
        let other = phone.other { $0.mayRenew = false }
        phone.clock.advance(by: .seconds(3700))
        await other.sojourn.start()
        #expect(try await other.sojourn.accessToken().value == phone.record?.session?.accessToken)
        await #expect(throws: SojournError.self) { try await other.sojourn.accessToken(.fresh) }
        #expect(phone.wire.renewals.isEmpty)
        _ = try await phone.sojourn.accessToken()
        phone.clock.advance(by: .seconds(1))
        _ = try await other.sojourn.accessToken(.fresh)
        #expect(phone.wire.renewals.count == 1)
    }

    @Test func twoProcesses_presentTheSame_andTakeWhatIsStored() async throws {
        let phone = try await Phone.signedIn()
        let other = phone.other()
        let gate = Gate()
        phone.clock.advance(by: .seconds(3700))
        phone.wire.next(Wire.holdAnswer(gate))
        let slow = Task { try await phone.sojourn.accessToken(.fresh) }
        await until("the first process waits") { await gate.waiting == 1 }
        let quick = try await other.sojourn.accessToken(.fresh)
        await gate.open()
        #expect(try await slow.value == quick)
        #expect(phone.wire.renewals[0]["Idempotency-Key"] == phone.wire.renewals[1]["Idempotency-Key"])
    }
}

/// The clock of a process that is frozen for 21 seconds between two looks at it.
private final class FreezingClock: ClientClock {
    private let base: ManualClock
    private let readsLeft = Guarded<Int?>(nil)

    init(_ base: ManualClock) { self.base = base }

    /// Freezes the process right after the next look.
    func freezeAfterNextRead() { readsLeft.withLock { $0 = 1 } }
    var hasFrozen: Bool { readsLeft.withLock { $0 } == 0 }

    var wallSeconds: Int64 { base.wallSeconds }
    var uptime: Duration {
        let isFrozen = readsLeft.withLock { left -> Bool in
            guard let reads = left else { return false }
            left = max(reads - 1, 0)
            return reads == 0
        }
        return base.uptime + (isFrozen ? .seconds(21) : .zero)
    }
    func sleep(for duration: Duration) async throws {}
}
