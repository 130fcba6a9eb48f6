import Cryptography
import Sessions
import Testing

/// Whose address was verified, and whom a proven one means.
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

    /// A user whose address a node of the version before has changed: it leaves the key as it was.
    private static func user(_ name: String, was old: String, is new: String) -> User {
        var user = user(name, email: old)
        let key = user.profile.verifiedEmailKey
        user.profile.email = new
        user.profile.verifiedEmailKey = key
        return user
    }

    @Test(arguments: [
        ("anna@example.org", "anna@example.org"), ("ANNA@Example.ORG", "anna@example.org"),
        ("ZOE\u{308}@example.org", "zoë@example.org"), ("\u{D6}@x", "\u{F6}@x"), ("\u{130}@x", "i\u{307}@x"),
        // Kelvin, Ohm and Ångström signs, a Greek question mark, an ideograph for compatibility.
        ("\u{212A}im@example.org", nil), ("\u{2126}@x", nil), ("\u{212B}@x", nil), ("a\u{37E}b@x", nil),
        ("\u{F900}@x", nil), ("\u{1FEF}@x", nil),
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

    @Test func whatANodeOfTheVersionBeforeChanges_isNotVerified_norWhenItIsChangedBack() throws {
        var anna = Self.user("anna", was: "anna@example.org", is: "eve@example.org")
        #expect(!anna.profile.isEmailVerified)
        for email in ["anna@example.org", "eve@example.org"] {
            #expect(try Self.login(email).meant(of: [anna]) == nil)
        }
        anna.profile.email = "anna@example.org"
        #expect(!anna.profile.isEmailVerified)
        #expect(try Self.login("anna@example.org").meant(of: [anna]) == nil)
    }

    @Test func anAddressMeansOneOfThoseFound_orNobody() throws {
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
