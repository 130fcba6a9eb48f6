import Cryptography
import Sessions
import Testing

/// Where names, addresses and passwords come from, and what follows for logins by a proven address.
struct UserSourcesTests {
    private static let start = Instant(secondsSinceEpoch: 1_800_000_000)
    private static let address = "anna@example.org"

    private static func user(_ edit: (inout User) -> Void = { _ in }) -> User {
        var user = User(id: Identifier(words: (1, 2)), username: "anna", createdAt: start)
        edit(&user)
        return user
    }

    private static func login() throws -> IdentityLogin {
        IdentityLogin(
            try #require(Identity.Key(provider: "acme", subject: "1")),
            token: OneTimeToken(.identityToken, of: "", id: "1", goodUntil: start, at: start), linkingKey: address,
            newUsers: [], at: start)
    }

    private static func sources(
        _ username: AccountSource, _ email: AccountSource?, _ password: AccountSource?, _ access: AccountSource
    ) -> UserSources {
        UserSources(
            userID: user().id, username: username, email: email, password: password, access: access)
    }

    @Test(
        "An address leads to a name or a verified mailbox of an admin, an import or a proof, and to no other",
        arguments: AccountSource.allCases)
    func trustedSources(_ source: AccountSource) throws {
        let isTrusted = [.admin, .import, .proof].contains(source)
        let login = try Self.login()
        let named = Self.user { $0.username = Self.address }
        #expect((login.meant(of: [named], [Self.sources(source, nil, nil, .admin)]) == named) == isTrusted)
        #expect(login.mayLink(named, having: UserAccess(sources: Self.sources(source, nil, nil, .admin))) == isTrusted)
        let mailed = Self.user {
            $0.profile.email = Self.address
            $0.profile.isEmailVerified = true
        }
        #expect((login.meant(of: [mailed], [Self.sources(.user, source, nil, .admin)]) == mailed) == isTrusted)
        #expect(
            login.mayLink(mailed, having: UserAccess(sources: Self.sources(.user, source, nil, .admin))) == isTrusted)
        #expect(login.meant(of: [named, mailed], []) == nil)
    }

    @Test(
        "A password, a session, a passkey or an identity blocks the link if its source is not trusted",
        arguments: AccountSource.allCases)
    func blockingSources(_ source: AccountSource) throws {
        let isTrusted = [.admin, .import, .proof].contains(source)
        let login = try Self.login()
        let mailed = Self.user {
            $0.profile.email = Self.address
            $0.profile.isEmailVerified = true
            $0.passwordHash = "x"
        }
        func mayLink(_ access: UserAccess) -> Bool { login.mayLink(mailed, having: access) }
        let other = Identity(
            try #require(Identity.Key(provider: "globex", subject: "1")), userID: mailed.id, linkedAt: Self.start)
        #expect(mayLink(UserAccess(sources: Self.sources(.admin, .admin, source, .admin))) == isTrusted)
        let opened = Self.sources(.admin, .admin, .admin, source)
        #expect(mayLink(UserAccess(sources: opened)))
        #expect(mayLink(UserAccess(hasSession: true, sources: opened)) == isTrusted)
        #expect(mayLink(UserAccess(hasPasskey: true, sources: opened)) == isTrusted)
        #expect(mayLink(UserAccess(identities: [other], sources: opened)) == isTrusted)
    }

    @Test("A name from an untrusted source does not make an address mean two")
    func hiddenNamesake() throws {
        let mailed = Self.user {
            $0.profile.email = Self.address
            $0.profile.isEmailVerified = true
        }
        let named = User(id: Identifier(words: (3, 4)), username: Self.address, createdAt: Self.start)
        let login = try Self.login()
        let sources = [UserSources(of: mailed, from: .admin), UserSources(of: named, from: .user)]
        #expect(login.meant(of: [mailed, named], sources) == mailed)
        #expect(
            login.meant(
                of: [mailed, named],
                sources.map { UserSources(of: $0.userID == mailed.id ? mailed : named, from: .admin) }) == nil)
    }

    @Test("A change gives what it changes its source, and nothing else", arguments: AccountSource.allCases)
    func changes(_ source: AccountSource) {
        let known = Self.sources(.import, .import, .import, .import)
        let old = Self.user {
            $0.profile.email = Self.address
            $0.passwordHash = "old"
        }
        func after(_ edit: (inout User) -> Void) -> UserSources {
            var new = old
            edit(&new)
            return known.after(old, new, by: source)
        }
        #expect(after { $0.profile.displayName = "Anna" } == known)
        #expect(after { $0.username = "berta" } == Self.sources(source, .import, .import, .import))
        #expect(after { $0.profile.email = "b@example.org" } == Self.sources(.import, source, .import, .import))
        #expect(after { $0.profile.email = "ANNA@example.org" } == known)
        #expect(after { $0.profile.email = nil } == Self.sources(.import, nil, .import, .import))
        #expect(after { $0.profile.isEmailVerified = true } == Self.sources(.import, source, .import, .import))
        #expect(after { $0.passwordHash = nil } == Self.sources(.import, .import, nil, .import))
        // A user with the old password, or with a reset token, makes the password no worse and no better.
        let kept = source == .user ? .import : source
        #expect(after { $0.passwordHash = "new" } == Self.sources(.import, .import, kept, .import))
    }

    @Test("A mailbox that is no longer verified keeps its source; a first password has that of the access")
    func firstPassword() {
        let known = Self.sources(.admin, .admin, nil, .provider)
        let old = Self.user {
            $0.profile.email = Self.address
            $0.profile.isEmailVerified = true
        }
        var new = old
        new.profile.isEmailVerified = false
        #expect(known.after(old, new, by: .user) == known)
        new.passwordHash = "new"
        #expect(known.after(old, new, by: .user).password == .provider)
        #expect(known.after(old, new, by: .admin).password == .admin)
    }
}
