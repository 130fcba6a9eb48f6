import Sessions
import Testing

extension Fixture {
    /// A user with that address.
    fileprivate static func user(_ name: String, email: String, isVerified: Bool = true) -> User {
        var user = user(name)
        user.profile.email = email
        user.profile.isEmailVerified = isVerified
        return user
    }
}

extension Store {
    fileprivate func setEmail(_ email: String?, of id: Identifier<User>) async throws {
        guard case .done = try await updateUser(.id(id), { $0.user.profile.email = email }) else {
            throw Unexpected("no such user")
        }
    }

    /// The user that is linked by a proof of that address, by a new subject of the provider; nil: none.
    fileprivate func linked(
        by email: String, at provider: String = "acme", refuse: Bool = false
    ) async throws -> Identifier<User>? {
        let token = "\(Fixture.sessionID())"
        let login = try Fixture.login(token, linking: email, names: token, subject: token, provider: provider)
        let seen = try await logIn(login, on: token, refuse: refuse)
        return seen?.arrival == .linked ? seen?.user.id : nil
    }
}

/// Users with an address that was verified, and logins that prove one.
let verifiedEmailRules: [StoreRule] = [
    StoreRule("an address stays verified under another spelling, and not when it changes, be it back") { store in
        let anna = try await store.given(Fixture.user("anna", email: "anna@example.org"))
        for (email, isVerified) in [
            ("anna@example.org", true), ("ANNA@Example.ORG", true), ("ben@example.org", false),
            ("anna@example.org", false), (nil, false),
        ] {
            try await store.setEmail(email, of: anna.id)
            let profile = try await store.user(.id(anna.id))?.profile
            #expect(profile?.email == email)
            #expect(profile?.isEmailVerified == isVerified, "\(email ?? "none")")
        }
        #expect(try await store.linked(by: "anna@example.org") == nil)
    },
    StoreRule("a proven address links whose verified address it is, whatever they are called") { store in
        let anna = try await store.given(Fixture.user("anna", email: "Zoe@example.org"))
        _ = try await store.given(Fixture.user("ben", email: "ben@example.org"))
        let login = try Fixture.login("a", linking: "ZOE@EXAMPLE.org", names: "x")
        #expect(
            try await store.logIn(login) == Seen(user: anna, arrival: .linked, isReplay: false, hasStarted: true))
        #expect(try await store.identities(of: anna.id).map(\.key) == [login.key])
    },
    StoreRule("a typed name means the user of that name, or else the only one whose verified address it is") { store in
        let anna = try await store.given(Fixture.user("anna", email: "Zoe@example.org"))
        _ = try await store.given(Fixture.user("ben", email: "ben@example.org", isVerified: false))
        let cora = try await store.given(Fixture.user("cora@example.org", email: "cora@example.net"))
        let dora = try await store.given(Fixture.user("dora", email: "cora@example.org"))
        for (typed, byUsername, byEmail, byBoth) in [
            ("anna", anna.id, nil, anna.id), (" ANNA ", anna.id, nil, anna.id),
            ("zoe@EXAMPLE.org", nil, anna.id, anna.id), (" zoe@example.org ", nil, anna.id, anna.id),
            ("ben@example.org", nil, nil, nil), ("nobody", nil, nil, nil), ("", nil, nil, nil),
            ("cora@example.org", cora.id, dora.id, cora.id), ("cora@example.net", nil, cora.id, cora.id),
        ] as [(String, Identifier<User>?, Identifier<User>?, Identifier<User>?)] {
            #expect(try await store.user(typed, loggingInBy: .username)?.id == byUsername, "\(typed)")
            #expect(try await store.user(typed, loggingInBy: .email)?.id == byEmail, "\(typed)")
            #expect(try await store.user(typed, loggingInBy: .both)?.id == byBoth, "\(typed)")
        }
    },
    StoreRule("an address that is not verified links nobody") { store in
        _ = try await store.given(Fixture.user("eve", email: "anna@example.org", isVerified: false))
        #expect(try await store.linked(by: "anna@example.org") == nil)
    },
    StoreRule("an address means who has it as username or verified, and nobody if these are several") { store in
        let email = "anna@example.org"
        let first = try await store.given(Fixture.user("first", email: email))
        #expect(try await store.linked(by: email, refuse: true) == first.id)
        let name = try await store.given(Fixture.user("Anna@example.org"))
        #expect(try await store.linked(by: email) == nil)
        try await store.setEmail(nil, of: first.id)
        #expect(try await store.linked(by: email, refuse: true) == name.id)
        let second = try await store.given(Fixture.user("second", email: email))
        guard case .done = try await store.updateUser(.id(name.id), { $0.deletes = true }) else {
            throw Unexpected("no such user")
        }
        #expect(try await store.linked(by: email) == second.id)
    },
    StoreRule("a user has several identities by a verified address, of each provider one; by a username one") { store in
        let anna = try await store.given(Fixture.user("anna@example.org", email: "anna@example.org"))
        #expect(try await store.linked(by: "anna@example.org") == anna.id)
        #expect(try await store.linked(by: "anna@example.org") == nil)
        #expect(try await store.linked(by: "anna@example.org", at: "globex") == anna.id)
        // Not verified any more: now it is their username, and they are no user without identities.
        try await store.setEmail("other@example.org", of: anna.id)
        #expect(try await store.linked(by: "anna@example.org", at: "initech") == nil)
        #expect(try await store.linked(by: "other@example.org", at: "initech") == nil)
    },
    StoreRule("of fifty people of one provider who prove one address at once one is linked, of fifty providers all") {
        store in
        for (email, isOneProvider) in [("anna@example.org", true), ("ben@example.org", false)] {
            let user = try await store.given(Fixture.user("user of \(email)", email: email))
            let linked = try await withThrowingTaskGroup(of: Identifier<User>?.self) { group in
                for number in 0..<50 {
                    let provider = isOneProvider ? "acme" : "provider-\(number)"
                    group.addTask { try await store.linked(by: email, at: provider) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(linked.count { $0 == user.id } == (isOneProvider ? 1 : 50))
            #expect(linked.count { $0 == nil } == (isOneProvider ? 49 : 0))
            #expect(try await store.identities(of: user.id).count == (isOneProvider ? 1 : 50))
        }
    },
    StoreRule("first logins that prove one address at once make users, and link only to whom they have made") { store in
        let seen = try await withThrowingTaskGroup(of: Seen?.self) { group in
            for number in 0..<20 {
                let id = Fixture.userID()
                let names = ["anna@example.org", "own-\(number)"].map { name in
                    var user = Fixture.user(name, id: id)
                    user.profile.email = "anna@example.org"
                    user.profile.isEmailVerified = true
                    return user
                }
                let login = IdentityLogin(
                    try Fixture.identity("1", of: id, provider: "provider-\(number)").key,
                    token: Fixture.token("\(number)"), linkingKey: "anna@example.org", newUsers: names,
                    at: Fixture.start)
                group.addTask { try await store.logIn(login, on: "\(number)") }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(seen.allSatisfy { $0?.hasStarted == true })
        let made = Set(seen.compactMap { $0?.arrival == .new ? $0?.user.id : nil })
        #expect(Set(seen.compactMap { $0?.user.id }) == made)
        #expect(try await Set(store.users(matching: nil, after: nil, limit: 99).items.map(\.id)) == made)
        // One of them has the mailbox, and from now on it means that one or none.
        let owners = try await store.read(.short) { (reader) throws(TransactionError) in
            try reader.users(named: "", orAddress: "anna@example.org", limit: 9).value().map(\.id)
        }
        #expect(owners.count == 1 && made.isSuperset(of: owners))
        if let linked = try await store.linked(by: "anna@example.org", at: "initech") { #expect([linked] == owners) }
    },
]
