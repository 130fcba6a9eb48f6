import Cryptography
import Sessions
import SojournClient

/// A small world in which the SDK's own `LoginSessionMachine` meets the server's own `PhoneLoginPolicy`: a phone and its user, a
/// second phone that has the same picture, a device that waits, and a network that loses, delays and duplicates. Every value is
/// small, so that all histories can be walked.
struct LoginSessionWorld: Hashable {
    typealias Machine = LoginSessionMachine
    typealias Act = LoginSessionMachine.Act

    /// What may happen in this world, and how often.
    struct Rules: Hashable {
        var secondFactor: PhoneLogin.FactorRule?
        var bond = PhoneLogin.Bond.session
        var startsByHand = false
        var skipsConfirmation = false
        /// The login opens the backend of the app itself.
        var isAppLogin = false
        /// Requests of acts in all.
        var requests = 4
        /// Looks at the server in all.
        var looks = 1
        var duplicates = 0
        var minutes = 0
        /// Scans by the second phone.
        var rivals = 0
        /// What the user does beside starting, confirming and giving the right factor; `cancels`: the device gives up.
        var wrongFactors = 0, wrongNumbers = 0, stops = 0, cancels = 0
        /// The app ends, and goes on with the session.
        var restarts = 0
        /// The device's own limit for the input is over.
        var expiries = 0
    }

    /// How far an act has come in the driver.
    enum Progress: Hashable {
        case toSend
        case awaited(Int)
        case toLook(refusedAs: String)
        case lookAwaited(Int, refusedAs: String)
    }

    struct Request: Hashable {
        var id: Int
        /// Nil: a look.
        var act: Act?
        var key: UInt64
        var number: Int?
        var isRight = true
        /// The proof of an AppLogin is sent again after its call has ended.
        var isAgain = false
    }

    struct Answer: Hashable {
        var request: Request
        var answer: Machine.Answer
    }

    // The server's half.
    var login: PhoneLogin
    var minute: Int64 = 0
    /// Every status that the login has had.
    var passed: Set<LoginStatus> = [LoginStatus(.starting)]
    // The phone's half.
    var machine: Machine
    var running: [Act: Progress] = [:]
    var typed: Int?
    /// Whether the factor of each attempt is right.
    var factors: [Bool] = []
    /// The results of the attempts that the app was told, in order, and how their calls have ended; nil: not yet.
    var results: [Bool] = []
    var calls: [Bool?] = []
    /// The attempts that were sent, and whether the answer to one has brought what opens the backend.
    var sent: Set<Int> = []
    var hasAccess = false
    var shown = LoginStatus(.starting)
    /// Whether the user has agreed by any act.
    var hasAgreed = false
    // What is under way.
    var requests: Set<Request> = []
    var answers: Set<Answer> = []
    var lastID = 0
    var rules: Rules
    var violation: String?

    private static let decision: PhoneLoginPolicy = {
        var rules = PhoneLoginRules()
        (rules.inputLifetime, rules.collectLifetime) = (.seconds(120), .seconds(60))
        return PhoneLoginPolicy(rules)
    }()
    private static let users = (0..<2).map { _ in Identifier<Sessions.User>(random: RandomSource.system) }
    private static let start = Instant(secondsSinceEpoch: 1_800_000_000)
    static let phones = (0..<2).map { number in
        Sessions.Phone(
            Sessions.Session(
                id: Identifier(random: .system), userID: users[number], clientID: Client.mobileID,
                device: Sessions.Device(id: "phone-\(number)"), startedAt: start, epoch: 1))
    }
    private static let loginID = Identifier<Sessions.Session>(random: .system)
    private static let number = 42

    private var now: Instant { Self.start + .seconds(60 * minute) }

    init(_ rules: Rules, _ mutation: LoginSessionMutation? = nil) {
        self.rules = rules
        var request = Sessions.PhoneLogin.Request()
        (request.factorRule, request.knownUsers) = (rules.secondFactor, Self.users)
        login = PhoneLogin(
            id: Self.loginID, kind: .device, clientID: "tv", bond: rules.bond, request: request, startedAt: Self.start,
            inputUntil: Self.start + Self.decision.rules.inputLifetime)
        machine = Machine(isAppLogin: rules.isAppLogin && mutation != .tellsAppLoginByLooks, retriesMax: 1)
        _ = machine.takeEvents()
        _ = machine.begin(.claim)
        running[.claim] = .toSend
    }

    // MARK: Steps

    /// Every world that can come next.
    func successors(_ mutation: LoginSessionMutation?) -> [LoginSessionWorld] {
        var next: [LoginSessionWorld] = []
        func add(_ change: (inout LoginSessionWorld) -> Void) {
            var world = self
            change(&world)
            world.check(mutation)
            next.append(world)
        }
        for (act, progress) in running {
            switch progress {
            case .toSend: if rules.requests > 0 || act == .stop { add { $0.send(act, mutation) } }
            case .awaited: add { $0.take(.none, to: act, mutation) }
            case .toLook(let word):
                if rules.looks > 0 { add { $0.look(for: act, word) } }
                add { $0.found(nil, for: act, word) }
            case .lookAwaited(_, let word): add { $0.found(nil, for: act, word) }
            }
        }
        for request in requests {
            add { $0.deliver(request, isKept: false) }
            if rules.duplicates > 0 { add { $0.deliver(request, isKept: true) } }
            add { $0.requests.remove(request) }
        }
        for answer in answers { add { $0.receive(answer, mutation) } }
        if rules.looks > 0, !machine.status.isFinal, machine.status.state != .starting { add { $0.look(for: nil, "") } }
        addUser(add, mutation)
        if rules.minutes > 0 {
            add {
                $0.minute += 1; $0.rules.minutes -= 1
            }
        }
        if rules.rivals > 0 {
            add {
                $0.rules.rivals -= 1; $0.decide(.claim(.scanned, .init()), 1, key: nil)
            }
        }
        if rules.cancels > 0 {
            add {
                $0.rules.cancels -= 1; $0.decide(.cancel, nil, key: nil)
            }
        }
        if login.state == .approved { add { $0.decide(.collect(browser: nil), nil, key: nil) } }
        if rules.restarts > 0, machine.status.state != .starting, !machine.status.isFinal { add { $0.restart() } }
        if rules.expiries > 0, !machine.status.isFinal { add { $0.expire() } }
        return next
    }

    private func addUser(_ add: ((inout LoginSessionWorld) -> Void) -> Void, _ mutation: LoginSessionMutation?) {
        func can(_ act: Act) -> Bool {
            var copy = machine
            return copy.begin(act) == nil
        }
        let prove = Act.prove(attempt: machine.attempts + 1)
        if machine.status.state == .readyForUserInteraction, can(.start) { add { $0.begin(.start, mutation) } }
        if can(.confirm) {
            add {
                $0.typed = Self.number; $0.begin(.confirm, mutation)
            }
            if rules.wrongNumbers > 0 {
                add {
                    $0.rules.wrongNumbers -= 1; $0.typed = Self.number + 1; $0.begin(.confirm, mutation)
                }
            }
        }
        if can(prove), factors.count < 3 {
            add {
                $0.factors.append(true); $0.begin(prove, mutation)
            }
            if rules.wrongNumbers > 0, rules.skipsConfirmation {
                add {
                    $0.rules.wrongNumbers -= 1; $0.typed = Self.number + 1; $0.factors.append(true)
                    $0.begin(prove, mutation)
                }
            }
            if rules.wrongFactors > 0 {
                add {
                    $0.rules.wrongFactors -= 1; $0.factors.append(false); $0.begin(prove, mutation)
                }
            }
        }
        if rules.stops > 0, can(.stop) {
            add {
                $0.rules.stops -= 1; $0.begin(.stop, mutation)
            }
        }
    }

    // MARK: The driver

    private mutating func begin(_ act: Act, _ mutation: LoginSessionMutation?) {
        guard machine.begin(act) == nil else { return }
        if act.letsSomethingIn { hasAgreed = true }
        running[act] = .toSend
        if case .prove = act { calls.append(nil) }
        if mutation == .countsUnsent { _ = machine.send(act) }
        if act == .stop, mutation == .endsBlindly {
            machine.observe(LoginStatus(.done, history: .aborted, cause: "denied"))
        }
    }

    private mutating func expire() {
        rules.expiries -= 1
        machine.expire()
        if machine.status.isFinal { running[.stop] = .toSend }
    }

    /// The app ends, and its next start goes on with the session as the server has it.
    private mutating func restart() {
        rules.restarts -= 1
        results += running.keys.filter { if case .prove = $0 { true } else { false } }.map { _ in false }
        running = [:]
        answers = []
        machine = Machine(isResumed: true, retriesMax: 1)
        _ = machine.takeEvents()
        shown = LoginStatus(.starting)
        decide(.tick, nil, key: nil)
        machine.observe(LoginStatus(of: login))
    }

    private mutating func send(_ act: Act, _ mutation: LoginSessionMutation?) {
        guard machine.send(act) || mutation == .sendsAfterStop else { return take(.unsent, to: act, mutation) }
        rules.requests -= 1
        lastID += 1
        var request = Request(id: lastID, act: act, key: Self.key(act, typed), number: typed)
        if mutation == .hasNewKeys { request.key = UInt64(1000 + lastID) }
        if case .prove(let attempt) = act {
            request.isRight = factors[attempt - 1]
            sent.insert(attempt)
        }
        requests.insert(request)
        running[act] = .awaited(lastID)
    }

    private static func key(_ act: Act, _ number: Int?) -> UInt64 {
        switch act {
        case .claim: 1
        case .start: 2
        case .confirm: number == Self.number ? 3 : 4
        case .stop: 5
        case .prove(let attempt): 10 + UInt64(attempt)
        }
    }

    private mutating func take(_ answer: Machine.Answer, to act: Act, _ mutation: LoginSessionMutation?) {
        var answer = answer
        if answer == .none, mutation == .silenceIsRefusal { answer = .refused("wrong_number") }
        if case .prove = act, case .accepted = answer { hasAccess = true }
        var step = machine.take(answer, to: act)
        if mutation == .callEndsAlone, case .finish = step, case .refused(let word, _) = answer {
            step = .finish(.refused(word))
        }
        proceed(step, act)
    }

    private mutating func proceed(_ step: Machine.Step, _ act: Act) {
        switch step {
        case .retry: running[act] = .toSend
        case .look(let word): running[act] = .toLook(refusedAs: word)
        case .finish(let outcome):
            running[act] = nil
            if case .prove(let attempt) = act { calls[attempt - 1] = outcome == .accepted }
        }
    }

    private mutating func look(for act: Act?, _ word: String) {
        rules.looks -= 1
        lastID += 1
        requests.insert(Request(id: lastID, act: nil, key: 0))
        if let act { running[act] = .lookAwaited(lastID, refusedAs: word) }
    }

    private mutating func found(_ status: LoginStatus?, for act: Act, _ word: String) {
        proceed(machine.look(status.flatMap { isTellable($0) ? $0 : nil }, for: act, refusedAs: word), act)
    }

    /// As the driver does it: the answer to a proof has what opens the backend.
    private func isTellable(_ status: LoginStatus) -> Bool {
        !rules.isAppLogin || hasAccess || !sent.contains { Machine.isReached(.prove(attempt: $0), status) }
    }

    private mutating func proveAgain() {
        for attempt in sent where rules.requests > 0 {
            rules.requests -= 1
            lastID += 1
            let act = Act.prove(attempt: attempt)
            requests.insert(
                Request(
                    id: lastID, act: act, key: Self.key(act, typed), number: typed, isRight: factors[attempt - 1],
                    isAgain: true))
        }
    }

    private mutating func receive(_ answer: Answer, _ mutation: LoginSessionMutation?) {
        answers.remove(answer)
        for (act, progress) in running {
            if progress == .awaited(answer.request.id) { return take(answer.answer, to: act, mutation) }
            if case .lookAwaited(answer.request.id, let word) = progress, case .accepted(let status) = answer.answer {
                return found(status, for: act, word)
            }
        }
        guard case .accepted(var status) = answer.answer else { return }
        if answer.request.isAgain {
            hasAccess = true
            return machine.observe(status)
        }
        guard answer.request.act == nil else { return }
        if !machine.isProofSent, mutation != .tellsAppLoginByLooks, !isTellable(status) { return proveAgain() }
        if mutation == .losesCauses { status.cause = nil }
        if mutation == .takesOlderAnswers {
            machine = Machine(isResumed: true, retriesMax: 1)
            _ = machine.takeEvents()
        }
        machine.observe(status)
    }

    // MARK: The server

    private mutating func deliver(_ request: Request, isKept: Bool) {
        if isKept { rules.duplicates -= 1 } else { requests.remove(request) }
        guard let act = request.act else {
            decide(.tick, nil, key: nil)
            answers.insert(Answer(request: request, answer: .accepted(LoginStatus(of: login))))
            return
        }
        var options = PhoneLogin.Wishes()
        (options.startsByHand, options.skipsConfirmation) = (rules.startsByHand, rules.skipsConfirmation)
        let outcome: PhoneLogin.Reply =
            switch act {
            case .claim: decide(.claim(.scanned, options), 0, key: request.key)
            case .start: decide(.start, 0, key: request.key)
            case .confirm: decide(.confirm(number: request.number), 0, key: request.key)
            case .prove:
                decide(
                    .proveFactor(PhoneFactor(isValid: request.isRight, number: request.number ?? Self.number)), 0,
                    key: request.key)
            case .stop: decide(.stop(isReport: false), 0, key: request.key)
            }
        let answer: Machine.Answer =
            switch outcome {
            case .accepted, .collected: .accepted(LoginStatus(of: login))
            case .refused(.wrongFactor(let left)): .refused("wrong_second_factor", attemptsLeft: left)
            case .refused(let refusal): .refused(refusal.word)
            }
        answers.insert(Answer(request: request, answer: answer))
    }

    @discardableResult
    private mutating func decide(_ act: PhoneLogin.Act, _ phone: Int?, key: UInt64?) -> PhoneLogin.Reply {
        let claimant = Self.phones.first { $0.sessionID == login.claim?.sessionID }
        let call = PhoneLoginAttempt(
            act, key: key, phone: phone.map { Self.phones[$0] }, claimant: claimant, drawnNumber: Self.number)
        let outcome = Self.decision.decide(call, on: login, at: now)
        login = outcome.login
        passed.insert(LoginStatus(of: login))
        return outcome.reply
    }
}

extension LoginSessionMachine.Act {
    /// Whether the user agrees by it.
    fileprivate var letsSomethingIn: Bool {
        switch self {
        case .confirm, .prove: true
        case .claim, .start, .stop: false
        }
    }
}
