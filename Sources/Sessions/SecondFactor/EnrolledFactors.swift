internal import Cryptography

/// The bounds of second factors.
public struct SecondFactorRules: Hashable, Sendable {
    /// After how many wrong codes in a row the next one has to wait.
    public var wrongBeforeWait = 10
    /// After how many wrong codes in a row no code of an authenticator is taken any more.
    public var wrongBeforeBlock = 50
    /// How long a code has to wait.
    public var wait = Duration.seconds(900)
    /// The authenticators that a user can have.
    public var countMax = 5
    /// How long an authenticator can be confirmed after it was added.
    public static let confirmationLifetime = Duration.seconds(600)

    /// The default rules.
    public init() {}

    /// Whether a code of an authenticator is taken after so many wrong ones; nil: it is, else why not.
    func refusal(after details: UserDetails, at now: Instant) -> ServiceError? {
        if isBlocked(details) { return .secondFactor(.blocked) }
        guard details.wrongFactors > 0, details.wrongFactors.isMultiple(of: max(wrongBeforeWait, 1)),
            let last = details.wrongFactorAt, now < last + wait
        else { return nil }
        return .tooManyRequests(retryAfter: last + wait - now)
    }

    /// Whether no code of an authenticator is taken until a recovery code, a passkey or an admin.
    public func isBlocked(_ details: UserDetails) -> Bool { details.wrongFactors >= max(wrongBeforeBlock, 1) }
}

/// A code of a second factor as it came, with what its check needs.
public struct SecondFactorCode: Sendable {
    let text: String
    let seeds: TOTPSeeds
    let rules: SecondFactorRules

    /// The characters that a code can have.
    public static let lengthMax = 64
}

extension ServiceContext {
    /// A code that a request has brought.
    func secondFactorCode(_ text: String) -> SecondFactorCode {
        SecondFactorCode(text: text, seeds: totpSeeds, rules: secondFactorRules)
    }
}

/// The second factors of a user inside a transaction: the rows that were read for update, and what a check changes.
public struct EnrolledFactors: Sendable {
    /// What is written only if the login or act is granted.
    private(set) var granted: [Write] = []
    /// What is written in any case, because a wrong code counts.
    var details: UserDetails
    private let known: UserDetails
    /// The authenticators, also those that are not confirmed yet.
    public private(set) var factors: [TOTPFactor]
    /// The recovery codes, used ones too.
    public private(set) var codes: [RecoveryCode]
    /// Whether the user has a passkey of this server.
    public let hasPasskey: Bool
    /// Whether a retry has brought a code that was used before. It repeats a login, and begins none.
    private(set) var hasSpentCode = false
    /// The events of the transaction.
    var events: [AuditEvent] = []

    enum Write: Sendable {
        case factor(TOTPFactor)
        case code(RecoveryCode)
        case forgetWrong
        case event(AuditEvent)
    }

    /// The rows of a user.
    public init(
        details: UserDetails, factors: [TOTPFactor] = [], codes: [RecoveryCode] = [], hasPasskey: Bool = false
    ) {
        (self.details, known, self.factors, self.codes) = (details, details, factors, codes)
        self.hasPasskey = hasPasskey
    }

    /// Whether there is a confirmed authenticator.
    public var hasAuthenticator: Bool { factors.contains { $0.confirmedAt != nil } }

    /// The recovery codes that are left.
    public var codesLeft: Int { codes.count { $0.usedAt == nil } }

    /// The details, if they have to be written; `isGranted`: whether the login or act took place.
    func changedDetails(isGranted: Bool) -> UserDetails? {
        var written = details
        for case .forgetWrong in granted where isGranted { (written.wrongFactors, written.wrongFactorAt) = (0, nil) }
        return written == known ? nil : written
    }

    /// What a code has turned out to be.
    enum Check: Hashable, Sendable {
        case totp
        case recoveryCode
        /// The code of an authenticator that was used before. It proves nothing, and is no guess.
        case spent
        case refused(ServiceError)
    }

    /// Checks a code, and notes its use or its failure. The same function serves login, presence and enrolment.
    ///
    /// - Parameters:
    ///   - only: the authenticator that is confirmed by the code; nil: any confirmed one, or a recovery code.
    ///   - isEnrolling: whether a factor that is not confirmed yet is taken, and confirmed by the code.
    ///   - isRetry: whether the request repeats a granted one with a lost answer, so that its code is used.
    mutating func check(
        _ code: SecondFactorCode, confirming only: Identifier<TOTPFactor>? = nil, isEnrolling: Bool = false,
        isRetry: Bool = false, from origin: Origin, at now: Instant
    ) -> Check {
        if only == nil, !isEnrolling, let recovery = RecoveryCodeText(code.text) {
            return check(recovery, isRetry: isRetry, from: origin, at: now)
        }
        if let refusal = code.rules.refusal(after: details, at: now) { return .refused(refusal) }
        let text = code.text.filter { $0 != " " && $0 != "-" }
        var (clockDiffers, isSpent) = (false, false)
        for factor in factors where isTaken(factor, only, isEnrolling, at: now) {
            guard let seed = code.seeds.open(factor),
                let totp = TOTP(algorithm: factor.algorithm, digits: factor.digits, period: Int64(factor.period))
            else { continue }
            switch totp.match(text, seed: seed, at: now, after: factor.lastStep) {
            case .step(let step):
                use(factor, step, from: origin, at: now)
                return .totp
            case .spent where isRetry:
                hasSpentCode = true
                return .totp
            case .spent: isSpent = true
            case .wrong(let differs): clockDiffers = clockDiffers || differs
            }
        }
        if isSpent { return .spent }
        countWrong(code.rules, from: origin, at: now)
        return .refused(.secondFactor(.wrongCode(clockDiffers: clockDiffers)))
    }

    private func isTaken(
        _ factor: TOTPFactor, _ only: Identifier<TOTPFactor>?, _ isEnrolling: Bool, at now: Instant
    ) -> Bool {
        if let only, factor.id != only { return false }
        if factor.confirmedAt != nil { return only == nil && !isEnrolling }
        return (only != nil || isEnrolling) && now < factor.createdAt + SecondFactorRules.confirmationLifetime
    }

    private mutating func use(_ factor: TOTPFactor, _ step: Int64, from origin: Origin, at now: Instant) {
        var used = factor
        (used.lastStep, used.lastUsedAt) = (step, now)
        if used.confirmedAt == nil {
            used.confirmedAt = now
            granted.append(
                .event(AuditEvent(.secondFactorAdded, at: now, by: origin, userID: used.userID, reason: used.label)))
        }
        granted += [.factor(used), .forgetWrong]
        factors = factors.map { $0.id == used.id ? used : $0 }
    }

    private mutating func check(
        _ code: RecoveryCodeText, isRetry: Bool, from origin: Origin, at now: Instant
    ) -> Check {
        let hash = code.hash(of: details.userID)
        guard let index = codes.firstIndex(where: { $0.hash == hash }), codes[index].usedAt == nil || isRetry else {
            // 120 bits are not guessed, so that neither wait nor block keeps the owner from a right one.
            events.append(.wrongSecondFactor(of: details.userID, at: now, by: origin))
            return .refused(.secondFactor(.wrongCode(clockDiffers: false)))
        }
        if codes[index].usedAt == nil {
            codes[index].usedAt = now
            granted += [
                .code(codes[index]), .forgetWrong,
                .event(
                    AuditEvent(
                        .recoveryCodeUsed, at: now, by: origin, userID: details.userID, reason: "left \(codesLeft)")),
            ]
        } else {
            hasSpentCode = true
        }
        return .recoveryCode
    }

    private mutating func countWrong(_ rules: SecondFactorRules, from origin: Origin, at now: Instant) {
        details.wrongFactors += 1
        details.wrongFactorAt = now
        events.append(.wrongSecondFactor(of: details.userID, at: now, by: origin))
        if details.wrongFactors == rules.wrongBeforeBlock {
            events.append(AuditEvent(.secondFactorBlocked, at: now, by: origin, userID: details.userID))
        }
    }

    /// Forgets wrong codes, because a passkey has proved the user.
    mutating func forgetWrong() { if details.wrongFactors > 0 { granted.append(.forgetWrong) } }
}

extension TOTPFactor {
    /// How events name the factor: never by what the user typed.
    var label: String { "totp \(id.description.prefix(8))" }
}

extension AuditEvent {
    fileprivate static func wrongSecondFactor(
        of userID: Identifier<User>, at now: Instant, by origin: Origin
    ) -> AuditEvent {
        AuditEvent(.loginFailed, at: now, by: origin, userID: userID, reason: "wrong_second_factor")
    }
}

extension StoreTransaction {
    /// The second factors of a user, for update. The user's row is locked before. Recovery codes and passkeys are read only if a
    /// second factor can be asked for.
    func enrolledFactors(
        of userID: Identifier<User>, under policy: SecondFactorPolicy
    ) throws(TransactionError) -> EnrolledFactors {
        let (details, factors) = (userDetailsForUpdate(userID), totpFactorsForUpdate(of: userID))
        let (known, enrolled) = (try details.value(), try factors.value())
        guard !enrolled.isEmpty || policy.applied(to: known.secondFactor).demandsFactor else {
            return EnrolledFactors(details: known)
        }
        let (codes, passkeys) = (recoveryCodesForUpdate(of: userID), self.passkeys(of: userID))
        return EnrolledFactors(
            details: known, factors: enrolled, codes: try codes.value(), hasPasskey: !(try passkeys.value().isEmpty))
    }

    /// Writes what a check has changed. Returns its events, for the end of the transaction.
    func write(_ factors: EnrolledFactors, isGranted: Bool) -> [AuditEvent] {
        if let details = factors.changedDetails(isGranted: isGranted) { write(details) }
        var events = factors.events
        for change in factors.granted where isGranted {
            switch change {
            case .factor(let factor): update(factor)
            case .code(let code): write(code)
            case .event(let event): events.append(event)
            case .forgetWrong: break
            }
        }
        return events
    }
}

extension Store {
    /// Lets `change` check or change the second factors of a user. Nil if there is no such user. What a check has counted is written
    /// in any case, everything else only with a success.
    func changeFactors<Value: Sendable>(
        of userID: Identifier<User>,
        _ change: @escaping @Sendable (inout EnrolledFactors) -> Result<Value, ServiceError>
    ) async throws(StoreError) -> Result<Value, ServiceError>? {
        try await write(.sessions(of: userID)) { (transaction) throws(TransactionError) in
            guard try transaction.userForUpdate(.id(userID)).value() != nil else { return nil }
            // The strictest policy, so that all rows are read.
            var factors = try transaction.enrolledFactors(of: userID, under: .required)
            let outcome = change(&factors)
            let isGranted = if case .success = outcome { true } else { false }
            let events = transaction.write(factors, isGranted: isGranted)
            transaction.append(events, try transaction.catalogue().value())
            return outcome
        }
    }
}

extension ServiceError {
    /// The user has no authenticator.
    static let secondFactorMissing = ServiceError.conflict(
        code: "second_factor_missing", detail: "the user has no authenticator; add one first")
}
