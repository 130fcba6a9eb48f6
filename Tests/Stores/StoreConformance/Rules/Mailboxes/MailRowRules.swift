import Sessions
import Testing

extension Fixture {
    fileprivate static let reader = Identifier<User>(drawn: [UInt8](repeating: 5, count: 16))

    /// A mail with every member set.
    fileprivate static func mail(
        _ byte: UInt8, dueAt: Instant? = start, ofVerification: Bool = false, event: Int64? = nil
    ) -> QueuedMail {
        QueuedMail(
            id: Identifier(drawn: [UInt8](repeating: byte, count: 16)), kind: .newDevice, userID: reader,
            verificationID: ofVerification ? Identifier(drawn: [UInt8](repeating: byte, count: 16)) : nil,
            email: "anna@example.com", language: "en", facts: ["place": "Köln \"Süd\"", "at": "7"], event: event,
            createdAt: start + .seconds(Int(byte)), expiresAt: start + .seconds(600), dueAt: dueAt, tries: 0,
            reply: "450 later")
    }
}

extension Store {
    fileprivate func insert(_ mails: [QueuedMail]) async throws -> [Bool] {
        try await write(.nothing) { (transaction) throws(TransactionError) in
            var written: [Bool] = []
            for mail in mails { written.append(try transaction.insert(mail).value()) }
            return written
        }
    }

    fileprivate func claim(
        _ priority: QueuedMail.Priority = .notices, at now: Instant, limit: Int = 9
    ) async throws -> [QueuedMail] {
        try await write(.nothing) { (transaction) throws(TransactionError) in
            try transaction.claimMails(in: priority, dueAt: now, until: now + .seconds(90), limit: limit).value()
        }
    }

    fileprivate func mails(dead: Bool) async throws -> [QueuedMail] {
        try await read(.short) { (reader) throws(TransactionError) in
            try reader.mails(dead: dead, after: nil, limit: 99).value()
        }
    }
}

/// The outbox, and the pictures of brands.
let mailRowRules: [StoreRule] = [
    StoreRule("a mail comes back with every member, and an event is told once to an address") { store in
        let mail = Fixture.mail(1, event: 7)
        #expect(try await store.insert([mail, Fixture.mail(2, event: 7), Fixture.mail(3)]) == [true, false, true])
        let found = try await store.read(.short) { (reader) throws(TransactionError) in try reader.mail(mail.id).value()
        }
        #expect(found == mail)
        var other = mail
        (other.dueAt, other.tries, other.reply) = (nil, 9, nil)
        try await store.write(.nothing) { [other] (transaction) throws(TransactionError) in transaction.update(other) }
        #expect(try await store.mails(dead: true) == [other])
        #expect(try await store.mails(dead: false) == [Fixture.mail(3)])
        let counts = try await store.read(.short) { (reader) throws(TransactionError) in
            try reader.mailCounts().value()
        }
        #expect(counts == MailCounts(waiting: 1, dead: 1, oldest: Fixture.start + .seconds(3)))
    },
    StoreRule("mails that are due are claimed once by their priority, and again after the attempt's time") {
        store in
        let later = Fixture.start + .seconds(30)
        _ = try await store.insert([
            Fixture.mail(1), Fixture.mail(2, ofVerification: true), Fixture.mail(3, dueAt: later), Fixture.mail(4),
        ])
        let first = try await store.claim(.codes, at: Fixture.start)
        #expect(first.map(\.verificationID) == [Fixture.mail(2, ofVerification: true).verificationID])
        #expect(first.map(\.tries) == [1])
        let claims = try await gather(4) { _ in try await store.claim(at: Fixture.start, limit: 1).map(\.id) }
        #expect(claims.joined().map(\.bytes).sorted { $0[5] < $1[5] } == [1, 4].map { Fixture.mail($0).id.bytes })
        #expect(try await store.claim(at: later).map(\.id) == [Fixture.mail(3).id])
        let again = try await store.claim(at: Fixture.start + .seconds(90))
        #expect(Set(again.map(\.id)) == Set([1, 4].map { Fixture.mail($0).id }) && again.map(\.tries) == [2, 2])
        #expect(try await store.claim(.codes, at: Fixture.start + .seconds(90)).map(\.tries) == [2])
    },
    StoreRule("mails are deleted one by one, by user, and old dead ones") { store in
        let dead = Fixture.mail(1, dueAt: nil)
        _ = try await store.insert([dead, Fixture.mail(2, dueAt: nil), Fixture.mail(3), Fixture.mail(4)])
        let outcome = try await store.write(.nothing) { (transaction) throws(TransactionError) in
            let old = transaction.deleteDeadMails(before: dead.createdAt + .seconds(1), limit: 9)
            let one = transaction.deleteMail(Fixture.mail(3).id)
            let none = transaction.deleteMail(Fixture.mail(3).id)
            return try (old.value(), one.value(), none.value())
        }
        #expect(outcome == (1, true, false))
        #expect(try await store.mails(dead: true).map(\.id) == [Fixture.mail(2).id])
        try await store.write(.nothing) { (transaction) throws(TransactionError) in
            transaction.deleteMails(of: Fixture.reader)
        }
        #expect(try await store.mails(dead: false).isEmpty)
    },
    StoreRule("a picture is kept once, and deleted") { store in
        let logo = Logo(digest: [UInt8](repeating: 1, count: 32), type: "image/png", bytes: [1, 0, 255])
        let other = Logo(digest: [UInt8](repeating: 2, count: 32), type: "image/webp", bytes: [2])
        let found = try await store.write(.nothing) { (transaction) throws(TransactionError) in
            for logo in [logo, other, logo] { transaction.insert(logo) }
            let (one, all) = (transaction.logo(logo.digest), transaction.logos(after: logo.digest, limit: 9))
            transaction.deleteLogo(logo.digest)
            let gone = transaction.logo(logo.digest)
            return try (one.value(), all.value(), gone.value())
        }
        #expect(found.0 == logo)
        #expect(found.1 == [other])
        #expect(found.2 == nil)
    },
]
