import Repository
import Sessions
import Testing

/// The lifecycle of the mobile SDK's sessions, sentence by sentence.
struct PhoneLoginPolicyTests {
    private let decision = PhoneLoginPolicy()
    private let start = Sample.start
    private let phone = Phone(Sample.session())

    private func login(
        _ bond: PhoneLogin.Bond = .session, _ rule: PhoneLogin.FactorRule? = nil
    ) -> PhoneLogin {
        var request = PhoneLogin.Request()
        (request.factorRule, request.knownUsers) = (rule, [phone.userID])
        return PhoneLogin(
            id: Sample.session().id, kind: .device, clientID: "web", bond: bond, request: request, startedAt: start,
            inputUntil: start + .seconds(180))
    }

    /// Lets the phone, or the device, act some seconds after the start.
    @discardableResult private func act(
        _ act: PhoneLogin.Act, _ login: inout PhoneLogin, after seconds: Int64 = 0,
        _ edit: (inout Phone) -> Void = { _ in }
    ) -> PhoneLoginOutcome {
        var asking = phone
        edit(&asking)
        let outcome = decision.decide(
            PhoneLoginAttempt(act, phone: asking, claimant: asking, drawnNumber: 42), on: login,
            at: start + .seconds(seconds))
        login = outcome.login
        return outcome
    }

    private func options(_ edit: (inout PhoneLogin.Wishes) -> Void) -> PhoneLogin.Wishes {
        var options = PhoneLogin.Wishes()
        edit(&options)
        return options
    }

    private var scan: PhoneLogin.Act { .claim(.scanned, PhoneLogin.Wishes()) }

    @Test func continuousLogin_goesThroughItsStates_andIsLoggedOut() {
        var login = login()
        #expect(login.state == .requested)
        act(.claim(.scanned, options { $0.startsByHand = true }), &login)
        #expect(login.state == .claimed && login.number == nil)
        act(.start, &login)
        #expect(login.state == .confirming && login.number == 42)
        act(.confirm(number: 42), &login)
        #expect(login.state == .approved && login.userID == phone.userID)
        #expect(act(.collect(browser: nil), &login).reply == .collected)
        #expect(login.state == .signedIn)
        act(.sessionEnded(.loggedOut), &login)
        #expect(login.state == .ended(.init(.signedOut, .ended(.loggedOut), at: start)))
    }

    @Test func oneShotLogin_isDone_andStaysLoggedInOneShot() {
        var login = login(.none)
        for step in [scan, .confirm(number: 42), .collect(browser: nil)] { act(step, &login) }
        #expect(login.state == .ended(.init(.completed, nil, at: start)))
        act(.sessionEnded(.loggedOut), &login)
        act(.phoneEnded, &login)
        #expect(login.state == .ended(.init(.completed, nil, at: start)))
    }

    @Test func inputHasATimeOut_andActiveHasNone() {
        var (waiting, active) = (login(), login())
        act(scan, &waiting)
        act(.tick, &waiting, after: 179)
        #expect(waiting.state == .confirming)
        act(.tick, &waiting, after: 180)
        #expect(waiting.state == .ended(.init(.aborted, .timedOut, at: start + .seconds(180))))
        act(scan, &active)
        act(.confirm(number: 42), &active, after: 170)
        act(.tick, &active, after: 200)
        #expect(active.state == .approved)
        act(.tick, &active, after: 230)
        #expect(active.cause == .notCollected)
    }

    @Test func secondFactor_isAskedByServerClientAppAndTime() {
        let strict = options { $0.demandsSecondFactor = true }
        let cases: [(PhoneLogin.FactorRule?, PhoneLogin.Wishes, isDue: Bool, isAsked: Bool)] = [
            (nil, .init(), false, false), (nil, .init(), true, true), (.required, .init(), false, true),
            (.notRequired, .init(), true, false), (.notRequired, strict, false, true), (nil, strict, false, true),
        ]
        for (rule, options, isDue, isAsked) in cases {
            var login = login(.session, rule)
            act(.claim(.scanned, options), &login)
            act(.confirm(number: 42), &login) { $0.isPresenceDue = isDue }
            #expect((login.state == .proving) == isAsked, "\(String(describing: rule)) \(options) \(isDue)")
        }
    }

    @Test("the second factor is asked for as the manual's table says, row by row")
    func secondFactor_followsTheTable() throws {
        let table = try SecondFactorTable()
        for row in SecondFactorTable.Case.all {
            var options = PhoneLogin.Wishes()
            options.demandsSecondFactor = row.appDemands
            var request = PhoneLogin.Request()
            request.returnURI = "app:/back"
            request.factorRule = row.request.flatMap { PhoneLogin.FactorRule(rawValue: $0) }
            request.knownUsers = row.isKnown ? [phone.userID] : [Sample.user().id]
            var login = PhoneLogin(
                id: Sample.session().id, kind: .device, clientID: "web", request: request, startedAt: start,
                inputUntil: start + .seconds(180))
            act(.claim(row.isLink ? .linked : .scanned, options), &login) { $0.isPresenceDue = row.isDue }
            act(.confirm(number: row.isLink ? nil : 42), &login) { $0.isPresenceDue = row.isDue }
            let isAsked = login.state == .proving
            #expect(try isAsked == table.asks(row), "\(row)")
        }
    }

    @Test("a right second factor is recorded in the phone's session, and a wrong one is not")
    func secondFactor_isRecorded() {
        for isValid in [true, false] {
            var login = login(.session, .required)
            for step in [scan, .confirm(number: 42)] { act(step, &login) }
            let outcome = act(.proveFactor(PhoneFactor(isValid: isValid, proof: .key)), &login)
            #expect(outcome.effects.contains(.notePresence(.key)) == isValid)
        }
    }

    @Test func confirmation_isSkippedOnlyBeforeASecondFactor() {
        let skipping = options { $0.skipsConfirmation = true }
        var (free, guarded) = (login(), login(.session, .required))
        act(.claim(.scanned, skipping), &free)
        act(.claim(.scanned, skipping), &guarded)
        #expect(free.state == .confirming && guarded.state == .proving)
        #expect(act(.proveFactor(PhoneFactor(isValid: true)), &guarded).reply == .refused(.numberRequired))
        act(.proveFactor(PhoneFactor(isValid: true, number: 42)), &guarded)
        #expect(guarded.state == .approved)
    }

    @Test func secondFactor_canBeTriedAgain_andNotForEver() {
        var login = login(.session, .required)
        for step in [scan, .confirm(number: 42)] { act(step, &login) }
        let wrong = PhoneLogin.Act.proveFactor(PhoneFactor(isValid: false))
        #expect(act(wrong, &login).reply == .refused(.wrongFactor(attemptsLeft: 2)))
        #expect(act(wrong, &login).reply == .refused(.wrongFactor(attemptsLeft: 1)))
        var other = login
        act(.proveFactor(PhoneFactor(isValid: true)), &other)
        #expect(other.state == .approved)
        #expect(act(wrong, &login).reply == .refused(.wrongFactor(attemptsLeft: 0)))
        #expect(login.state == .ended(.init(.failed, .secondFactorFailed, at: start)))
    }

    @Test func appLogin_isNeverHeldNorConfirmed_andAlwaysTakesASecondFactor() {
        var login = PhoneLogin.inApp(
            id: Sample.session().id, clientID: "web", phone: phone, rules: decision.rules, at: start)
        #expect(login.state == .requested)
        act(.start, &login)
        #expect(login.state == .proving)
        #expect(act(.confirm(number: nil), &login).reply == .refused(.notAwaited))
        act(.proveFactor(PhoneFactor(isValid: true)), &login)
        #expect(login.state == .approved)
    }

    @Test func phoneStops_inEveryState() {
        let paths: [[PhoneLogin.Act]] = [
            [scan], [.claim(.scanned, options { $0.startsByHand = true })], [scan, .confirm(number: 42)],
            [scan, .confirm(number: 42), .collect(browser: nil)],
        ]
        for path in paths {
            var login = login()
            for step in path { act(step, &login) }
            let outcome = act(.stop(isReport: true), &login)
            #expect(login.state.outcome == (path.count == 3 ? .signedOut : .aborted))
            #expect(outcome.effects.contains(.record(.reported)))
            #expect(act(.stop(isReport: false), &login).reply == .refused(.terminated))
        }
    }

    @Test func barredPhone_letsNothingIn_andMayStop() {
        var login = login()
        #expect(act(scan, &login) { $0.isBarred = true }.reply == .refused(.barred))
        act(scan, &login)
        #expect(act(.confirm(number: 42), &login) { $0.isBarred = true }.reply == .refused(.barred))
        #expect(act(.stop(isReport: false), &login) { $0.isBarred = true }.reply == .accepted)
    }

    @Test func collection_isRepeatedForAShortTimeOnly() {
        var login = login()
        for step in [scan, .confirm(number: 42)] { act(step, &login) }
        func collect(after seconds: Int64, key: UInt64) -> PhoneLogin.Reply {
            let attempt = PhoneLoginAttempt(.collect(browser: nil), key: key, claimant: phone)
            let outcome = decision.decide(attempt, on: login, at: start + .seconds(seconds))
            login = outcome.login
            return outcome.reply
        }
        #expect(collect(after: 50, key: 1) == .collected)
        #expect(collect(after: 89, key: 1) == .collected)
        #expect(collect(after: 89, key: 2) == .refused(.spent))
        #expect(collect(after: 90, key: 1) == .refused(.spent))
    }

    @Test func words_areReadBack() {
        for phase in PhoneLogin.Phase.allCases {
            let (living, ended) = (
                PhoneLogin.State(phase, cause: nil, endedAt: nil),
                PhoneLogin.State(phase, cause: .denied, endedAt: start)
            )
            #expect((living ?? ended)?.phase == phase && (living == nil) != (ended == nil), "\(phase)")
            #expect(PhoneLogin.State(phase, cause: .denied, endedAt: nil) == nil, "\(phase)")
        }
        let causes: [PhoneLogin.Cause] = [
            .denied, .canceled, .timedOut, .notCollected, .wrongNumber, .contested, .secondFactorFailed, .fault,
            .parentEnded, .presenceLost, .ended(.loggedOut),
        ]
        for cause in causes { #expect(PhoneLogin.Cause(rawValue: cause.rawValue) == cause) }
        let answers: [PhoneLogin.Reply] = [
            .accepted, .collected, .refused(.wrongFactor(attemptsLeft: 2)), .refused(.contested),
            .refused(.phone(.loginDisabledByUser)), .refused(.phone(.ended(.idleExpired))), .refused(.barred),
        ]
        for answer in answers { #expect(PhoneLogin.Reply(rawValue: answer.rawValue) == answer) }
        #expect(PhoneLogin.Reply(rawValue: "nonsense") == nil)
    }
}
