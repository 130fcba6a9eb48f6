/// An error answer of the server: a problem (RFC 9457) of the JSON calls, or an error of the token endpoint (RFC 6749 §5.2).
package struct ErrorAnswer: Hashable, Sendable {
    /// The stable word: `reason`, else `code`, else `error`.
    package var word: String
    /// Whether the word is a reason about the session, and not just the `error` of an OAuth endpoint.
    package var isReason: Bool
    /// Nil: the answer says nothing about the session.
    package var reauthenticate: Bool?
    package var detail: String?
    package var member: String?
    /// What the server asks of the user.
    package var requirement: PresenceRequirement
    /// The login that waits for a second factor.
    package var challenge: SecondFactorChallenge?
    package var attemptsLeft: Int?
    package var clockDiffers: Bool

    /// Reads an answer; nil if the body is not an error of the server.
    package init?(parsing body: [UInt8]) {
        guard let members = JSONValue(parsing: body)?.members else { return nil }
        let reason = members.text("reason") ?? members.text("code")
        guard let word = reason ?? members.text("error") else { return nil }
        (self.word, isReason) = (word, reason != nil)
        reauthenticate = members["reauthenticate"]?.bool
        detail = members.text("detail") ?? members.text("error_description")
        member = members.text("member")
        attemptsLeft = members.integer("attempts_left").map { Int(clamping: $0) }
        clockDiffers = members["clock_differs"]?.bool ?? false
        challenge = members["methods"]?.elements.map { methods in
            SecondFactorChallenge(token: members.text("login_token"), methods: methods.compactMap(\.text))
        }
        requirement = PresenceRequirement(
            ways: (members.text("acr_values") ?? "").split(separator: " ").map(String.init),
            maxAge: members.integer("max_age"))
    }

    package func refusal(_ status: Int) -> Refusal {
        Refusal(
            status: status, code: word, detail: detail, member: member, attemptsLeft: attemptsLeft,
            clockDiffers: clockDiffers)
    }
}

extension Verdict where Grant == TokenAnswer {
    /// What `answer` to a renewal or a login means.
    ///
    /// This lists what is final instead of what can be tried again, because everything that is not known has to leave the user
    /// signed in: pages of proxies, statuses of later servers, half an answer. A session ends by two answers only: 400 or 401
    /// as the server's JSON with a reason and `"reauthenticate": true`, and the same for `user_deleted`, where no login helps.
    ///
    /// - Parameter isKeyGone: whether the SDK itself is certain that the key of the session no longer exists. Only then
    ///   `binding_mismatch` is final, because nothing but a login helps.
    package init(of answer: HTTPAnswer, isKeyGone: Bool = false) {
        let unreachable = Self.unreachable(
            Unreachable("status \(answer.status)", status: answer.status, retryAfter: answer.retryAfter))
        switch answer.status {
        case 200:
            self = TokenAnswer(parsing: answer.body).map(Self.granted) ?? unreachable
        case 408, 429: self = unreachable
        case 400..<500:
            guard let error = ErrorAnswer(parsing: answer.body) else {
                self = unreachable
                return
            }
            if error.word == "second_factor_required", let challenge = error.challenge {
                self = .secondFactorRequired(challenge)
                return
            }
            let mayEnd = answer.status == 400 || answer.status == 401
            self = (mayEnd ? Self.ending(error, isKeyGone: isKeyGone) : nil) ?? Self.kept(error, answer.status)
        default: self = unreachable
        }
    }

    /// What `answer` to a call with the access token means for `session`, which nothing renews: an access token that the server no
    /// longer takes is the end of it.
    package init(of answer: HTTPAnswer, about session: StoredSession) {
        if (200..<300).contains(answer.status) {
            self =
                JSONValue(parsing: answer.body)?.members != nil
                ? .granted(TokenAnswer(confirming: session))
                : .unreachable(Unreachable("not an answer of the server", status: answer.status))
            return
        }
        self = Verdict(of: answer)
        if case .refused(let refusal) = self, refusal.status == 401, refusal.code == "invalid_token" {
            self = .ended(.maxLifetimeReached)
        }
    }

    /// The end of the session, if the error is one.
    private static func ending(_ error: ErrorAnswer, isKeyGone: Bool) -> Self? {
        guard error.isReason, let reauthenticate = error.reauthenticate else { return nil }
        let reason = EndReason(rawValue: error.word)
        if reauthenticate || reason == .userDeleted { return .ended(reason) }
        return error.word == "binding_mismatch" && isKeyGone ? .ended(.keyLost) : nil
    }

    /// The meaning of an error that ends nothing.
    private static func kept(_ error: ErrorAnswer, _ status: Int) -> Self {
        switch error.word {
        case "login_disabled_by_user", "login_disabled_by_admin", "device_mismatch", "binding_mismatch":
            .suspended(Suspension(rawValue: error.word))
        case "insufficient_user_authentication": .presenceRequired(error.requirement)
        case "use_dpop_nonce", "invalid_dpop_proof", "invalid_assertion": .signAgain
        case "invalid_client", "unauthorized_client", "login_method_not_allowed", "unsupported_grant_type":
            .misconfigured(error.word, detail: error.detail)
        default: .refused(error.refusal(status))
        }
    }
}

extension HTTPAnswer {
    /// The seconds of `Retry-After`, as a number or as a date beside `Date`.
    package var retryAfter: Int64? {
        guard let value = self["Retry-After"] else { return nil }
        if let seconds = Int64(value) { return seconds < 0 ? nil : min(seconds, RetrySchedule.retryAfterMax) }
        guard let until = HTTPDate.seconds(value), let now = self["Date"].flatMap(HTTPDate.seconds) else { return nil }
        return min(max(until - now, 0), RetrySchedule.retryAfterMax)
    }

    /// Whether the call has succeeded: a 2xx without content or with JSON. A page of a portal is neither.
    var isSuccess: Bool { (200..<300).contains(status) && (body.isEmpty || JSONValue(parsing: body) != nil) }

    /// The server's time, if this is an answer of the server itself: that of the tokens, or `Date` beside another object or an
    /// error of the server. A cache says by `Age` that its `Date` is old.
    package var serverTime: Int64? {
        if let tokens = TokenAnswer(parsing: body), status == 200 { return tokens.issuedAt }
        let isAnswer = (200..<300).contains(status) && JSONValue(parsing: body)?.members != nil
        guard self["Age"] == nil, isAnswer || ErrorAnswer(parsing: body) != nil else { return nil }
        return self["Date"].flatMap(HTTPDate.seconds)
    }
}
