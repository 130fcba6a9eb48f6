// Changes of second factors. The user's row is locked first, so that changes of one user wait for each other.

extension Store {
    /// The details, authenticators and recovery codes of a user.
    func factorRows(
        of userID: Identifier<User>
    ) async throws(StoreError) -> (UserDetails?, [TOTPFactor], [RecoveryCode]) {
        try await read(.short) { (reader) throws(TransactionError) in
            let (details, factors) = (reader.userDetails(userID), reader.totpFactors(of: userID))
            let codes = reader.recoveryCodes(of: userID)
            return (try details.value(), try factors.value(), try codes.value())
        }
    }

    /// Adds an authenticator that is not confirmed, in place of the user's others of that kind, unless `refusal` names an error.
    func insert(
        _ factor: TOTPFactor, _ refusal: @escaping @Sendable (User, EnrolledFactors) -> ServiceError?
    ) async throws(StoreError) -> Result<Void, ServiceError>? {
        try await write(.sessions(of: factor.userID)) { (transaction) throws(TransactionError) in
            guard let user = try transaction.userForUpdate(.id(factor.userID)).value() else { return nil }
            let known = try transaction.enrolledFactors(of: user.id, under: .required)
            if let error = refusal(user, known) { return .failure(error) }
            for old in known.factors where old.confirmedAt == nil {
                _ = try transaction.deleteTOTPFactor(old.id, of: user.id).value()
            }
            transaction.insert(factor)
            return .success(())
        }
    }

    /// Lets `confirm` confirm an authenticator, and writes the recovery codes beside the first one. The session notes the proof.
    func confirm(
        _ id: Identifier<TOTPFactor>, of userID: Identifier<User>, in sessionID: Identifier<Session>,
        _ made: [RecoveryCodeText], by origin: Origin, at now: Instant,
        _ confirm: @escaping @Sendable (inout EnrolledFactors) -> Result<TOTPFactor, ServiceError>
    ) async throws(StoreError) -> Result<(TOTPFactor, isFirst: Bool), ServiceError>? {
        try await write(.sessions(of: userID)) { (transaction) throws(TransactionError) in
            guard try transaction.userForUpdate(.id(userID)).value() != nil else { return nil }
            let session = try transaction.sessionForUpdate(sessionID).value()
            var factors = try transaction.enrolledFactors(of: userID, under: .required)
            let (wasEnrolled, hadCodes) = (factors.hasAuthenticator, !factors.codes.isEmpty)
            let wasConfirmed = factors.factors.contains { $0.id == id && $0.confirmedAt != nil }
            let outcome = confirm(&factors)
            let catalogue = try transaction.catalogue().value()
            guard case .success(let factor) = outcome else {
                transaction.append(transaction.write(factors, isGranted: false), catalogue)
                return outcome.map { ($0, isFirst: false) }
            }
            var events = transaction.write(factors, isGranted: true)
            let isFirst = !wasEnrolled && !hadCodes
            if isFirst {
                for code in made { transaction.write(RecoveryCode(userID: userID, hash: code.hash(of: userID))) }
                events.append(AuditEvent(.recoveryCodesMade, at: now, by: origin, userID: userID))
            }
            // The code is the second proof beside a password or an ID token of the last five minutes. Of a confirmed
            // authenticator no code was checked.
            if !wasConfirmed, var session, session.userID == userID, session.ending == nil,
                let at = session.firstFactorAt, now - at < PresenceRequirement.ageMaxOfChanges
            {
                session.note(.multiFactor, at: now)
                transaction.replace(session)
            }
            transaction.append(events, catalogue)
            return .success((factor, isFirst: isFirst))
        }
    }

    /// Removes an authenticator of a user, or every one with the recovery codes, unless `refusal` names an error. False if the user
    /// has no such one.
    func removeFactor(
        _ id: Identifier<TOTPFactor>?, of userID: Identifier<User>, by origin: Origin, at now: Instant,
        _ refusal: @escaping @Sendable (EnrolledFactors, SecondFactorPolicy) -> ServiceError?
    ) async throws(StoreError) -> Result<Bool, ServiceError>? {
        try await write(.sessions(of: userID)) { (transaction) throws(TransactionError) in
            guard try transaction.userForUpdate(.id(userID)).value() != nil else { return nil }
            let known = try transaction.enrolledFactors(of: userID, under: .required)
            let catalogue = try transaction.catalogue().value()
            let removed = known.factors.filter { $0.id == id ?? $0.id }
            guard !removed.isEmpty else { return .success(false) }
            if let error = refusal(known, catalogue.settings.secondFactorPolicy) { return .failure(error) }
            for factor in removed { _ = try transaction.deleteTOTPFactor(factor.id, of: userID).value() }
            // Codes stand in for an authenticator; without one they open nothing.
            if !known.factors.contains(where: { $0.confirmedAt != nil && !removed.contains($0) }) {
                transaction.deleteRecoveryCodes(of: userID)
            }
            transaction.append(
                removed.filter { $0.confirmedAt != nil }.map {
                    AuditEvent(.secondFactorRemoved, at: now, by: origin, userID: userID, reason: $0.label)
                }, catalogue)
            return .success(true)
        }
    }

    /// Writes the seed of an authenticator anew, unless it is no longer the one that was read.
    func reseal(_ factor: TOTPFactor, instead old: [UInt8]) async throws(StoreError) -> Bool {
        try await write(.sessions(of: factor.userID)) { (transaction) throws(TransactionError) in
            guard try transaction.userForUpdate(.id(factor.userID)).value() != nil,
                var known = try transaction.totpFactorsForUpdate(of: factor.userID).value()
                    .first(where: { $0.id == factor.id }), known.sealedSeed == old
            else { return false }
            known.sealedSeed = factor.sealedSeed
            transaction.update(known)
            return true
        }
    }

    /// Replaces the recovery codes of a user. False if the user has no authenticator, so that nothing was written.
    func replaceRecoveryCodes(
        of userID: Identifier<User>, _ made: [RecoveryCodeText], by origin: Origin, at now: Instant
    ) async throws(StoreError) -> Bool? {
        try await write(.sessions(of: userID)) { (transaction) throws(TransactionError) in
            guard try transaction.userForUpdate(.id(userID)).value() != nil else { return nil }
            let known = try transaction.enrolledFactors(of: userID, under: .required)
            guard known.hasAuthenticator else { return false }
            transaction.deleteRecoveryCodes(of: userID)
            for code in made { transaction.write(RecoveryCode(userID: userID, hash: code.hash(of: userID))) }
            transaction.append(
                [AuditEvent(.recoveryCodesMade, at: now, by: origin, userID: userID)],
                try transaction.catalogue().value())
            return true
        }
    }
}
