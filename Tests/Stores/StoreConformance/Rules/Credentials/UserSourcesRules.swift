import Sessions
import Testing

extension Fixture {
    fileprivate static let address = "anna@example.org"

    /// A user with the address as verified mailbox.
    fileprivate static func mailed(_ name: String = "anna") -> User {
        var user = user(name)
        user.profile.email = address
        user.profile.isEmailVerified = true
        return user
    }
}

extension Store {
    /// Adds a user with those sources.
    fileprivate func given(_ user: User, _ edit: (inout UserSources) -> Void) async throws -> UserSources {
        var sources = UserSources(of: user, from: .admin)
        edit(&sources)
        let outcomes = try await importUsers([user], sources: [user.id: sources], .keeping(ImportLedger()))
        guard outcomes == [.written] else { throw Unexpected("the user was not written") }
        return sources
    }

    /// Whether a proof of the address leads to that user. Nothing is written.
    fileprivate func isLinked(_ user: User) async throws -> Bool {
        let token = "\(Fixture.sessionID())"
        let login = try Fixture.login(token, linking: Fixture.address, names: token, subject: token)
        return try await logIn(login, on: token, refuse: true)?.user.id == user.id
    }
}

/// The sources of users' names, addresses and passwords.
let userSourcesRules: [StoreRule] = [
    StoreRule("sources of every word come back as they were written, and go with their user") { store in
        for source in AccountSource.allCases {
            let user = Fixture.user(source.rawValue)
            let written = try await store.given(user) { sources in
                (sources.username, sources.access) = (source, source)
                (sources.email, sources.password) = (source, source == .admin ? nil : source)
                sources.devicesUnknownAt = source == .admin ? nil : Fixture.start
            }
            #expect(try await store.userSources(of: user.id) == written)
            #expect(try await store.userSources(of: [user.id, Fixture.userID()]) == [written])
            _ = try await store.updateUser(.id(user.id)) { $0.deletes = true }
            #expect(try await store.userSources(of: user.id) == nil)
        }
    },
    StoreRule("a new user, an import and a change write the source that they name") { store in
        var user = Fixture.user("anna")
        user.passwordHash = "x"
        guard try await store.insertUser(user, from: .user, events: []) else { throw Unexpected("taken") }
        #expect(try await store.userSources(of: user.id) == UserSources(of: user, from: .user))
        _ = try await store.updateUser(.id(user.id)) { change in
            change.source = .admin
            change.user.profile.email = Fixture.address
        }
        var changed = UserSources(of: user, from: .user)
        changed.email = .admin
        #expect(try await store.userSources(of: user.id) == changed)
        // The stored user stays, and so do its sources; an import that replaces it brings its own.
        #expect(try await store.importUsers([user]) == [.differs])
        #expect(try await store.userSources(of: user.id) == changed)
        #expect(try await store.importUsers([user], .replacing) == [.written])
        #expect(try await store.userSources(of: user.id) == UserSources(of: user, from: .import))
        let berta = Fixture.user("berta")
        #expect(try await store.importUsers([berta]) == [.written])
        #expect(try await store.userSources(of: berta.id) == UserSources(of: berta, from: .import))
        // One that was left out for its name leaves no sources.
        let namesake = Fixture.user("BERTA")
        #expect(try await store.importUsers([namesake]) == [.usernameTaken])
        #expect(try await store.userSources(of: namesake.id) == nil)
    },
    StoreRule("a proven address leads only to what a trusted source has given and no other can open") { store in
        for source in AccountSource.allCases {
            let isTrusted = source.isTrusted
            let named = Fixture.user(Fixture.address)
            _ = try await store.given(named) { $0.username = source }
            #expect(try await store.isLinked(named) == isTrusted, "username by \(source)")
            _ = try await store.updateUser(.id(named.id)) { $0.deletes = true }

            var user = Fixture.mailed()
            user.passwordHash = "x"
            _ = try await store.given(user) { $0.password = source }
            #expect(try await store.isLinked(user) == isTrusted, "password by \(source)")
            _ = try await store.updateUser(.id(user.id)) { $0.deletes = true }

            let opened = Fixture.mailed()
            _ = try await store.given(opened) { $0.access = source }
            #expect(try await store.isLinked(opened), "no access by \(source)")
            let session = try await store.given(Fixture.session(of: opened.id))
            #expect(try await store.isLinked(opened) == isTrusted, "session by \(source)")
            _ = try await store.updateSession(session.id) { change in
                change.session.ending = Session.Ending(reason: .loggedOut, at: Fixture.start)
            }
            #expect(try await store.isLinked(opened), "no session by \(source)")
            _ = try await store.updateUser(.id(opened.id)) { $0.deletes = true }
        }
    },
    StoreRule("an end of all sessions out of distrust makes the devices of the user unknown, and no other end does") {
        store in
        let user = try await store.given(Fixture.user())
        func end(_ reason: EndReason, device: String? = nil, client: String? = nil) async throws -> Instant? {
            _ = try await store.updateUser(.id(user.id)) {
                $0.ending = .init(reason, at: Fixture.start, clientID: client, deviceID: device)
            }
            return try await store.userSources(of: user.id)?.devicesUnknownAt
        }
        #expect(try await end(.passwordChanged, device: "phone") == nil)
        #expect(try await end(.revokedByAdmin, client: "web") == nil)
        #expect(try await end(.loggedOut) == nil)
        for reason in [EndReason.passwordChanged, .revokedByAdmin, .revokedByUser] {
            let other = try await store.given(Fixture.user("\(reason)"))
            _ = try await store.updateUser(.id(other.id)) { $0.ending = .init(reason, at: Fixture.start) }
            #expect(try await store.userSources(of: other.id)?.devicesUnknownAt == Fixture.start, "\(reason)")
            _ = try await store.updateUser(.id(other.id)) { $0.deletes = true }
            #expect(try await store.userSources(of: other.id) == nil)
        }
        #expect(try await end(.passwordChanged) == Fixture.start)
    },
    StoreRule("a link by a proof makes the access a proof, once") { store in
        let user = Fixture.mailed()
        _ = try await store.given(user) { $0.access = .invitation }
        let login = try Fixture.login("a", linking: Fixture.address, names: "x")
        #expect(try await store.logIn(login)?.arrival == .linked)
        #expect(try await store.userSources(of: user.id)?.access == .proof)
        let other = try Fixture.login("b", linking: Fixture.address, names: "y", provider: "globex")
        #expect(try await store.logIn(other)?.arrival == .linked)
    },
    StoreRule("a login that makes a user gives it the sources of its proof") { store in
        for (linking, source) in [(Fixture.address, AccountSource.proof), (nil, .provider)] {
            let id = Fixture.userID()
            var user = Fixture.user(linking == nil ? "other@example.org" : Fixture.address, id: id)
            user.profile.email = user.username
            user.profile.isEmailVerified = linking != nil
            let login = IdentityLogin(
                try Fixture.identity("s-\(source)", of: id).key, token: Fixture.token("t-\(source)"),
                linkingKey: linking, newUsers: [user], at: Fixture.start)
            #expect(try await store.logIn(login)?.arrival == .new)
            #expect(try await store.userSources(of: id) == UserSources(of: user, from: source))
        }
    },
]
