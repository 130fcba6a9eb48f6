import Foundation
import SojournClient
import SojournTestKit
import Testing

struct SigningInTests {
    @Test func login_isStored_withAllNineFields() async throws {
        let phone = try await Phone.new()
        let account = try await phone.sojourn.signIn(username: "anna", password: "pw", mode: .password)
        let session = try #require(phone.record?.session)
        #expect(session.account == account && account.username == "anna" && session.mode == .password)
        #expect(session.refreshToken != nil && session.expiresAt > session.issuedAt)
        #expect(phone.other().sojourn.state == .starting)
    }

    @Test func lostAnswer_doesNotCostTheLogin() async throws {
        let phone = try await Phone.new()
        phone.wire.next(Wire.loseAnswer)
        try await phone.sojourn.signIn(username: "anna", password: "pw")
        let logins = phone.wire.requests("/v1/login")
        #expect(logins.count == 2 && logins[0]["Idempotency-Key"] == logins[1]["Idempotency-Key"])
        #expect(logins[0].body == logins[1].body && logins[0]["Idempotency-Key"]?.count == 22)
    }

    @Test func loginThatIsTriedAgain_afterANewStart_hasTheSameKey_andTheNextOneAnother() async throws {
        let phone = try await Phone.new()
        phone.wire.next(Wire.loseAnswer, Wire.loseAnswer, Wire.loseAnswer)
        await #expect(throws: SojournError.self) {
            try await phone.sojourn.signIn(username: "anna", password: "pw")
        }
        #expect(phone.sojourn.state == .signedOut(.never))
        let restarted = phone.other()
        try await restarted.sojourn.signIn(username: "anna", password: "pw")
        let keys = phone.wire.requests("/v1/login").map { $0["Idempotency-Key"] }
        #expect(keys.count == 4 && Set(keys).count == 1)
        try await restarted.sojourn.signIn(username: "anna", password: "pw")
        #expect(phone.wire.requests("/v1/login").last?["Idempotency-Key"] != keys[0])
    }

    @Test func loginThatCouldNotBeStored_comesAgain() async throws {
        let phone = try await Phone.new()
        let gate = Gate()
        phone.wire.next(Wire.holdAnswer(gate))
        let login = Task { try await phone.sojourn.signIn(username: "anna", password: "pw") }
        await until("the login is under way") { await gate.waiting == 1 }
        phone.store.fail(writes: .failed(28, "disk full"))
        await gate.open()
        await #expect(throws: SojournError.store(.failed(28, "disk full"))) { try await login.value }
        phone.store.fail(writes: nil)
        try await phone.sojourn.signIn(username: "anna", password: "pw")
        let keys = phone.wire.requests("/v1/login").map { $0["Idempotency-Key"] }
        #expect(Set(keys).count == 1)
        #expect(phone.record?.session?.sessionID == "session1")
    }

    @Test func wrongPassword_isRefused_andKeepsWhatIsThere() async throws {
        let phone = try await Phone.signedIn()
        let record = phone.record
        do {
            try await phone.sojourn.signIn(username: "anna", password: "wrong")
            Issue.record("signed in")
        } catch {
            guard case .refused(let refusal) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(refusal.code == "invalid_credentials")
        }
        #expect(phone.record == record)
    }

    @Test func disabledUser_isTold() async throws {
        let phone = try await Phone.new()
        try await phone.server.disable("anna")
        await #expect(throws: SojournError.suspended(Suspension(rawValue: "login_disabled_by_admin"))) {
            try await phone.sojourn.signIn(username: "anna", password: "pw")
        }
    }

    @Test func deviceIDOfTheApp_isUsed() async throws {
        let phone = try await Phone.new { $0.deviceID = "install-7" }
        try await phone.sojourn.signIn(username: "anna", password: "pw")
        #expect(phone.record?.deviceID == "install-7")
    }

    @Test func sessionOfTheBackend_isAdopted() async throws {
        let phone = try await Phone.new()
        let identity = try await phone.sojourn.deviceIdentity()
        #expect(identity.keyThumbprint == nil)
        let answer = try await phone.server.openSession(for: "anna", device: identity.deviceID)
        let account = try await phone.sojourn.adopt(tokenAnswer: answer)
        #expect(account.username == "anna")
        phone.clock.advance(by: .seconds(3700))
        _ = try await phone.sojourn.accessToken(.fresh)
        await #expect(throws: SojournError.self) { try await phone.sojourn.adopt(tokenAnswer: Data("{}".utf8)) }
    }

    @Test func boundLogin_provesTheKey_andSoDoesEachRenewal() async throws {
        let phone = try await Phone.signedIn(renewal: .boundRefreshToken)
        #expect(phone.wire.requests("/v1/login")[0]["DPoP"] != nil)
        #expect(phone.record?.session?.isBound == true)
        phone.clock.advance(by: .seconds(3700))
        _ = try await phone.sojourn.accessToken(.fresh)
        #expect(phone.wire.renewals.count == 1 && phone.wire.renewals[0]["DPoP"] != nil)
        // A process that has not seen the record yet signs all the same.
        phone.clock.advance(by: .seconds(3700))
        _ = try await phone.other(renewal: .boundRefreshToken).sojourn.accessToken(.fresh)
        #expect(phone.wire.renewals.count == 2 && phone.wire.renewals[1]["DPoP"] != nil)
    }

    @Test(arguments: ["http://auth.example", "ftp://auth.example", "https://auth.example/?a=b"])
    func unsafeServer_isNoServer(url: String) async throws {
        let phone = try await Phone.new { $0.server = URL(string: url) ?? $0.server }
        do {
            try await phone.sojourn.signIn(username: "anna", password: "pw")
            Issue.record("signed in")
        } catch {
            guard case .misconfigured = error else {
                Issue.record("\(error)")
                return
            }
        }
        #expect(phone.wire.requests().isEmpty)
    }
}
