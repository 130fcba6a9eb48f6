import Sessions
import Testing

extension Store {
    /// Completes a login on the page by that proof, unless the proof was used or the login is to be refused. Nil: there is no user.
    fileprivate func approve(_ proof: PageLoginProof, _ number: UInt8, refuse: Bool = false) async throws -> PageLogin?
    {
        let outcome = try await approveLogin(by: proof, clientID: Client.mobileID, using: nil, browser: nil) {
            approval -> PageLogin? in
            if approval.isReplay || refuse { return nil }
            approval.passkey?.signCount = 8
            let login = Fixture.login(number, of: approval.user.id)
            approval.login = login
            return login
        }
        return outcome ?? nil
    }
}

/// Logins on the server's page by identities and by passkeys.
let loginProofRules: [StoreRule] = [
    StoreRule("the first login on the page by an identity makes its user, the next one finds them") { store in
        let first = try Fixture.login("a", names: "new")
        let user = first.newUsers[0]
        // A login that is refused leaves nothing, and the token good.
        #expect(try await store.approve(.identity(first), 1, refuse: true) == nil)
        #expect(try await store.user(.id(user.id)) == nil)
        let login = try #require(try await store.approve(.identity(first), 1))
        #expect(login.userID == user.id)
        #expect(try await store.user(.id(user.id)) == user)
        #expect(try await store.identity(first.key)?.userID == user.id)
        #expect(try await store.login(login.id) == login)
        // The token completes no second login, and starts no session of an app either.
        #expect(try await store.approve(.identity(first), 2) == nil)
        #expect(try await store.logIn(first)?.isReplay == true)
        let next = try await store.approve(.identity(try Fixture.login("b", names: "other")), 2)
        #expect(next?.userID == user.id)
        #expect(try await store.user(.username("other")) == nil)
    },
    StoreRule("a login on the page by a passkey counts it up, once for each challenge") { store in
        let user = try await store.given(Fixture.user())
        let passkey = try Fixture.passkey([1], of: user.id)
        _ = try await store.insertPasskey(
            PasskeyInsertion(passkey: passkey, token: Fixture.challenge("0"), events: [])
        ) { _, _ in nil }
        func proof(_ challenge: String, of key: Passkey) -> PageLoginProof {
            .passkey(
                PasskeyLogin(
                    credentialID: key.id, userID: key.userID, publicKey: key.publicKey,
                    token: Fixture.challenge(challenge)))
        }
        #expect(try await store.approve(proof("1", of: passkey), 1, refuse: true) == nil)
        #expect(try await store.passkey([1]) == passkey)
        #expect(try await store.approve(proof("1", of: passkey), 1)?.userID == user.id)
        #expect(try await store.passkey([1])?.signCount == 8)
        #expect(try await store.approve(proof("1", of: passkey), 2) == nil)
        // One with another key, or one that is gone.
        #expect(try await store.approve(proof("2", of: try Fixture.passkey([1], of: user.id)), 2) == nil)
        #expect(try await store.approve(proof("2", of: try Fixture.passkey([2], of: user.id)), 2) == nil)
        #expect(try await store.approve(proof("2", of: passkey), 2) != nil)
    },
    StoreRule("a passkey is used without a login, once for each challenge") { store in
        let user = try await store.given(Fixture.user())
        let passkey = try Fixture.passkey([1], of: user.id)
        _ = try await store.insertPasskey(
            PasskeyInsertion(passkey: passkey, token: Fixture.challenge("0"), events: [])
        ) { _, _ in nil }
        func use(_ challenge: String, _ key: Passkey) async throws -> Bool? {
            let login = PasskeyLogin(
                credentialID: key.id, userID: key.userID, publicKey: key.publicKey,
                token: Fixture.challenge(challenge))
            return try await store.usePasskey(login) { passkey in
                passkey?.signCount = 9
                return nil
            }
        }
        #expect(try await use("1", passkey) == true)
        #expect(try await store.passkey([1])?.signCount == 9)
        #expect(try await use("1", passkey) == false)
        #expect(try await use("2", try Fixture.passkey([1], of: user.id)) == nil)
        #expect(try await use("2", passkey) == true)
    },
]
