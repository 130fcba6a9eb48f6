import SojournClient

/// A login with a phone in `FakeServer`. Times are milliseconds since 1970.
struct FakeLogin {
    /// The phone that has claimed the login.
    struct Claim {
        var sessionID: String
        var userID: String
        var clientID: String
        var deviceID: String
        /// `scanned`, `linked`, `pushed` or `in_app`.
        var arrival: String
        var startsByHand = false
        var skipsConfirmation = false
        var demandsSecondFactor = false
        /// Whether the rule of the phone's session asks for its user now.
        var isPresenceDue = false
    }

    var id: String
    var kind = "device"
    var request = TestLoginRequest()
    /// The users that have let the device in before, by their phones.
    var knownUsers: Set<String> = []
    var startedAt: Int64
    var inputUntil: Int64
    var status = LoginStatus(.starting)
    var claim: Claim?
    var number: Int?
    var userID: String?
    var wrongFactors = 0
    var collectUntil: Int64?
    var answeredAt: Int64?
    var endedAt: Int64?
    var webNonce: String?
    /// The session of the device.
    var startedID: String?
    /// The answers to acts by their `Idempotency-Key`; an empty word is no refusal.
    var answered: [String: (word: String, left: Int?)] = [:]

    /// The digits of the codes.
    static let letters = Array("ABCDEFGHIJ")
    static let inputSeconds: Int64 = 180
    static let collectSeconds: Int64 = 60
    static let nonceSeconds: Int64 = 30
    static let factorAttempts = 3

    var isLoggedIn: Bool { status.state == .active && status.history == .loggedIn }

    /// A text that changes with what the phone may see.
    var version: String { "\(status) \(wrongFactors) \(claim?.sessionID ?? "")" }

    /// A word of refusal, and how many wrong second factors are left.
    struct Refused: Error {
        var word: String
        var left: Int?
        init(_ word: String, left: Int? = nil) { (self.word, self.left) = (word, left) }

        /// The answer of the server.
        var answer: HTTPAnswer {
            let statuses = [
                "not_found": 404, "not_claimant": 403, "wrong_second_factor": 403, "wrong_pin": 403, "pin_locked": 403,
                "number_required": 400,
            ]
            var answer = HTTPAnswer.problem(statuses[word] ?? 409, word)
            if let left, var problem = JSONValue(parsing: answer.body)?.members {
                problem["attempts_left"] = .integer(Int64(left))
                answer.body = JSONValue.object(problem).bytes
            }
            return answer
        }
    }

    /// Ends what time has ended.
    mutating func expire(at now: Int64, isPhoneAlive: Bool) {
        if status.isFinal { return }
        if status.awaitsInput, now >= inputUntil { return end(.done, .aborted, "timed_out", now) }
        if let collectUntil, status.history == .fail, now >= collectUntil {
            return end(.done, .aborted, "not_collected", now)
        }
        guard claim != nil else { return }
        if !isPhoneAlive { return losePhone("parent_ended", now) }
        if isLoggedIn, case .ping(let seconds) = request.bond, let answeredAt, now >= answeredAt + seconds * 1000 {
            losePhone("presence_lost", now)
        }
    }

    mutating func losePhone(_ cause: String, _ now: Int64) {
        end(.done, isLoggedIn ? .loggedOut : .aborted, cause, now)
    }

    mutating func end(_ state: LoginStatus.State, _ history: LoginStatus.History, _ cause: String?, _ now: Int64) {
        status = LoginStatus(state, history: history, cause: cause)
        endedAt = now
    }

    /// The first phone gets the login; a second one ends it. Another account of the first one takes its place.
    mutating func claim(_ new: Claim, number: Int, at now: Int64) throws(Refused) {
        if claim?.sessionID == new.sessionID { return }
        if kind == "app" { throw Refused("not_claimant") }
        if new.arrival == "linked", request.returnURI == nil { throw Refused("not_found") }
        if let claim, claim.deviceID != new.deviceID || claim.clientID != new.clientID {
            if status.state == .active { throw Refused("taken") }
            end(.error, .error, "contested", now)
            throw Refused("contested")
        }
        if userID != nil { throw Refused("taken") }
        let isFirst = claim == nil
        claim = new
        if isFirst {
            inputUntil = now + Self.inputSeconds * 1000
            status = LoginStatus(.readyForUserInteraction)
            if !new.startsByHand { open(number) }
        } else if status.state != .readyForUserInteraction {
            status = LoginStatus(.waitingForUserInput, firstInput)
        }
    }

    /// Asks the user, and shows the number on the other device.
    mutating func open(_ number: Int) {
        guard status.state == .starting || status.state == .readyForUserInteraction else { return }
        status = LoginStatus(.waitingForUserInput, firstInput)
        if needsNumber { self.number = number }
    }

    var needsNumber: Bool { claim?.arrival == "scanned" || claim?.arrival == "pushed" }

    private var firstInput: LoginStatus.Input {
        if kind == "app" { return .secondFactor }
        return claim?.skipsConfirmation == true && needsFactor ? .secondFactor : .confirmation
    }

    /// Whether a phone of the user has let the device in before.
    var isDeviceKnown: Bool { claim.map { knownUsers.contains($0.userID) } ?? false }

    /// Whether the login takes a second factor.
    var needsFactor: Bool {
        if kind == "app" || !needsNumber || !isDeviceKnown || claim?.demandsSecondFactor == true { return true }
        return request.secondFactor.map { $0 == "required" } ?? (claim?.isPresenceDue == true)
    }

    mutating func confirm(_ typed: Int?, at now: Int64) throws(Refused) {
        guard status.input == .confirmation else { throw Refused("not_awaited") }
        try check(typed, at: now)
        userID = claim?.userID
        if needsFactor { status.input = .secondFactor } else { approve(at: now) }
    }

    private mutating func check(_ typed: Int?, at now: Int64) throws(Refused) {
        guard let number else { return }
        guard let typed else { throw Refused("number_required") }
        guard typed == number else {
            end(.error, .error, "wrong_number", now)
            throw Refused("wrong_number")
        }
    }

    /// - Parameter pin: compares a PIN, which counts wrong ones itself; nil: another factor.
    mutating func prove(
        isValid: Bool, number typed: Int?, pin: (() -> Refused?)? = nil, at now: Int64
    ) throws(Refused) {
        guard status.input == .secondFactor else { throw Refused("not_awaited") }
        if userID == nil || typed != nil { try check(typed, at: now) }
        if let pin {
            if let refused = pin() { throw refused }
        } else if !isValid {
            wrongFactors += 1
            let left = max(Self.factorAttempts - wrongFactors, 0)
            if left == 0 { end(.error, .error, "second_factor_failed", now) }
            throw Refused("wrong_second_factor", left: left)
        }
        userID = claim?.userID
        approve(at: now)
        if kind == "app" { webNonce = "nonce-\(id)" }
    }

    private mutating func approve(at now: Int64) {
        status = LoginStatus(.active)
        collectUntil = now + (kind == "app" ? Self.nonceSeconds : Self.collectSeconds) * 1000
    }

    mutating func stop(at now: Int64) {
        if isLoggedIn { end(.done, .loggedOut, "revoked_by_user", now) } else { end(.done, .aborted, "denied", now) }
    }

    /// Where the app leads the user after the approval of a login that a link began.
    var returnURL: String? {
        guard claim?.arrival == "linked", status == LoginStatus(.active) else { return nil }
        return request.returnURI.map {
            "\($0)\($0.contains("?") ? "&" : "?")login_id=\(id)&return_token=token-\(id)"
        }
    }

    /// The device comes for its session. A login that a link began takes the URL that the phone has opened.
    mutating func collect(_ opened: String?, at now: Int64) -> Bool {
        guard status == LoginStatus(.active), claim?.arrival != "linked" || opened == returnURL else { return false }
        if request.bond == .none {
            end(.done, .loggedInOneShot, nil, now)
        } else {
            status.history = .loggedIn
            answeredAt = now
        }
        return true
    }
}

extension LoginStatus {
    /// The state in one word, as the server has it.
    var phase: String {
        switch (history, state) {
        case (.loggedIn, _): "signed_in"
        case (.loggedInOneShot, _): "completed"
        case (.aborted, _): "aborted"
        case (.loggedOut, _): "signed_out"
        case (.deleted, _): "deleted"
        case (.error, _), (.fail, .done), (.fail, .error): "failed"
        case (.fail, .starting): "requested"
        case (.fail, .readyForUserInteraction): "claimed"
        case (.fail, .waitingForUserInput): input == .secondFactor ? "proving" : "confirming"
        case (.fail, .active): "approved"
        }
    }
}
