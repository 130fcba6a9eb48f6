// What the authentication methods of a session say of second factors. The refresh reads them anyway.

extension Session {
    /// When two factors were last proved in the session; nil: never. A login by passkey is such a proof, because its authenticator
    /// verifies the user.
    public var multiFactorAt: Instant? {
        for word in authenticationMethods where word.hasPrefix(SecondFactorMark.multiFactorPrefix) {
            return Int64(word.dropFirst(SecondFactorMark.multiFactorPrefix.count)).map(Instant.init(secondsSinceEpoch:))
        }
        // An identity provider may use the same words for its own methods.
        let isByProvider = presence.identityAt.map { $0 <= startedAt } ?? false
        return !isByProvider && authenticationMethods.contains(where: AuthenticationContext.passkeyMethods.contains)
            ? startedAt : nil
    }

    /// Whether the session meets a policy that demands a second factor: by two factors, a recovery code, or as exempt.
    public var meetsSecondFactorPolicy: Bool {
        multiFactorAt != nil || authenticationMethods.contains(where: SecondFactorMark.isMark)
    }

    /// Whether a recovery code stood in for the second factor, and no two factors were proved since.
    var isByRecoveryCode: Bool {
        multiFactorAt == nil
            && authenticationMethods.contains(SecondFactorMark.recoveryCode.word(at: startedAt))
    }

    /// Notes a mark. A proof of two factors replaces all others.
    mutating func note(_ mark: SecondFactorMark, at now: Instant) {
        let word = mark.word(at: now)
        switch mark {
        case .multiFactor: authenticationMethods.removeAll(where: SecondFactorMark.isMark)
        case .recoveryCode, .exempt: if authenticationMethods.contains(word) { return }
        }
        authenticationMethods.append(word)
    }

    /// Whether two factors were proved by more than the login alone.
    var hasMultiFactorMark: Bool {
        authenticationMethods.contains { $0.hasPrefix(SecondFactorMark.multiFactorPrefix) }
    }

    /// When the password was last given, by the login or later; nil: never.
    var lastPasswordAt: Instant? {
        presence.passwordAt ?? (authenticationMethods.contains("pwd") ? startedAt : nil)
    }

    /// When the user last gave the password or an ID token, beside which a code makes two factors; nil: never.
    var firstFactorAt: Instant? { [lastPasswordAt, presence.identityAt].compactMap(\.self).max() }

    /// Renews a proof of two factors by password and presence key, if the other one is not older than five minutes. It begins none:
    /// the key of a session that never had two factors may be that of a thief of the password.
    mutating func renewMultiFactor(beside other: Instant?, at now: Instant) {
        guard let other, hasMultiFactorMark, now - other < PresenceRequirement.ageMaxOfChanges else { return }
        note(.multiFactor, at: now)
    }

    /// Takes over the marks of a login that continues the session.
    mutating func takeMarks(of methods: [String]) {
        let marks = methods.filter(SecondFactorMark.isMark)
        if marks.isEmpty { return }
        authenticationMethods.removeAll(where: SecondFactorMark.isMark)
        authenticationMethods += marks
    }

    /// The authentication methods as tokens and answers show them (RFC 8176): without the times and the server's own marks.
    public var shownMethods: [String] { authenticationMethods.shownMethods }
}

extension [String] {
    /// Authentication methods without the times and the server's own marks.
    public var shownMethods: [String] {
        // Most sessions have no mark, so that nothing is copied.
        guard contains(where: SecondFactorMark.isMark) else { return self }
        var shown: [String] = []
        for word in self {
            let text = word.hasPrefix(SecondFactorMark.multiFactorPrefix) ? "mfa" : word
            // A login by passkey has the word already.
            if !SecondFactorMark.isMark(text), !shown.contains(text) { shown.append(text) }
        }
        return shown
    }

    /// Nil for an empty list, which is left out of tokens.
    var ifAny: [String]? { isEmpty ? nil : self }

    /// The methods of an identity provider, freed of words that only this server writes.
    var withoutMarks: [String] { filter { !SecondFactorMark.isMark($0) } }
}

extension PresenceRequirement {
    /// Two factors, proved in the session at any time: what the policy `required` asks a refresh for.
    static let secondFactor = PresenceRequirement(ageMax: .seconds(Int64.max), ways: [.multiFactor])
    /// Two factors of the last five minutes: what changes of how the account is guarded demand, if the user has a second factor.
    static let secondFactorOfChanges = PresenceRequirement(ageMax: ageMaxOfChanges, ways: [.multiFactor])

    /// The age to tell; nil: any.
    public var shownAgeMax: Int64? { self.ageMax == .seconds(Int64.max) ? nil : ageMax.wholeSeconds }
}

extension RefreshPolicy {
    /// Whether the policy of settings and client asks for a second factor at a refresh of this session. Both are in memory, and
    /// the session says itself whether it has one, so that a refresh reads nothing more.
    func lacksSecondFactor(_ session: Session, client: Client?, settings: Settings) -> Bool {
        guard settings.secondFactorPolicy(for: client) == .required else { return false }
        return !session.meetsSecondFactorPolicy
    }
}
