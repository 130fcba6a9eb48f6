import Sessions
import Testing

extension Fixture {
    /// A user that has verified that mailbox.
    fileprivate static func user(_ name: String, verified email: String) -> User {
        var user = user(name)
        user.profile.email = email
        user.profile.isEmailVerified = true
        return user
    }
}

extension Store {
    fileprivate func budget(_ domain: DomainFixture, _ key: String) async throws -> MailboxBudget? {
        let mailbox = domain.context.verificationSecrets.mailbox(key)
        return try await read(.short) { (reader) throws(TransactionError) in
            try reader.mailboxBudget(mailbox).value()
        }
    }

    fileprivate func verification(_ id: Identifier<Verification>) async throws -> Verification? {
        try await read(.short) { (reader) throws(TransactionError) in try reader.verification(id).value() }
    }

    fileprivate func mailKinds() async throws -> [QueuedMail.Kind] {
        try await read(.short) { (reader) throws(TransactionError) in
            try reader.mails(dead: false, after: nil, limit: 1000).value().map(\.kind)
        }
    }
}

/// Proofs of mailboxes, and the one user of each.
let verificationRules: [StoreRule] = [
    StoreRule("a verified mailbox belongs to one user, whichever way a second one comes to it") { store in
        let anna = try await store.given(Fixture.user("anna", verified: "Anna@example.org"))
        let rival = Fixture.user("ben", verified: "anna@EXAMPLE.org")
        #expect(try await !store.insertUser(rival, from: .admin, events: []))
        let ben = try await store.given(Fixture.user("ben"))
        let update = try await store.updateUser(.id(ben.id)) { change in
            change.user.profile = rival.profile
        }
        guard case .emailTaken = update else { throw Unexpected("\(update)") }
        #expect(try await store.importUsers([rival]) == [.usernameTaken])
        #expect(try await store.importUsers([Fixture.user("eve", verified: "ANNA@example.org")]) == [.emailTaken])
        var changed = ben
        changed.profile = rival.profile
        #expect(try await store.importUsers([changed], .replacing) == [.emailTaken])
        // Unverified it may be that of several users.
        changed.profile.isEmailVerified = false
        #expect(try await store.importUsers([changed], .replacing) == [.written])
        // The mailbox is free when its user leaves it.
        _ = try await store.updateUser(.id(anna.id)) { $0.user.profile.email = nil }
        #expect(try await store.insertUser(Fixture.user("eve", verified: "anna@example.org"), from: .admin, events: []))
    },
    StoreRule("an address finds its users in any case, verified or not") { store in
        let anna = try await store.given(Fixture.user("anna", verified: "Anna@example.org"))
        var ben = Fixture.user("ben")
        ben.profile.email = "ANNA@example.ORG"
        _ = try await store.given(ben)
        let found = try await store.read(.short) { (reader) throws(TransactionError) in
            (
                try reader.users(withEmail: "anna@example.org", limit: 9).value().map(\.id),
                try reader.users(withEmail: "anna@example.org", limit: 1).value().count,
                try reader.users(named: "", orAddress: "anna@example.org", limit: 9).value().map(\.id)
            )
        }
        #expect(Set(found.0) == [anna.id, ben.id] && found.1 == 1 && found.2 == [anna.id])
    },
    StoreRule("forty requests at once for a mailbox send ten mails, and each of them has a row") { store in
        let domain = try await DomainFixture(store, WallClock { Fixture.start }, mails: MailWaker())
        let nodes = [domain, domain.anotherNode()]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let request = VerificationRequest(.reset, email: "Nobody@example.org", language: "en")
                    _ = try await nodes[number % 2].services.verifications.ask(request, from: Fixture.admin)
                }
            }
            try await group.waitForAll()
        }
        let budget = try await store.budget(domain, "nobody@example.org")
        #expect(budget?.mails == 10 && budget?.wrongCodes == 0)
        let count = try await store.read(.short) { (reader) throws(TransactionError) in
            try reader.openVerificationCount(at: Fixture.start, max: 99).value()
        }
        #expect(count == 40)
        #expect(try await store.mailKinds() == Array(repeating: .none, count: 40))
    },
    StoreRule("codes at once on one row are five tries, and the mailbox counts each wrong one") { store in
        let domain = try await DomainFixture(store, WallClock { Fixture.start }, mails: MailWaker())
        _ = try await store.given(Fixture.user("anna", verified: "anna@example.org"))
        let verifications = domain.services.verifications
        let request = VerificationRequest(.reset, email: "anna@example.org", language: "en")
        let handle = try await verifications.ask(request, from: Fixture.admin).handle
        let row = try #require(try await store.verification(handle.id))
        let right = domain.context.verificationSecrets.code(of: row) ?? ""
        let wrong = right == "00000000" ? "11111111" : "00000000"
        let lefts = await withTaskGroup(of: Int?.self) { group in
            for _ in 0..<12 {
                group.addTask {
                    do throws(ServiceError) {
                        _ = try await verifications.prove(handle, code: wrong, from: Fixture.admin)
                    } catch { if case .invalidCode(let left) = error { return left } }
                    return nil
                }
            }
            return await group.reduce(into: [Int]()) { $0 += [$1].compactMap(\.self) }
        }
        #expect(lefts.sorted() == [0, 1, 2, 3, 4])
        #expect(try await store.budget(domain, "anna@example.org")?.wrongCodes == 5)
        await #expect(throws: ServiceError.verificationOver) {
            try await verifications.prove(handle, code: right, from: Fixture.admin)
        }
    },
    StoreRule("of two sign-ups at once by two proofs of one mailbox one makes a user") { store in
        var rules = AccountRules()
        rules.signUp = .open
        let domain = try await DomainFixture(store, WallClock { Fixture.start }, mails: MailWaker(), rules: rules)
        _ = try await domain.admin.createClient(id: Client.mobileID, by: Fixture.admin) { client in
            client.signUp = true
            return nil
        }
        var signUps: [SignUp] = []
        for _ in 0..<2 {
            let request = VerificationRequest(.signUp, email: "anna@example.org", language: "en")
            let handle = try await domain.services.verifications.ask(request, from: Fixture.admin).handle
            let row = try #require(try await store.verification(handle.id))
            let code = domain.context.verificationSecrets.code(of: row) ?? ""
            _ = try await domain.services.verifications.prove(handle, code: code, from: Fixture.admin)
            var choice = SignUpRequest(handle)
            choice.password = DomainFixture.password
            signUps.append(try await domain.services.signUp.prepare(choice, from: Fixture.admin))
        }
        let outcomes = await withTaskGroup(of: String.self) { group in
            for (number, signUp) in signUps.enumerated() {
                group.addTask {
                    do throws(ServiceError) {
                        let session = SessionRequest(clientID: Client.mobileID, device: Device(id: "phone-\(number)"))
                        _ = try await domain.services.signUp.logIn(session, as: signUp, from: Fixture.admin)
                        return "made"
                    } catch {
                        if case .conflict(let code, _) = error { return code }
                        return "\(error)"
                    }
                }
            }
            return await group.reduce(into: [String]()) { $0.append($1) }
        }
        #expect(outcomes.sorted() == ["account_exists", "made"])
        #expect(
            try await store.users(matching: nil, after: nil, limit: 9).items.map(\.username) == ["anna@example.org"])
    },
    StoreRule("verifications and budgets that are over are deleted, and due accounts") { store in
        let domain = try await DomainFixture(store, WallClock { Fixture.start }, mails: MailWaker())
        let request = VerificationRequest(.reset, email: "a@example.org", language: "en")
        let id = try await domain.services.verifications.ask(request, from: Fixture.admin).handle.id
        let day = VerificationPolicy.day
        let end = Fixture.start + VerificationPolicy.linkLifetime + day
        #expect(try await store.sweepVerifications(at: end, limit: 10) == 1)
        #expect(try await store.verification(id) != nil)
        #expect(try await store.budget(domain, "a@example.org") == nil)
        #expect(try await store.sweepVerifications(at: end + .seconds(1), limit: 10) == 1)
        #expect(try await store.verification(id) == nil)
        let (anna, ben) = (try await store.given(Fixture.user("anna")), try await store.given(Fixture.user("ben")))
        for (user, wait) in [(anna, Duration.seconds(60)), (ben, .seconds(61))] {
            _ = try await store.updateUser(.id(user.id), reading: UserChangeRows(details: true)) {
                $0.details?.deleteAt = Fixture.start + wait
            }
        }
        #expect(try await store.deleteDueAccounts(at: Fixture.start + .seconds(60), limit: 10) == 1)
        #expect(try await store.user(.id(anna.id)) == nil)
        #expect(try await store.user(.id(ben.id)) != nil)
    },
]
