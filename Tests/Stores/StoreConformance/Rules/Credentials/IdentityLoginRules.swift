import Cryptography
import Sessions
import Testing

extension Fixture {
    static func token(_ id: String, until: Instant = start + .seconds(300)) -> OneTimeToken {
        OneTimeToken(.identityToken, of: "", id: id, goodUntil: until, at: start)
    }

    /// A login by the identity `1` with that token; a new user is called by the first name that is free.
    static func login(
        _ token: String, linking: String? = nil, names: String..., subject: String = "1", provider: String = "acme"
    ) throws -> IdentityLogin {
        let id = userID()
        return IdentityLogin(
            try identity(subject, of: id, provider: provider).key, token: self.token(token),
            linkingKey: linking.flatMap(Text.emailKey),
            newUsers: names.map { user($0, id: id) }, at: start)
    }
}

/// What a login that started a session has seen, or a refused one.
struct Seen: Equatable, Sendable {
    var user: User
    var arrival: SessionOpening.Arrival
    var isReplay: Bool
    var hasStarted: Bool
}

extension Store {
    /// Logs in on a device, unless the token was used, or the login is to be refused, with an event either way.
    func logIn(_ login: IdentityLogin, on device: String = "phone", refuse: Bool = false) async throws
        -> Seen?
    {
        let id = Fixture.sessionID()
        return try await openSession(by: login, clientID: Client.mobileID, deviceID: device) { opening in
            opening.events.append(contentsOf: Fixture.linked(opening.user.id))
            let hasStarted = !opening.isReplay && !refuse
            if hasStarted { opening.session = Fixture.session(of: opening.user.id, device: device, id: id) }
            return Seen(
                user: opening.user, arrival: opening.arrival, isReplay: opening.isReplay, hasStarted: hasStarted)
        }
    }

    fileprivate func livingCount(of user: Identifier<User>) async throws -> Int {
        try await sessions(of: user, after: nil, limit: 99).items.count { $0.session.ending == nil }
    }

    fileprivate func users() async throws -> [User] { try await users(matching: nil, after: nil, limit: 99).items }
}

/// Logins of users that an identity provider has authenticated.
let identityLoginRules: [StoreRule] = [
    StoreRule("the first login by an identity makes its user, the next one finds them") { store in
        let login = try Fixture.login("a", names: "new")
        let user = login.newUsers[0]
        #expect(
            try await store.logIn(login) == Seen(user: user, arrival: .new, isReplay: false, hasStarted: true))
        #expect(try await store.user(.id(user.id)) == user)
        #expect(try await store.identity(login.key) == Identity(login.key, userID: user.id, linkedAt: Fixture.start))
        #expect(
            try await store.logIn(try Fixture.login("b", names: "other"), on: "tablet")
                == Seen(user: user, arrival: .known, isReplay: false, hasStarted: true))
        #expect(try await store.livingCount(of: user.id) == 2)
        #expect(try await store.users() == [user])
    },
    StoreRule("a refused login leaves no user, no identity and no used token, but its events") { store in
        let login = try Fixture.login("a", names: "new")
        let refused = try await store.logIn(login, refuse: true)
        #expect(refused?.arrival == .new)
        #expect(try await store.users().isEmpty)
        #expect(try await store.identity(login.key) == nil)
        #expect(try await store.identities(of: login.newUsers[0].id).isEmpty)
        let events = try await store.events(after: 0, limit: 9, userID: nil, sessionID: nil)
        #expect(events.map(\.event.kind) == [.identityLinked])
        let anna = try await store.given(Fixture.user())
        let linking = try Fixture.login("a", linking: anna.username, names: "new")
        #expect(try await store.logIn(linking, refuse: true)?.arrival == .linked)
        #expect(try await store.identities(of: anna.id).isEmpty)
        #expect(try await store.logIn(login)?.hasStarted == true)
    },
    StoreRule("a new user gets the first name that is free; without one there is no login") { store in
        let taken = try await store.given(Fixture.user("Taken"))
        #expect(try await store.logIn(try Fixture.login("a", names: "taken")) == nil)
        #expect(try await store.logIn(try Fixture.login("a", names: "taken", "free"))?.user.username == "free")
        #expect(try await store.identities(of: taken.id).isEmpty)
    },
    StoreRule("a user without any identity can be linked, and nobody else") { store in
        let anna = try await store.given(Fixture.user())
        let first = try Fixture.login("a", linking: "ANNA", names: "x")
        #expect(
            try await store.logIn(first) == Seen(user: anna, arrival: .linked, isReplay: false, hasStarted: true))
        #expect(try await store.identities(of: anna.id).map(\.key) == [first.key])
        let second = try Fixture.login("b", linking: "anna", names: "x", subject: "2")
        #expect(try await store.logIn(second)?.arrival == .new)
        let third = try Fixture.login("c", linking: "nobody", names: "y", subject: "3")
        #expect(try await store.logIn(third)?.arrival == .new)
    },
    StoreRule("a login by a used token is told so, whoever comes with it, and ends nobody's session") { store in
        let first = try #require(try await store.logIn(try Fixture.login("a", names: "new")))
        for (subject, arrival) in [("1", SessionOpening.Arrival.known), ("2", .new)] {
            let again = try await store.logIn(try Fixture.login("a", names: "other", subject: subject))
            #expect(again?.isReplay == true)
            #expect(again?.arrival == arrival)
        }
        #expect(try await store.livingCount(of: first.user.id) == 1)
        #expect(try await store.users() == [first.user])
    },
    StoreRule("fifty logins by one ID token at once start exactly one session") { store in
        for subjects in [1, 7] {
            let seen = try await withThrowingTaskGroup(of: Seen?.self) { group in
                for number in 0..<50 {
                    let login = try Fixture.login(
                        "token \(subjects)", names: "user-\(subjects)-\(number)",
                        subject: "\(number % subjects)")
                    group.addTask { try await store.logIn(login, on: "phone-\(number)") }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(seen.count { $0?.hasStarted == true } == 1)
            #expect(seen.count { $0?.isReplay == true } == 49)
        }
    },
    StoreRule("fifty first logins of one identity at once make one user with fifty sessions") { store in
        let seen = try await withThrowingTaskGroup(of: Seen?.self) { group in
            for number in 0..<50 {
                let login = try Fixture.login("\(number)", names: "user-\(number)")
                group.addTask { try await store.logIn(login, on: "phone-\(number)") }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let users = try await store.users()
        #expect(users.count == 1)
        #expect(seen.count { $0?.arrival == .new } == 1)
        #expect(seen.count { $0?.arrival == .known && $0?.user == users[0] } == 49)
        #expect(try await store.livingCount(of: users[0].id) == 50)
    },
]

/// Tokens that are taken once.
let oneTimeTokenRules: [StoreRule] = [
    StoreRule("a token is taken once; what is of another kind, owner or name is another") { store in
        let until = Fixture.start + .seconds(60)
        let tokens = [
            Fixture.token("1"), OneTimeToken(.clientAssertion, of: "", id: "1", goodUntil: until, at: Fixture.start),
            OneTimeToken(.clientAssertion, of: "a", id: "1", goodUntil: until, at: Fixture.start),
            OneTimeToken(.clientAssertion, of: "a", id: "2", goodUntil: until, at: Fixture.start),
        ]
        for isFirst in [true, false] {
            for token in tokens {
                let isTaken = try await store.use(token)
                #expect(isTaken == isFirst)
            }
        }
        #expect(
            try await !store.use(
                OneTimeToken(
                    .clientAssertion, of: "a", id: "2", goodUntil: until + .seconds(9), at: Fixture.start + .seconds(59)
                )))
    },
    StoreRule("the name of a token is free when its time is over") { store in
        let names = [(until: 60, at: 0, isTaken: true), (99, 59, false), (99, 60, true), (120, 98, false)]
        for (until, at, isTaken) in names {
            let token = OneTimeToken(
                .clientAssertion, of: "a", id: "1", goodUntil: Fixture.start + .seconds(until),
                at: Fixture.start + .seconds(at))
            let isFirst = try await store.use(token)
            #expect(isFirst == isTaken, "\(at)")
        }
    },
    StoreRule("of fifty at once that bring one token one is the first") { store in
        let isFirst = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 { group.addTask { try await store.use(Fixture.token("1")) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(isFirst.count { $0 } == 1)
    },
    StoreRule("used tokens that are too old are forgotten, a few at a time") { store in
        for second in 0..<5 {
            let isTaken = try await store.use(
                Fixture.token("\(second)", until: Fixture.start + .seconds(second)))
            #expect(isTaken)
        }
        #expect(try await store.sweepUsedTokens(before: Fixture.start + .seconds(2), limit: 2) == 2)
        #expect(try await store.sweepUsedTokens(before: Fixture.start + .seconds(2), limit: 2) == 1)
        #expect(try await store.sweepUsedTokens(before: Fixture.start + .seconds(2), limit: 2) == 0)
        for second in 3..<5 { #expect(try await !store.use(Fixture.token("\(second)"))) }
        for second in 0..<3 { #expect(try await store.use(Fixture.token("\(second)"))) }
    },
]
