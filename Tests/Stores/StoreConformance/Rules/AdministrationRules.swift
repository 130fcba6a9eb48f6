import JOSE
import Sessions
import Testing

let clientRules: [StoreRule] = [
    StoreRule("a client comes back with every member, and the list is in order") { store in
        let full = Fixture.fullClient("b", epoch: 2)
        let plain = Fixture.client("a", epoch: 3)
        try await store.updateClient("b") { $0.client = full }
        try await store.updateClient("a") { $0.client = plain }
        #expect(try await store.client("b") == full)
        #expect(try await store.clients() == [plain, full])
        #expect(try await store.client("c") == nil)
    },
    StoreRule("a client's keys come back as they were, and go") { store in
        let signer = try Fixture.signingClient()
        try await store.updateClient(signer.id) { $0.client = signer }
        #expect(try await store.client(signer.id) == signer)
        #expect(try await store.client(signer.id)?.keys?.set.keys.count == 2)
        try await store.updateClient(signer.id) { change in
            change.client?.authenticationMethod = .none
            change.client?.keys = nil
        }
        #expect(try await store.client(signer.id)?.keys == nil)
    },
    StoreRule("a client is changed, deleted, and made again") { store in
        try await store.updateClient("web") { $0.client = Fixture.client() }
        let name = try await store.updateClient("web") { change -> String? in
            change.client?.name = "Das Web"
            return change.client?.name
        }
        #expect(name == "Das Web")
        #expect(try await store.client("web")?.name == "Das Web")
        try await store.updateClient("web") { $0.client = nil }
        #expect(try await store.client("web") == nil)
        #expect(try await store.clients().isEmpty)
        try await store.updateClient("web") { change in
            change.client = Fixture.client("web", epoch: change.settings.epoch + 1)
        }
        #expect(try await store.client("web")?.epoch == 3)
    },
    StoreRule("a new client moves the epoch, and an older one does not move it back") { store in
        try await store.updateClient("web") { $0.client = Fixture.client("web", epoch: 5) }
        #expect(try await store.settings().epoch == 5)
        try await store.updateClient("web") { $0.client?.name = "x" }
        try await store.updateClient("old") { $0.client = Fixture.client("old", epoch: 3) }
        #expect(try await store.settings().epoch == 5)
        let seen = try await store.updateClient("old") { $0.settings.epoch }
        #expect(seen == 5)
    },
]

let settingsRules: [StoreRule] = [
    StoreRule("a new store has the default settings") { store in
        let settings = try await store.settings()
        #expect(settings == Settings())
    },
    StoreRule("settings come back with every member") { store in
        try await store.updateClient("web") { $0.client = Fixture.client() }
        let changed = try await store.updateSettings { change -> (Settings, [Client]) in
            change.settings.sessions = SessionSettings(
                offlineSessionIdle: .seconds(11), offlineSessionMaxLimited: false, offlineSessionMax: .seconds(12),
                refreshAfter: .seconds(3), rotationInterval: .seconds(4))
            change.settings.epoch += 1
            change.settings.revokedBefore = Settings.RevokedBefore(epoch: change.settings.epoch, at: Fixture.start)
            change.events = [AuditEvent(.settingsChanged, at: Fixture.start, by: Fixture.admin)]
            return (change.settings, change.clients)
        }
        var stored = try await store.settings()
        // The store's own mark: the life of access tokens was two weeks before.
        #expect(stored.earlierTokensEnd != nil)
        stored.earlierTokensEnd = nil
        #expect(stored == changed.0)
        #expect(changed.1 == [Fixture.client()])
        #expect(try await store.events(after: 0, limit: 9, userID: nil, sessionID: nil).count == 1)
    },
    StoreRule("the store can commit") { store in
        try await store.ping()
        try await store.ping()
    },
]

let keyRules: [StoreRule] = [
    StoreRule("signing keys are added, changed and removed") { store in
        let keys = (0..<3).map { number in
            StoredSigningKey(
                id: "key-\(number)", algorithm: number == 1 ? "EdDSA" : "ES256",
                sealedPrivateKey: [UInt8](repeating: UInt8(number), count: 100),
                createdAt: Fixture.start + .seconds(number), activeFrom: Fixture.start + .seconds(100 + number))
        }
        try await store.updateSigningKeys { stored, events in
            stored = keys
            events = [AuditEvent(.signingKeyCreated, at: Fixture.start, by: .system)]
        }
        #expect(try await store.updateSigningKeys { stored, _ in stored } == keys)
        try await store.updateSigningKeys { stored, _ in
            stored[0].retiredAt = Fixture.start + .seconds(500)
            stored.remove(at: 1)
        }
        let left = try await store.updateSigningKeys { stored, _ in stored }
        #expect(left.map(\.id) == ["key-0", "key-2"])
        #expect(left.first?.retiredAt == Fixture.start + .seconds(500))
        #expect(try await store.events(after: 0, limit: 9, userID: nil, sessionID: nil).count == 1)
    },
    StoreRule("admin keys are added, changed and removed") { store in
        let keys = (0..<2).map { number in
            AdminKey(
                id: "k\(number)", name: "key \(number)", hash: [UInt8](repeating: UInt8(number), count: 32),
                createdAt: Fixture.start + .seconds(number), scope: number == 0 ? .owner : .support,
                expiresAt: number == 0 ? nil : Fixture.start + .seconds(900))
        }
        try await store.updateAdminKeys { stored, events in
            stored = keys
            events = [AuditEvent(.adminKeyCreated, at: Fixture.start, by: .system)]
        }
        #expect(try await store.adminKeys() == keys)
        try await store.updateAdminKeys { stored, _ in
            stored.removeFirst()
            stored[0].name = "renamed"
            stored[0].scope = .read
            stored[0].expiresAt = nil
            stored[0].lastUsedAt = Fixture.start + .seconds(77)
        }
        #expect(try await store.adminKeys().map(\.name) == ["renamed"])
        let renamed = try #require(try await store.adminKeys().first)
        #expect(renamed.scope == .read && renamed.expiresAt == nil)
        #expect(renamed.lastUsedAt == Fixture.start + .seconds(77))
        #expect(try await store.events(after: 0, limit: 9, userID: nil, sessionID: nil).count == 1)
    },
]

/// The audit trail.
let eventRules: [StoreRule] = [
    StoreRule("the events of a user are read backwards, page by page") { store in
        let (anna, bert) = (Fixture.userID(), Fixture.userID())
        for number in 0..<5 {
            try await store.append([
                AuditEvent(.loginFailed, at: Fixture.start, by: .system, userID: anna, reason: "\(number)"),
                AuditEvent(.loginFailed, at: Fixture.start, by: .system, userID: bert),
                AuditEvent(.settingsChanged, at: Fixture.start, by: .system),
            ])
        }
        let first = try await store.events(ofUser: anna, before: nil, limit: 2)
        #expect(first.map(\.event.reason) == ["4", "3"])
        let cursor = try #require(first.last?.id)
        let rest = try await store.events(ofUser: anna, before: cursor, limit: 9)
        #expect(rest.map(\.event.reason) == ["2", "1", "0"])
        #expect(try await store.events(ofUser: anna, before: rest.last?.id, limit: 9).isEmpty)
        #expect(try await store.events(ofUser: anna, before: nil, limit: 0).isEmpty)
        #expect(try await store.events(ofUser: Fixture.userID(), before: nil, limit: 9).isEmpty)
    },
    StoreRule("the events of all are read backwards, page by page") { store in
        for number in 0..<5 {
            try await store.append([
                AuditEvent(.settingsChanged, at: Fixture.start, by: .system, reason: "\(number)")
            ])
        }
        let first = try await store.events(before: nil, limit: 2)
        #expect(first.map(\.event.reason) == ["4", "3"])
        let rest = try await store.events(before: first.last?.id, limit: 3)
        #expect(rest.map(\.event.reason) == ["2", "1", "0"])
        #expect(try await store.events(before: nil, limit: 0).isEmpty)
    },
    StoreRule("the changes of a client, or of the settings, come the newest first, and nothing else") { store in
        for number in 0..<6 {
            try await store.append([
                AuditEvent(
                    number < 2 ? .settingsChanged : .clientChanged, at: Fixture.start, by: Fixture.admin,
                    clientID: number < 2 ? nil : number == 4 ? "shop" : "web", reason: "\(number)"),
                AuditEvent(.clientCreated, at: Fixture.start, by: Fixture.admin, clientID: "web"),
            ])
        }
        func reasons(_ clientID: String?, _ limit: Int) async throws -> [String?] {
            try await store.lifetimeChanges(ofClient: clientID, limit: limit).map(\.event.reason)
        }
        #expect(try await reasons(nil, 9) == ["1", "0"])
        #expect(try await reasons("web", 2) == ["5", "3"])
        #expect(try await reasons("web", 9) == ["5", "3", "2"])
        #expect(try await reasons("we", 9).isEmpty)
        #expect(try await reasons(nil, 0).isEmpty)
    },
    StoreRule("an event comes back with every member") { store in
        let user = Fixture.userID()
        let session = Fixture.session(of: user)
        var full = AuditEvent(
            .sessionEnded, at: Fixture.start, by: Fixture.admin, session: session, reason: "revoked_by_admin")
        (full.deviceName, full.tokenID, full.tokenEpoch) = ("Anna's iPhone", "jti", 7)
        let plain = AuditEvent(.settingsChanged, at: Fixture.start, by: .system)
        let changes = [
            (AuditEvent.Kind.userChanged, "profile"), (.emailChanged, "a@x>b@x"), (.loginFailed, "wrong_password"),
            (.refreshTokenMisused, "no_key"),
        ].map { kind, reason in
            AuditEvent(kind, at: Fixture.start, by: Fixture.admin, userID: user, reason: reason)
        }
        try await store.append([full, plain] + changes)
        let recorded = try await store.events(after: 0, limit: 10, userID: nil, sessionID: nil)
        #expect(recorded.map(\.event) == [full, plain] + changes)
    },
    StoreRule("the deletion of a user erases the values of the user's changes and the names of devices") { store in
        let users = [Fixture.user(), Fixture.user("berta")]
        for user in users { #expect(try await store.insertUser(user, from: .admin, events: [])) }
        let events = users.flatMap { user in
            [AuditEvent.Kind.emailChanged, .userChanged, .loginFailed].map { kind in
                AuditEvent(
                    kind, at: Fixture.start, by: Fixture.admin, userID: user.id, deviceName: "phone of Anna",
                    reason: "a@x>b@x")
            }
        }
        try await store.append(events)
        _ = try await store.updateUser(.id(users[0].id)) { $0.deletes = true }
        let recorded = try await store.events(after: 0, limit: 10, userID: nil, sessionID: nil)
        let kept = Array(repeating: "a@x>b@x" as String?, count: 4)
        #expect(recorded.prefix(6).map(\.event.reason) == [nil, nil] + kept)
        #expect(recorded.prefix(6).map(\.event.deviceName) == [nil, nil, nil] + events.suffix(3).map(\.deviceName))
    },
    StoreRule("the end of a session names its device, by the platform if it has no name, and not to a deleted user") {
        store in
        for (number, deletes) in [false, true].enumerated() {
            let user = try await store.given(Fixture.user("user-\(number)"))
            for device in [
                Device(id: "a", name: "Anna's iPhone", platform: "ios"), Device(id: "b", platform: "android"),
                Device(id: "c"),
            ] {
                _ = try await store.given(
                    Session(
                        id: Fixture.sessionID(), userID: user.id, clientID: Client.mobileID, device: device,
                        startedAt: Fixture.start, epoch: 1))
            }
            _ = try await store.updateUser(.id(user.id)) { change in
                change.deletes = deletes
                change.ending = UserChange.EndingSessions(.revokedByAdmin, at: Fixture.start)
            }
            let ends = try await store.events(after: 0, limit: 99, userID: user.id, sessionID: nil).map(\.event)
                .filter { $0.kind == .sessionEnded }
            let names = Dictionary(grouping: ends) { $0.deviceID }.mapValues { $0.compactMap(\.deviceName) }
            #expect(names == ["a": deletes ? [] : ["Anna's iPhone"], "b": deletes ? [] : ["android"], "c": []])
        }
    },
    StoreRule("every kind of event is kept") { store in
        let events = AuditEvent.Kind.allCases.map { AuditEvent($0, at: Fixture.start, by: .system) }
        try await store.append(events)
        #expect(
            try await store.events(after: 0, limit: 100, userID: nil, sessionID: nil).map(\.event.kind)
                == AuditEvent.Kind.allCases)
    },
    StoreRule("events come in the order of their places, page by page, of one user or one session") { store in
        let users = [Fixture.userID(), Fixture.userID()]
        let sessions = users.map { Fixture.session(of: $0) }
        for number in 0..<8 {
            let session = sessions[number % 2]
            try await store.append([
                AuditEvent(.sessionStarted, at: Fixture.start, by: .system, session: session, reason: "\(number)")
            ])
        }
        let all = try await store.events(after: 0, limit: 100, userID: nil, sessionID: nil)
        #expect(all.map(\.event.reason) == (0..<8).map { "\($0)" })
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.id < $1.id })
        #expect(try await store.events(after: all[2].id, limit: 3, userID: nil, sessionID: nil) == Array(all[3..<6]))
        let ofFirst = try await store.events(after: 0, limit: 100, userID: users[0], sessionID: nil)
        #expect(ofFirst.map(\.event.reason) == ["0", "2", "4", "6"])
        #expect(try await store.events(after: 0, limit: 100, userID: nil, sessionID: sessions[0].id) == ofFirst)
        #expect(try await store.events(after: 0, limit: 100, userID: users[1], sessionID: sessions[0].id).isEmpty)
        #expect(
            try await store.events(after: ofFirst[0].id, limit: 2, userID: users[0], sessionID: sessions[0].id)
                == Array(ofFirst[1..<3]))
        #expect(try await store.events(after: all[7].id, limit: 3, userID: nil, sessionID: nil).isEmpty)
    },
    StoreRule("a change's events stand in the trail in their order") { store in
        let user = Fixture.user()
        let events = ["a", "b", "c"].map {
            AuditEvent(.userCreated, at: Fixture.start, by: Fixture.admin, userID: user.id, reason: $0)
        }
        let isAdded = try await store.insertUser(user, from: .admin, events: events)
        #expect(isAdded)
        #expect(try await store.events(after: 0, limit: 9, userID: user.id, sessionID: nil).map(\.event) == events)
    },
    StoreRule("old events go, the oldest first and a step at a time, the others keep their places") { store in
        let events = (0..<7).map {
            AuditEvent(.sessionStarted, at: Fixture.start + .seconds($0), by: .system, reason: "\($0)")
        }
        try await store.append(events)
        let before = try await store.events(after: 0, limit: 99, userID: nil, sessionID: nil)
        // What occurred at that very second stays.
        let cut = Fixture.start + .seconds(5)
        #expect(try await store.sweepEvents(before: cut, limit: 0) == 0)
        #expect(try await store.sweepEvents(before: cut, limit: 3) == 3)
        #expect(
            try await store.events(after: 0, limit: 99, userID: nil, sessionID: nil) == Array(before.dropFirst(3)))
        #expect(try await store.sweepEvents(before: cut, limit: 3) == 2)
        #expect(try await store.sweepEvents(before: cut, limit: 3) == 0)
        #expect(
            try await store.events(after: 0, limit: 99, userID: nil, sessionID: nil) == Array(before.dropFirst(5)))
        // A place never comes again, not even when the trail was emptied.
        #expect(try await store.sweepEvents(before: Fixture.start + .seconds(99), limit: 99) == 2)
        try await store.append(events)
        let after = try await store.events(after: 0, limit: 99, userID: nil, sessionID: nil)
        #expect(after.count == 7 && after.allSatisfy { $0.id > before[6].id })
    },
    StoreRule("an event that says that it is young stays, whatever stands beside it") { store in
        let events = [9, 0, 9, 1].map { AuditEvent(.loginFailed, at: Fixture.start + .seconds($0), by: .system) }
        try await store.append(events)
        #expect(try await store.sweepEvents(before: Fixture.start + .seconds(5), limit: 4) == 2)
        #expect(
            try await store.events(after: 0, limit: 9, userID: nil, sessionID: nil).map(\.event)
                == [events[0], events[2]])
        #expect(try await store.sweepEvents(before: Fixture.start + .seconds(5), limit: 4) == 0)
    },
]
