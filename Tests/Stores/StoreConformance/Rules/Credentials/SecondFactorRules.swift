import Sessions
import Testing

extension Fixture {
    fileprivate static func factor(_ byte: UInt8, of userID: Identifier<User> = userID()) -> TOTPFactor {
        TOTPFactor(
            id: Identifier(drawn: [UInt8](repeating: byte, count: 16)), userID: userID, name: "phone",
            sealedSeed: [9, 8], algorithm: "SHA256", digits: 8, period: 60, lastStep: 7, createdAt: start,
            confirmedAt: start + .seconds(1), lastUsedAt: start + .seconds(2))
    }
}

/// Second factors, and the details that few users have.
let secondFactorRules: [StoreRule] = [
    StoreRule("an authenticator app comes back with every member, and is changed and deleted") { store in
        let userID = try await store.given(Fixture.user()).id
        var changed = Fixture.factor(1, of: userID)
        let factors = [changed, Fixture.factor(2, of: userID), Fixture.factor(3)]
        (changed.name, changed.sealedSeed, changed.lastStep) = ("tablet", [1], 8)
        (changed.confirmedAt, changed.lastUsedAt) = (nil, nil)
        let found = try await store.write(.accounts(of: [userID, Fixture.userID()])) {
            [changed] (transaction) throws(TransactionError) in
            for factor in factors { transaction.insert(factor) }
            let all = transaction.totpFactors(after: nil, limit: 9)
            let page = transaction.totpFactors(after: factors[0].id, limit: 1)
            transaction.update(changed)
            let own = transaction.totpFactorsForUpdate(of: userID)
            let deleted = transaction.deleteTOTPFactor(factors[1].id, of: userID)
            let foreign = transaction.deleteTOTPFactor(factors[2].id, of: userID)
            let left = transaction.totpFactors(of: userID)
            return try (all.value(), page.value(), own.value(), [deleted.value(), foreign.value()], left.value())
        }
        #expect(found.0 == factors)
        #expect(found.1 == [factors[1]])
        #expect(found.2 == [changed, factors[1]])
        #expect(found.3 == [true, false])
        #expect(found.4 == [changed])
    },
    StoreRule("recovery codes come back with their use, and are deleted together") { store in
        let userID = try await store.given(Fixture.user()).id
        let codes = (1...3).map { RecoveryCode(userID: userID, hash: [UInt8](repeating: $0, count: 32)) }
        var used = codes[1]
        used.usedAt = Fixture.start
        let found = try await store.write(.accounts(of: [userID])) { [used] (transaction) throws(TransactionError) in
            for code in codes { transaction.write(code) }
            transaction.write(used)
            let locked = transaction.recoveryCodesForUpdate(of: userID)
            transaction.deleteRecoveryCodes(of: userID)
            return try (locked.value(), transaction.recoveryCodes(of: userID).value())
        }
        #expect(found.0 == [codes[0], used, codes[2]])
        #expect(found.1.isEmpty)
    },
    StoreRule("a user's details come back with every member, empty ones are no row, and all of it goes with the user") {
        store in
        let domain = try await DomainFixture(store, WallClock { Fixture.start })
        let user = try await store.given(Fixture.user())
        let details = UserDetails(
            userID: user.id, language: "de", secondFactor: .exempt, wrongFactors: 3, wrongFactorAt: Fixture.start,
            formerEmail: "old@example.com", formerEmailUntil: Fixture.start + .seconds(1), deleteAt: Fixture.start)
        let found = try await store.write(.accounts(of: [user.id])) { (transaction) throws(TransactionError) in
            let empty = transaction.userDetailsForUpdate(user.id)
            transaction.write(details)
            transaction.insert(Fixture.factor(1, of: user.id))
            transaction.write(RecoveryCode(userID: user.id, hash: [1]))
            let (one, all) = (transaction.userDetails(user.id), transaction.userDetails(after: nil, limit: 9))
            let early = transaction.usersToDelete(at: Fixture.start + .seconds(-1), limit: 9)
            let due = transaction.usersToDelete(at: Fixture.start, limit: 9)
            return try (empty.value(), one.value(), all.value(), early.value(), due.value())
        }
        #expect(found.0 == UserDetails(userID: user.id))
        #expect(found.1 == details)
        #expect(found.2 == [details])
        #expect(found.3.isEmpty)
        #expect(found.4 == [user.id])
        _ = try await domain.admin.deleteUser(.id(user.id), by: Fixture.admin)
        let left = try await store.read(.short) { (reader) throws(TransactionError) in
            let (details, factors) = (reader.userDetails(user.id), reader.totpFactors(of: user.id))
            return try (details.value(), factors.value(), reader.recoveryCodes(of: user.id).value())
        }
        #expect(left.0 == nil)
        #expect(left.1.isEmpty)
        #expect(left.2.isEmpty)
    },
    StoreRule("wrong codes of a user that are counted by 16 requests at once are exact") { store in
        let userID = try await store.given(Fixture.user()).id
        let counts = try await gather(16) { _ -> Int in
            try await store.write(.accounts(of: [userID])) { (transaction) throws(TransactionError) in
                var details = try transaction.userDetailsForUpdate(userID).value()
                details.wrongFactors += 1
                transaction.write(details)
                return details.wrongFactors
            }
        }
        #expect(counts.sorted() == Array(1...16))
    },
]
