import SojournClient

// Accounts that users make, change and end by themselves.
extension FakeServer.World {
    // MARK: Sign-up and login

    /// `POST /v1/sign-up`. A retry gets the same session for ten minutes.
    mutating func signUp(_ call: FakeCall, at now: Int64) -> HTTPAnswer {
        let token = call.text("verification_token")
        let isSecret = (call.text("password") != nil) != (call.members["passkey"] != nil)
        guard let known = verification(token), isSecret,
            call.authorization == nil || call.members["passkey"] == nil
        else { return .problem(400, "invalid_request") }
        let device = call.members["device"]?.members?.text("id")
        if let device, let key = call.idempotencyKey, let id = logins["\(key) \(known.id) \(device)"],
            let session = sessions[id], session.child == 1, now - session.startedAt < 600_000,
            ending(of: session, at: now) == nil, let user = users.values.first(where: { $0.id == session.userID })
        {
            return granted(session, user, at: now)
        }
        var anonymous: (FakeSession, FakeServer.User)?
        if call.authorization != nil {
            switch caller(call, at: now) {
            case .success(let found):
                if !found.1.isAnonymous {
                    let isRetry = found.1.email?.lowercased() == known.mailbox
                    return isRetry ? .json(200, profile(found.1, in: found.0)) : .problem(409, "not_anonymous")
                }
                anonymous = found
            case .failure(let refusal): return refusal.answer
            }
        }
        guard anonymous != nil || device != nil else { return .problem(400, "invalid_request") }
        guard let proof = proof(token, at: now), let email = proof.email, proof.purpose != "reset" else {
            return .problem(400, "verification_over")
        }
        if let refusal = refusal(ofNew: call, proof) { return refusal }
        let username = call.text("username") ?? email
        verifications[proof.id]?.isOver = true
        guard let (session, user) = anonymous else {
            userCount += 1
            var user = FakeServer.User(id: "user\(userCount)", username: username, password: call.text("password"))
            user.email = email
            add(user, passkey: call, at: now)
            let answer = begin(user, device: device ?? "", call, at: now)
            if let key = call.idempotencyKey, let device {
                logins["\(key) \(proof.id) \(device)"] = "session\(sessionCount)"
            }
            return answer
        }
        users[user.username] = nil
        var named = user
        (named.username, named.password, named.isAnonymous) = (username, call.text("password"), false)
        named.email = email
        add(named, passkey: call, at: now)
        return .json(200, profile(named, in: session))
    }

    private mutating func refusal(ofNew call: FakeCall, _ proof: FakeVerification) -> HTTPAnswer? {
        if users.values.contains(where: { $0.email?.lowercased() == proof.mailbox }) {
            return .problem(409, "account_exists")
        }
        if let name = call.text("username") {
            guard hasChosenNames, !name.contains("@") else {
                return .problem(400, "invalid_request", more: ["member": .string("username")])
            }
            if users.values.contains(where: { $0.username.lowercased() == name.lowercased() }) {
                return .problem(409, "username_taken")
            }
        } else if hasChosenNames {
            return .problem(400, "invalid_request", more: ["member": .string("username")])
        }
        if let password = call.text("password"), !Self.isGood(password) {
            return .problem(400, "invalid_request", more: ["member": .string("password")])
        }
        if let credential = call.members["passkey"]?.members {
            guard let id = credential.text("id"), passkeys[id] == nil, use(credential, of: "sign-up \(proof.id)") else {
                return .problem(400, "invalid_passkey")
            }
        }
        return nil
    }

    private mutating func add(_ user: FakeServer.User, passkey call: FakeCall, at now: Int64) {
        users[user.username] = user
        guard let id = call.members["passkey"]?.members?.text("id") else { return }
        passkeys[id] = FakePasskey(userID: user.id, name: "Passkey", createdAt: now)
    }

    /// `POST /v1/login` with the token of a proof, and its code if it is not proven yet.
    mutating func logInByMail(device: String, _ call: FakeCall, at now: Int64) -> HTTPAnswer {
        if !(loginMethods?.contains("email") ?? false) { return .problem(403, "login_method_not_allowed") }
        guard let known = verification(call.text("verification_token")), known.purpose == "sign_in" else {
            return .problem(400, "verification_over")
        }
        if let key = call.idempotencyKey, let id = logins["\(key) \(known.id) \(device)"], let session = sessions[id],
            ending(of: session, at: now) == nil, session.child == 1,
            let user = users.values.first(where: { $0.id == session.userID })
        {
            return granted(session, user, at: now)
        }
        // Beside a proof the code is that of the second factor.
        let isProven = known.isUsable(at: now) && call.text("code") != known.code
        if let code = call.text("code"), !isProven, case .refused(let answer) = show(code, of: known, at: now) {
            return answer
        }
        guard let proof = proof(call.text("verification_token"), at: now) else {
            return .problem(400, "verification_over")
        }
        guard let user = users.values.first(where: { $0.email?.lowercased() == proof.mailbox }) else {
            return .problem(409, "account_missing")
        }
        if let refusal = loginRefusal(of: user, call) { return refusal }
        let first = isProven ? "proven email" : "email"
        if let refusal = secondFactorRefusal(call, user, device: device, first: first, at: now) { return refusal }
        verifications[proof.id]?.isOver = true
        let answer = begin(user, device: device, call, at: now)
        if let key = call.idempotencyKey { logins["\(key) \(known.id) \(device)"] = "session\(sessionCount)" }
        return answer
    }

    // MARK: Deletion

    /// The refusal of a login by the switches of the user, or while the account waits for its deletion.
    mutating func loginRefusal(of user: FakeServer.User, _ call: FakeCall) -> HTTPAnswer? {
        if user.deleteAt != nil {
            guard call.members["cancel_deletion"]?.bool == true else { return .problem(409, "deletion_pending") }
            users[user.username]?.deleteAt = nil
            return nil
        }
        return loginRefusal(of: user).map { .problem(403, $0.reason, reauthenticate: $0.reauthenticate) }
    }

    /// `DELETE /v1/me`.
    mutating func delete(_ user: FakeServer.User, at now: Int64) -> HTTPAnswer {
        if user.isAnonymous {
            users[user.username] = nil
            return HTTPAnswer(status: 204)
        }
        let deleteAt = now + 7 * 86_400_000
        users[user.username]?.deleteAt = deleteAt
        for id in verifications.values.filter({ $0.userID == user.id }).map(\.id) { verifications[id]?.isOver = true }
        end("revoked_by_user", at: now) { $0.userID == user.id }
        forgetDevices(of: user.id)
        if let email = user.email { mails.append(FakeMail(to: email, kind: "deletion", code: nil)) }
        return .json(202, ["delete_at": .integer(deleteAt / 1000)])
    }

    // MARK: Profile and mailbox

    /// The answer to a call about the profile, the mailbox or the deletion; nil for another one.
    mutating func accountCall(
        _ call: FakeCall, _ session: FakeSession, _ user: FakeServer.User, at now: Int64
    ) -> HTTPAnswer? {
        switch (call.method, call.path) {
        case ("PATCH", "/v1/me"): return updateProfile(of: user, call, session, at: now)
        case ("DELETE", "/v1/me"), ("POST", "/v1/me/email"):
            if !sendsMails, call.path == "/v1/me/email" { return .problem(404, "not_found") }
            if let refusal = guardRefusal(call, session, user, at: now) { return refusal }
            return call.method == "DELETE" ? delete(user, at: now) : changeEmail(of: user, call, session, at: now)
        case ("POST", "/v1/me/email/confirm"):
            guard sendsMails else { return .problem(404, "not_found") }
            return confirmEmail(of: user, call, session, at: now)
        default: return nil
        }
    }

    private mutating func changeEmail(
        of user: FakeServer.User, _ call: FakeCall, _ session: FakeSession, at now: Int64
    ) -> HTTPAnswer {
        if user.isAnonymous { return .problem(409, "user_is_anonymous") }
        guard let email = call.text("email"), let mailbox = Self.mailbox(email) else {
            return .problem(400, "email_not_supported")
        }
        // A change to another mailbox takes the place of the one before.
        for other in verifications.values where other.asker == "session \(session.id)" && other.mailbox != mailbox {
            verifications[other.id]?.isOver = true
        }
        let asked = ask("email", email, mailbox, by: "session \(session.id)", user: user, at: now)
        if asked.createdAt == now, let old = user.email {
            mails.append(FakeMail(to: old, kind: "email_old", code: nil))
        }
        return .json(202, Self.members(of: asked, at: now))
    }

    private mutating func confirmEmail(
        of user: FakeServer.User, _ call: FakeCall, _ session: FakeSession, at now: Int64
    ) -> HTTPAnswer {
        let own = verifications.values.filter { $0.asker == "session \(session.id)" && !$0.isOver }
        guard let known = own.max(by: { $0.createdAt < $1.createdAt }) else {
            return .problem(400, "verification_over")
        }
        let shown = show(call.text("code") ?? "", of: known, at: now)
        guard case .proven(let proof) = shown else { return shown.answer }
        if users.values.contains(where: { $0.id != user.id && $0.email?.lowercased() == proof.mailbox }) {
            verifications[proof.id]?.isOver = true
            return .problem(409, "email_taken")
        }
        verifications[proof.id]?.isOver = true
        users[user.username]?.email = proof.email
        if let old = user.email { mails.append(FakeMail(to: old, kind: "email_changed_old", code: nil)) }
        if let new = proof.email { mails.append(FakeMail(to: new, kind: "email_changed_new", code: nil)) }
        return .json(200, profile(users[user.username] ?? user, in: session))
    }

    private mutating func updateProfile(
        of user: FakeServer.User, _ call: FakeCall, _ session: FakeSession, at now: Int64
    ) -> HTTPAnswer {
        let known = ["display_name", "given_name", "family_name", "country", "phone_number"]
        if call.members["username"] != nil { return .problem(409, "not_editable") }
        let changed = call.members.filter { known.contains($0.key) }
        if call.members["email"] != nil, sendsMails { return .problem(409, "email_needs_proof") }
        if changed["phone_number"] != nil, let refusal = guardRefusal(call, session, user, at: now) { return refusal }
        if let country = changed["country"]?.text, country.utf8.count != 2 {
            return .problem(400, "invalid_request", more: ["member": .string("country")])
        }
        var profile = user.profile
        for (name, value) in changed { profile[name] = value == .null ? nil : value }
        users[user.username]?.profile = profile
        return .json(200, self.profile(users[user.username] ?? user, in: session))
    }
}
