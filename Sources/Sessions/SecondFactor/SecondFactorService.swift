internal import Cryptography
internal import Locks

/// Adds and removes authenticators, makes recovery codes, and says what a user has.
public final class SecondFactorService: UseCase {
    let context: ServiceContext

    /// The service of `context`.
    public init(_ context: ServiceContext) { self.context = context }

    /// A code that a request has brought.
    public func code(_ text: String) -> SecondFactorCode { context.secondFactorCode(text) }

    /// The longest name of an authenticator, in bytes.
    public static let nameLengthMax = 64

    /// What a user has.
    public struct Overview: Sendable {
        /// The confirmed authenticators, in the order of their confirmation.
        public let factors: [TOTPFactor]
        /// The recovery codes that are left.
        public let codesLeft: Int
        /// Whether too many wrong codes block the authenticators.
        public let isBlocked: Bool
        /// What an admin has decided for the user; nil: nothing.
        public let requirement: UserDetails.SecondFactorRequirement?
    }

    /// What the user has.
    public func overview(of userID: Identifier<User>) async throws(ServiceError) -> Overview {
        let (details, factors, codes) = try await inStore(await store.factorRows(of: userID))
        return Overview(
            factors: factors.filter { $0.confirmedAt != nil }.sorted { $0.createdAt < $1.createdAt },
            codesLeft: codes.count { $0.usedAt == nil },
            isBlocked: details.map(context.secondFactorRules.isBlocked) ?? false, requirement: details?.secondFactor)
    }

    /// Seals the seeds again that an older root key has sealed. Returns their number. One walk through all rows is enough for as long
    /// as this process runs, because new seeds are sealed with the first key.
    public func resealSeeds() async throws(ServiceError) -> Int {
        let seeds = context.totpSeeds
        guard seeds.hasOlderKeys, !seeds.areResealed.withLock({ $0 }) else { return 0 }
        var (count, cursor) = (0, Identifier<TOTPFactor>?.none)
        while true {
            let part = try await inStore(await store.totpFactors(after: cursor, limit: 200))
            for factor in part {
                guard let changed = seeds.resealed(factor) else { continue }
                if try await inStore(await store.reseal(changed, instead: factor.sealedSeed)) { count += 1 }
            }
            guard part.count == 200, let last = part.last else { break }
            cursor = last.id
        }
        seeds.areResealed.withLock { $0 = true }
        return count
    }

    // MARK: Authenticators

    /// An authenticator that was added and is not confirmed yet, with its seed. The seed is shown this once.
    public struct Enrolment: Sendable {
        /// The authenticator.
        public let factor: TOTPFactor
        /// The seed in base32.
        public let secret: String
        /// The address that an authenticator app takes over.
        public let uri: String
    }

    /// Adds an authenticator that the user confirms by a code. A session by recovery code may do it, because it replaces what was
    /// lost.
    public func add(
        name: String?, in current: AuthenticatedSession
    ) async throws(ServiceError) -> Enrolment {
        try await add(name: name, to: current.user, in: current.session)
    }

    /// Adds an authenticator in the session of a browser, or of an app.
    public func add(
        name: String?, to user: User, in session: Session
    ) async throws(ServiceError) -> Enrolment {
        if session.isByRecoveryCode {
            let requirement = PresenceRequirement.ofChanges
            guard requirement.isMet(by: session, at: context.clock.now) else {
                throw .insufficientUserAuthentication(requirement.asked(of: user, in: session))
            }
        } else {
            try await requireGuard(session, of: user)
        }
        return try await insert(name: name, of: user, isFirst: false)
    }

    /// Adds the authenticator of a user that cannot log in without one, after the right password.
    public func add(name: String?, toLoginOf user: User, in clientID: String) async throws(ServiceError) -> Enrolment {
        let client = try await inStore(await store.client(clientID))
        let catalogue = try await inStore(await store.settings())
        let (details, _, _) = try await inStore(await store.factorRows(of: user.id))
        let policy = catalogue.secondFactorPolicy(for: client).applied(to: details?.secondFactor)
        guard policy.demandsFactor else {
            throw .conflict(code: "second_factor_not_required", detail: "the login needs no second factor")
        }
        return try await insert(name: name, of: user, isFirst: true)
    }

    /// - Parameter isFirst: whether the user must have no second factor: a password alone adds none to others.
    private func insert(name: String?, of user: User, isFirst: Bool) async throws(ServiceError) -> Enrolment {
        if let name, !Text.isValid(name, lengthMax: Self.nameLengthMax) {
            throw .invalid(
                member: "name", detail: "must have 1 to \(Self.nameLengthMax) bytes and no control characters")
        }
        let (now, id) = (context.clock.now, Identifier<TOTPFactor>(random: context.random))
        let seed = context.random.bytes(TOTP.seedCount)
        let factor = TOTPFactor(
            id: id, userID: user.id, name: name ?? "Authenticator",
            sealedSeed: context.totpSeeds.seal(seed, of: id, user.id), createdAt: now)
        let rules = context.secondFactorRules
        let outcome = try await inStore(
            await store.insert(factor) { user, factors in
                if user.isAnonymous {
                    return .conflict(
                        code: "user_is_anonymous", detail: "an anonymous user needs a name before an authenticator")
                }
                if isFirst, factors.hasAuthenticator || factors.hasPasskey {
                    return .conflict(code: "second_factor_exists", detail: "the user has a second factor already")
                }
                // The account could be that of a stranger with a planted address; the owner would be locked out.
                if !isFirst, user.profile.email != nil, !user.profile.isEmailVerified, !factors.hasPasskey {
                    return .conflict(
                        code: "email_not_verified", detail: "the e-mail address has to be verified before")
                }
                if factors.factors.count(where: { $0.confirmedAt != nil }) >= rules.countMax {
                    return .conflict(
                        code: "too_many_factors", detail: "the user has \(rules.countMax) authenticators; remove one")
                }
                return nil
            })
        guard let outcome else { throw .notFound("user") }
        try outcome.get()
        return Enrolment(
            factor: factor, secret: Base32.encode(seed),
            uri: TOTP.uri(seed: seed, issuer: issuerName, account: user.shownUsername ?? user.id.description))
    }

    /// The host of the issuer, by which an authenticator app names the account.
    private var issuerName: String {
        let rest = context.issuer.drop { $0 != ":" }.drop { $0 == ":" || $0 == "/" }
        return String(rest.prefix { $0 != "/" })
    }

    /// A confirmed authenticator.
    public struct Confirmation: Sendable {
        /// The authenticator.
        public let factor: TOTPFactor
        /// The first recovery codes of the user, shown this once; nil: the user has some already.
        public let recoveryCodes: [String]?
    }

    /// Confirms an authenticator by one of its codes, which is used up. The first authenticator comes with recovery codes.
    public func confirm(
        _ id: Identifier<TOTPFactor>, code: String, of userID: Identifier<User>, in session: Session,
        from origin: Origin
    ) async throws(ServiceError) -> Confirmation {
        let (now, code) = (context.clock.now, context.secondFactorCode(code))
        let made = (0..<RecoveryCodeText.setCount).map { _ in RecoveryCodeText(random: context.random) }
        let outcome = try await inStore(
            await store.confirm(id, of: userID, in: session.id, made, by: origin, at: now) {
                factors -> Result<TOTPFactor, ServiceError> in
                guard let known = factors.factors.first(where: { $0.id == id }) else {
                    return .failure(.notFound("authenticator"))
                }
                if known.confirmedAt != nil { return .success(known) }
                switch factors.check(code, confirming: id, from: origin, at: now) {
                case .totp, .recoveryCode: break
                case .spent: return .failure(.secondFactor(.wrongCode(clockDiffers: false)))
                case .refused(let error): return .failure(error)
                }
                return factors.factors.first { $0.id == id }.map { .success($0) }
                    ?? .failure(.notFound("authenticator"))
            })
        guard let outcome else { throw .notFound("user") }
        let (factor, isFirst) = try outcome.get()
        return Confirmation(factor: factor, recoveryCodes: isFirst ? made.map(\.text) : nil)
    }

    /// Removes an authenticator of the user. Sessions go on. The last second factor stays while a policy demands one.
    public func remove(
        _ id: Identifier<TOTPFactor>, of user: User, in session: Session, from origin: Origin
    ) async throws(ServiceError) {
        try await requireGuard(session, of: user)
        try await remove(id, of: user.id, isByAdmin: false, from: origin)
    }

    /// Removes an authenticator, or every one.
    func remove(
        _ id: Identifier<TOTPFactor>?, of userID: Identifier<User>, isByAdmin: Bool, from origin: Origin
    ) async throws(ServiceError) {
        let now = context.clock.now
        let outcome = try await inStore(
            await store.removeFactor(id, of: userID, by: origin, at: now) { factors, policy in
                guard !isByAdmin, policy.applied(to: factors.details.secondFactor).demandsFactor else { return nil }
                let others = factors.factors.contains { $0.confirmedAt != nil && $0.id != id }
                return others || factors.hasPasskey
                    ? nil
                    : .conflict(
                        code: "last_second_factor", detail: "a policy demands a second factor, and it is the last")
            })
        guard let outcome else { throw .notFound("user") }
        guard try outcome.get() else { throw .notFound("authenticator") }
    }

    /// Makes new recovery codes. The old ones are worth nothing from then on.
    public func makeRecoveryCodes(
        of user: User, in session: Session, from origin: Origin
    ) async throws(ServiceError) -> [String] {
        try await requireGuard(session, of: user)
        let now = context.clock.now
        let made = (0..<RecoveryCodeText.setCount).map { _ in RecoveryCodeText(random: context.random) }
        let hasFactor = try await inStore(
            await store.replaceRecoveryCodes(of: user.id, made, by: origin, at: now))
        switch hasFactor {
        case nil: throw .notFound("user")
        case false?: throw .secondFactorMissing
        case true?: return made.map(\.text)
        }
    }
}

extension UseCase {
    /// Throws unless the user of the session has authenticated within the last five minutes: with two factors, if there is an
    /// authenticator, because a stolen session must not change how the account is guarded.
    func requireGuard(_ session: Session, of user: User) async throws(ServiceError) {
        let requirement = try await guardRequirement(of: user.id)
        guard requirement.isMet(by: session, at: context.clock.now) else {
            throw .insufficientUserAuthentication(requirement.asked(of: user, in: session))
        }
    }

    /// Throws if the user has an authenticator, and the session no two factors of the last five minutes.
    func requireSecondFactor(_ session: Session, of user: User) async throws(ServiceError) {
        let requirement = try await guardRequirement(of: user.id)
        guard requirement == .ofChanges || requirement.isMet(by: session, at: context.clock.now) else {
            throw .insufficientUserAuthentication(requirement.asked(of: user, in: session))
        }
    }

    /// What guarded changes of the user demand.
    func guardRequirement(of userID: Identifier<User>) async throws(ServiceError) -> PresenceRequirement {
        let factors = try await inStore(await store.factorRows(of: userID)).1
        return factors.contains { $0.confirmedAt != nil } ? .secondFactorOfChanges : .ofChanges
    }
}
