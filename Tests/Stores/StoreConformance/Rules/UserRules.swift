import Sessions
import Testing

let userRules: [StoreRule] = [
    StoreRule("display name, given name and family name come back, whichever of them a user has") { store in
        for number in 0..<8 {
            var user = Fixture.user("user-\(number)")
            user.profile.displayName = number & 1 == 0 ? nil : "Anna A."
            user.profile.givenName = number & 2 == 0 ? nil : "Anna"
            user.profile.familyName = number & 4 == 0 ? nil : "Å."
            user = try await store.given(user)
            let (profile, read) = (user.profile, try await store.user(.id(user.id))?.profile)
            #expect(read == profile, "\(number)")
        }
    },
    StoreRule("a user comes back with every member, by id and by username") { store in
        let user = try await store.given(Fixture.fullUser())
        #expect(try await store.user(.id(user.id)) == user)
        #expect(try await store.user(.username(user.username)) == user)
        // Another composition, another case: the same name.
        #expect(try await store.user(.username("ZOE\u{308}")) == user)
        let plain = try await store.given(Fixture.user())
        #expect(try await store.user(.id(plain.id)) == plain)
    },
    StoreRule("users are found by their telephone number, as it is stored, and typed with blanks and marks") {
        store in
        for (name, number) in [("b", "+433161234"), ("a", "+433161234"), ("c", "+43 316 (1234)"), ("d", nil)] {
            var user = Fixture.user(name)
            user.profile.phoneNumber = number
            _ = try await store.given(user)
        }
        func found(_ number: String, _ limit: Int = 9) async throws -> [String] {
            try await store.users(withPhoneNumber: number, limit: limit).map(\.username)
        }
        #expect(try await found("+433161234") == ["a", "b"])
        #expect(try await found("+43 316/12-34") == ["a", "b"])
        #expect(try await found("+43 316 (1234)") == ["a", "b", "c"])
        #expect(try await found("+433161234", 1).count == 1)
        for number in ["", " ", "3161234", "+43316123", "%"] { #expect(try await found(number).isEmpty, "\(number)") }
        #expect(try await found("+433161234", 0).isEmpty)
    },
    StoreRule("an unknown user is nil") { store in
        let user = try await store.user(.id(Fixture.userID()))
        #expect(user == nil)
        #expect(try await store.user(.username("nobody")) == nil)
    },
    StoreRule("a username is taken without regard to case and composition, and nothing is written") { store in
        let user = try await store.given(Fixture.user("Zoë"))
        let event = AuditEvent(.userCreated, at: Fixture.start, by: Fixture.admin)
        #expect(try await !store.insertUser(Fixture.user("zoe\u{308}"), from: .admin, events: [event]))
        #expect(try await store.users(matching: nil, after: nil, limit: 10).items == [user])
        #expect(try await store.events(after: 0, limit: 10, userID: nil, sessionID: nil).isEmpty)
    },
]

/// Changes of users, and what they do to sessions.
let userChangeRules: [StoreRule] = [
    StoreRule("every member of a user can be changed") { store in
        let user = try await store.given(Fixture.user())
        let template = Fixture.fullUser("Anna Lena")
        let update = try await store.updateUser(.username("ANNA")) { change -> User in
            change.user.username = template.username
            change.user.profile = template.profile
            change.user.passwordHash = template.passwordHash
            change.user.offlineSessionMax = template.offlineSessionMax
            change.user.disabledByAdmin = template.disabledByAdmin
            change.user.disabledByUser = template.disabledByUser
            change.user.wrongPasswords = template.wrongPasswords
            return change.user
        }
        guard case .done(let changed, endedSessions: 0) = update else { throw Unexpected("\(update)") }
        #expect(changed.wrongPasswords == template.wrongPasswords)
        #expect(try await store.user(.id(user.id)) == changed)
        #expect(try await store.user(.username("anna lena")) == changed)
        #expect(try await store.user(.username("anna")) == nil)
    },
    StoreRule("a change of an unknown user is not found") { store in
        let update = try await store.updateUser(.username("nobody")) { _ in }
        guard case .notFound = update else { throw Unexpected("\(update)") }
    },
    StoreRule("a change to a username that is taken writes nothing") { store in
        let user = try await store.given(Fixture.user())
        _ = try await store.given(Fixture.user("bert"))
        let session = try await store.given(Fixture.session(of: user.id))
        let update = try await store.updateUser(.id(user.id)) { change in
            change.user.username = "BERT"
            change.ending = UserChange.EndingSessions(.revokedByAdmin, at: Fixture.start)
            change.events = [AuditEvent(.userChanged, at: Fixture.start, by: Fixture.admin)]
        }
        guard case .usernameTaken = update else { throw Unexpected("\(update)") }
        #expect(try await store.user(.id(user.id)) == user)
        #expect(try await store.stored(session.id) == session)
        #expect(try await store.events(after: 0, limit: 10, userID: nil, sessionID: nil).isEmpty)
    },
    StoreRule("a username may change its case") { store in
        let user = try await store.given(Fixture.user("anna"))
        let update = try await store.updateUser(.id(user.id)) { $0.user.username = "Anna" }
        guard case .done(_, endedSessions: 0) = update else { throw Unexpected("\(update)") }
        #expect(try await store.user(.id(user.id))?.username == "Anna")
    },
    StoreRule("sessions that end with a change are counted, and those that had ended keep their reason") { store in
        let user = try await store.given(Fixture.user())
        let other = try await store.given(Fixture.user("bert"))
        let living = try await store.given(Fixture.session(of: user.id, device: "a"))
        let spared = try await store.given(Fixture.session(of: user.id, device: "b"))
        let ended = try await store.given(Fixture.session(of: user.id, device: "c"))
        try await store.updateSession(ended.id) { $0.session.end(.loggedOut, at: Fixture.start) }
        let foreign = try await store.given(Fixture.session(of: other.id))
        let at = Fixture.start + .seconds(9)
        let update = try await store.updateUser(.id(user.id)) {
            $0.ending = UserChange.EndingSessions(.passwordChanged, at: at, except: spared.id)
        }
        guard case .done(_, endedSessions: 1) = update else { throw Unexpected("\(update)") }
        #expect(try await store.stored(living.id).ending == Session.Ending(reason: .passwordChanged, at: at))
        #expect(try await store.stored(spared.id) == spared)
        #expect(try await store.stored(ended.id).ending?.reason == .loggedOut)
        #expect(try await store.stored(foreign.id) == foreign)
    },
    StoreRule("sessions of one client, or on one device, end alone") { store in
        let user = try await store.given(Fixture.user())
        let pairs = [("web", "a"), ("web", "b"), ("mobile", "a"), ("mobile", "b")]
        var sessions: [Session] = []
        for (client, device) in pairs {
            sessions.append(try await store.given(Fixture.session(of: user.id, client: client, device: device)))
        }
        let one = try await store.updateUser(.id(user.id)) {
            $0.ending = UserChange.EndingSessions(
                .revokedByUser, at: Fixture.start, clientID: "web", deviceID: "a")
        }
        guard case .done(_, endedSessions: 1) = one else { throw Unexpected("\(one)") }
        let device = try await store.updateUser(.id(user.id)) {
            $0.ending = UserChange.EndingSessions(.revokedByUser, at: Fixture.start, deviceID: "a")
        }
        guard case .done(_, endedSessions: 1) = device else { throw Unexpected("\(device)") }
        var living: [Identifier<Session>] = []
        for session in sessions where try await store.stored(session.id).ending == nil { living.append(session.id) }
        #expect(living == [sessions[1].id, sessions[3].id])
    },
    StoreRule("a deleted user is gone, the sessions stay as tombstones, and the name is free") { store in
        let user = try await store.given(Fixture.user())
        let living = try await store.given(Fixture.session(of: user.id, device: "a"))
        let ended = try await store.given(Fixture.session(of: user.id, device: "b"))
        try await store.updateSession(ended.id) { $0.session.end(.loggedOut, at: Fixture.start) }
        let update = try await store.updateUser(.id(user.id)) { change in
            change.deletes = true
            change.events = [
                AuditEvent(.userDeleted, at: Fixture.start + .seconds(4), by: Fixture.admin, userID: user.id)
            ]
        }
        guard case .done(_, endedSessions: 1) = update else { throw Unexpected("\(update)") }
        #expect(try await store.user(.id(user.id)) == nil)
        let record = try await store.session(living.id)
        #expect(record?.user == nil)
        #expect(record?.session.ending?.reason == .userDeleted)
        #expect(try await store.session(ended.id)?.session.ending?.reason == .loggedOut)
        #expect(try await store.sessions(of: user.id, after: nil, limit: 10).items.count == 2)
        #expect(try await store.insertUser(Fixture.user(), from: .admin, events: []))
        let opened: Void? = try await store.openSession(userID: user.id, clientID: "web", deviceID: "a") { _ in }
        #expect(opened == nil)
        // The next user of that name does not inherit what a tombstone belonged to.
        let page = try await store.sessions(of: user.id, after: nil, limit: 10)
        #expect(page.items.allSatisfy { $0.user == nil })
        #expect(try await store.session(living.id)?.user == nil)
    },
]
