public import Sessions

/// Random histories of single logins with a phone, each played to the real domain on a real store and to `LoginModel`: two
/// accounts on one phone, a second phone, the device, an admin, and time. The first difference ends it.
public struct PhoneLoginHistory {
    private static let origin = Origin(actor: "test")
    /// The phones: a user, and the device of the installation.
    private static let phones = [(0, "phone-1"), (1, "phone-1"), (0, "phone-2")]

    /// A request of a phone that has changed the login, for a repetition.
    private struct Sent {
        let act: PhoneLogin.Act
        let phone: Int
        let key: String
        let answer: String
    }

    /// What has come of the logins that were played.
    public private(set) var phases: Set<Sessions.PhoneLogin.Phase> = []
    private let services: Services
    private let admin: Administration
    private let store: any Store
    private let clock: MovableClock
    private var random: SeededGenerator
    private var users: [Identifier<User>] = []
    private var sessions: [AuthenticatedSession] = []
    private var count = 0
    // The login that is played.
    private var model: LoginModel
    private var opened: PhoneLoginService.Opened
    /// As it was compared last.
    private var last: PhoneLogin
    private var mustLook = false
    private var sent: [Sent] = []
    private var keys = 0
    /// The last session that each user's phones have let in, by which its device is known.
    private var letIn: [Int: Identifier<Session>] = [:]

    /// A history on `store`, which is empty and has the same clock.
    public init(seed: UInt64, store: any Store, clock: MovableClock) async throws {
        (random, self.store, self.clock) = (SeededGenerator(seed: seed), store, clock)
        let fixture = try await DomainFixture(store, clock.wallClock)
        (services, admin) = (fixture.services, fixture.admin)
        for id in ["mobile", "tv"] {
            _ = try await admin.createClient(id: id, by: Self.origin) { client in
                client.page.minimumBond = .none
                client.grantTypes.append(.deviceCode)
                return nil
            }
        }
        model = LoginModel(bond: .session, isFactorRequired: false, knownTo: [], leadsBack: false, phones: [], now: 0)
        opened = try await fixture.services.phoneLogins.open(.init(.device, clientID: "tv"), from: Self.origin)
        last = opened.login
        for index in 0..<2 { users.append(try await newUser("user-\(index)")) }
        for index in Self.phones.indices { sessions.append(try await newSession(index)) }
    }

    /// Plays `count` logins, and compares each with the model after every step.
    public mutating func play(_ count: Int) async throws {
        for _ in 0..<count {
            try await begin()
            for step in 0..<Int.random(in: 3...10, using: &random) {
                do {
                    try await playOne()
                    try await compare()
                } catch { throw RandomHistory.Difference(description: "login \(self.count) step \(step): \(error)") }
            }
        }
    }

    private var now: Int64 { clock.now.secondsSinceEpoch }

    private func newUser(_ name: String) async throws -> Identifier<User> {
        try await admin.createUser(
            username: name, password: "three odd words 0", profile: .init(), offlineSessionMax: nil, by: Self.origin
        ).id
    }

    private func newSession(_ phone: Int) async throws -> AuthenticatedSession {
        let (user, device) = Self.phones[phone]
        let grant = try await services.login.mintSession(
            SessionRequest(clientID: "mobile", device: Device(id: device)), for: .id(users[user]), from: Self.origin)
        return try await services.accessTokens.authenticate(grant.accessToken, from: Self.origin)
    }

    /// Opens the next login. What the one before has ended is there again.
    private mutating func begin() async throws {
        count += 1
        if model.isStarted, let user = model.user, !model.isDeleted {
            letIn[user] = model.leavesDeviceKnown ? opened.login.id : nil
        }
        for user in model.disabled {
            _ = try await admin.enable(.id(users[user]), includingOwnSwitch: false, by: Self.origin)
        }
        // Sessions of phones are used for a while only, because they do not last for ever.
        for (index, phone) in model.phones.enumerated() where !phone.isAlive || count % 100 == 0 {
            sessions[index] = try await newSession(index)
        }
        let bonds: [PhoneLogin.Bond] = [.none, .session, .session, .ping(.seconds(100))]
        var opening = PhoneLoginService.Opening(.device, clientID: "tv")
        opening.bond = bonds.randomElement(using: &random) ?? .session
        opening.returnURI = Bool.random(using: &random) ? "app:/back" : nil
        let known = letIn.filter { _ in Bool.random(using: &random) }
        opening.device.sessions = known.values.sorted { $0.words < $1.words }
        let isFactorRequired = Bool.random(using: &random)
        opening.secondFactor = isFactorRequired ? .required : .notRequired
        opened = try await services.phoneLogins.open(opening, from: Self.origin)
        last = opened.login
        model = LoginModel(
            bond: opening.bond, isFactorRequired: isFactorRequired, knownTo: Set(known.keys),
            leadsBack: opening.returnURI != nil,
            phones: Self.phones.map { .init(user: $0.0, device: $0.1) }, now: now)
        sent = []
    }

    // MARK: Operations

    private mutating func playOne() async throws {
        switch Int.random(in: 0..<32, using: &random) {
        case 0..<14: try await goOn()
        case 14..<19: try await act(randomAct(), by: Int.random(in: 0..<Self.phones.count, using: &random))
        case 19: try await claim(by: Int.random(in: 0..<Self.phones.count, using: &random))
        case 20..<22: try await repeatOne()
        case 22: try await collect()
        case 23: try await cancel()
        case 24..<27:
            clock.advance(by: .seconds([1, 24, 25, 59, 60, 99, 100, 180].randomElement(using: &random) ?? 1))
            mustLook = true
        case 27: try await endPhone()
        case 28: try await replacePhone()
        case 29: try await endSession()
        case 30: try await disable()
        default: if Int.random(in: 0..<4, using: &random) == 0 { try await deleteUser() }
        }
        model.pass(to: now)
    }

    /// What leads the login on.
    private mutating func goOn() async throws {
        let phone = model.claimant ?? 0
        let number = last.number
        switch model.phase {
        case .requested: try await claim(by: Int.random(in: 0..<Self.phones.count, using: &random))
        case .claimed: try await act(.start, by: phone)
        case .confirming: try await act(.confirm(number: number), by: phone)
        case .proving:
            // Wrong often enough that three in a row are seen.
            let factor = PhoneFactor(isValid: Bool.random(using: &random), number: number)
            try await act(.proveFactor(factor), by: phone)
        case .approved: try await collect()
        case .signedIn: try await act(.ping, by: phone)
        case .completed, .aborted, .signedOut, .failed, .deleted: break
        }
    }

    private mutating func randomAct() -> PhoneLogin.Act {
        let number = [nil, 1, 42].randomElement(using: &random) ?? nil
        let factor = PhoneFactor(isValid: Int.random(in: 0..<3, using: &random) == 0, number: number)
        let acts: [PhoneLogin.Act] = [
            .start, .confirm(number: number), .proveFactor(factor), .stop(isReport: Bool.random(using: &random)), .ping,
            .adopt(factor),
        ]
        return acts.randomElement(using: &random) ?? .start
    }

    private mutating func claim(by phone: Int) async throws {
        let ways: [(PhoneLoginCode.Kind, PhoneLoginCode.Source)] = [
            (.picture, .camera), (.picture, .camera), (.push, .push), (.link, .link), (.picture, .link),
            (.link, .camera),
        ]
        guard let (kind, source) = ways.randomElement(using: &random) else { return }
        var options = PhoneLogin.Wishes()
        options.startsByHand = Int.random(in: 0..<3, using: &random) == 0
        options.skipsConfirmation = Bool.random(using: &random)
        options.demandsSecondFactor = Bool.random(using: &random)
        let request = PhoneLoginService.ClaimRequest(
            code: services.phoneLogins.link(of: opened.login, kind), source: source, wishes: options)
        let arrival: PhoneLogin.Arrival = kind == .picture ? .scanned : kind == .link ? .linked : .pushed
        let isRightWay = (kind == .picture) == (source == .camera)
        let expected =
            isRightWay
            ? model.perform(.claim(arrival, options), by: phone, isNumberRight: nil, now: now) : "not_found"
        let (service, session) = (services.phoneLogins, sessions[phone])
        let real = await Self.answer { () async throws(ServiceError) in
            _ = try await service.claim(request, by: session, key: nil, from: Self.origin)
        }
        try expect(real, expected, "claim by \(phone)")
    }

    /// Lets a phone act, with a key of its own.
    private mutating func act(_ act: PhoneLogin.Act, by phone: Int) async throws {
        let shown = last.number
        keys += 1
        let before = model
        let expected = model.perform(act, by: phone, isNumberRight: act.typedNumber.map { $0 == shown }, now: now)
        let call = Sent(act: act, phone: phone, key: "key-\(keys)", answer: expected)
        try expect(await deliver(call), expected, "\(act) by \(phone)")
        if model != before { sent.append(call) }
    }

    /// A request that has changed the login comes once more, at once or much later: it gets the same answer, and changes nothing.
    private mutating func repeatOne() async throws {
        guard let call = sent.randomElement(using: &random) else { return }
        try expect(await deliver(call), call.answer, "a repetition of \(call.act)")
    }

    private func deliver(_ call: Sent) async -> String {
        let (service, session, id) = (services.phoneLogins, sessions[call.phone], opened.login.id)
        return await Self.answer { () async throws(ServiceError) in
            _ = try await service.perform(call.act, on: id, by: session, key: call.key, from: Self.origin)
        }
    }

    private mutating func collect() async throws {
        // What the phone has led back with, if it has.
        let url = Bool.random(using: &random) ? services.phoneLogins.returnURL(of: last) : nil
        let token = url?.split(separator: "=").last.map(String.init)
        let expected = model.collect(isReturned: token != nil, now: now)
        let (service, secret, device) = (services.phoneLogins, opened.secret ?? "", Device(id: "tv-\(count)"))
        let real = await Self.answer { () async throws(ServiceError) in
            _ = try await service.collect(
                secret, SessionRequest(clientID: "tv", device: device), returnToken: token, from: Self.origin)
        }
        try expect(real, expected, "collect")
    }

    private mutating func cancel() async throws {
        let expected = model.cancel()
        let (service, login, secret) = (services.phoneLogins, opened.login.id, opened.secret ?? "")
        let real = await Self.answer { () async throws(ServiceError) in
            try await service.cancel(login, as: .secret(secret), from: Self.origin)
        }
        try expect(real, expected, "cancel")
    }

    private mutating func endPhone() async throws {
        let phone = Int.random(in: 0..<Self.phones.count, using: &random)
        guard model.phones[phone].isAlive else { return }
        _ = try await services.logout.end(sessions[phone].session.id, .loggedOut, from: Self.origin)
        model.endPhone(phone)
    }

    /// A new login of a phone takes the place of its session.
    private mutating func replacePhone() async throws {
        let phone = Int.random(in: 0..<Self.phones.count, using: &random)
        guard model.phones[phone].isAlive, !model.disabled.contains(model.phones[phone].user) else { return }
        sessions[phone] = try await newSession(phone)
        if model.claimant == phone { model.answeredAt = max(model.answeredAt, now) }
        sent.removeAll { $0.phone == phone }
    }

    private mutating func endSession() async throws {
        guard model.isStarted, model.sessionEnd == nil else { return }
        let isByAdmin = Bool.random(using: &random)
        if isByAdmin {
            try await admin.endSession(opened.login.id, by: Self.origin)
        } else {
            _ = try await services.logout.end(opened.login.id, .loggedOut, from: Self.origin)
        }
        model.endSession(isByAdmin ? .revokedByAdmin : .loggedOut)
    }

    private mutating func disable() async throws {
        let user = Int.random(in: 0..<2, using: &random)
        guard model.phones.contains(where: { $0.user == user && $0.isAlive }) else { return }
        _ = try await admin.disable(
            .id(users[user]), effective: .immediate, revokingSessions: false, note: nil, by: Self.origin)
        model.disabled.insert(user)
    }

    private mutating func deleteUser() async throws {
        let user = Int.random(in: 0..<2, using: &random)
        _ = try await admin.deleteUser(.id(users[user]), by: Self.origin)
        users[user] = try await newUser("user-\(user)-\(count)")
        model.delete(user)
        letIn[user] = nil
        model.disabled.remove(user)
    }

    // MARK: Comparison

    private mutating func compare() async throws {
        // What time has brought is shown by a look, and written by the clean-up after it. Everything else is in the row at once.
        let found =
            mustLook
            ? try await services.phoneLogins.login(opened.login.id)
            : try await store.phoneLogin(.id(opened.login.id))
        if mustLook { _ = try await services.phoneLogins.sweep() }
        mustLook = false
        guard let login = found else { throw RandomHistory.Difference(description: "the login is gone") }
        last = login
        phases.insert(login.state.phase)
        try expect(login.state.phase, model.phase, "phase")
        try expect(login.cause?.rawValue, model.cause, "cause")
        try expect(login.number != nil, model.hasNumber, "whether there is a number")
        if let claimant = model.claimant, !model.isOver {
            try expect(login.claim?.sessionID, sessions[claimant].session.id, "phone")
        }
        // Most logins have none, and reading that takes as long as reading one.
        guard model.isStarted || Int.random(in: 0..<8, using: &random) == 0 else { return }
        let record = try await store.wholeSession(login.id)
        try expect(record != nil, model.isStarted, "whether there is a session")
        guard let record else { return }
        let reason = services.context.policy.ending(of: record, at: clock.now)?.reason
        try expect(reason, model.sessionEnd, "end of the session")
    }

    private func expect<Value: Equatable>(_ real: Value, _ expected: Value, _ what: String) throws {
        if real == expected { return }
        throw RandomHistory.Difference(description: "\(what): real \(real), model \(expected): \(model)")
    }

    /// The word for what the domain answered.
    private static func answer(_ body: () async throws(ServiceError) -> Void) async -> String {
        do throws(ServiceError) {
            try await body()
            return "accepted"
        } catch {
            switch error {
            case .login(.phone): return "phone"
            case .login(.wrongFactor(let left)): return "wrong_second_factor/\(left)"
            case .login(let refusal): return refusal.word
            case .loginOver(let cause): return "over/\(cause.rawValue)"
            case .notFound: return "not_found"
            default: return "\(error)"
            }
        }
    }
}

extension PhoneLogin.Act {
    fileprivate var typedNumber: Int? {
        switch self {
        case .confirm(let number): number
        case .proveFactor(let factor): factor.number
        default: nil
        }
    }
}
