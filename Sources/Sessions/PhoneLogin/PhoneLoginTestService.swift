/// Drives logins into states, by the acts that lead there, for the screens of an app. Only a server with a test clock has it.
public struct PhoneLoginTestService: Sendable {
    private let services: Services
    private let clock: TestClock

    /// Drives logins with those services, and moves that clock.
    public init(_ services: Services, _ clock: TestClock) { (self.services, self.clock) = (services, clock) }

    /// Opens a login and drives it. Everything that follows from an act is real: events, feed, and ends of sessions.
    ///
    /// - Parameters:
    ///   - clientID: the client that wants a session; nil: that of the phone.
    ///   - phoneID: the session of the phone; nil for a login that no phone has claimed.
    public func drive(
        to target: PhoneLoginTarget, clientID: String?, phone phoneID: Identifier<Session>?, from origin: Origin
    ) async throws(ServiceError) -> PhoneLoginService.Opened {
        let logins = services.phoneLogins
        let phone = try await phone(phoneID)
        guard phone != nil || !target.needsPhone else {
            throw .invalid(member: "phone_session_id", detail: "must be there for every state but STARTING")
        }
        guard let clientID = clientID ?? phone?.clientID else {
            throw .invalid(member: "client_id", detail: "must be there where no phone is")
        }
        var opening = PhoneLoginService.Opening(.device, clientID: clientID)
        (opening.bond, opening.userAgent) = (target.bond, "Test device")
        opening.ignoresMinimumBond = true
        opening.returnURI = try await logins.client(clientID)?.page.redirectURIs.first
        opening.announceInfo = #"{"text": "A login for tests"}"#
        let opened = try await logins.open(opening, from: origin)
        if let phone {
            if target.steps.isEmpty { try await push(opened.login, to: phone, from: origin) }
            for step in target.steps { try await take(step, opened, phone, from: origin) }
        }
        return PhoneLoginService.Opened(
            login: try await logins.login(opened.login.id), secret: opened.secret)
    }

    /// Pushes a login to a phone, so that webhooks carry its message.
    private func push(
        _ login: PhoneLogin, to phone: Session, from origin: Origin
    ) async throws(ServiceError) {
        let event = AuditEvent(
            .loginRequested, at: login.startedAt, by: origin, userID: phone.userID, sessionID: login.id,
            clientID: login.clientID, reason: "test")
        try await services.phoneLogins.inStore(await services.phoneLogins.store.append([event]))
    }

    private func phone(_ id: Identifier<Session>?) async throws(ServiceError) -> Session? {
        guard let id else { return nil }
        guard let phone = try await services.phoneLogins.livingSession(id) else {
            throw .invalid(member: "phone_session_id", detail: "must be a session that is not over")
        }
        return phone.session
    }

    private func take(
        _ step: PhoneLoginTarget.Step, _ opened: PhoneLoginService.Opened, _ phone: Session, from origin: Origin
    ) async throws(ServiceError) {
        let (logins, id) = (services.phoneLogins, opened.login.id)
        switch step {
        case .act(let act):
            // A refusal of the login is where a way into `ERROR` leads. One of the phone ends the way.
            let acted = try await logins.act(act, on: id, phone: act.isOfPhone ? phone.id : nil, from: origin)
            switch acted?.reply {
            case .refused(.phone), .refused(.barred): try acted?.reply.get()
            default: break
            }
        case .typeNumber(let isRight):
            guard let shown = try await logins.login(id).number else { return }
            let other = shown == MatchingNumber.range.lowerBound ? shown + 1 : shown - 1
            try await take(.act(.confirm(number: isRight ? shown : other)), opened, phone, from: origin)
        case .contest:
            let device = Device(id: "test-\(id)")
            let other = try await services.login.mintSession(
                SessionRequest(clientID: phone.clientID, device: device), for: .id(phone.userID), from: origin
            ).session.id
            _ = try await logins.act(
                .claim(.scanned, PhoneLogin.Wishes()), on: id, phone: other, from: origin)
            _ = try await services.logout.end(other, .revokedByAdmin, from: origin)
        case .collect:
            _ = try await logins.collect(
                opened.secret ?? "",
                SessionRequest(clientID: opened.login.clientID, device: Device(id: "test-\(id)")), from: origin)
        case .pass(let duration): clock.advance(by: duration)
        case .endPhone: _ = try await services.logout.end(phone.id, .revokedByAdmin, from: origin)
        case .endSession(let reason): _ = try await services.logout.end(id, reason, from: origin)
        case .deleteUser: _ = try await services.administration.deleteUser(.id(phone.userID), by: origin)
        }
    }
}

/// A state into which a login can be driven, and the way there.
public struct PhoneLoginTarget: Hashable, Sendable {
    /// One step of the way.
    enum Step: Hashable, Sendable {
        /// An act of the phone, of the device or of the server.
        case act(PhoneLogin.Act)
        /// The user types the number of the other device, or another one.
        case typeNumber(isRight: Bool)
        /// Another phone of the user brings the code.
        case contest
        /// The device comes for its session.
        case collect
        /// The clock moves.
        case pass(Duration)
        /// The session of the phone ends, or that of the device.
        case endPhone, endSession(EndReason)
        case deleteUser
    }

    let steps: [Step]
    let bond: PhoneLogin.Bond

    /// Whether a phone takes part.
    public var needsPhone: Bool { !steps.isEmpty }

    /// The way to that phase; nil: no login gets there with that cause.
    ///
    /// - Parameter cause: why it ended; nil: a usual cause.
    public init?(_ phase: PhoneLogin.Phase, _ cause: PhoneLogin.Cause? = nil) {
        bond = phase == .completed ? .none : cause == .presenceLost ? .ping(PhoneLogin.Bond.pingMin) : .session
        let claim = Step.act(.claim(.scanned, PhoneLogin.Wishes()))
        let approval = [
            claim, .typeNumber(isRight: true), .act(.proveFactor(PhoneFactor(isValid: true))),
        ]
        switch phase {
        case .aborted:
            guard let end = Self.abortion(cause ?? .denied, after: claim, approval) else { return nil }
            steps = end
        case .signedOut:
            guard let end = Self.logout(cause ?? .ended(.revokedByUser)) else { return nil }
            steps = approval + [.collect] + end
        case .failed:
            guard let end = Self.failure(cause ?? .wrongNumber) else { return nil }
            steps = [claim] + end
        case _ where cause != nil: return nil
        case .requested: steps = []
        case .claimed:
            var wishes = PhoneLogin.Wishes()
            wishes.startsByHand = true
            steps = [.act(.claim(.scanned, wishes))]
        case .confirming: steps = [claim]
        case .proving: steps = Array(approval.prefix(2))
        case .approved: steps = approval
        case .signedIn, .completed: steps = approval + [.collect]
        case .deleted: steps = approval + [.collect, .deleteUser]
        }
    }

    private static func abortion(_ cause: PhoneLogin.Cause, after claim: Step, _ approval: [Step]) -> [Step]? {
        switch cause {
        case .denied: [claim, .act(.stop(isReport: false))]
        case .canceled: [claim, .act(.cancel)]
        case .timedOut: [claim, .pass(PhoneLoginRules().inputLifetime)]
        case .notCollected: approval + [.pass(PhoneLoginRules().collectLifetime)]
        case .parentEnded: [claim, .endPhone]
        default: nil
        }
    }

    private static func logout(_ cause: PhoneLogin.Cause) -> [Step]? {
        switch cause {
        case .ended(.revokedByUser): [.act(.stop(isReport: false))]
        case .ended(.loggedOut), .ended(.revokedByAdmin): cause.reason.map { [.endSession($0)] }
        case .parentEnded: [.endPhone]
        case .presenceLost: [.pass(PhoneLogin.Bond.pingMin)]
        default: nil
        }
    }

    private static func failure(_ cause: PhoneLogin.Cause) -> [Step]? {
        switch cause {
        case .wrongNumber: [.typeNumber(isRight: false)]
        case .contested: [.contest]
        case .secondFactorFailed:
            [.typeNumber(isRight: true)]
                + Array(
                    repeating: .act(.proveFactor(PhoneFactor(isValid: false))), count: PhoneLoginRules().factorAttempts)
        case .fault: [.act(.fail)]
        default: nil
        }
    }
}

extension PhoneLogin.Cause {
    /// The reason for which the session of the login ended.
    fileprivate var reason: EndReason? { if case .ended(let reason) = self { reason } else { nil } }
}
