import Cryptography
import Testing

@testable import Sessions

/// What the authentication methods of a session say of second factors.
struct SessionMarkTests {
    private func session(_ methods: [String], identityAt: Instant? = nil) -> Session {
        var session = Sample.session()
        session.authenticationMethods = methods
        session.presence.identityAt = identityAt
        return session
    }

    @Test("The time of two factors is stored, and not shown")
    func time() {
        var session = session(["pwd"])
        session.note(.multiFactor, at: Sample.start + .seconds(5))

        #expect(session.authenticationMethods == ["pwd", "mfa@1800000005"])
        #expect(session.multiFactorAt == Sample.start + .seconds(5))
        #expect(session.shownMethods == ["pwd", "mfa"])
        #expect(session.meetsSecondFactorPolicy)
    }

    @Test("Recovery code and exemption meet the policy, and are no two factors")
    func otherMarks() {
        for mark in [SecondFactorMark.recoveryCode, .exempt] {
            var session = session(["pwd"])
            session.note(mark, at: Sample.start)

            #expect(session.meetsSecondFactorPolicy)
            #expect(session.multiFactorAt == nil)
            #expect(session.shownMethods == ["pwd"])
            #expect(session.isByRecoveryCode == (mark == .recoveryCode))
        }
    }

    @Test("A login by passkey is two factors, the same words of a provider are none")
    func passkey() {
        #expect(session(["hwk", "user"]).multiFactorAt == Sample.start)
        #expect(session(["hwk", "user"], identityAt: Sample.start).multiFactorAt == nil)
        #expect(session(["hwk", "mfa"], identityAt: Sample.start).meetsSecondFactorPolicy == false)
    }

    @Test("Password and presence key renew two factors, and begin none")
    func presenceKey() {
        let now = Sample.start + .seconds(60)
        for (methods, renews) in [(["pwd"], false), (["pwd", "mfa@1799990000"], true)] {
            var session = session(methods)
            session.presence.key = "key"
            session.note(.key, at: now)

            #expect(session.multiFactorAt == (renews ? now : nil))
        }
        var late = session(["pwd", "mfa@1799990000"])
        late.note(.key, at: Sample.start + .seconds(300))
        #expect(late.multiFactorAt == Instant(secondsSinceEpoch: 1_799_990_000))
    }

    @Test("A provider's words that only this server writes are left out")
    func providers() throws {
        var identity = ExternalIdentity(
            try #require(Identity.Key(provider: "google", subject: "1")),
            authenticationMethods: ["pwd", "hwk", "swk", "mfa", "mfa@1", "exempt"],
            tokenID: "", goodUntil: Sample.start, clientID: "")
        #expect(identity.sessionMethods(at: Sample.start) == ["pwd"])

        identity.isMultiFactor = true
        #expect(identity.sessionMethods(at: Sample.start) == ["pwd", "hwk", "swk", "mfa@1800000000"])
    }

    @Test("A code by mail renews no two factors")
    func mail() {
        var session = session(["pwd", "mfa@1799990000"])
        session.noteAuthentication(by: ["email"], .key, at: Sample.start + .seconds(60))

        #expect(session.multiFactorAt == Instant(secondsSinceEpoch: 1_799_990_000))
        #expect(session.presence.provenAt == Sample.start + .seconds(60))
    }

    @Test("A login that was admitted on the page is not asked again, and is refused where its way is none")
    func admitted() {
        let user = Sample.user()
        let factor = TOTPFactor(
            id: Identifier(random: .system), userID: user.id, name: "", sealedSeed: [], createdAt: Sample.start,
            confirmedAt: Sample.start)
        var factors = EnrolledFactors(details: UserDetails(userID: user.id), factors: [factor])
        func admit(_ policy: SecondFactorPolicy, isAdmitted: Bool) -> Result<[String], ServiceError> {
            let asked = EnrolledFactors.Admission(method: .email, policy: policy, isAdmitted: isAdmitted)
            return factors.admit(["email", "otp"], asked, from: .system, at: Sample.start)
        }

        #expect(admit(.ifEnrolled, isAdmitted: true) == .success(["email", "otp"]))
        #expect(
            admit(.ifEnrolled, isAdmitted: false)
                == .failure(.secondFactor(.required(SecondFactorDemand(ways: [.totp])))))
        #expect(admit(.required, isAdmitted: true) == .failure(.secondFactor(.noWay)))
    }

    @Test("The policy asks a refresh of sessions without a second factor alone")
    func refresh() {
        for policy in SecondFactorPolicy.allCases {
            for methods in [["pwd"], ["pwd", "mfa@1"], ["pwd", "recovery_code"], ["exempt"], ["hwk"], []] {
                var (session, settings) = (session(methods), Settings())
                settings.secondFactorPolicy = policy
                let decision = Sample.decide(&session, serial: 1, at: Sample.start, settings: settings)
                let lacks = policy == .required && (methods == ["pwd"] || methods.isEmpty)

                #expect(decision == (lacks ? .refused(.insufficientUserAuthentication) : .repeated))
                #expect(session.ending == nil)
            }
        }
    }
}
