import Cryptography
import Sessions
import Testing

extension IdentityLogin {
    /// The one that the address means, if admins have made all of them.
    fileprivate func meant(of found: [User]) -> User? {
        meant(of: found, found.map { UserSources(of: $0, from: .admin) })
    }

    /// Whether the identity may be linked to a user that an admin has made.
    fileprivate func mayLink(_ user: User, having identities: [Identity]) -> Bool {
        mayLink(user, having: UserAccess(identities: identities, sources: UserSources(of: user, from: .admin)))
    }
}

/// Which user's address was verified, and which user a proven one means.
@Suite struct VerifiedEmailTests {
    private static let start = Instant(secondsSinceEpoch: 1_800_000_000)

    private static func login(_ email: String, provider: String = "acme") throws -> IdentityLogin {
        IdentityLogin(
            try #require(Identity.Key(provider: provider, subject: "1")),
            token: OneTimeToken(.identityToken, of: "", id: "1", goodUntil: start, at: start),
            linkingKey: Text.emailKey(email), newUsers: [], at: start)
    }

    private static func user(_ name: String, email: String? = nil) -> User {
        var user = User(id: Identifier(random: .system), username: name, createdAt: start)
        user.profile.email = email
        user.profile.isEmailVerified = true
        return user
    }

    /// A user with a row that was changed by hand: another address beside the key of the old one.
    private static func user(_ name: String, was old: String, is new: String) -> User {
        var user = user(name, email: old)
        let key = user.profile.verifiedEmailKey
        user.profile.email = new
        user.profile.verifiedEmailKey = key
        return user
    }

    @Test(arguments: [
        ("anna@example.org", "anna@example.org"), ("ANNA@Example.ORG", "anna@example.org"),
        ("Anna+News_%@XN--BCHER-KVA.example", "anna+news_%@xn--bcher-kva.example"), ("", ""),
        // What is one letter to one and two to another: composed and not, with a dot, theta and its symbol, the signs of Kelvin and Ohm,
        // a sharp s, letters of double width, a domain in another script.
        ("zo\u{EB}@example.org", nil), ("zoe\u{308}@example.org", nil), ("\u{130}@x", nil), ("i\u{307}@x", nil),
        ("\u{3F4}@x", nil), ("\u{3B8}@x", nil), ("\u{212A}im@example.org", nil), ("\u{2126}@x", nil),
        ("stra\u{DF}e@x", nil), ("\u{FF41}nna@x", nil), ("anna@b\u{FC}cher.example", nil), ("anna\u{37E}@x", nil),
    ])
    func keysOfAddresses(_ address: String, _ key: String?) {
        #expect(Text.emailKey(address).map { Array($0.utf8) } == key.map { Array($0.utf8) })
    }

    @Test func anAddressWithoutAKey_isNeverVerified() {
        #expect(!Self.user("kim", email: "\u{212A}im@example.org").profile.isEmailVerified)
        #expect(!Self.user("nobody").profile.isEmailVerified)
        // Nor is one that comes in its place.
        var kim = Self.user("kim", email: "kim@example.org")
        #expect(kim.profile.isEmailVerified)
        kim.profile.email = "\u{212A}im@example.org"
        #expect(!kim.profile.isEmailVerified)
        kim.profile.email = "kim@example.org"
        #expect(!kim.profile.isEmailVerified)
    }

    /// A stored key of an address that has none links no user: neither the one with that address nor one with another address of the
    /// same key.
    @Test(arguments: [
        ("zo\u{EB}@x", "zo\u{EB}@x"), ("ZOE\u{308}@x", "zo\u{EB}@x"), ("\u{3F4}@x", "\u{3B8}@x"),
        ("\u{3B8}@x", "\u{3B8}@x"), ("anna@\u{3F4}.example", "anna@\u{3B8}.example"),
    ])
    func storedKeysOfAddressesWithoutAKey(_ email: String, _ stored: String) throws {
        var user = Self.user("anna")
        user.profile.email = email
        user.profile.verifiedEmailKey = stored
        #expect(!user.profile.isEmailVerified)
        // What it links is asked by the key, whatever made that.
        for key in [stored, email] {
            let login = IdentityLogin(
                try Self.login("a@x").key, token: try Self.login("a@x").token, linkingKey: key, newUsers: [],
                at: Self.start)
            #expect(login.meant(of: [user]) == nil)
            #expect(login.meant(of: [Self.user(stored), Self.user(email)]) == nil)
        }
        #expect(try Self.login(email).meant(of: [user, Self.user(email)]) == nil)
    }

    /// A username is found by a wider key than an address.
    @Test func aUsernameMeansAnAddress_onlyIfItIsOne() throws {
        let login = try Self.login("kim@example.org")
        #expect(login.meant(of: [Self.user("\u{212A}im@example.org")]) == nil)
        #expect(login.meant(of: [Self.user("Kim@example.org")])?.username == "Kim@example.org")
        #expect(try Self.login("zo\u{EB}@x").meant(of: [Self.user("zo\u{EB}@x")]) == nil)
    }

    @Test func whatWasChangedByHand_isNotVerified_norWhenItIsChangedBack() throws {
        var anna = Self.user("anna", was: "anna@example.org", is: "eve@example.org")
        #expect(!anna.profile.isEmailVerified)
        for email in ["anna@example.org", "eve@example.org"] {
            #expect(try Self.login(email).meant(of: [anna]) == nil)
        }
        anna.profile.email = "anna@example.org"
        #expect(!anna.profile.isEmailVerified)
        #expect(try Self.login("anna@example.org").meant(of: [anna]) == nil)
    }

    @Test func anAddressMeansOneOfThoseFound_orNone() throws {
        let login = try Self.login("anna@example.org")
        let anna = Self.user("anna", email: "Anna@example.org")
        let name = Self.user("ANNA@example.org")
        let gone = (0..<IdentityLogin.namesakesMax).map {
            Self.user("\($0)", was: "anna@example.org", is: "\($0)@example.org")
        }
        #expect(login.meant(of: []) == nil)
        #expect(login.meant(of: [anna]) == anna)
        #expect(login.meant(of: [name]) == name)
        #expect(login.meant(of: [anna, name]) == nil)
        #expect(login.meant(of: gone.dropLast(2) + [anna]) == anna)
        // There may be more.
        #expect(login.meant(of: gone.dropLast() + [anna]) == nil)
        #expect(try Self.login("\u{212A}im@example.org").meant(of: [Self.user("Kim@example.org")]) == nil)
    }

    @Test func identitiesThatTheUserHas_decide() throws {
        let anna = Self.user("anna@example.org", email: "anna@example.org")
        let name = Self.user("anna@example.org")
        func identities(_ providers: String...) throws -> [Identity] {
            try providers.map {
                Identity(try Self.login("", provider: $0).key, userID: anna.id, linkedAt: Self.start)
            }
        }
        let login = try Self.login("anna@example.org")
        #expect(login.mayLink(anna, having: []) && login.mayLink(name, having: []))
        #expect(try login.mayLink(anna, having: identities("globex")))
        #expect(try !login.mayLink(anna, having: identities("globex", "acme")))
        #expect(try !login.mayLink(name, having: identities("globex")))
    }
}
