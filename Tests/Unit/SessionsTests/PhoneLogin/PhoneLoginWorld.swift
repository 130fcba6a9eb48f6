import Cryptography
import Dispatch
import Sessions
import Testing

/// A small world: one login, two phones of which one has two accounts, and the device that wants to be logged in. Each may do
/// anything at any time, repeat what it did, and time passes. Lost and late calls need no step of their own: a call that is
/// delivered later, or never, is another history.
struct PhoneLoginWorld: Hashable {
    /// What the login and its apps are like, and how much may happen.
    struct Rules: Hashable, CustomTestStringConvertible {
        var kind = PhoneLogin.Kind.authorize
        var arrival = PhoneLogin.Arrival.scanned
        var bond = PhoneLogin.Bond.session
        var secondFactor: PhoneLogin.FactorRule?
        /// The users that know the device.
        var knownTo = [0, 1]
        var isPresenceDue = false
        /// Whether a device has a place to which the phone leads back.
        var leadsBack = true
        var startsByHand = false
        var skipsConfirmation = false
        /// Changes of the row by acts.
        var changes = 5
        /// Steps of time, of a minute each.
        var minutes = 4
        /// Ends of phones, by an act or by the clock, deletions and disabled users.
        var misfortunes = 1

        var testDescription: String {
            "\(kind) \(arrival) \(bond) \(secondFactor?.rawValue ?? "-") known to \(knownTo) due \(isPresenceDue) "
                + "by hand \(startsByHand) back \(leadsBack) skips \(skipsConfirmation)"
        }
    }

    /// A call that changed the row, for repetition. The last two can be repeated, with keys from 1 to 3, so that worlds with
    /// different pasts are one.
    struct Delivered: Hashable {
        var act: PhoneLogin.Act
        var phone: Int?
        var key: UInt64
        var reply: PhoneLogin.Reply
    }

    /// One step: what happens.
    enum Step: Hashable {
        case call(PhoneLogin.Act, phone: Int?)
        case again(Delivered)
        case minute
        case phoneEnds(Int)
        case clockEnds(Int)
        case disable(Int)
        case replace(Int)
        case delete(user: Int)
    }

    static let decision: PhoneLoginPolicy = {
        var rules = PhoneLoginRules()
        rules.inputLifetime = .seconds(120)
        rules.collectLifetime = .seconds(120)
        rules.enrolmentLifetime = .seconds(120)
        rules.factorAttempts = 2
        return PhoneLoginPolicy(rules)
    }()
    static let users = (0..<2).map { _ in Sample.user() }
    /// Two accounts of one phone, and the first user's other phone.
    static let sessions = [(0, "phone-a"), (1, "phone-a"), (0, "phone-b")].map { user, device in
        Session(
            id: Identifier(random: .system), userID: users[user].id, clientID: Client.mobileID,
            device: Device(id: device), startedAt: Sample.start, epoch: 1)
    }
    static let replacement = Identifier<Session>(random: .system)
    static let loginID = Identifier<Session>(random: .system)
    static let browser: [UInt8] = [1]
    static let shown = 42

    var rules: Rules
    var login: PhoneLogin
    var minute: Int64 = 0
    var phones: [Phone]
    var delivered: [Delivered] = []
    /// The users of the acts that were accepted as a confirmation, as a right number, and as a second factor.
    var consents: Set<Identifier<User>> = []
    var numbers: Set<Identifier<User>> = []
    var factors: Set<Identifier<User>> = []
    var wrongFactors = 0
    /// What the server has of the session.
    var sessionsStarted = 0
    var isSessionAlive = false
    var parent: Identifier<Session>?
    /// What must never be; nil as long as it is not.
    var violation: String?

    var now: Instant { Sample.start + .seconds(60 * minute) }
    var hasBrowser: Bool { rules.kind == .authorize }

    init(_ rules: Rules) {
        self.rules = rules
        phones = Self.sessions.map { session in
            var phone = Phone(session)
            phone.isPresenceDue = rules.isPresenceDue
            return phone
        }
        let decisionRules = Self.decision.rules
        if rules.kind == .app {
            login = .inApp(
                id: Self.loginID, clientID: "web", phone: phones[0], rules: decisionRules, at: Sample.start)
        } else {
            login = PhoneLogin(
                id: Self.loginID, kind: rules.kind, clientID: "web", bond: rules.bond,
                browser: rules.kind == .authorize ? Self.browser : nil, request: Self.request(rules),
                startedAt: Sample.start,
                inputUntil: Sample.start + decisionRules.inputLifetime)
        }
        if rules.kind == .enrolment { phones = Self.newPhones(of: login) }
    }

    private static func request(_ rules: Rules) -> PhoneLogin.Request {
        let kind = rules.kind
        var request = PhoneLogin.Request()
        (request.factorRule, request.knownUsers) = (rules.secondFactor, rules.knownTo.map { users[$0].id })
        if kind == .device, rules.leadsBack { request.returnURI = "app:/back" }
        if kind == .backchannel { request.backchannel = BackchannelRequest(to: users[0].id, scope: nil) }
        guard kind == .enrolment else { return request }
        request.invitation = Invitation(newUser: users[0].id, username: "ada", profile: User.Profile(), source: .qr)
        return request
    }

    /// Phones without an account that have the code: the first one twice, with another secret.
    private static func newPhones(of login: PhoneLogin) -> [Phone] {
        [("phone-a", 1), ("phone-a", 2), ("phone-b", 3)].compactMap { device, secret in
            Phone(enrolling: login, deviceID: device, secretHash: [secret], at: Sample.start)
        }
    }

    // MARK: Steps

    /// Every step that can come next.
    var steps: [Step] {
        var steps = delivered.map { Step.again($0) }
        if rules.minutes > 0 { steps.append(.minute) }
        if rules.misfortunes > 0, rules.kind == .enrolment { steps.append(.delete(user: 0)) }
        if rules.misfortunes > 0, rules.kind != .enrolment {
            steps += [0, 2].flatMap { [Step.phoneEnds($0), .clockEnds($0), .disable($0)] }
            steps += [.delete(user: 0), .delete(user: 1), .replace(0)]
        }
        if rules.changes == 0 { return steps }
        var options = PhoneLogin.Wishes()
        (options.startsByHand, options.skipsConfirmation) = (rules.startsByHand, rules.skipsConfirmation)
        let right = rules.arrival.needsNumber ? Self.shown : nil
        let wrong = Self.shown + 1
        let ofPhones: [PhoneLogin.Act] = [
            .claim(rules.arrival, options), .start, .confirm(number: right), .confirm(number: wrong),
            .confirm(number: nil), .proveFactor(PhoneFactor(isValid: true, number: right)),
            .proveFactor(PhoneFactor(isValid: true)), .proveFactor(PhoneFactor(isValid: true, number: wrong)),
            .proveFactor(PhoneFactor(isValid: false, number: right)), .stop(isReport: false), .ping,
            .adopt(PhoneFactor(isValid: true)), .adopt(PhoneFactor(isValid: false)),
        ]
        for phone in phones.indices { steps += ofPhones.map { .call($0, phone: phone) } }
        steps += [
            .call(.collect(browser: Self.browser), phone: nil), .call(.collect(browser: nil), phone: nil),
            .call(.collect(browser: [2]), phone: nil), .call(.cancel, phone: nil), .call(.fail, phone: nil),
            .call(.tick, phone: nil),
        ]
        if rules.arrival == .linked {
            steps += [Self.browser, nil, [2]].map { .call(.collect(browser: $0, isReturned: true), phone: nil) }
        }
        if isSessionAlive { steps.append(.call(.sessionEnded(.loggedOut), phone: nil)) }
        return steps
    }

    /// The world after `step`.
    func after(_ step: Step, _ mutation: PhoneLoginMutation?) -> PhoneLoginWorld {
        var world = self
        switch step {
        case .minute:
            world.rules.minutes -= 1
            world.minute += 1
        case .call(let act, let phone):
            world.deliver(act, phone, isNew: true, mutation)
        case .again(let delivered): world.repeatCall(delivered, mutation)
        case .clockEnds(let phone):
            world.rules.misfortunes -= 1
            world.phones[phone].refusal = .ended(.idleExpired)
        case .disable(let phone):
            world.rules.misfortunes -= 1
            world.phones[phone].refusal = .loginDisabledByUser
        case .phoneEnds(let phone):
            world.rules.misfortunes -= 1
            world.phones[phone].refusal = .ended(.loggedOut)
            guard login.claim?.sessionID == phones[phone].sessionID else { break }
            world.deliver(.phoneEnded, nil, isNew: false, mutation)
        case .replace(let phone):
            world.rules.misfortunes -= 1
            let isClaimant = login.claim?.sessionID == phones[phone].sessionID
            world.phones[phone].sessionID = Self.replacement
            guard isClaimant else { break }
            world.deliver(.phoneReplaced(by: Self.replacement), nil, isNew: false, mutation)
        case .delete(let user):
            world.rules.misfortunes -= 1
            let userID = Self.users[user].id
            for phone in phones.indices where phones[phone].userID == userID {
                world.phones[phone].refusal = .ended(.userDeleted)
            }
            world.deliver(.userDeleted(userID), nil, isNew: false, mutation)
            if login.userID == userID, world.login.state.phase != .deleted { world.violation = "a deleted user stays" }
        }
        return world
    }

    /// Decides an act as the store would, with the phones as they stand now.
    private mutating func decide(
        _ act: PhoneLogin.Act, _ phone: Int?, _ key: UInt64?, _ mutation: PhoneLoginMutation?
    ) -> (call: PhoneLoginAttempt, outcome: PhoneLoginOutcome) {
        let call = PhoneLoginAttempt(
            act, key: key, phone: phone.map { phones[$0] },
            claimant: claimant, drawnNumber: Self.shown)
        let outcome =
            mutation?.decide(call, on: login, at: now) ?? Self.decision.decide(call, on: login, at: now)
        login = outcome.login
        return (call, outcome)
    }

    /// The phone that has claimed the login, as it stands now.
    var claimant: Phone? { phones.first { login.claim?.isOf($0) == true } }

    /// The login after what time and the end of the phone's session have brought.
    var ticked: PhoneLogin { Self.decision.standing(login, claimant: claimant, at: now) }

    private mutating func deliver(_ act: PhoneLogin.Act, _ phone: Int?, isNew: Bool, _ mutation: PhoneLoginMutation?) {
        let before = self
        let keys: [UInt64] = [1, 2, 3]
        let key = keys.first { key in !delivered.contains { $0.key == key } } ?? 4
        let (call, outcome) = decide(act, phone, isNew ? key : nil, mutation)
        if case (.proveFactor, .refused(.wrongFactor)) = (act, outcome.reply) { wrongFactors += 1 }
        if outcome.reply == .collected {
            sessionsStarted += 1
            isSessionAlive = true
            parent = login.claim?.sessionID
        }
        follow(outcome, of: call, before)
        if isNew, login.hasMoved(since: before.ticked) {
            rules.changes -= 1
            delivered = delivered.suffix(1) + [Delivered(act: act, phone: phone, key: key, reply: outcome.reply)]
            login.answered.removeAll { known in !delivered.contains { $0.key == known.key } }
        }
        violation = violation ?? wrong(after: before, call, outcome)
    }

    /// A retry may bring what time has brought, and nothing else.
    private mutating func repeatCall(_ known: Delivered, _ mutation: PhoneLoginMutation?) {
        let before = self
        let (call, outcome) = decide(known.act, known.phone, known.key, mutation)
        follow(outcome, of: call, before)
        if login != before.ticked { violation = "a retry changes the row" }
        if outcome.reply != known.reply, known.reply != .collected { violation = "a retry gets another answer" }
        violation = violation ?? wrong(after: before, call, outcome)
    }

    /// What the server does after a decision.
    private mutating func follow(_ outcome: PhoneLoginOutcome, of call: PhoneLoginAttempt, _ before: PhoneLoginWorld) {
        if outcome.reply == .accepted || outcome.reply == .collected, let user = call.phone?.userID {
            switch call.act {
            case .confirm(let number):
                consents.insert(user)
                if number == before.login.number, number != nil { numbers.insert(user) }
            case .proveFactor(let factor):
                factors.insert(user)
                if factor.number == before.login.number, factor.number != nil { numbers.insert(user) }
            default: break
            }
        }
        for effect in outcome.effects {
            switch effect {
            case .endSession:
                if !isSessionAlive { violation = "a session ends twice" }
                isSessionAlive = false
            case .moveSession(let sessionID): parent = sessionID
            default: break
            }
        }
        if case .sessionEnded = call.act { isSessionAlive = false }
    }

    // MARK: Walk

    /// Walks every history, on a thread of its own: this takes seconds, and the threads that tasks share are few. Returns the
    /// worlds and the first one in which something is wrong.
    static func explore(_ rules: Rules, _ mutation: PhoneLoginMutation? = nil) async -> Walk {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: walk(rules, mutation)) }
        }
    }

    /// The result of a walk.
    struct Walk: Sendable {
        var worlds = 0
        var violation: String?
        /// The phases that were reached, and whether the login had failed.
        var reached: Set<Reached> = []
    }

    struct Reached: Hashable, Sendable {
        var phase: PhoneLogin.Phase
        var hasFailed = false
    }

    private static func walk(_ rules: Rules, _ mutation: PhoneLoginMutation?) -> Walk {
        let first = PhoneLoginWorld(rules)
        var (walk, seen, frontier) = (Walk(), Set([first]), [first])
        while let world = frontier.popLast() {
            walk.reached.insert(
                Reached(phase: world.login.state.phase, hasFailed: world.login.cause?.isFailure == true))
            for step in world.steps {
                let next = world.after(step, mutation)
                guard seen.insert(next).inserted else { continue }
                if let violation = next.violation {
                    walk.violation =
                        "\(violation): \(step) after \(world.delivered.map(\.act)), minute \(world.minute)"
                    return walk
                }
                frontier.append(next)
            }
        }
        walk.worlds = seen.count
        return walk
    }
}

extension PhoneLogin {
    /// Whether anything but the kept answers differs.
    fileprivate func hasMoved(since other: PhoneLogin) -> Bool {
        var (moved, other) = (self, other)
        (moved.answered, other.answered) = ([], [])
        return moved != other
    }
}
