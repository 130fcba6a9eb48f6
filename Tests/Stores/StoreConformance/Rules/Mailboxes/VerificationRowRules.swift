import Sessions
import Testing

extension Fixture {
    /// A verification with every member set, of the mailbox that `byte` stands for.
    fileprivate static func verification(
        _ byte: UInt8, of userID: Identifier<User>? = nil, asker: UInt8? = 1,
        linkUntil: Instant = start + .seconds(3600)
    ) -> Verification {
        Verification(
            id: Identifier(drawn: [UInt8](repeating: byte, count: 16)), purpose: .reset,
            mailbox: [UInt8](repeating: byte / 16, count: 32), email: "anna@example.com", userID: userID,
            clientID: "app", asker: asker.map { [UInt8](repeating: $0, count: 32) }, sessionID: sessionID(),
            language: "de", keyID: 200, createdAt: start, codeUntil: start + .seconds(600), linkUntil: linkUntil,
            mails: 2, mailedAt: start + .seconds(1), wrongCodes: 3, provenAt: start + .seconds(2))
    }
}

extension Store {
    fileprivate func stored(_ id: Identifier<Verification>) async throws -> Verification? {
        try await read(.short) { (reader) throws(TransactionError) in try reader.verification(id).value() }
    }

    fileprivate func insert(_ verification: Verification) async throws -> Bool {
        try await write(.nothing) { (transaction) throws(TransactionError) in
            try transaction.insert(verification).value()
        }
    }
}

/// Proofs of mailboxes, and what is counted for each mailbox.
let verificationRowRules: [StoreRule] = [
    StoreRule("a verification comes back with every member, and its mutable ones are written") { store in
        var verification = Fixture.verification(16, of: Fixture.userID())
        #expect(try await store.insert(verification))
        #expect(try await store.stored(verification.id) == verification)
        verification.codeUntil = verification.codeUntil + .seconds(1)
        verification.linkUntil = verification.linkUntil + .seconds(2)
        (verification.mails, verification.wrongCodes) = (5, 4)
        (verification.mailedAt, verification.provenAt) = (nil, nil)
        verification.endedAt = Fixture.start + .seconds(9)
        try await store.write(.nothing) { [verification] (transaction) throws(TransactionError) in
            transaction.update(verification)
        }
        #expect(try await store.stored(verification.id) == verification)
    },
    StoreRule("a browser or app has one open verification of a mailbox and purpose, and another after its end") {
        store in
        let first = Fixture.verification(16)
        #expect(try await store.insert(first))
        #expect(try await store.insert(Fixture.verification(17)) == false, "the same mailbox, purpose and asker")
        #expect(try await store.insert(Fixture.verification(18, asker: 2)))
        #expect(try await store.insert(Fixture.verification(19, asker: nil)))
        #expect(try await store.insert(Fixture.verification(20, asker: nil)), "admins may ask twice")
        let found = try await store.write(.nothing) { (transaction) throws(TransactionError) in
            let open = transaction.openVerificationForUpdate(.reset, of: first.mailbox, by: first.asker ?? [])
            let other = transaction.openVerificationForUpdate(.email, of: first.mailbox, by: first.asker ?? [])
            transaction.endVerifications(.reset, of: first.mailbox, at: Fixture.start + .seconds(5))
            return try (open.value(), other.value())
        }
        #expect(found.0 == first)
        #expect(found.1 == nil)
        #expect(try await store.stored(first.id)?.endedAt == Fixture.start + .seconds(5))
        #expect(try await store.insert(Fixture.verification(17)))
        let counts = try await store.read(.short) { (reader) throws(TransactionError) in
            let open = reader.openVerificationCount(at: Fixture.start, max: 9)
            let bounded = reader.openVerificationCount(at: Fixture.start, max: 0)
            let over = reader.openVerificationCount(at: Fixture.start + .seconds(3600), max: 9)
            return try [open.value(), bounded.value(), over.value()]
        }
        #expect(counts == [1, 0, 0], "neither the ended ones count nor those of which the link has ended")
    },
    StoreRule("the open verifications of a user are listed and ended together, and old ones are deleted") { store in
        let userID = Fixture.userID()
        let rows = [
            Fixture.verification(16, of: userID), Fixture.verification(32, of: userID, linkUntil: Fixture.start),
            Fixture.verification(48),
        ]
        for row in rows { #expect(try await store.insert(row)) }
        let open = try await store.read(.short) { (reader) throws(TransactionError) in
            try reader.openVerifications(of: userID).value()
        }
        #expect(open == Array(rows.prefix(2)))
        let deleted = try await store.write(.nothing) { (transaction) throws(TransactionError) in
            transaction.endVerifications(of: userID, at: Fixture.start + .seconds(7))
            return try transaction.deleteVerifications(endedBefore: Fixture.start + .seconds(1), limit: 9).value()
        }
        #expect(deleted == 1)
        #expect(try await store.stored(rows[0].id)?.endedAt == Fixture.start + .seconds(7))
        #expect(try await store.stored(rows[1].id) == nil)
        #expect(try await store.stored(rows[2].id)?.endedAt == nil)
    },
    StoreRule("what is counted for a mailbox by 16 requests at once is exact") { store in
        let mailbox = [UInt8](repeating: 3, count: 32)
        let counts = try await gather(16) { _ -> Int in
            try await store.write(.nothing) { (transaction) throws(TransactionError) in
                var budget = try transaction.mailboxBudgetForUpdate(mailbox, at: Fixture.start).value()
                budget.mails += 1
                transaction.write(budget)
                return budget.mails
            }
        }
        #expect(counts.sorted() == Array(1...16))
        let all = MailboxBudget(
            mailbox: [4], since: Fixture.start, mails: 1, wrongCodes: 2, refusedAt: Fixture.start + .seconds(5),
            reply: "550 no such user")
        let deleted = try await store.write(.nothing) { (transaction) throws(TransactionError) in
            transaction.write(all)
            return try transaction.deleteMailboxBudgets(
                before: Fixture.start + .seconds(1), refusedBefore: Fixture.start, limit: 9
            ).value()
        }
        #expect(deleted == 1, "the refusal of a mailbox is remembered for longer")
        let left = try await store.read(.short) { (reader) throws(TransactionError) in
            let (gone, kept) = (reader.mailboxBudget(mailbox), reader.mailboxBudget([4]))
            return try [gone.value(), kept.value()]
        }
        #expect(left == [nil, all])
    },
]
