/// A proof of a mailbox as the record keeps it. It is stored before the first request, so that a request with a lost answer is
/// continued by the next one, even after a new start of the app.
package struct StoredVerification: Hashable, Sendable {
    /// What the server has answered.
    package struct Answer: Hashable, Sendable {
        package var id: String
        /// The secret of this device, without which the code is worth nothing.
        package var token: String
        package var codeLength: Int
        package var expiresAt: Int64
        package var resendAfter: Int64
    }

    package var purpose: Verification.Purpose
    package var email: String
    /// The `Idempotency-Key` of the request; those of the later calls are derived from it.
    package var key: String
    /// When it was first asked for, in Unix seconds of the server.
    package var askedAt: Int64
    /// Nil: no answer has come yet.
    package var answer: Answer?
    package var isProven = false

    package init(_ purpose: Verification.Purpose, email: String, key: String, askedAt: Int64) {
        (self.purpose, self.email, self.key, self.askedAt) = (purpose, email, key, askedAt)
    }

    /// Whether a request for `email` is this one again: until the code has expired or was shown, or, without an answer, for as long
    /// as the server recognizes the key.
    func isGood(for email: String, at now: Int64) -> Bool {
        self.email == email && !isProven && now < answer?.expiresAt ?? (askedAt + 600)
    }

    /// Reads the members of a record; nil if one is missing.
    init?(_ members: [String: JSONValue]) {
        guard let purpose = members.text("purpose").flatMap(Verification.Purpose.init),
            let email = members.text("email"), let key = members.text("key")
        else { return nil }
        self.init(purpose, email: email, key: key, askedAt: members.integer("asked_at") ?? 0)
        answer = Answer(stored: members)
        isProven = members["proven"]?.bool ?? false
    }

    var members: [String: JSONValue] {
        var members = answer?.members ?? [:]
        members["purpose"] = .string(purpose.rawValue)
        members["email"] = .string(email)
        members["key"] = .string(key)
        members["asked_at"] = .integer(askedAt)
        if isProven { members["proven"] = .bool(true) }
        return members
    }
}

extension StoredVerification.Answer {
    /// Reads an answer that has come at `now`; nil if it is none of a verification. The answer to a repeated mail has no token.
    package init?(_ members: [String: JSONValue], at now: Int64, keeping known: Self? = nil) {
        guard let id = members.text("verification_id"), known == nil || known?.id == id,
            let token = members.text("verification_token") ?? known?.token,
            let expiresAt = members.integer("expires_at")
        else { return nil }
        self.init(
            id: id, token: token, codeLength: Int(clamping: members.integer("code_length") ?? 8),
            expiresAt: expiresAt, resendAfter: now + (members.integer("resend_after") ?? 0))
    }

    /// Reads the members of a record; nil if they are none of a verification.
    fileprivate init?(stored members: [String: JSONValue]) {
        self.init(members, at: 0)
        resendAfter = members.integer("resend_at") ?? 0
    }

    fileprivate var members: [String: JSONValue] {
        [
            "verification_id": .string(id), "verification_token": .string(token),
            "code_length": .integer(Int64(codeLength)), "expires_at": .integer(expiresAt),
            "resend_at": .integer(resendAfter),
        ]
    }
}

extension SessionRecord {
    /// The proof of that purpose that is under way.
    package func verification(for purpose: Verification.Purpose) -> StoredVerification? {
        verifications.first { $0.purpose == purpose }
    }

    /// Stores a proof in place of the one with its purpose.
    package mutating func keep(_ verification: StoredVerification) {
        verifications.removeAll { $0.purpose == verification.purpose }
        verifications.append(verification)
    }
}
