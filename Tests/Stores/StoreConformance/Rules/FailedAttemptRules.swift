import Locks
import Sessions
import Testing

/// What was asked, and how it was answered.
private enum Verdict: Hashable { case right, wrong, busy, wait(Duration) }

/// A caller that tries passwords where all nodes count them together.
private struct Guesser: Sendable {
    let nodes: [DomainFixture]
    let session: AuthenticatedSession
    let isLogin: Bool

    /// A user with a session on the device `phone`.
    init(_ store: any Store, _ clock: WallClock, nodes count: Int, isLogin: Bool) async throws {
        let first = try await DomainFixture(store, clock)
        _ = try await first.admin.createClient(id: Client.mobileID, by: Fixture.admin) { _ in nil }
        _ = try await first.admin.createUser(
            username: "anna", password: DomainFixture.password, profile: User.Profile(), offlineSessionMax: nil,
            by: Fixture.admin)
        session = try await first.session(of: "anna")
        nodes = (0..<count).map { _ in first.anotherNode() }
        self.isLogin = isLogin
    }

    func guess(_ password: String = "wrong", at node: Int) async -> Verdict {
        do throws(ServiceError) {
            if isLogin {
                let request = SessionRequest(clientID: Client.mobileID, device: Device(id: "phone"))
                _ = try await nodes[node].services.login.logIn(
                    request, username: "anna", password: password, from: Fixture.admin)
            } else {
                _ = try await nodes[node].accounts.showPresence(
                    PresenceEvidence(password: password), in: session, from: Fixture.admin)
            }
            return .right
        } catch {
            switch error {
            case .invalidCredentials: return .wrong
            case .tooManyRequests(let wait): return .wait(wait)
            // One user has only so much room at a node: nothing was compared.
            case .overloaded, .passwordQueueFull: return .busy
            default:
                Issue.record("\(error)")
                return .wrong
            }
        }
    }
}

/// Wrong passwords that all nodes count together.
let guessRules: [StoreRule] =
    [false, true].flatMap { isLogin in
        let place = isLogin ? "on a device with a session" : "in a session"
        return [
            StoreRule("ten nodes have as many tries \(place) as one has, and the same delays") { store in
                let now = Locked(Fixture.start)
                let guesser = try await Guesser(
                    store, WallClock { now.withLock { $0 } }, nodes: 10, isLogin: isLogin)
                let right = DomainFixture.password
                for node in 0..<10 { #expect(await guesser.guess(at: node) == .wrong) }
                for (turn, delay) in [1, 2, 4, 8, 16, 32, 60, 60, 60, 60].enumerated() {
                    // The first delay begins with the tenth.
                    let wait = Duration.seconds(delay)
                    for node in 0..<10 { #expect(await guesser.guess(right, at: node) == .wait(wait)) }
                    now.withLock { $0 = $0 + wait }
                    #expect(await guesser.guess(at: turn) == .wrong)
                }
                for node in 0..<10 { #expect(await guesser.guess(right, at: node) == .wait(.seconds(900))) }
                // Nothing of it is held against anything else of the user.
                let other = try await guesser.nodes[0].session(of: "anna", on: "tablet")
                _ = try await guesser.nodes[0].accounts.showPresence(
                    PresenceEvidence(password: right), in: other, from: Fixture.admin)
                // After the lock there is one try for each, at whichever node.
                now.withLock { $0 = $0 + .seconds(900) }
                #expect(await guesser.guess(at: 3) == .wrong)
                #expect(await guesser.guess(right, at: 4) == .wait(.seconds(900)))
                // Time lifts it, and a right one begins anew.
                now.withLock { $0 = $0 + .seconds(900) }
                #expect(await guesser.guess(right, at: 5) == .right)
                for node in 0..<10 { #expect(await guesser.guess(at: node) == .wrong) }
                #expect(await guesser.guess(right, at: 0) == .wait(.seconds(1)))
                // So does an admin, at one node for all.
                _ = try await guesser.nodes[9].admin.unlock(.username("anna"), by: Fixture.admin)
                for node in 0..<9 { #expect(await guesser.guess(at: node) == .wrong) }
                #expect(await guesser.guess(right, at: 0) == .right)
                let failures = try await store.trail().map(\.event).filter { $0.kind == .loginFailed }
                #expect(failures.count == 40 && failures.allSatisfy { $0.userID == guesser.session.user.id })
                let sessionID = isLogin ? nil : guesser.session.session.id
                #expect(failures.allSatisfy { $0.reason == "wrong_password" && $0.sessionID == sessionID })
            },
            StoreRule("of many tries \(place) at once no more are answered than one by one") { store in
                let now = Locked(Fixture.start)
                let guesser = try await Guesser(
                    store, WallClock { now.withLock { $0 } }, nodes: 4, isLogin: isLogin)
                func guessMany() async -> Int {
                    await withTaskGroup(of: Verdict.self) { group in
                        for node in 0..<48 { group.addTask { await guesser.guess(at: node % 4) } }
                        return await group.reduce(0) { $0 + ($1 == .wrong ? 1 : 0) }
                    }
                }
                let answered = await guessMany()
                #expect((10...20).contains(answered))
                // From the first delay on it is one at a time.
                var total = answered
                while total < 20 {
                    now.withLock { $0 = $0 + .seconds(60) }
                    #expect(await guessMany() == 1)
                    total += 1
                }
                now.withLock { $0 = $0 + .seconds(899) }
                #expect(await guessMany() == 0)
                now.withLock { $0 = $0 + .seconds(1) }
                #expect(await guessMany() == 1)
            },
        ]
    } + [
        StoreRule("what is counted for a target is that target's, and is forgotten with nil or an unlocking") { store in
            let users = [Fixture.user("anna"), Fixture.user("bert")]
            for user in users { #expect(try await store.insertUser(user, from: .admin, events: [])) }
            let targets = users.flatMap { user in
                [
                    LockoutTarget.session(Fixture.sessionID(), of: user.id),
                    LockoutTarget.session(Fixture.sessionID(), of: user.id), .device("phone", of: user.id),
                    .device("tablet", of: user.id),
                ]
            }
            #expect(Set(targets).count == 8)
            func counted() async throws -> [Int] {
                var counts: [Int] = []
                for target in targets { counts.append(try await store.failedAttempts(at: target)?.count ?? 0) }
                return counts
            }
            for (index, target) in targets.enumerated() {
                let at = Fixture.start + .seconds(Int64(index))
                try await store.updateFailedAttempts(at: target) { change in
                    #expect(change.failedAttempts == nil)
                    change.failedAttempts = FailedAttempts(count: index + 1, lastAt: at)
                    change.events = [AuditEvent(.loginFailed, at: at, by: Fixture.admin, userID: target.userID)]
                }
                #expect(try await store.failedAttempts(at: target) == FailedAttempts(count: index + 1, lastAt: at))
            }
            #expect(try await counted() == [1, 2, 3, 4, 5, 6, 7, 8])
            #expect(try await store.trail().map(\.event.userID) == targets.map(\.userID))
            // A look changes nothing.
            #expect(try await store.updateFailedAttempts(at: targets[1]) { $0.failedAttempts?.count } == 2)
            try await store.updateFailedAttempts(at: targets[0]) { $0.failedAttempts = nil }
            try await store.updateFailedAttempts(at: targets[0]) { #expect($0.failedAttempts == nil) }
            #expect(try await counted() == [0, 2, 3, 4, 5, 6, 7, 8])
            // Another change of the user leaves them.
            _ = try await store.updateUser(.id(users[1].id)) { $0.user.profile.displayName = "B." }
            _ = try await store.updateUser(.id(users[0].id)) { $0.forgetsFailedAttempts = true }
            #expect(try await counted() == [0, 0, 0, 0, 5, 6, 7, 8])
        },
        StoreRule("none of many wrong passwords at once is lost") { store in
            let target = LockoutTarget.session(Fixture.sessionID(), of: Fixture.userID())
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<50 {
                    group.addTask {
                        try await store.updateFailedAttempts(at: target) { change in
                            change.failedAttempts = FailedAttempts(
                                count: (change.failedAttempts?.count ?? 0) + 1, lastAt: Fixture.start)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await store.failedAttempts(at: target)?.count == 50)
        },
        StoreRule("wrong passwords are swept by when the last one came, in steps") { store in
            let targets = (0..<5).map { LockoutTarget.device("\($0)", of: Fixture.userID()) }
            for (index, target) in targets.enumerated() {
                try await store.updateFailedAttempts(at: target) { change in
                    change.failedAttempts = FailedAttempts(count: 1, lastAt: Fixture.start + .seconds(Int64(index)))
                }
            }
            let end = Fixture.start + .seconds(3)
            #expect(try await store.sweepFailedAttempts(before: end, limit: 2) == 2)
            #expect(try await store.sweepFailedAttempts(before: end, limit: 2) == 1)
            #expect(try await store.sweepFailedAttempts(before: end, limit: 2) == 0)
            for (index, target) in targets.enumerated() {
                #expect(try await (store.failedAttempts(at: target) == nil) == (index < 3))
            }
        },
    ]
