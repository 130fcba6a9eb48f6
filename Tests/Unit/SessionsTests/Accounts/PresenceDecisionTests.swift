import Testing

@testable import Sessions

/// The decision, for sessions that ask for their user: what is asked for, and that nothing is lost by being asked.
@Suite struct PresenceDecisionTests {
    private static let modes = AuthenticationMode.allCases
    private static let password = PresenceProof.password(hash: "the user's")

    /// Every state that a session can be in, and every way to come: the rule by itself, apart from the code that it tells of.
    @Test(arguments: modes)
    func everyStateIsAnsweredByTheRule(_ mode: AuthenticationMode) {
        let ages: [Int64] = [0, 599, 600, 3599, 3600, 49_999, 100_000]
        let proofs: [PresenceProof?] = [nil, .key, Self.password]
        for client in [nil, 0, 600, 50_000] as [Int64?] {
            for time in ages {
                for key in ages {
                    for password in ages {
                        for proof in proofs {
                            for isOfDeviceKey in [false, true] {
                                check(
                                    mode, client, now: time, key: time - key, password: time - password, proof,
                                    isOfDeviceKey)
                            }
                        }
                    }
                }
            }
        }
    }

    private func check(
        _ mode: AuthenticationMode, _ ageMax: Int64?, now: Int64, key: Int64, password: Int64, _ proof: PresenceProof?,
        _ isOfDeviceKey: Bool
    ) {
        let user = Sample.user()
        var session = Sample.session(of: user)
        session.authenticationMode = mode
        // What lies before the login never was.
        if key > 0 { session.presence.provenAt = Sample.start + .seconds(key) }
        if password > 0 { session.presence.passwordAt = Sample.start + .seconds(password) }
        let before = session
        let attempt = RefreshAttempt(
            serial: 1, clientID: Client.mobileID, presence: proof, isOfDeviceKey: isOfDeviceKey)
        let decision = Sample.policy.renew(
            attempt, &session, user: user,
            client: Sample.client { $0.userPresenceMaxAge = ageMax.map { .seconds($0) } }, settings: Sample.settings,
            now: Sample.start + .seconds(now))
        let window = ageMax ?? 0
        let lastPassword = proof == Self.password ? now : max(0, password)
        let lastKey = proof == .key ? now : max(0, key)
        let isSilent =
            switch mode {
            case .no: true
            case .biometric: window == 0 || now - max(lastPassword, lastKey) < window
            case .password:
                isOfDeviceKey ? proof == Self.password : now - lastPassword < (window > 0 ? min(window, 3600) : 3600)
            }
        #expect(
            (decision == .refused(.insufficientUserAuthentication)) == !isSilent,
            "\(mode) \(now) \(key) \(password) \(String(describing: proof))")
        #expect(session.ending == nil)
        if !isSilent {
            #expect((session.parent, session.child) == (before.parent, before.child))
            #expect(session.childAnsweredAt == before.childAnsweredAt)
            #expect(session.renewedAt == before.renewedAt)
        }
    }

    @Test func aQuestionKeepsTheTokens() {
        let user = Sample.user()
        var session = Sample.session(of: user)
        session.authenticationMode = .password
        for seconds in [4000, 5000, 90_000] as [Int64] {
            #expect(
                Sample.decide(&session, serial: 1, at: Sample.start + .seconds(seconds), user: user)
                    == .refused(.insufficientUserAuthentication))
        }
        session.presence.passwordAt = Sample.start + .seconds(90_001)
        #expect(Sample.decide(&session, serial: 1, at: Sample.start + .seconds(90_002), user: user) == .rotated)
    }

    /// Where every access token is due for renewal at once, the password in the request is still enough.
    @Test func thePasswordIsEnoughHoweverOftenItIsAskedFor() {
        let user = Sample.user()
        var session = Sample.session(of: user)
        session.authenticationMode = .password
        var settings = Sample.settings
        settings.sessions.refreshAfter = .zero
        for (presence, decision) in [(nil, .refused(.insufficientUserAuthentication)), (Self.password, .rotated)]
            as [(PresenceProof?, RefreshDecision)]
        {
            let attempt = RefreshAttempt(serial: 1, clientID: Client.mobileID, presence: presence)
            let answer = Sample.policy.renew(
                attempt, &session, user: user, client: Sample.client(), settings: settings,
                now: Sample.start + .seconds(9000))
            #expect(answer == decision)
        }
    }

    @Test func reuseIsFoundOutBeforeTheUserIsAskedFor() {
        let user = Sample.user()
        var session = Sample.session(of: user)
        (session.authenticationMode, session.parent, session.child) = (.password, 4, 5)
        let decision = Sample.decide(&session, serial: 2, at: Sample.start + .seconds(9000), user: user)
        #expect(decision == .refused(.ended(.refreshTokenReused)))
        #expect(session.ending?.reason == .refreshTokenReused)
    }
}
