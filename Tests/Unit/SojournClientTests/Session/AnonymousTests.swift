import Foundation
import SojournClient
import SojournTestKit
import Testing

/// Signing in without a user, and naming the user later.
struct AnonymousTests {
    private func phone() async throws -> Phone {
        let phone = try await Phone.new()
        try await phone.server.setAnonymousUsers(true)
        return phone
    }

    /// The session is the only way to the user, so it is stored before the call returns.
    @Test func login_isStoredAtOnce() async throws {
        let phone = try await phone()
        let account = try await phone.sojourn.signInAnonymously()
        #expect(account.isAnonymous && account.username == nil && !account.userID.isEmpty)
        #expect(phone.record?.session?.account == account)
        #expect(phone.sojourn.state == .signedIn(account, .current))
        let restarted = phone.other()
        await restarted.sojourn.start()
        #expect(restarted.sojourn.state == .signedIn(account, .current))
        #expect(try await restarted.sojourn.accessToken().value == phone.record?.session?.accessToken)
    }

    @Test func secondCall_keepsTheUser_andSendsNothing() async throws {
        let phone = try await phone()
        let account = try await phone.sojourn.signInAnonymously()
        #expect(try await phone.sojourn.signInAnonymously() == account)
        #expect(try await phone.other().sojourn.signInAnonymously() == account)
        #expect(phone.wire.requests("/v1/login").count == 1)
    }

    @Test func lostAnswer_makesNoSecondUser_alsoAfterANewStart() async throws {
        let phone = try await phone()
        phone.wire.next(Wire.loseAnswer, Wire.loseAnswer, Wire.loseAnswer)
        await #expect(throws: SojournError.self) { try await phone.sojourn.signInAnonymously() }
        let account = try await phone.other().sojourn.signInAnonymously()
        #expect(account.userID == "user3")
        let keys = phone.wire.requests("/v1/login").map { $0["Idempotency-Key"] }
        #expect(keys.count == 4 && Set(keys).count == 1)
    }

    /// Otherwise the key of a login with an answer that is lost for good would refuse every later one.
    @Test func answerThatWasLostLongAgo_givesWayToANewUser() async throws {
        let phone = try await phone()
        phone.wire.next(Wire.loseAnswer, Wire.loseAnswer, Wire.loseAnswer)
        await #expect(throws: SojournError.self) { try await phone.sojourn.signInAnonymously() }
        try await phone.server.letPass(.seconds(600))
        let account = try await phone.sojourn.signInAnonymously()
        #expect(account.userID == "user4")
        let keys = phone.wire.requests("/v1/login").map { $0["Idempotency-Key"] }
        #expect(keys.count == 5 && Set(keys).count == 2)
    }

    @Test func clientThatMayNot_isMisconfigured() async throws {
        let phone = try await Phone.new()
        await #expect(throws: SojournError.misconfigured("unauthorized_client", detail: "A fake answer.")) {
            try await phone.sojourn.signInAnonymously()
        }
        #expect(phone.record?.session == nil)
    }

    @Test func naming_keepsUserAndSession() async throws {
        let phone = try await phone()
        let account = try await phone.sojourn.signInAnonymously()
        let before = try #require(phone.record?.session)
        try await phone.server.letPass(.seconds(10))
        let named = try await phone.sojourn.nameAccount(username: "carl", password: "pw")
        #expect(named.userID == account.userID && named.username == "carl" && !named.isAnonymous)
        #expect(phone.record?.session?.account == named)
        #expect(phone.record?.session?.refreshToken == before.refreshToken)
        #expect(phone.sojourn.state == .signedIn(named, .current))
        // The stored access token still says that the user is anonymous.
        let token = try await phone.sojourn.accessToken()
        #expect(token.value != before.accessToken)
        #expect(phone.record?.session?.sessionID == before.sessionID)
        #expect(try await phone.sojourn.accessToken() == token)
        try await phone.other().sojourn.signIn(username: "carl", password: "pw")
    }

    @Test func namingByAnIDToken() async throws {
        let phone = try await phone()
        let account = try await phone.sojourn.signInAnonymously()
        let named = try await phone.sojourn.nameAccount(idToken: "carl", provider: "acme", nonce: "n")
        #expect(named.userID == account.userID && named.username == "carl")
        let request = try #require(phone.wire.requests("/v1/me/account").first)
        let members = JSONValue(parsing: request.body)?.members
        #expect(members?.text("provider") == "acme" && members?.text("nonce") == "n")
    }

    @Test func lostAnswerToANaming_costsNothing() async throws {
        let phone = try await phone()
        try await phone.sojourn.signInAnonymously()
        phone.wire.next(Wire.loseAnswer, Wire.loseAnswer)
        let named = try await phone.sojourn.nameAccount(username: "carl", password: "pw")
        #expect(named.username == "carl")
        let requests = phone.wire.requests("/v1/me/account")
        #expect(requests.count == 3 && Set(requests.map { $0["Idempotency-Key"] }).count == 1)
        #expect(requests[0]["Idempotency-Key"]?.count == 22)
    }

    @Test func refusedNaming_changesNothing() async throws {
        let phone = try await phone()
        try await phone.sojourn.signInAnonymously()
        let record = phone.record
        await #expect(
            throws: SojournError.refused(Refusal(status: 409, code: "username_taken", detail: "A fake answer."))
        ) {
            try await phone.sojourn.nameAccount(username: "anna", password: "pw")
        }
        await #expect(
            throws: SojournError.refused(Refusal(status: 409, code: "identity_taken", detail: "A fake answer."))
        ) {
            try await phone.sojourn.nameAccount(idToken: "anna", provider: "acme")
        }
        #expect(phone.record == record)
        let signedOut = try await Phone.new()
        await #expect(throws: SojournError.notSignedIn) {
            try await signedOut.sojourn.nameAccount(username: "carl", password: "pw")
        }
    }

    @Test func account_isCodable() throws {
        let account = Account(userID: "u", isAnonymous: true)
        let data = try JSONEncoder().encode(account)
        #expect(String(decoding: data, as: UTF8.self).contains(#""anonymous":true"#))
        #expect(try JSONDecoder().decode(Account.self, from: data) == account)
        let named = try JSONDecoder().decode(Account.self, from: Data(#"{"user_id":"u","username":"n"}"#.utf8))
        #expect(!named.isAnonymous)
    }
}
