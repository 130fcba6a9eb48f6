// The one place where the start of a session meets its second factor: every way in passes through it.

/// Why a login or a proof lacks its second factor.
public enum SecondFactorRefusal: Hashable, Sendable {
    /// The first proof was right; a second factor is missing.
    case required(SecondFactorDemand)
    /// The code is wrong, or was used before.
    ///
    /// - Parameter clockDiffers: whether it is the code of another time within ten minutes.
    case wrongCode(clockDiffers: Bool)
    /// Too many wrong codes: no code of an authenticator is taken.
    case blocked
    /// This way in takes no second factor, and the policy demands one.
    case noWay
}

/// What a login demands beside its first proof.
public struct SecondFactorDemand: Hashable, Sendable {
    /// A way to meet it.
    public enum Way: String, CaseIterable, Sendable {
        case totp
        case passkey
        case recoveryCode = "recovery_code"
    }

    /// The ways that the user has; none: an authenticator is added first.
    public let ways: [Way]
    /// The sealed first step, for the second one; nil: the first proof comes again beside the code.
    public var loginToken: String?

    /// Whether the user adds an authenticator first.
    public var enrols: Bool { ways.isEmpty }
}

extension EnrolledFactors {
    /// What a login asks for.
    struct Admission {
        /// How the user has authenticated.
        let method: SecondFactorDecision.Method
        /// The policy of settings and client.
        let policy: SecondFactorPolicy
        /// The code that came beside the first proof.
        var code: SecondFactorCode?
        /// Whether the user is made together with the session.
        var isNew = false
        /// Whether the request demands two factors (`acr_values=mfa`).
        var demandsMultiFactor = false
        /// Whether the request repeats one that was granted.
        var isRetry = false
        /// Whether the login was admitted before, on the page: it is not asked again.
        var isAdmitted = false
    }

    /// The authentication methods of the session with its mark, or the refusal. Methods with a mark come from a login that was
    /// admitted before: on the page, or in the session of a browser.
    mutating func admit(
        _ methods: [String], _ asked: Admission, from origin: Origin, at now: Instant
    ) -> Result<[String], ServiceError> {
        if methods.contains(where: SecondFactorMark.isMark) { return .success(methods) }
        var decision = decide(asked, beside: .nothing)
        if asked.demandsMultiFactor, case .start = decision, !asked.method.isMultiFactor {
            decision = !asked.method.takesCode ? .refuse : hasAuthenticator || hasPasskey ? .ask : .enrol
        }
        if let code = asked.code, asked.method.takesCode, hasAuthenticator || decision == .enrol {
            let check = check(
                code, isEnrolling: decision == .enrol, isRetry: asked.isRetry, from: origin, at: now)
            switch check {
            case .refused(let error): return .failure(error)
            case .spent: return .failure(.secondFactor(.wrongCode(clockDiffers: false)))
            case .totp: return answer(decide(asked, beside: .totp), methods + ["otp"], at: now)
            case .recoveryCode: return answer(decide(asked, beside: .recoveryCode), methods, at: now)
            }
        }
        if asked.method == .passkey { forgetWrong() }
        if asked.isAdmitted, decision == .ask { return .success(methods) }
        return answer(decision, methods, at: now, addsMark: asked.method != .passkey)
    }

    private func decide(
        _ asked: Admission, beside second: SecondFactorDecision.Second
    ) -> SecondFactorDecision {
        .decide(
            asked.method, beside: second, policy: asked.policy,
            of: SecondFactorDecision.Standing(
                hasAuthenticator: hasAuthenticator, hasPasskey: hasPasskey, requirement: details.secondFactor,
                isNew: asked.isNew))
    }

    /// - Parameter addsMark: false for a passkey, because its methods say it themselves.
    private func answer(
        _ decision: SecondFactorDecision, _ methods: [String], at now: Instant, addsMark: Bool = true
    ) -> Result<[String], ServiceError> {
        switch decision {
        case .start(let mark):
            return .success(methods + (mark.flatMap { addsMark ? [$0.word(at: now)] : nil } ?? []))
        case .ask:
            let ways: [SecondFactorDemand.Way] =
                (hasAuthenticator ? [.totp] : []) + (hasPasskey ? [.passkey] : [])
                + (hasAuthenticator && codesLeft > 0 ? [.recoveryCode] : [])
            return .failure(.secondFactor(.required(SecondFactorDemand(ways: ways))))
        case .enrol: return .failure(.secondFactor(.required(SecondFactorDemand(ways: []))))
        case .refuse: return .failure(.secondFactor(.noWay))
        }
    }
}

extension SecondFactorDecision.Method {
    /// The method of a login; nil: a backend or an admin vouches for the user.
    init(_ method: Client.LoginMethod?) {
        switch method {
        case nil: self = .backend
        case .password?: self = .password
        case .passkey?: self = .passkey
        case .phone?: self = .phone
        case .email?: self = .email
        case .provider?: self = .provider
        case .anonymous?: self = .anonymous
        case .invitation?: self = .invitation
        }
    }
}

extension PageLoginCompletion {
    /// The authentication methods of a login on the page with its mark, or why it is not completed. The session of the browser
    /// answers with the mark that it has.
    ///
    /// - Parameter request: the request of the login; nil: no app has asked.
    mutating func admit(
        _ authentication: PageLoginService.Authentication, in browser: PageLoginService.Browser,
        for request: AuthorizationRequest?, by policy: RefreshPolicy, from origin: Origin, at now: Instant
    ) -> Result<[String], ServiceError> {
        var (methods, method) = (authentication.methods(at: now), authentication.method)
        if case .session = authentication {
            guard let request, let shown = browser.handle,
                let (session, past) = reusable(shown, for: request, by: policy, at: now)
            else { return .failure(.invalidCredentials) }
            (methods, method) = (past.methods.withoutMarks, past.method)
            // A passkey says itself that it is two factors, and makes no two of an earlier password.
            let isOfCode = session.authenticationMethods.contains("otp") || session.multiFactorAt == nil
            if past.method?.provider != nil || past.method == .password && isOfCode {
                methods += session.authenticationMethods.filter(SecondFactorMark.isMark)
            }
        }
        return admit(methods, method, browser.code, for: request, from: origin, at: now)
    }

    /// As above, without a browser that could have a session or a code.
    mutating func admit(
        _ authentication: PageLoginService.Authentication, for request: AuthorizationRequest, from origin: Origin,
        at now: Instant
    ) -> Result<[String], ServiceError> {
        admit(
            authentication.methods(at: now), authentication.method, nil, for: request, from: origin, at: now)
    }

    private mutating func admit(
        _ methods: [String], _ method: Client.LoginMethod?, _ code: SecondFactorCode?,
        for request: AuthorizationRequest?, from origin: Origin, at now: Instant
    ) -> Result<[String], ServiceError> {
        // The request demands two factors if the way alone is none of the words that it takes.
        let own = method.map(AuthenticationContext.all(of:)) ?? []
        let demandsMultiFactor = request?.contexts.map {
            $0.contains(.multiFactor) && !$0.contains(where: own.contains)
        }
        let asked = EnrolledFactors.Admission(
            method: SecondFactorDecision.Method(method), policy: settings.secondFactorPolicy(for: client), code: code,
            isNew: arrival == .new, demandsMultiFactor: demandsMultiFactor ?? false)
        return factors.admit(methods, asked, from: origin, at: now)
    }
}

extension SessionOpening {
    /// The authentication methods of the session with its mark, or why there is no session.
    ///
    /// - Parameter authenticated: the authentication, if it was before, and was admitted then; nil: now.
    mutating func admit(
        _ methods: [String], by method: Client.LoginMethod?, _ request: SessionRequest, _ requestKey: UInt64?,
        _ authenticated: Authentication?, from origin: Origin, at now: Instant
    ) -> Result<[String], ServiceError> {
        // The session, new or continued, shows when an earlier attempt of the request was admitted.
        let admittedAt = previous.flatMap { $0.multiFactorAt ?? $0.startedAt }
        let isRetry =
            requestKey != nil && previous?.childRequestKey == requestKey
            && admittedAt.map { now - $0 < SessionRequest.retryWindow } ?? false
        let asked = EnrolledFactors.Admission(
            method: SecondFactorDecision.Method(method), policy: settings.secondFactorPolicy(for: client),
            code: request.code, isNew: arrival == .new, isRetry: isRetry, isAdmitted: authenticated != nil)
        return factors.admit(methods, asked, from: origin, at: now)
    }
}
