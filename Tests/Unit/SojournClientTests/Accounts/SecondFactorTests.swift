import SojournClient
import SojournTestKit
import Testing

/// Authenticator apps, recovery codes, and logins in two steps.
struct SecondFactorTests {
    /// A phone of `anna`, signed out, with an authenticator app.
    private func phone(
        renewal: SojournConfiguration.Renewal = .refreshToken
    ) async throws -> (phone: Phone, secret: String, codes: [String]) {
        let phone = try await Phone.mailed(signedIn: true)
        let (secret, codes) = try await phone.addAuthenticator()
        await phone.sojourn.signOut()
        return (phone.other(renewal: renewal), secret, codes)
    }

    private func ask(_ phone: Phone, mode: AuthenticationMode = .no) async throws -> SecondFactorLogin {
        try second(
            of: await failure {
                try await phone.sojourn.signIn(username: "anna", password: "pw", mode: mode)
            })
    }

    @Test("the first authenticator brings recovery codes, and a further one none")
    func enrolment() async throws {
        let phone = try await Phone.mailed(signedIn: true)
        let added = try await phone.sojourn.addAuthenticator(name: "Phone")
        #expect(added.uri.hasPrefix("otpauth://totp/") && added.uri.contains(added.secret))
        #expect(word(of: await failure { try await added.confirm(code: "000000") }) == "wrong_second_factor")
        let code = phone.server.code(ofAuthenticator: added.secret)
        phone.wire.next(Wire.loseAnswer)
        let codes = try await added.confirm(code: code)
        #expect(codes.count == 8 && Set(codes).count == 8)
        #expect(try await phone.sojourn.secondFactors().recoveryCodesLeft == 8)
        let second = try await phone.sojourn.addAuthenticator(name: "Tablet")
        #expect(try await second.confirm(code: phone.server.code(ofAuthenticator: second.secret)).isEmpty)
        let factors = try await phone.sojourn.secondFactors()
        #expect(factors.authenticators.map(\.name) == ["Phone", "Tablet"] && factors.recoveryCodesLeft == 8)
        try await phone.sojourn.removeAuthenticator(added.id)
        #expect(try await phone.sojourn.secondFactors().authenticators.map(\.id) == [second.id])
    }

    @Test("an account without a proven mailbox gets no authenticator")
    func unproven() async throws {
        let phone = try await Phone.signedIn()
        let error = await failure { try await phone.sojourn.addAuthenticator(name: "Phone") }
        #expect(word(of: error) == "email_needs_proof")
    }

    @Test(
        "a login asks for the code, and the code ends it",
        arguments: [SojournConfiguration.Renewal.refreshToken, .boundRefreshToken, .deviceKey])
    func login(renewal: SojournConfiguration.Renewal) async throws {
        let (phone, secret, _) = try await phone(renewal: renewal)
        let login = try await ask(phone)
        #expect(login.methods == [.totp, .recoveryCode])
        #expect(phone.record?.session == nil && phone.sojourn.state == .signedOut(.byUser))
        #expect(word(of: await failure { try await login.confirm(code: "000000") }) == "wrong_second_factor")
        let account = try await login.confirm(code: try await phone.nextCode(of: secret))
        #expect(account.username == "anna" && phone.sojourn.state == .signedIn(account, .current))
        #expect(phone.record?.session?.account == account)
        _ = try await phone.sojourn.accessToken(.renewed(after: try await phone.sojourn.accessToken()))
    }

    @Test("a lost answer to the second step is fetched by the same code, and begins one session")
    func lostAnswer() async throws {
        let (phone, secret, _) = try await phone()
        let login = try await ask(phone)
        let code = try await phone.nextCode(of: secret)
        phone.wire.next(Wire.loseAnswer, Wire.loseAnswer, Wire.loseAnswer)
        _ = await failure { try await login.confirm(code: code) }
        #expect(phone.record?.session == nil)
        let account = try await login.confirm(code: code)
        #expect(phone.sojourn.state == .signedIn(account, .current))
        let keys = phone.wire.requests("/v1/login").suffix(4).map { $0["Idempotency-Key"] }
        #expect(Set(keys).count == 1)
    }

    @Test("a code counts once, and one of another time says that the clock is wrong")
    func codes() async throws {
        let (phone, secret, _) = try await phone()
        let code = try await phone.nextCode(of: secret)
        _ = try await ask(phone).confirm(code: code)
        await phone.sojourn.signOut()
        let login = try await ask(phone)
        #expect(word(of: await failure { try await login.confirm(code: code) }) == "wrong_second_factor")
        let late = try await phone.nextCode(of: secret)
        try await phone.server.letPass(.seconds(180))
        guard case .refused(let refusal)? = await failure({ try await login.confirm(code: late) }) else { return }
        #expect(refusal.code == "wrong_second_factor" && refusal.clockDiffers)
    }

    @Test("ten wrong codes wait, whatever login they came by")
    func wrongCodes() async throws {
        let (phone, secret, _) = try await phone()
        for _ in 0..<5 {
            let login = try await ask(phone)
            for _ in 0..<2 { _ = await failure { try await login.confirm(code: "000000") } }
        }
        let login = try await ask(phone)
        let code = try await phone.nextCode(of: secret)
        guard case .unreachable(let cause)? = await failure({ try await login.confirm(code: code) }) else {
            Issue.record("no wait")
            return
        }
        #expect(cause.status == 429 && (cause.retryAfter ?? 0) > 0)
    }

    @Test("a recovery code ends a login, once")
    func recoveryCode() async throws {
        let (phone, _, codes) = try await phone()
        _ = try await ask(phone).confirm(code: codes[0].lowercased())
        #expect(try await phone.sojourn.secondFactors().recoveryCodesLeft == 7)
        await phone.sojourn.signOut()
        let login = try await ask(phone)
        #expect(word(of: await failure { try await login.confirm(code: codes[0]) }) == "wrong_second_factor")
        _ = try await login.confirm(code: codes[1])
    }

    @Test("a passkey ends a login as well")
    func passkey() async throws {
        let phone = try await Phone.mailed(signedIn: true)
        let keys = SoftwarePasskeys(origin: "https://sojourn.test")
        try await phone.sojourn.addPasskey(by: keys)
        _ = try await phone.addAuthenticator()
        await phone.sojourn.signOut()
        let login = try await ask(phone)
        #expect(login.methods.contains(.passkey))
        #expect(try await login.confirm(passkey: keys).username == "anna")
    }

    @Test("a login that has waited for five minutes is over, and the first proof comes again")
    func tooLate() async throws {
        let (phone, secret, _) = try await phone()
        let login = try await ask(phone)
        try await phone.server.letPass(.seconds(300))
        let code = phone.server.code(ofAuthenticator: secret)
        guard case .refused(let refusal)? = await failure({ try await login.confirm(code: code) }) else { return }
        #expect(refusal.code == "invalid_request" && refusal.member == "login_token")
    }

    @Test("biometry is asked for once, before the first step")
    func biometry() async throws {
        let (phone, secret, _) = try await phone()
        let login = try await ask(phone, mode: .biometric)
        #expect(phone.gate.promptCount == 1)
        _ = await failure { try await login.confirm(code: "000000") }
        let account = try await login.confirm(code: try await phone.nextCode(of: secret))
        #expect(phone.gate.promptCount == 1)
        #expect(phone.record?.session?.mode == .biometric && phone.record?.session?.sealed != nil)
        #expect(phone.sojourn.state == .signedIn(account, .current))
    }

    @Test("a login that was given up leaves no keys at the gate")
    func abandonedBiometry() async throws {
        let (phone, secret, _) = try await phone()
        _ = try await ask(phone, mode: .biometric)
        let login = try await ask(phone, mode: .biometric)
        #expect(phone.gate.enrollmentCount == 1)
        _ = try await login.confirm(code: try await phone.nextCode(of: secret))
        #expect(phone.gate.enrollmentCount == 1)
    }

    @Test("an unlock by password asks too, and the session goes on")
    func unlock() async throws {
        let (phone, secret, _) = try await phone()
        _ = try await ask(phone, mode: .password).confirm(code: try await phone.nextCode(of: secret))
        let id = phone.record?.session?.sessionID
        let restarted = phone.other()
        await restarted.sojourn.restore()
        let login = try second(of: await failure { try await restarted.sojourn.unlock(password: "pw") })
        let account = try await login.confirm(code: try await phone.nextCode(of: secret))
        #expect(restarted.sojourn.state == .signedIn(account, .current))
        #expect(phone.record?.session?.sessionID == id)
    }

    @Test("a change of the account asks for both factors, and a proof of presence has both")
    func presence() async throws {
        let (phone, secret, _) = try await phone()
        _ = try await ask(phone).confirm(code: try await phone.nextCode(of: secret))
        #expect(try await phone.sojourn.makeRecoveryCodes().count == 8)
        try await phone.server.letPass(.seconds(301))
        let error = await failure { try await phone.sojourn.makeRecoveryCodes() }
        #expect(error == .presenceRequired(PresenceRequirement(ways: ["mfa"], maxAge: 300)))
        let wrong = await failure { try await phone.sojourn.showPresence(password: "guess", code: "000000") }
        #expect(word(of: wrong) == "invalid_credentials")
        try await phone.sojourn.showPresence(password: "pw", code: try await phone.nextCode(of: secret))
        #expect(try await phone.sojourn.makeRecoveryCodes().count == 8)
    }

    @Test("a login adds an authenticator where the client demands a second factor")
    func enrolmentAtLogin() async throws {
        let phone = try await Phone.mailed()
        try await phone.server.change(ClientSettings(secondFactorPolicy: .requiredAtLogin))
        let login = try await ask(phone)
        #expect(login.methods.isEmpty && phone.record?.session == nil)
        let added = try await login.addAuthenticator(name: "Phone")
        #expect(word(of: await failure { try await added.confirm(code: "000000") }) == "wrong_second_factor")
        let codes = try await added.confirm(code: phone.server.code(ofAuthenticator: added.secret))
        #expect(codes.count == 8 && phone.record?.session != nil)
        await phone.sojourn.signOut()
        #expect(try await ask(phone).methods == [.totp, .recoveryCode])
    }

    @Test("a session without a second factor waits for one where it is demanded, and goes on with it")
    func demandedAtRenewal() async throws {
        let (phone, secret, _) = try await phone()
        try await phone.server.change(ClientSettings(secondFactorPolicy: .off))
        try await phone.sojourn.signIn(username: "anna", password: "pw")
        let id = phone.record?.session?.sessionID
        try await phone.server.change(ClientSettings(secondFactorPolicy: .required))
        try await phone.server.letPass(.seconds(3601))
        let asked = PresenceRequirement(ways: ["mfa"], maxAge: 300)
        #expect(await failure { try await phone.sojourn.accessToken(.fresh) } == .presenceRequired(asked))
        let login = try second(of: await failure { try await phone.sojourn.unlock(password: "pw") })
        let account = try await login.confirm(code: try await phone.nextCode(of: secret))
        #expect(phone.sojourn.state == .signedIn(account, .current) && phone.record?.session?.sessionID == id)
        _ = try await phone.sojourn.accessToken(.renewed(after: try await phone.sojourn.accessToken()))
    }

    @Test("a login by an ID token or by a mailed code repeats its first proof beside the code")
    func repeatedProof() async throws {
        let (phone, secret, _) = try await phone()
        let byToken = try second(
            of: await failure { try await phone.sojourn.signIn(idToken: "anna", provider: "acme") })
        #expect(try await byToken.confirm(code: try await phone.nextCode(of: secret)).username == "anna")
        await phone.sojourn.signOut()
        try await phone.server.setLoginMethods(["password", "email"])
        _ = try await phone.sojourn.signIn(emailCodeFor: "anna@example.org")
        let mailed = try phone.code(to: "anna@example.org")
        let byMail = try second(of: await failure { try await phone.sojourn.signIn(code: mailed) })
        #expect(word(of: await failure { try await byMail.confirm(code: "000000") }) == "wrong_second_factor")
        #expect(try await byMail.confirm(code: try await phone.nextCode(of: secret)).username == "anna")
    }

    @Test("a login that waits prints its methods, and no secret")
    func printed() async throws {
        let (phone, _, _) = try await phone()
        let login = try await ask(phone)
        let error = SojournError.secondFactorRequired(login)
        for text in ["\(error)", String(reflecting: error), "\(login)"] {
            #expect(text.contains("totp") && !text.contains("sjl_"))
        }
    }
}
