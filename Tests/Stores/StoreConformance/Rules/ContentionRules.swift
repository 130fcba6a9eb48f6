import Locks
import Sessions
import Testing

/// Many callers at once. Each rule is about a promise that a race would break.
public let contentionRules: [StoreRule] = [
    StoreRule("200 changes of one session at once are all counted") { store in
        let user = try await store.given(Fixture.user())
        let session = try await store.given(Fixture.session(of: user.id))
        let serials = try await gather(200) { _ in
            try await store.updateSession(session.id, issueNext)
        }
        #expect(Set(serials.compactMap { $0 }).count == 200)
        #expect(try await store.stored(session.id).child == 201)
    },
    StoreRule("an answer is prepared of what the change came to, and tells of nothing that is not stored") { store in
        let user = try await store.given(Fixture.user())
        let session = try await store.given(Fixture.session(of: user.id))
        let answers = try await gather(50) { _ in
            let (child, answer) = (Locked<UInt64?>(nil), Locked(""))
            let isFound = try await store.changeSession(session.id) { change in
                let serial = issueNext(&change)
                child.withLock { $0 = serial }
            } preparing: {
                let serial = child.withLock { $0 }
                answer.withLock { $0 += "child \(serial ?? 0)" }
            }
            #expect(isFound)
            return answer.withLock { $0 }
        }
        #expect(Set(answers) == Set((2...51).map { "child \($0)" }))
        #expect(try await store.stored(session.id).child == 51)
    },
    StoreRule("after an acknowledged end no change finds the session living") { store in
        let user = try await store.given(Fixture.user())
        let session = try await store.given(Fixture.session(of: user.id))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var ended = false
                    for _ in 0..<25 {
                        let isEnded = try await store.updateSession(session.id) { change -> Bool in
                            if change.session.ending == nil { change.session.child += 1 }
                            return change.session.ending != nil
                        }
                        #expect(isEnded == true || !ended, "an end was taken back")
                        if isEnded == true { ended = true }
                    }
                }
            }
            group.addTask {
                let update = try await store.updateUser(.id(user.id)) {
                    $0.ending = UserChange.EndingSessions(.revokedByAdmin, at: Fixture.start)
                }
                guard case .done(_, endedSessions: 1) = update else { throw Unexpected("\(update)") }
                #expect(try await store.stored(session.id).ending?.reason == .revokedByAdmin)
                let isEnded = try await store.updateSession(session.id) { $0.session.ending != nil }
                #expect(isEnded == true)
            }
            try await group.waitForAll()
        }
        #expect(try await store.stored(session.id).ending?.reason == .revokedByAdmin)
    },
    StoreRule("50 logins on one device at once leave one living session, each replacing the one before") { store in
        let user = try await store.given(Fixture.user())
        let replaced = try await gather(50) { number in
            try await store.openSession(userID: user.id, clientID: Client.mobileID, deviceID: "phone") {
                opening -> Identifier<Session>? in
                opening.session = Fixture.session(of: user.id, at: Fixture.start + .seconds(number))
                return opening.previous?.id
            }
        }
        let all = try await store.sessions(of: user.id, after: nil, limit: 100).items.map(\.session)
        #expect(all.count == 50)
        #expect(all.filter { $0.ending == nil }.count == 1)
        #expect(all.allSatisfy { $0.ending == nil || $0.ending?.reason == .replaced })
        let previous = replaced.compactMap { $0 ?? nil }
        #expect(previous.count == 49)
        #expect(Set(previous).count == 49)
    },
    StoreRule("after an acknowledged disable no login finds the user enabled") { store in
        let user = try await store.given(Fixture.user())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    var wasDisabled = false
                    for _ in 0..<10 {
                        let isDisabled = try await store.openSession(
                            userID: user.id, clientID: "web", deviceID: "d\(number)"
                        ) { opening -> Bool in
                            if opening.user.disabledByAdmin == nil {
                                opening.session = Fixture.session(
                                    of: user.id, client: "web", device: "d\(number)")
                            }
                            return opening.user.disabledByAdmin != nil
                        }
                        #expect(isDisabled == true || !wasDisabled, "a disable was taken back")
                        if isDisabled == true { wasDisabled = true }
                    }
                }
            }
            group.addTask {
                let update = try await store.updateUser(.id(user.id)) { change in
                    change.user.disabledByAdmin = User.LoginDisabling(effective: .immediate, since: Fixture.start)
                    change.ending = UserChange.EndingSessions(.revokedByAdmin, at: Fixture.start)
                }
                guard case .done = update else { throw Unexpected("\(update)") }
                let living = try await store.sessions(of: user.id, after: nil, limit: 500).items.filter {
                    $0.session.ending == nil
                }
                #expect(living.isEmpty)
            }
            try await group.waitForAll()
        }
        let living = try await store.sessions(of: user.id, after: nil, limit: 500).items.filter {
            $0.session.ending == nil
        }
        #expect(living.isEmpty)
    },
    StoreRule("a user who is deleted while changed stays deleted, and no session survives") { store in
        let user = try await store.given(Fixture.user())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    _ = try await store.updateUser(.id(user.id)) { $0.user.profile.displayName = "\(number)" }
                }
                group.addTask {
                    try await store.openSession(userID: user.id, clientID: "web", deviceID: "d\(number)") {
                        $0.session = Fixture.session(of: user.id, client: "web", device: "d\(number)")
                    }
                }
                if number == 10 {
                    group.addTask { _ = try await store.updateUser(.id(user.id)) { $0.deletes = true } }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await store.user(.id(user.id)) == nil)
        let sessions = try await store.sessions(of: user.id, after: nil, limit: 100).items
        #expect(sessions.allSatisfy { $0.session.ending?.reason == .userDeleted })
    },
    StoreRule("of 30 users with one name at once, one is added") { store in
        let added = try await gather(30) { number in
            try await store.insertUser(
                Fixture.user(number.isMultiple(of: 2) ? "anna" : "ANNA"), from: .admin, events: [])
        }
        #expect(added.filter { $0 }.count == 1)
        #expect(try await store.users(matching: nil, after: nil, limit: 50).items.count == 1)
    },
    StoreRule("30 new clients at once get 30 epochs") { store in
        let epochs = try await gather(30) { number in
            try await store.updateClient("c\(number)") { change -> Int64 in
                let epoch = change.settings.epoch + 1
                change.client = Fixture.client("c\(number)", epoch: epoch)
                return epoch
            }
        }
        #expect(Set(epochs).count == 30)
        #expect(try await store.settings().epoch == 31)
        #expect(try await store.clients().count == 30)
    },
    StoreRule("what is acknowledged is seen by the next read, by whomever") { store in
        let user = try await store.given(Fixture.user())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    let session = Fixture.session(of: user.id, device: "d\(number)")
                    _ = try await store.given(session)
                    for serial in 2...6 as ClosedRange<UInt64> {
                        try await store.updateSession(session.id) { $0.session.child = serial }
                        #expect(try await store.stored(session.id).child == serial)
                    }
                    try await store.updateSettings { $0.settings.epoch = max($0.settings.epoch, Int64(number)) }
                    #expect(try await store.settings().epoch >= Int64(number))
                    #expect(try await store.session(session.id)?.settings.epoch ?? 0 >= Int64(number))
                }
            }
            try await group.waitForAll()
        }
    },
]

/// What `count` tasks that run at once return.
func gather<Value: Sendable>(
    _ count: Int, _ work: @escaping @Sendable (_ number: Int) async throws -> Value
) async throws -> [Value] {
    try await withThrowingTaskGroup(of: Value.self) { group in
        for number in 0..<count { group.addTask { try await work(number) } }
        return try await group.reduce(into: []) { $0.append($1) }
    }
}

/// Issues the next serial, and returns it.
@Sendable private func issueNext(_ change: inout SessionChange) -> UInt64 {
    change.session.parent = change.session.child
    change.session.child += 1
    return change.session.child
}
