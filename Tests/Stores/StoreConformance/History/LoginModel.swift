import Sessions

/// What the manual says of one login with a phone, written down a second time as plainly as possible: no row, no effects, no
/// transaction. `PhoneLoginHistory` compares it with the real thing.
struct LoginModel: Equatable {
    struct ModelPhone: Equatable {
        let user: Int
        let device: String
        var isAlive = true
    }

    let bond: PhoneLogin.Bond
    let isFactorRequired: Bool
    /// The users that have let the device in before, by their phones.
    let knownTo: Set<Int>
    /// Whether the phone can lead back to the device after a link.
    let leadsBack: Bool
    var phones: [ModelPhone]
    var disabled: Set<Int> = []
    var phase = PhoneLogin.Phase.requested
    var cause: String?
    var claimant: Int?
    var user: Int?
    var arrival: PhoneLogin.Arrival?
    var options = PhoneLogin.Wishes()
    var hasNumber = false
    var wrongFactors = 0
    var inputUntil: Int64
    var collectUntil: Int64 = 0
    var answeredAt: Int64 = 0
    /// Whether the device has its session, and why that is over.
    var isStarted = false
    var sessionEnd: EndReason?

    init(
        bond: PhoneLogin.Bond, isFactorRequired: Bool, knownTo: Set<Int>, leadsBack: Bool, phones: [ModelPhone],
        now: Int64
    ) {
        self.leadsBack = leadsBack
        (self.bond, self.isFactorRequired, self.knownTo) = (bond, isFactorRequired, knownTo)
        (self.phones, inputUntil) = (phones, now + 180)
    }

    /// Whether the account of the session was deleted.
    var isDeleted: Bool { phase == .deleted }
    /// Whether the end of the session leaves its device one that the user knows.
    var leavesDeviceKnown: Bool {
        let ends: [EndReason?] = [nil, .loggedOut, .parentEnded, .presenceLost]
        return ends.contains(sessionEnd)
    }

    var isOver: Bool { [.completed, .aborted, .signedOut, .failed, .deleted].contains(phase) }

    // MARK: Time, and what happens elsewhere

    mutating func pass(to now: Int64) {
        switch phase {
        case .requested, .claimed, .confirming, .proving: if now >= inputUntil { abort("timed_out") }
        case .approved: if now >= collectUntil { abort("not_collected") }
        case .signedIn:
            if let silence = bond.interval, now >= answeredAt + silence.wholeSeconds {
                logOut("presence_lost", .presenceLost)
            }
        case .completed, .aborted, .signedOut, .failed, .deleted: break
        }
    }

    mutating func endPhone(_ index: Int) {
        phones[index].isAlive = false
        guard claimant == index, !isOver else { return }
        if phase == .signedIn { logOut("parent_ended", .parentEnded) } else { abort("parent_ended") }
    }

    mutating func endSession(_ reason: EndReason) {
        guard isStarted, sessionEnd == nil else { return }
        if phase == .signedIn { logOut(reason.rawValue, reason) } else { sessionEnd = reason }
    }

    mutating func delete(_ deleted: Int) {
        for index in phones.indices where phones[index].user == deleted { phones[index].isAlive = false }
        if isStarted, user == deleted, sessionEnd == nil { sessionEnd = .userDeleted }
        if user == deleted {
            // One that waits ends with the session of the phone, before that of the user is noted.
            if !isOver { cause = phase == .signedIn ? "user_deleted" : "parent_ended" }
            phase = .deleted
        } else if let claimant, user == nil, phones[claimant].user == deleted, !isOver {
            abort("parent_ended")
        }
    }

    private mutating func abort(_ word: String) { (phase, cause) = (.aborted, word) }
    private mutating func fail(_ word: String) { (phase, cause) = (.failed, word) }
    private mutating func logOut(_ word: String, _ reason: EndReason) {
        (phase, cause, sessionEnd) = (.signedOut, word, reason)
    }

    // MARK: The phone

    /// What phone `index` gets for an act: a word, `accepted` if it is done.
    mutating func perform(_ act: PhoneLogin.Act, by index: Int, isNumberRight: Bool?, now: Int64) -> String {
        let phone = phones[index]
        if case .claim = act, isOver { return "not_found" }
        if !phone.isAlive || disabled.contains(phone.user) { return "phone" }
        if isOver {
            // A login of one act stays what it was; its session ends if the user says that it was another person.
            guard case .stop(isReport: true) = act, phase == .completed, let claimant, isStarted,
                sessionEnd == nil, phones[claimant].user == phone.user, phones[claimant].device == phone.device
            else { return "session_terminated" }
            sessionEnd = .notMe
            return "accepted"
        }
        if case .claim(let arrival, let options) = act { return claim(index, arrival, options, now: now) }
        let isVisible = user == phone.user || claimant.map { phones[$0].user == phone.user } == true
        if case .adopt(let factor) = act {
            if phase != .signedIn { return "not_awaited" }
            if user != phone.user { return isVisible ? "not_claimant" : "not_found" }
            if claimant == index { return "accepted" }
            if !factor.isValid { return "wrong_second_factor/0" }
            (claimant, answeredAt) = (index, now)
            return "accepted"
        }
        if claimant != index { return isVisible ? "not_claimant" : "not_found" }
        switch act {
        case .start:
            if phase == .claimed { open() } else if phase == .approved || phase == .signedIn { return "not_awaited" }
        case .confirm:
            if phase != .confirming { return "not_awaited" }
            if let wrong = check(isNumberRight) { return wrong }
            user = phone.user
            if takesFactor { phase = .proving } else { approve(now) }
        case .proveFactor(let factor): return prove(factor, phone.user, isNumberRight, now)
        case .stop(let isReport):
            if phase != .signedIn {
                abort("denied")
            } else {
                logOut("revoked_by_user", isReport ? .notMe : .revokedByUser)
            }
        case .ping:
            if phase == .signedIn, let silence = bond.interval, (now - answeredAt) * 4 >= silence.wholeSeconds {
                answeredAt = now
            }
        default: break
        }
        return "accepted"
    }

    private mutating func claim(
        _ index: Int, _ arrival: PhoneLogin.Arrival, _ options: PhoneLogin.Wishes, now: Int64
    ) -> String {
        if claimant == index { return "accepted" }
        if arrival == .linked, !leadsBack { return claimantOrStranger(index) }
        if let claimant, phones[claimant].device != phones[index].device {
            if phase == .approved || phase == .signedIn { return "taken" }
            fail("contested")
            return "contested"
        }
        if user != nil { return "taken" }
        let isFirst = claimant == nil
        (claimant, self.options) = (index, options)
        if isFirst {
            (self.arrival, inputUntil, phase) = (arrival, now + 180, .claimed)
            if !options.startsByHand { open() }
        } else if phase != .claimed {
            phase = firstInput
        }
        return "accepted"
    }

    /// The refusal of a phone that has no part in the login: another one of the user may see it.
    private func claimantOrStranger(_ index: Int) -> String {
        let isVisible = user == phones[index].user || claimant.map { phones[$0].user == phones[index].user } == true
        return isVisible ? "not_claimant" : "not_found"
    }

    private var needsNumber: Bool { arrival == .scanned || arrival == .pushed }
    private var takesFactor: Bool {
        !needsNumber || !isKnown || options.demandsSecondFactor || isFactorRequired
    }
    private var isKnown: Bool { claimant.map { knownTo.contains(phones[$0].user) } ?? false }
    private var firstInput: PhoneLogin.Phase { options.skipsConfirmation && takesFactor ? .proving : .confirming }

    private mutating func open() { (phase, hasNumber) = (firstInput, needsNumber) }
    private mutating func approve(_ now: Int64) { (phase, collectUntil) = (.approved, now + 60) }

    private mutating func check(_ isRight: Bool?) -> String? {
        if !hasNumber || isRight == true { return nil }
        if isRight == nil { return "number_required" }
        fail("wrong_number")
        return "wrong_number"
    }

    private mutating func prove(_ factor: PhoneFactor, _ owner: Int, _ isRight: Bool?, _ now: Int64) -> String {
        if phase != .proving { return "not_awaited" }
        if user == nil || factor.number != nil, let wrong = check(isRight) { return wrong }
        if !factor.isValid {
            wrongFactors += 1
            if wrongFactors == 3 { fail("second_factor_failed") }
            return "wrong_second_factor/\(3 - wrongFactors)"
        }
        user = owner
        approve(now)
        return "accepted"
    }

    // MARK: The device

    mutating func cancel() -> String {
        if isOver { return "session_terminated" }
        if phase == .signedIn { return "spent" }
        abort("canceled")
        return "accepted"
    }

    mutating func collect(isReturned: Bool, now: Int64) -> String {
        if isOver { return "over/\(cause ?? "fault")" }
        if arrival == .linked, !isReturned { return "authorization_pending" }
        if phase == .signedIn { return "spent" }
        guard phase == .approved, let claimant else { return "authorization_pending" }
        if disabled.contains(phones[claimant].user) { return "phone" }
        isStarted = true
        if bond == .none {
            phase = .completed
        } else {
            (phase, answeredAt) = (.signedIn, now)
        }
        return "accepted"
    }
}
