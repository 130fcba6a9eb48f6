import Cryptography
import Sessions
import Testing
import WebAuthn
import WebAuthnFixture

extension Fixture {
    /// A passkey with every member set, named by its credential ID.
    static func passkey(
        _ id: [UInt8], of user: Identifier<User>, key: COSEKey? = nil, at: Instant = start
    ) throws -> Passkey {
        Passkey(
            id: id, userID: user, rpID: "example.org",
            publicKey: try key ?? COSEKey(SoftAuthenticator.coseKey(SigningKey.generate(.es256).publicKey)),
            signCount: .max, isBackupEligible: true, isBackedUp: false, isUserVerified: true,
            transports: ["hybrid", "internal"], aaguid: [UInt8](repeating: 7, count: 16), name: "Anna's 🔑",
            createdAt: at, lastUsedAt: at + .seconds(5))
    }

    static func challenge(_ id: String) -> OneTimeToken {
        OneTimeToken(.passkeyChallenge, of: "", id: id, goodUntil: start + .seconds(300), at: start)
    }

    private static func event(_ kind: AuditEvent.Kind, _ user: Identifier<User>) -> AuditEvent {
        AuditEvent(kind, at: start, by: admin, userID: user, reason: "0123456789abcdef")
    }

    static func added(_ user: Identifier<User>) -> [AuditEvent] { [event(.passkeyAdded, user)] }
    static func removed(_ user: Identifier<User>) -> [AuditEvent] { [event(.passkeyRemoved, user)] }
}

extension Store {
    fileprivate func insert(
        _ passkey: Passkey, _ challenge: String, limit: Int = 9
    ) async throws -> PasskeyInsertion.Outcome {
        let insertion = PasskeyInsertion(
            passkey: passkey, token: Fixture.challenge(challenge), events: Fixture.added(passkey.userID))
        return try await insertPasskey(insertion) { _, count in count >= limit ? .overloaded : nil }
    }

    fileprivate func eventCount(of user: Identifier<User>) async throws -> Int {
        try await events(after: 0, limit: 99, userID: user, sessionID: nil).count
    }

    /// Logs in by a passkey: counts it up, unless the challenge was used or the login is to be refused.
    fileprivate func logIn(
        _ passkey: Passkey, _ challenge: String, key: COSEKey? = nil, user: Identifier<User>? = nil,
        refuse: Bool = false
    ) async throws -> Bool? {
        let login = PasskeyLogin(
            credentialID: passkey.id, userID: user ?? passkey.userID, publicKey: key ?? passkey.publicKey,
            token: Fixture.challenge(challenge))
        return try await openSession(by: login, clientID: Client.mobileID, deviceID: "phone") { opening in
            if opening.isReplay || refuse { return false }
            opening.passkey?.signCount = 8
            opening.passkey?.lastUsedAt = Fixture.start + .seconds(9)
            opening.session = Fixture.session(of: opening.user.id)
            return true
        }
    }
}

/// Passkeys of users, and logins by them.
let passkeyRules: [StoreRule] = [
    StoreRule("a passkey comes back with every member, by its id, by its user, and part by part") { store in
        let (anna, ben) = (try await store.given(Fixture.user()), try await store.given(Fixture.user("ben")))
        let all = [
            try Fixture.passkey([0], of: anna.id), try Fixture.passkey([0, 0], of: ben.id),
            try Fixture.passkey([1], of: anna.id),
            try Fixture.passkey([UInt8](repeating: 0xFF, count: 1023), of: anna.id),
        ]
        for (place, passkey) in all.enumerated().reversed() {
            #expect(try await store.insert(passkey, "\(place)") == .inserted)
        }
        for passkey in all { #expect(try await store.passkey(passkey.id) == passkey) }
        #expect(try await store.passkeys(of: anna.id) == [all[0], all[2], all[3]])
        #expect(try await store.passkeys(after: nil, limit: 3) == Array(all.prefix(3)))
        #expect(try await store.passkeys(after: all[2].id, limit: 3) == [all[3]])
        #expect(try await store.passkey([2]) == nil)
    },
    StoreRule("a passkey without a model, without transports and unused comes back so") { store in
        let anna = try await store.given(Fixture.user())
        let full = try Fixture.passkey([1], of: anna.id)
        let plain = Passkey(
            id: [2], userID: anna.id, rpID: full.rpID, publicKey: full.publicKey, signCount: 0, isBackupEligible: false,
            isBackedUp: true, isUserVerified: false, transports: [], aaguid: nil, name: "x", createdAt: Fixture.start)
        #expect(try await store.insert(plain, "a") == .inserted)
        #expect(try await store.passkey([2]) == plain)
    },
    StoreRule("a passkey that is there is named, or taken; a challenge serves once; a refusal writes nothing") {
        store in
        let (anna, ben) = (try await store.given(Fixture.user()), try await store.given(Fixture.user("ben")))
        let passkey = try Fixture.passkey([1], of: anna.id)
        #expect(try await store.insert(passkey, "a") == .inserted)
        // A lost answer: the same passkey with the same challenge.
        #expect(try await store.insert(passkey, "a") == .known(passkey))
        #expect(try await store.insert(passkey, "b") == .taken)
        #expect(try await store.insert(try Fixture.passkey([1], of: ben.id), "c") == .taken)
        let same = try Fixture.passkey([1], of: ben.id, key: passkey.publicKey)
        #expect(try await store.insert(same, "c") == .taken)
        #expect(try await store.insert(try Fixture.passkey([1], of: anna.id), "c") == .taken)
        #expect(try await store.insert(try Fixture.passkey([2], of: anna.id), "a") == .replayed)
        #expect(try await store.insert(try Fixture.passkey([2], of: anna.id), "c", limit: 1) == .refused(.overloaded))
        #expect(try await store.insert(try Fixture.passkey([2], of: Fixture.userID()), "c") == .unknownUser)
        #expect(try await store.passkeys(after: nil, limit: 9) == [passkey])
        #expect(try await store.eventCount(of: anna.id) == 1)
        #expect(try await store.eventCount(of: ben.id) == 0)
        // What was refused has used no challenge up.
        #expect(try await store.insert(try Fixture.passkey([2], of: anna.id), "c") == .inserted)
    },
    StoreRule("of passkeys that are added at once, a user gets as many as the limit says") { store in
        let anna = try await store.given(Fixture.user())
        let passkeys = try (1...6).map { try Fixture.passkey([$0], of: anna.id) }
        let inserted = try await withThrowingTaskGroup(of: Bool.self) { group in
            for passkey in passkeys {
                group.addTask { try await store.insert(passkey, "\(passkey.id[0])", limit: 3) == .inserted }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(inserted == 3)
        #expect(try await store.passkeys(of: anna.id).count == 3)
    },
    StoreRule("a passkey is renamed and taken by its user alone") { store in
        let (anna, ben) = (try await store.given(Fixture.user()), try await store.given(Fixture.user("ben")))
        var passkey = try Fixture.passkey([1], of: anna.id)
        #expect(try await store.insert(passkey, "a") == .inserted)
        #expect(try await store.renamePasskey([1], of: ben.id, to: "mine") == nil)
        #expect(try await store.renamePasskey([2], of: anna.id, to: "mine") == nil)
        passkey.name = "Laptop"
        #expect(try await store.renamePasskey([1], of: anna.id, to: "Laptop") == passkey)
        #expect(try await store.passkey([1]) == passkey)
        #expect(try await !store.deletePasskey([1], of: ben.id, events: Fixture.removed(ben.id)))
        #expect(try await store.eventCount(of: ben.id) == 0)
        #expect(try await store.deletePasskey([1], of: anna.id, events: Fixture.removed(anna.id)))
        #expect(try await store.eventCount(of: anna.id) == 2)
        #expect(try await store.passkey([1]) == nil)
        #expect(try await !store.deletePasskey([1], of: anna.id, events: []))
    },
    StoreRule("a deleted user takes their passkeys along, and no other's") { store in
        let (anna, ben) = (try await store.given(Fixture.user()), try await store.given(Fixture.user("ben")))
        let other = try Fixture.passkey([2], of: ben.id)
        #expect(try await store.insert(try Fixture.passkey([1], of: anna.id), "a") == .inserted)
        #expect(try await store.insert(other, "b") == .inserted)
        _ = try await store.updateUser(.id(anna.id)) { $0.deletes = true }
        #expect(try await store.passkeys(after: nil, limit: 9) == [other])
    },
    StoreRule("a login by a passkey writes it with the session, and uses the challenge up") { store in
        let anna = try await store.given(Fixture.user())
        var passkey = try Fixture.passkey([1], of: anna.id)
        #expect(try await store.insert(passkey, "a") == .inserted)
        #expect(try await store.logIn(passkey, "b", refuse: true) == false)
        #expect(try await store.passkey([1]) == passkey)
        #expect(try await store.logIn(passkey, "b") == true)
        (passkey.signCount, passkey.lastUsedAt) = (8, Fixture.start + .seconds(9))
        #expect(try await store.passkey([1]) == passkey)
        #expect(try await store.logIn(passkey, "b") == false)
        #expect(try await store.logIn(passkey, "a") == false, "the challenge of the registration")
        #expect(try await store.sessions(of: anna.id, after: nil, limit: 9).items.count == 1)
    },
    StoreRule("a login by a passkey that is gone, of another user or of another key finds none") { store in
        let (anna, ben) = (try await store.given(Fixture.user()), try await store.given(Fixture.user("ben")))
        let (passkey, other) = (try Fixture.passkey([1], of: anna.id), try Fixture.passkey([2], of: anna.id))
        #expect(try await store.insert(passkey, "a") == .inserted)
        #expect(try await store.logIn(passkey, "b", key: other.publicKey) == nil)
        #expect(try await store.logIn(passkey, "b", user: ben.id) == nil)
        #expect(try await store.logIn(passkey, "b", user: Fixture.userID()) == nil)
        #expect(try await store.logIn(other, "b") == nil)
        #expect(try await store.logIn(passkey, "b") == true)
    },
    StoreRule("imported passkeys are added, kept, or left out with their user or after their removal") { store in
        let anna = try await store.given(Fixture.user())
        let (known, other) = (try Fixture.passkey([1], of: anna.id), try Fixture.passkey([2], of: anna.id))
        let keeping = ImportMode.keeping(ImportLedger())
        #expect(try await store.importPasskeys([known], keeping) == [.written])
        let strange = try Fixture.passkey([3], of: Fixture.userID())
        #expect(try await store.importPasskeys([known, strange, other], keeping) == [.kept, .unknownUser, .written])
        // The short name of the credential ID 01.
        let event = AuditEvent(
            .passkeyRemoved, at: Fixture.start, by: Fixture.admin, userID: anna.id,
            reason: Hex.encode(Array(sha256([1]).prefix(8))))
        #expect(try await store.deletePasskey([1], of: anna.id, events: [event]))
        #expect(try await store.deletePasskey([2], of: anna.id, events: []))
        #expect(try await store.importPasskeys([known, other], keeping) == [.differs, .written])
        #expect(try await store.passkeys(of: anna.id) == [other])
        #expect(try await store.importPasskeys([known], .replacing) == [.written])
    },
]
