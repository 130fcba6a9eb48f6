import SojournClient
import SojournTestKit
import Testing

struct ClientAccountTests {
    private func refuses(_ code: String, _ call: () async throws(SojournError) -> Void) async {
        do {
            try await call()
            Issue.record("not refused")
        } catch {
            guard case .refused(let refusal) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(refusal.code == code)
        }
    }

    @Test(arguments: [SojournConfiguration.Renewal.refreshToken, .boundRefreshToken, .deviceKey])
    func callsAboutTheAccount(renewal: SojournConfiguration.Renewal) async throws {
        let phone = try await Phone.signedIn(renewal: renewal)
        #expect(try await phone.sojourn.refreshProfile().username == "anna")
        let devices = try await phone.sojourn.devices()
        #expect(devices.map(\.id) == [phone.record?.deviceID] && devices.first?.isCurrent == true)
        #expect(try await phone.sojourn.loginSettings() == LoginSettings(loginsDisabled: false))
        try await phone.sojourn.changePassword(from: "pw", to: "new password")
        await refuses("invalid_credentials") { () async throws(SojournError) in
            try await phone.sojourn.changePassword(from: "pw", to: "other")
        }
        phone.clock.advance(by: .seconds(3700))
        _ = try await phone.sojourn.accessToken(.fresh)
        try await phone.sojourn.endAllDevices()
        #expect(phone.sojourn.state == .signedOut(.byUser) && phone.record?.debts.isEmpty == true)
        #expect(phone.wire.logouts.isEmpty)
    }

    @Test func thisDevice_isEnded_asASignOut() async throws {
        let phone = try await Phone.signedIn()
        await refuses("not_found") { () async throws(SojournError) in
            try await phone.sojourn.endDevice("another one")
        }
        try await phone.sojourn.endDevice(try #require(phone.record?.deviceID))
        #expect(phone.sojourn.state == .signedOut(.byUser) && phone.wire.logouts.isEmpty)
    }

    @Test func profile_isStored_afterACallOnly() async throws {
        let phone = try await Phone.signedIn()
        let answer = #"{"user_id": "user1", "username": "anna", "display_name": "Anna", "later": 7}"#
        phone.wire.next(Wire.answer(200, answer))
        #expect(try await phone.sojourn.refreshProfile().displayName == "Anna")
        #expect(phone.record?.session?.account.displayName == "Anna" && phone.store.text.contains("later"))
        guard case .signedIn(let account, _) = phone.sojourn.state else {
            Issue.record("\(phone.sojourn.state)")
            return
        }
        #expect(account.displayName == "Anna")
        let text = phone.store.text
        phone.server.setReachable(false)
        await #expect(throws: SojournError.self) { try await phone.sojourn.refreshProfile() }
        #expect(phone.store.text == text)
    }

    @Test func refusedToken_isRenewedOnce() async throws {
        let phone = try await Phone.signedIn()
        phone.wire.next(Wire.answer(401, #"{"code": "invalid_token"}"#))
        _ = try await phone.sojourn.devices()
        #expect(phone.wire.renewals.count == 1 && phone.wire.requests("/v1/me/devices").count == 2)
    }

    @Test func callThatSaysTheSessionIsOver_endsNothing_unlessTheRenewalSaysSo() async throws {
        let phone = try await Phone.signedIn()
        let word = #"{"code": "replaced", "reauthenticate": true}"#
        phone.wire.next(Wire.answer(401, word), Wire.pass, Wire.answer(401, word))
        await refuses("replaced") { () async throws(SojournError) in _ = try await phone.sojourn.devices() }
        #expect(phone.record?.session?.ending == nil)
        try await phone.server.revokeAll("anna")
        await #expect(throws: SojournError.ended(.revokedByAdmin)) { try await phone.sojourn.devices() }
    }

    @Test func logins_areSwitchedOffByTheSession_andOnByThePassword() async throws {
        let phone = try await Phone.signedIn()
        let off = try await phone.sojourn.setLoginsDisabled(true, effective: .onExpiry)
        #expect(off == LoginSettings(loginsDisabled: true, effective: .onExpiry))
        phone.wire.next(Wire.answer(200, #"{"logins_disabled": false}"#))
        let on = try await phone.sojourn.setLoginsDisabled(false, password: "pw")
        #expect(!on.loginsDisabled)
        #expect(phone.wire.requests("/v1/me/login-settings").last?["Authorization"] == "Basic YW5uYTpwdw==")
    }

    // MARK: The device key

    @Test func deviceKey_renewsWithoutARefreshToken() async throws {
        let phone = try await Phone.signedIn(renewal: .deviceKey)
        #expect(phone.record?.session?.refreshToken == nil && phone.record?.session?.keyThumbprint != nil)
        for count in 1...2 {
            phone.clock.advance(by: .seconds(3700))
            _ = try await phone.other(renewal: .deviceKey).sojourn.accessToken(.fresh)
            let form = try #require(phone.wire.renewals.last?.form)
            #expect(form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer" && form["sent_at"] != nil)
            #expect(form["assertion"] != nil && form["refresh_token"] == nil)
            #expect(phone.wire.renewals.count == count)
            #expect(phone.record?.session?.refreshToken == nil)
        }
    }

    @Test func eachTry_isSignedAnew() async throws {
        let phone = try await Phone.signedIn(renewal: .deviceKey)
        phone.clock.advance(by: .seconds(3700))
        phone.wire.next(Wire.loseAnswer, Wire.answer(400, #"{"error":"invalid_grant","reason":"invalid_assertion"}"#))
        _ = try await phone.sojourn.accessToken(.fresh)
        #expect(phone.wire.renewals.count == 3)
        #expect(Set(phone.wire.renewals.map { $0.form["assertion"] }).count == 3)
    }

    @Test func lostDeviceKey_isALogin_andNoRequest() async throws {
        let phone = try await Phone.signedIn(renewal: .deviceKey)
        try await phone.keys.deleteKey(.device)
        phone.clock.advance(by: .seconds(3700))
        await #expect(throws: SojournError.ended(.keyLost)) { try await phone.sojourn.accessToken() }
        #expect(phone.wire.renewals.isEmpty)
        guard case .ended(.keyLost, _, _) = phone.sojourn.state else {
            Issue.record("\(phone.sojourn.state)")
            return
        }
    }

    @Test func sessionOfTheDeviceKey_isLoggedOutByItsAccessToken() async throws {
        let phone = try await Phone.signedIn(renewal: .deviceKey)
        let token = try #require(phone.record?.session?.accessToken)
        await phone.sojourn.signOut()
        await until("the debt is paid") { phone.record?.debts.isEmpty == true }
        #expect(phone.wire.logouts.last?["Authorization"] == "Bearer \(token)")
    }
}
