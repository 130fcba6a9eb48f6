import SojournClient

// Proofs of mailboxes, as the server's policy has them: codes of ten minutes, five tries, ten mails a day, and one answer for known
// and unknown mailboxes.
extension FakeServer {
    /// Lets the server send mails, or takes the calls that need them away. At first there are none, as without `mail` in a
    /// configuration.
    public func setMails(_ areSent: Bool) { state.withLock { $0.world.sendsMails = areSent } }

    /// The code of a mail to a mailbox that is none of `known`.
    public func mailedCode(to email: String, besides known: [String] = []) async throws -> String {
        guard let code = mails(to: email).compactMap(\.code).first(where: { !known.contains($0) }) else {
            throw AdminRefusal(call: "mail to \(email)", status: 404, answer: "no mail with a code was sent")
        }
        return code
    }

    /// The mails that were sent to a mailbox, the oldest first.
    public func mails(to email: String) -> [FakeMail] {
        state.withLock { $0.world.mails }.filter { $0.to.lowercased() == email.lowercased() }
    }
}

extension FakeServer.World {
    /// The answer to a call below `/v1/verifications`, to a sign-up, or to a reset.
    mutating func ofMailbox(_ call: FakeCall, at now: Int64) -> HTTPAnswer {
        guard sendsMails || call.path == "/v1/password-reset" else { return .problem(404, "not_found") }
        switch (call.method, call.path) {
        case ("POST", "/v1/verifications"): return ask(call, at: now)
        case ("POST", "/v1/sign-up"): return signUp(call, at: now)
        case ("POST", "/v1/sign-up/passkey-options"):
            guard let proof = proof(call.text("verification_token"), at: now) else {
                return .problem(400, "verification_over")
            }
            return passkeyOptions("sign-up \(proof.id)", named: proof.email ?? "")
        case ("POST", "/v1/password-reset"): return resetPassword(call, at: now)
        case (let method, let path):
            let parts = path.split(separator: "/")
            guard method == "POST", parts.count == 4, let known = verification(call.authorization?.token),
                known.id == parts[2]
            else { return .problem(404, "not_found") }
            switch parts[3] {
            case "resend": return resend(known, at: now)
            case "code": return show(call.text("code") ?? "", of: known, at: now).answer
            default: return .problem(404, "not_found")
            }
        }
    }

    // MARK: Asking

    private mutating func ask(_ call: FakeCall, at now: Int64) -> HTTPAnswer {
        guard let purpose = call.text("purpose"), ["sign_up", "sign_in", "reset"].contains(purpose) else {
            return .problem(400, "invalid_request")
        }
        guard let email = call.text("email"), let mailbox = Self.mailbox(email) else {
            return .problem(400, "email_not_supported")
        }
        if purpose == "sign_up", !takesSignUps { return .problem(403, "sign_up_closed") }
        if purpose == "sign_in", !(loginMethods?.contains("email") ?? false) {
            return .problem(403, "login_method_not_allowed")
        }
        challengeCount += 1
        let asker = "app \(call.idempotencyKey ?? "\(challengeCount)") \(purpose) \(mailbox)"
        return answer(to: ask(purpose, email, mailbox, by: asker, at: now), at: now)
    }

    /// Goes on with the open proof of that asker, or begins one. Sends the mail, unless the last one is too young.
    mutating func ask(
        _ purpose: String, _ email: String, _ mailbox: String, by asker: String, user: FakeServer.User? = nil,
        at now: Int64
    ) -> FakeVerification {
        var open = verifications.values.first {
            $0.asker == asker && $0.mailbox == mailbox && $0.purpose == purpose && !$0.isOver
        }
        if let known = open, known.provenAt != nil || now >= known.codeUntil {
            verifications[known.id]?.isOver = true
            open = nil
        }
        var verification: FakeVerification
        if let open {
            verification = open
        } else {
            challengeCount += 1
            let owner = user ?? users.values.first { $0.email?.lowercased() == mailbox }
            verification = FakeVerification(
                id: "verification\(challengeCount)", purpose: purpose, mailbox: mailbox, asker: asker,
                userID: owner?.id, code: Self.code(challengeCount), createdAt: now)
            verification.email = isWritten(to: purpose, owner) ? email : nil
        }
        let isDue = verification.mailedAt.map { now - $0 >= FakeVerification.resendPause } ?? true
        if isDue, admitsMail(mailbox, at: now) {
            verification.mailedAt = now
            send(verification, to: email)
        }
        verifications[verification.id] = verification
        return verification
    }

    /// Whether the mail has a code.
    private func isWritten(to purpose: String, _ owner: FakeServer.User?) -> Bool {
        switch purpose {
        case "sign_up": owner == nil
        case "sign_in": owner != nil || takesSignUps
        case "email": true
        default: owner != nil
        }
    }

    private mutating func send(_ verification: FakeVerification, to email: String) {
        let isTaken =
            verification.purpose == "email" && users.values.contains { $0.email?.lowercased() == verification.mailbox }
        if verification.email == nil || isTaken {
            if verification.purpose == "sign_up" || isTaken {
                mails.append(FakeMail(to: email, kind: "have_account", code: nil))
            }
            return
        }
        let kind =
            switch verification.purpose {
            case "email": "email_new"
            case "sign_in" where verification.userID == nil: "sign_up"
            default: verification.purpose
            }
        mails.append(FakeMail(to: email, kind: kind, code: verification.code))
    }

    private mutating func admitsMail(_ mailbox: String, at now: Int64) -> Bool {
        let known = mailboxes[mailbox] ?? (since: now, mails: 0)
        let budget = now >= known.since + 86_400_000 ? (since: now, mails: 0) : known
        mailboxes[mailbox] = (budget.since, min(budget.mails + 1, 10))
        return budget.mails < 10
    }

    private mutating func resend(_ known: FakeVerification, at now: Int64) -> HTTPAnswer {
        guard !known.isOver, known.provenAt == nil, now < known.codeUntil else {
            return .problem(400, "verification_over")
        }
        let again = ask(known.purpose, known.email ?? known.mailbox, known.mailbox, by: known.asker, at: now)
        return answer(to: again, isNew: false, at: now)
    }

    /// - Parameter isNew: false for the same mail once more, which the holder of the token has asked for.
    private func answer(to verification: FakeVerification, isNew: Bool = true, at now: Int64) -> HTTPAnswer {
        var members = Self.members(of: verification, at: now)
        members["verification_id"] = .string(verification.id)
        if isNew { members["verification_token"] = .string(Self.token(of: verification)) }
        return .json(202, members)
    }

    static func members(of verification: FakeVerification, at now: Int64) -> [String: JSONValue] {
        let wait = (verification.mailedAt ?? now) + FakeVerification.resendPause - now
        return [
            "code_length": .integer(8), "expires_at": .integer(verification.codeUntil / 1000),
            "resend_after": .integer(max(0, wait) / 1000),
        ]
    }

    private static func token(of verification: FakeVerification) -> String {
        "sjt_" + Base64URL.encode(Array("\(verification.id) \(verification.asker)".utf8))
    }

    /// The address in lower case; nil for one to which no mail is sent.
    static func mailbox(_ email: String) -> String? {
        let parts = email.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, email.utf8.allSatisfy({ $0 > 32 && $0 < 127 }), !parts[0].isEmpty,
            parts[0].utf8.count <= 64, email.utf8.count <= 254,
            !email.contains(where: { "\"()<>[],;:\\".contains($0) }),
            parts[1].contains("."),
            parts[1].split(separator: ".", omittingEmptySubsequences: false).allSatisfy({ !$0.isEmpty })
        else { return nil }
        return email.lowercased()
    }

    /// Eight digits that look random.
    private static func code(_ number: Int) -> String {
        let digits = String((UInt64(number) &* 0x9E37_79B9_7F4A_7C15) % 100_000_000)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }

    // MARK: Proving

    enum Shown {
        case proven(FakeVerification)
        case refused(HTTPAnswer)

        var answer: HTTPAnswer {
            switch self {
            case .proven: .json(200, ["state": .string("proven")])
            case .refused(let answer): answer
            }
        }
    }

    /// The proof that an app's token names, of whatever state.
    func verification(_ token: String?) -> FakeVerification? {
        verifications.values.first { Self.token(of: $0) == token }
    }

    /// The proven mailbox of a token, as long as it is good.
    func proof(_ token: String?, at now: Int64) -> FakeVerification? {
        verification(token).flatMap { $0.isUsable(at: now) ? $0 : nil }
    }

    /// Looks at a typed code, and counts a wrong one.
    mutating func show(_ code: String, of known: FakeVerification, at now: Int64) -> Shown {
        let typed = code.filter { $0 != " " && $0 != "-" }
        let isRight = typed == known.code && known.email != nil && known.mailedAt != nil
        guard !known.isOver, now < known.codeUntil, known.provenAt == nil || isRight else {
            return .refused(.problem(400, "verification_over"))
        }
        var verification = known
        defer { verifications[known.id] = verification }
        if isRight {
            verification.provenAt = known.provenAt ?? now
            return .proven(verification)
        }
        verification.wrongCodes += 1
        verification.isOver = verification.wrongCodes >= FakeVerification.wrongCodesMax
        let left = FakeVerification.wrongCodesMax - verification.wrongCodes
        return .refused(.problem(400, "invalid_code", more: ["attempts_left": .integer(Int64(left))]))
    }

    // MARK: Resets

    private mutating func resetPassword(_ call: FakeCall, at now: Int64) -> HTTPAnswer {
        guard let proof = proof(call.text("verification_token"), at: now), proof.purpose == "reset",
            let user = users.values.first(where: { $0.id == proof.userID })
        else { return .problem(400, "invalid_request", more: ["member": .string("reset_token")]) }
        guard let password = call.text("new_password"), Self.isGood(password) else {
            return .problem(400, "invalid_request", more: ["member": .string("new_password")])
        }
        users[user.username]?.password = password
        for id in verifications.values.filter({ $0.userID == user.id }).map(\.id) { verifications[id]?.isOver = true }
        end("password_changed", at: now) { $0.userID == user.id }
        forgetDevices(of: user.id)
        if let email = user.email { mails.append(FakeMail(to: email, kind: "password_changed", code: nil)) }
        return HTTPAnswer(status: 204)
    }

    /// The shortest password that the server takes has eight characters.
    static func isGood(_ password: String) -> Bool { password.count >= 8 }
}
