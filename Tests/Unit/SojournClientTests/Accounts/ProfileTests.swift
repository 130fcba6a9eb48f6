import SojournClient
import SojournTestKit
import Testing

/// The profile, and the deletion of the account by its user.
struct ProfileTests {
    @Test("a change of the profile keeps what it does not name")
    func profile() async throws {
        let phone = try await Phone.mailed(signedIn: true)
        var change = ProfileChange()
        (change.displayName, change.country) = (.set("Anna"), .set("DE"))
        phone.wire.next(Wire.loseAnswer)
        let account = try await phone.sojourn.updateProfile(change)
        #expect(account.displayName == "Anna" && account.country == "DE" && account.username == "anna")
        #expect(phone.record?.session?.account == account)
        var other = ProfileChange()
        (other.country, other.familyName) = (.cleared, .set("A."))
        let changed = try await phone.sojourn.updateProfile(other)
        #expect(changed.displayName == "Anna" && changed.country == nil && changed.familyName == "A.")
        var wrong = ProfileChange()
        wrong.country = .set("Germany")
        guard case .refused(let refusal)? = await failure({ try await phone.sojourn.updateProfile(wrong) }) else {
            return
        }
        #expect(refusal.code == "invalid_request" && refusal.member == "country")
        #expect(try await phone.sojourn.refreshProfile() == changed)
    }

    @Test("a change back to an earlier value is a request of its own")
    func repeatedChange() async throws {
        let phone = try await Phone.mailed(signedIn: true)
        for name in ["Anna", "Ann", "Anna"] {
            var change = ProfileChange()
            change.displayName = .set(name)
            #expect(try await phone.sojourn.updateProfile(change).displayName == name)
        }
        let keys = phone.wire.requests("/v1/me").map { $0["Idempotency-Key"] }
        #expect(keys.count == 3 && Set(keys).count == 3)
    }

    @Test("a deletion signs out at once, and a login keeps the account for a week")
    func deletion() async throws {
        let phone = try await Phone.mailed(signedIn: true)
        let time = try await phone.sojourn.deleteAccount()
        #expect(time != nil && phone.sojourn.state == .signedOut(.byUser))
        #expect(phone.record?.debts.isEmpty == true)
        #expect(phone.server.mails(to: "anna@example.org").map(\.kind) == ["deletion"])
        let refused = await failure { try await phone.sojourn.signIn(username: "anna", password: "pw") }
        #expect(word(of: refused) == "deletion_pending")
        let account = try await phone.sojourn.cancelDeletion(username: "anna", password: "pw")
        #expect(phone.sojourn.state == .signedIn(account, .current))
        await phone.sojourn.signOut()
        try await phone.sojourn.signIn(username: "anna", password: "pw")
    }

    @Test("a deletion needs the user, or the password beside it")
    func guardedDeletion() async throws {
        let phone = try await Phone.mailed(signedIn: true)
        try await phone.server.letPass(.seconds(301))
        guard case .presenceRequired? = await failure({ try await phone.sojourn.deleteAccount() }) else {
            Issue.record("no presence asked for")
            return
        }
        #expect(phone.record?.session != nil)
        try await phone.sojourn.deleteAccount(password: "pw")
        #expect(phone.record?.session == nil)
    }

    @Test("an account with a second factor is kept by a login with both")
    func cancellationWithASecondFactor() async throws {
        let phone = try await Phone.mailed(signedIn: true)
        let (secret, _) = try await phone.addAuthenticator()
        try await phone.sojourn.deleteAccount()
        let login = try second(
            of: await failure { try await phone.sojourn.cancelDeletion(username: "anna", password: "pw") })
        let account = try await login.confirm(code: try await phone.nextCode(of: secret))
        #expect(phone.sojourn.state == .signedIn(account, .current))
    }

    @Test("an account that is gone is a deletion that has succeeded")
    func deletionWithALostAnswer() async throws {
        let phone = try await Phone.mailed()
        try await phone.server.setAnonymousUsers(true)
        try await phone.sojourn.signInAnonymously()
        phone.wire.next(Wire.loseAnswer)
        #expect(try await phone.sojourn.deleteAccount() == nil)
        #expect(phone.record?.session == nil)
    }
}
