import Cryptography
import Dispatch
@testable import Sessions
import Testing

/// A small world: a browser with two apps, which a phone lets in for the first of them, and whose session then answers both; beside
/// the phone, the user may type the password. Each app asks again at any time, and everything that can end does.
struct BrowserWorld: Hashable {
    /// What the login is like, and how much may happen.
    struct Rules: Hashable, CustomTestStringConvertible {
        var bond = PhoneLogin.Bond.session
        /// Whether the browser had a session by the password before.
        var isOlder = false
        var asks = 2
        var ends = 1
        var minutes = 0
        /// Typed passwords, and new logins of the phone.
        var changes = 1

        var testDescription: String { "\(bond) older \(isOlder) asks \(asks) ends \(ends) minutes \(minutes)" }
    }

    /// The session of an app.
    struct App: Hashable {
        let client: Int
        var session: Session
        let isByPhone: Bool
        var isAlive: Bool { session.ending == nil }
    }

    enum Step: Hashable {
        case collect, typePassword, ask(Int), end(Int, EndReason), endBrowser(EndReason), minute, ping
        case stop(isReport: Bool), report, revoke, endPhone(EndReason), clockEndsPhone, replacePhone
    }

    static let user = Sample.user()
    static let clients = ["first", "second"].map { name in
        var client = Client(id: name, scope: Scope("read write") ?? .empty, createdAt: Sample.start, epoch: 1)
        client.page.browserSession = .shared
        client.page.loginMethods = [.password, .phone]
        client.page.remoteScope = Scope("read")
        return client
    }
    /// The request of a browser that the user knows.
    private static let knownRequest = {
        var request = PhoneLogin.Request()
        request.knownUsers = [user.id]
        return request
    }()
    static let ids = (0..<12).map { _ in Identifier<Session>(random: .system) }
    static let browserClient = Client.browser(createdAt: Sample.start, epoch: 1)

    var rules: Rules
    var login: PhoneLogin
    var phone: Session
    /// Whether the session of the phone has ended by the clock, which no row says.
    var isPhoneIdle = false
    var browser: Session?
    var apps: [App] = []
    /// The way in which the user of the browser has authenticated last.
    var isLastByPhone = false
    var minute: Int64 = 0
    var second: Int64 = 0
    /// Ends that have to reach everything.
    var isUndone = false
    var violation: String?

    var now: Instant { Sample.start + .seconds(60 * minute + second) }

    /// The world in which the phone has approved the login.
    init(_ rules: Rules) {
        self.rules = rules
        phone = Session(
            id: Self.ids[0], userID: Self.user.id, clientID: Client.mobileID, device: Device(id: "phone"),
            startedAt: Sample.start, epoch: 1)
        login = PhoneLogin(
            id: Self.ids[1], kind: .authorize, clientID: "first", bond: rules.bond, browser: [1],
            request: Self.knownRequest, startedAt: Sample.start, inputUntil: Sample.start + .seconds(180))
        let acts: [PhoneLogin.Act] = [
            .claim(.scanned, PhoneLogin.Wishes()), .confirm(number: 42),
        ]
        for act in acts {
            let seen = Phone(phone)
            let attempt = PhoneLoginAttempt(act, phone: seen, claimant: seen, drawnNumber: 42)
            login = PhoneLoginPolicy().decide(attempt, on: login, at: Sample.start).login
        }
        if rules.isOlder {
            browser = newBrowser(["pwd"])
            isLastByPhone = false
        }
    }

    private func newBrowser(_ methods: [String]) -> Session {
        var presence = UserPresence()
        if methods == ["pwd"] { presence.passwordAt = now }
        return Session(
            id: Self.ids[2], userID: Self.user.id, clientID: Client.browserID,
            device: Device(id: "shared-1"), authenticationMethods: methods, startedAt: now, epoch: 1,
            presence: presence)
    }

    // MARK: Steps

    /// Every step that can come next.
    var steps: [Step] {
        var steps: [Step] = []
        if login.state == .approved { return [.collect] }
        if rules.changes > 0, browser?.ending == nil { steps += [.typePassword, .replacePhone] }
        if rules.asks > 0 { steps += [.ask(0), .ask(1)] }
        if rules.minutes > 0 { steps += [.minute, .ping] }
        if rules.ends > 0 {
            for app in apps.indices where apps[app].isAlive {
                let reasons: [EndReason] = [.loggedOut, .refreshTokenReused, .idleExpired, .revokedByAdmin]
                steps += reasons.map { .end(app, $0) }
            }
            steps += [.endBrowser(.loggedOut), .endBrowser(.replaced), .endPhone(.loggedOut), .clockEndsPhone]
            steps += [.stop(isReport: false), .stop(isReport: true), .report, .revoke]
        }
        return steps
    }

    /// The world after `step`.
    func after(_ step: Step, _ mutation: BrowserMutation?) -> BrowserWorld {
        var world = self
        switch step {
        case .collect: world.collect(mutation)
        case .typePassword:
            world.rules.changes -= 1
            world.second += 1
            let now = world.now
            world.browser?.noteAuthentication(by: ["pwd"], .password(hash: "x"), at: now)
            world.isLastByPhone = false
        case .replacePhone:
            world.rules.changes -= 1
            if phone.ending != nil { break }
            world.isPhoneIdle = false
            world.phone = Session(
                id: Self.ids[3], userID: Self.user.id, clientID: Client.mobileID, device: Device(id: "phone"),
                startedAt: now, epoch: 1)
            world.act(.phoneReplaced(by: Self.ids[3]), mutation)
        case .ask(let client):
            world.rules.asks -= 1
            world.ask(client, mutation)
        case .minute:
            world.rules.minutes -= 1
            world.minute += 1
        case .ping: world.act(.ping, mutation)
        default:
            world.rules.ends -= 1
            world.end(step, mutation)
        }
        world.violation = world.violation ?? world.wrong(after: self, step)
        return world
    }

    private mutating func collect(_ mutation: BrowserMutation?) {
        let now = self.now
        act(.collect(browser: [1]), mutation)
        guard login.hasLetIn else { return violation = "an approved login is not collected" }
        isLastByPhone = true
        if browser == nil {
            var session = newBrowser([PhoneLogin.authenticationMethod])
            login.bind(&session)
            browser = session
        } else if mutation == .phoneRenewsPresence {
            browser?.noteAuthentication(by: [PhoneLogin.authenticationMethod], .key, at: now)
        } else {
            browser?.authenticationMethods.append(PhoneLogin.authenticationMethod)
        }
        login.browserSession = browser?.id
        start(0, login.id, login, mutation)
    }

    /// Starts the session of an app, as the exchange of its code does.
    private mutating func start(
        _ client: Int, _ id: Identifier<Session>, _ phoneLogin: PhoneLogin?, _ mutation: BrowserMutation?
    ) {
        var request = Self.request(client)
        if phoneLogin != nil, mutation != .scopeIsNotInherited || id == login.id {
            request.scope = Self.clients[client].scopeByPhone(of: request)
        }
        var session = Session(
            id: id, userID: Self.user.id, clientID: Self.clients[client].id, device: Device(id: "app"),
            scope: request.scope.flatMap { Scope($0) } ?? Self.clients[client].scope, startedAt: now, epoch: 1)
        phoneLogin?.bind(&session)
        if id != login.id {
            if mutation == .bondIsNotInherited { session.phoneID = nil }
            if mutation == .probationIsNotInherited { session.probationUntil = nil }
        }
        apps.append(App(client: client, session: session, isByPhone: phoneLogin != nil))
    }

    private static func request(_ client: Int) -> AuthorizationRequest {
        AuthorizationRequest(
            id: "1", clientID: clients[client].id, redirectURI: "https://app.example", codeChallenge: "")
    }

    /// An app asks again, and the session of the browser may answer.
    private mutating func ask(_ client: Int, _ mutation: BrowserMutation?) {
        guard let browser, apps.count < 6 else { return }
        var record = SessionRecord(
            session: browser, user: Self.user, client: Self.browserClient, settings: Sample.settings)
        let phoneRecord = self.phoneRecord
        if browser.phoneID != nil { record.phone = .known(phoneRecord.session, client: Sample.client(), login: login) }
        var phones = [BrowserPhone(login: login, phone: phoneRecord)]
        if mutation == .endedPhoneAnswers {
            phones = [BrowserPhone(login: login.asLoggedIn, phone: livingPhoneRecord)]
            record.phone = nil
        }
        let past = Sample.policy.reusable(
            record, BrowserHandle(id: browser.id, isKept: true), phones, for: Self.request(client),
            of: Self.clients[client], at: now)
        guard let past else { return }
        let phoneLogin = mutation == .passwordInherits ? login : past.phoneLogin
        start(client, Self.ids[4 + apps.count], mutation == .phoneIsForgotten ? nil : phoneLogin, mutation)
        if isLastByPhone != (past.phoneLogin != nil), phoneAnswers {
            violation = "the last authentication does not answer"
        }
        if phoneLogin != nil, !phoneAnswers { violation = "a phone that is gone answers" }
    }

    private var livingPhoneRecord: SessionRecord {
        var living = phone
        (living.ending, living.renewedAt) = (nil, now)
        return SessionRecord(session: living, user: Self.user, client: Sample.client(), settings: Sample.settings)
    }

    /// The session of the phone, as it stands.
    private var phoneRecord: SessionRecord {
        var seen = phone
        if isPhoneIdle { seen.renewedAt = now + .seconds(-15 * 86_400) }
        return SessionRecord(session: seen, user: Self.user, client: Sample.client(), settings: Sample.settings)
    }

    /// Whether the phone may still answer, by the words of the manual.
    var phoneAnswers: Bool {
        if login.state.outcome == .completed { return !isUndone }
        guard login.isLoggedIn, phone.ending == nil, !isPhoneIdle else { return false }
        guard let silence = rules.bond.interval, let answeredAt = login.answeredAt else { return true }
        return now < max(answeredAt, phone.renewedAt) + silence
    }

    // MARK: Ends

    private mutating func end(_ step: Step, _ mutation: BrowserMutation?) {
        let now = self.now
        switch step {
        case .end(let app, let reason): endApp(app, reason, mutation)
        case .endBrowser(let reason):
            guard browser?.ending == nil else { return }
            browser?.ending = Session.Ending(reason: reason, at: now)
            if reason.endsCompanions { for app in apps.indices { endSession(app, reason) } }
            act(.sessionEnded(reason), mutation)
        case .endPhone(let reason):
            if phone.ending != nil { return }
            phone.ending = Session.Ending(reason: reason, at: now)
            act(.phoneEnded, mutation)
        case .clockEndsPhone: isPhoneIdle = true
        case .stop(let isReport):
            if act(.stop(isReport: isReport), mutation) { isUndone = true }
        case .report: if act(.report, mutation) { isUndone = true }
        case .revoke: if act(.revoke, mutation) { isUndone = true }
        default: break
        }
    }

    private mutating func endSession(_ app: Int, _ reason: EndReason) {
        if apps[app].isAlive { apps[app].session.ending = Session.Ending(reason: reason, at: now) }
    }

    private mutating func endApp(_ app: Int, _ reason: EndReason, _ mutation: BrowserMutation?) {
        let now = self.now
        endSession(app, reason)
        if reason.endsCompanions, browser?.ending == nil {
            browser?.ending = Session.Ending(reason: reason, at: now)
        }
        guard apps[app].isByPhone || !hasSessions else { return }
        let told: EndReason =
            mutation == .logoutEndsOthers && reason == .loggedOut
            ? .notMe : mutation == .adminSparesOthers && reason == .revokedByAdmin ? .loggedOut : reason
        act(.sessionEnded(told), mutation)
    }

    /// Whether a session of the login lives.
    private var hasSessions: Bool {
        apps.contains { $0.isAlive && $0.isByPhone } || browser.map { $0.ending == nil && $0.isByPhone } == true
    }

    /// Lets the login decide, and does what follows. False: it refused.
    @discardableResult
    private mutating func act(_ act: PhoneLogin.Act, _ mutation: BrowserMutation?) -> Bool {
        let (before, now) = (login, self.now)
        var seen = Phone(phone)
        if phone.ending != nil || isPhoneIdle { seen.refusal = .ended(.loggedOut) }
        var call = PhoneLoginAttempt(act, phone: act.isOfPhone ? seen : nil, claimant: seen, hasSessions: hasSessions)
        if mutation == .loginEndsWithFirst, case .sessionEnded = act { call.hasSessions = false }
        if mutation == .oneShotIsFinal, login.state.isFinal { call.hasSessions = false }
        if mutation == .silenceIsIgnored { call.claimant?.renewedAt = now }
        var outcome = PhoneLoginPolicy().decide(call, on: login, at: now)
        if mutation == .linkIsDeaf, act == .report { outcome = PhoneLoginOutcome(reply: .accepted, login: login) }
        login = outcome.login
        if mutation == .reportMovesOneShot, before.state.outcome == .completed, outcome.reply == .accepted,
            act == .stop(isReport: true)
        {
            login.state = .ended(.init(.signedOut, .ended(.notMe), at: now))
        }
        for effect in outcome.effects {
            switch effect {
            case .endSession:
                for app in apps.indices where apps[app].isByPhone {
                    if mutation == .endSparesOthers, apps[app].session.id != login.id { continue }
                    endSession(app, .notMe)
                }
                if browser?.isByPhone == true, browser?.ending == nil, mutation != .endSparesBrowser {
                    browser?.ending = Session.Ending(reason: .notMe, at: now)
                }
            case .moveSession(let id) where mutation != .othersAreNotMoved:
                for app in apps.indices where apps[app].session.phoneID != nil { apps[app].session.phoneID = id }
                if browser?.phoneID != nil { browser?.phoneID = id }
            default: break
            }
        }
        return outcome.reply == .accepted
    }
}

extension PhoneLogin {
    /// The login, as if it had not ended.
    fileprivate var asLoggedIn: PhoneLogin {
        var login = self
        if !hasLetIn { login.state = .signedIn }
        return login
    }
}

extension BrowserWorld {
    /// Walks every history, on a thread of its own. Returns the number of worlds and the first thing that is wrong.
    static func explore(
        _ rules: Rules, _ mutation: BrowserMutation? = nil
    ) async -> (worlds: Int, violation: String?) {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: walk(rules, mutation)) }
        }
    }

    private static func walk(_ rules: Rules, _ mutation: BrowserMutation?) -> (worlds: Int, violation: String?) {
        let first = BrowserWorld(rules)
        var (seen, frontier) = (Set([first]), [(first, [Step]())])
        while let (world, path) = frontier.popLast() {
            for step in world.steps {
                let next = world.after(step, mutation)
                guard seen.insert(next).inserted else { continue }
                if let violation = next.violation { return (seen.count, "\(violation): \(path + [step])") }
                frontier.append((next, path + [step]))
            }
        }
        return (seen.count, nil)
    }
}
