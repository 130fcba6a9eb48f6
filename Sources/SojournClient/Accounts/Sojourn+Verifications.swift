// The proof of a mailbox: the request, the code, and the mail once more. Each call is sent until an answer comes, three times at
// most, with one `Idempotency-Key`, so that a lost answer costs no try of the user and no second mail.
extension Sojourn {
    /// The proof of that purpose that is under way; nil: there is none, or no answer to its request has come. After a new start of
    /// the app it is what the store holds.
    public func verification(for purpose: Verification.Purpose) async throws(SojournError) -> Verification? {
        guard let stored = try await load()?.record.verification(for: purpose), let answer = stored.answer else {
            return nil
        }
        return Verification(stored, answer, of: self)
    }

    // MARK: Steps

    /// Asks for a proof. A request for the same mailbox is the same request until the code has expired, or was shown.
    func ask(
        _ purpose: Verification.Purpose, email: String
    ) async throws(SojournError) -> Verification {
        let deviceID = try await prepareRecord().record.deviceID
        let now = now
        let fresh = StoredVerification(purpose, email: email, key: Base64URL.encode(random(16)), askedAt: now)
        var asked = fresh
        try await changeRecord { record in
            asked = fresh
            if let known = record.verification(for: purpose), known.isGood(for: email, at: now) {
                asked = known
                return false
            }
            record.keep(fresh)
            return true
        }
        let request = VerificationRequest.ask(
            asked, clientID: configuration.clientID, deviceID: deviceID, language: configuration.language)
        let message = try request.message(to: try server())
        let answer = try await verificationAnswer(to: message, asked)
        return try await take(try received(in: answer), of: asked)
    }

    func confirm(_ verification: Verification, code: String) async throws(SojournError) -> Verification {
        let (stored, answer) = try await stored(verification)
        guard !stored.isProven else { return Verification(stored, answer, of: self) }
        let message = try VerificationRequest.code(code, answer, stored).message(to: try server())
        _ = try await verificationAnswer(to: message, stored)
        return Verification(try await noteProof(of: stored), answer, of: self)
    }

    /// Stores that the server has taken the code of a proof.
    @discardableResult
    func noteProof(of stored: StoredVerification) async throws(SojournError) -> StoredVerification {
        var proven = stored
        proven.isProven = true
        try await replace(stored, by: proven)
        return proven
    }

    func resend(_ verification: Verification) async throws(SojournError) -> Verification {
        let (stored, answer) = try await stored(verification)
        let message = try VerificationRequest.resend(answer, stored).message(to: try server())
        let sent = try await verificationAnswer(to: message, stored)
        return try await take(try received(in: sent, keeping: answer), of: stored)
    }

    func forget(_ verification: Verification) async throws(SojournError) {
        try await changeRecord { record in
            let count = record.verifications.count
            record.verifications.removeAll { $0.answer?.id == verification.id }
            return record.verifications.count < count
        }
    }

    /// The first stored proof of these purposes with a code that was shown. Throws `refused` with the code
    /// `no_verification_pending`.
    func proven(
        _ purposes: Verification.Purpose...
    ) async throws(SojournError) -> (purpose: Verification.Purpose, answer: StoredVerification.Answer) {
        let record = try await load()?.record
        for purpose in purposes {
            if let stored = record?.verification(for: purpose), stored.isProven, let answer = stored.answer {
                return (purpose, answer)
            }
        }
        throw Self.noVerification
    }

    /// The stored proof of that purpose to which an answer has come. Throws `refused` with the code `no_verification_pending`.
    func pending(
        _ purpose: Verification.Purpose
    ) async throws(SojournError) -> (StoredVerification, StoredVerification.Answer) {
        guard let stored = try await load()?.record.verification(for: purpose), let answer = stored.answer else {
            throw Self.noVerification
        }
        return (stored, answer)
    }

    /// Removes the proof of that purpose, because the server says that it is over, or because it has done its work.
    func forget(_ purpose: Verification.Purpose, _ id: String) async {
        // If that fails, the next request finds out that it is over.
        try? await changeRecord { record in
            guard record.verification(for: purpose)?.answer?.id == id else { return false }
            record.verifications.removeAll { $0.purpose == purpose }
            return true
        }
    }

    /// Forgets the proof if the server says that it is over.
    func noteEnd(_ error: SojournError, of purpose: Verification.Purpose, _ id: String) async {
        if case .refused(let refusal) = error, refusal.code == "verification_over" { await forget(purpose, id) }
    }

    func changeRecord(_ change: (inout SessionRecord) -> Bool) async throws(SojournError) {
        do throws(StoreError) { try await update(change) } catch { throw SojournError(error) }
    }

    static var noVerification: SojournError { .refused(Refusal(status: 0, code: "no_verification_pending")) }

    private func stored(
        _ verification: Verification
    ) async throws(SojournError) -> (StoredVerification, StoredVerification.Answer) {
        let (stored, answer) = try await pending(verification.purpose)
        guard answer.id == verification.id else { throw Self.noVerification }
        return (stored, answer)
    }

    private func received(
        in answer: HTTPAnswer, keeping known: StoredVerification.Answer? = nil
    ) throws(SojournError) -> StoredVerification.Answer {
        guard let members = JSONValue(parsing: answer.body)?.members,
            let received = StoredVerification.Answer(members, at: now, keeping: known)
        else { throw Self.notAnAnswer(answer) }
        return received
    }

    private func take(
        _ answer: StoredVerification.Answer, of asked: StoredVerification
    ) async throws(SojournError) -> Verification {
        var answered = asked
        answered.answer = answer
        try await replace(asked, by: answered)
        return Verification(answered, answer, of: self)
    }

    /// Stores what has become of a proof, unless another one has taken its place meanwhile.
    private func replace(
        _ old: StoredVerification, by new: StoredVerification
    ) async throws(SojournError) {
        try await changeRecord { record in
            guard record.verification(for: old.purpose)?.key == old.key else { return false }
            record.keep(new)
            return true
        }
    }

    /// The answer to a call of a proof, sent until one comes.
    private func verificationAnswer(
        to message: HTTPMessage, _ stored: StoredVerification
    ) async throws(SojournError) -> HTTPAnswer {
        do throws(SojournError) {
            return try await self.answer(until: message)
        } catch {
            if let id = stored.answer?.id { await noteEnd(error, of: stored.purpose, id) }
            throw error
        }
    }

    /// The answer to a request without an access token.
    func plainAnswer(to message: HTTPMessage) async throws(SojournError) -> HTTPAnswer {
        let answer: HTTPAnswer
        do throws(TransportFailure) { answer = try await exchange(message, within: configuration.patience) } catch {
            if error == .cancelled || Task.isCancelled { throw .cancelled }
            throw .unreachable(Unreachable(error))
        }
        if let error = error(of: answer) { throw error }
        return answer
    }

    /// Sends a request without an access token until an answer comes, three times at most.
    func answer(until message: HTTPMessage) async throws(SojournError) -> HTTPAnswer {
        var wasLost = false
        return try await answer(until: message, wasLost: &wasLost)
    }

    /// Sends a request until an answer comes, three times at most.
    ///
    /// - Parameters:
    ///   - sender: nil: the request has no access token.
    ///   - wasLost: becomes true with the first try that has no answer. A call that it has fulfilled can look as if it were refused.
    func answer(
        until message: HTTPMessage, of sender: AccountCall? = nil, wasLost: inout Bool
    ) async throws(SojournError) -> HTTPAnswer {
        var attempts = 0
        while true {
            do throws(SojournError) {
                guard let sender else { return try await plainAnswer(to: message) }
                return try await call(message, requiresUserForItself: sender.requiresUserForItself)
            } catch {
                guard case .unreachable(let cause) = error else { throw error }
                wasLost = true
                guard attempts < 2, (cause.retryAfter ?? 0) <= RetrySchedule.retryAfterWithinRenewalMax else {
                    throw error
                }
                attempts += 1
                let wait = RetrySchedule.wait(attempt: attempts, retryAfter: cause.retryAfter, random: randomNumber())
                do { try await clock.sleep(for: wait) } catch { throw .cancelled }
            }
        }
    }

    /// Makes an account call until an answer comes.
    func insist(on call: AccountCall) async throws(SojournError) -> HTTPAnswer {
        var wasLost = false
        return try await answer(until: try call.message(to: try server()), of: call, wasLost: &wasLost)
    }
}
