public import Mail
public import Sessions

/// A mail, ready to be sent.
public struct OutgoingMail: Sendable {
    /// The kind.
    public let kind: QueuedMail.Kind
    /// The message, with the address to which it goes.
    public let message: MailMessage
    /// What its text was made from.
    public let facts: MailFacts
}

/// Makes mails from rows: codes and links come into being here, and nowhere else.
public struct MailRenderer: Sendable {
    private let setting: MailTemplates
    private let issuer: String
    private let notMeURL: (@Sendable (Identifier<Session>) -> String)?

    /// A renderer for the mails of a server with that issuer. `notMeURL` makes the link by which a user ends a session.
    public init(
        _ templates: MailTemplates, issuer: String, notMeURL: (@Sendable (Identifier<Session>) -> String)? = nil
    ) { (setting, self.issuer, self.notMeURL) = (templates, issuer, notMeURL) }

    /// The mail; nil if the root key of its code is not listed any more.
    func mail(_ claimed: ClaimedMail, _ secrets: VerificationSecrets, at now: Instant) -> OutgoingMail? {
        let (mail, verification) = (claimed.mail, claimed.verification)
        var facts = MailFacts(app: claimed.client?.name ?? host)
        for variable in [MailVariable.place, .browser, .device, .old, .new, .count] {
            facts[variable] = mail.facts[variable.rawValue]
        }
        if let seconds = mail.facts["at"].flatMap({ Int64($0) }) {
            facts.set(.at, to: Instant(secondsSinceEpoch: seconds))
        }
        facts[.support] = claimed.branding.supportURL ?? claimed.branding.supportEmail
        if mail.kind.hasCode, let verification {
            guard let code = secrets.code(of: verification) else { return nil }
            // A request of an admin has no place where a code is typed.
            if verification.asker != nil { facts.setCode(code) }
            facts[.minutes] = "\(max(1, (verification.codeUntil - now).wholeSeconds / 60))"
        }
        facts[.link] = link(of: claimed, secrets)
        if let end = end(of: claimed) { facts.set(.until, to: end) }
        return outgoing(
            mail.kind, facts, to: claimed.address, id: "\(mail.id)", at: mail.createdAt,
            in: [claimed.details?.language, mail.language], accent: claimed.branding.accent)
    }

    /// A mail of the kind `test`.
    public func test(to address: String, id: String, at now: Instant) -> OutgoingMail? {
        var facts = MailFacts(app: host)
        facts.set(.at, to: now)
        return outgoing(.test, facts, to: address, id: id, at: now, in: [])
    }

    /// A mail of a kind with invented facts, as a preview.
    public func preview(of kind: QueuedMail.Kind, in language: String, at now: Instant) -> OutgoingMail? {
        var facts = MailFacts(app: host)
        for (variable, value) in [
            (MailVariable.place, "Berlin, Germany"), (.browser, "Firefox on Linux"), (.old, "old@example.com"),
            (.new, "new@example.com"), (.count, "7"), (.minutes, "10"), (.support, "\(issuer)/support"),
        ] { facts[variable] = value }
        facts.set(.at, to: now)
        facts.set(.until, to: now + .seconds(7 * 86_400))
        facts.setCode("12345678")
        facts[.link] = "\(issuer)/v#sjv_preview"
        for variable in MailVariable.allCases where !kind.known.contains(variable) { facts[variable] = nil }
        return outgoing(kind, facts, to: setting.from.address, id: "preview", at: now, in: [language])
    }

    private func outgoing(
        _ kind: QueuedMail.Kind, _ facts: MailFacts, to address: String, id: String, at date: Instant,
        in languages: [String?], accent: String? = nil
    ) -> OutgoingMail? {
        let (language, texts) = setting.texts(in: languages)
        return texts.content(of: kind, facts, accent: accent, codeInSubject: setting.codeInSubject).map { content in
            OutgoingMail(
                kind: kind,
                message: MailMessage(
                    from: setting.from, to: address, id: id, date: date, language: language, content: content),
                facts: facts)
        }
    }

    /// The host of the issuer, which names the service where no app does.
    private var host: String { Self.host(of: issuer) }

    /// The host of a URL.
    public static func host(of issuer: String) -> String {
        let rest = issuer.firstRange(of: "://").map { issuer[$0.upperBound...] } ?? issuer[...]
        return String(rest.prefix { $0 != "/" && $0 != ":" })
    }

    /// The one link of a mail. No field of a request has a part in it.
    private func link(of claimed: ClaimedMail, _ secrets: VerificationSecrets) -> String? {
        let (verification, userID) = (claimed.verification, claimed.mail.userID)
        func proof(_ path: String, _ link: VerificationSecrets.Link) -> String? {
            verification.flatMap { secrets.token(link, of: $0) }.map { "\(issuer)/\(path)#\($0)" }
        }
        func undo(_ link: VerificationSecrets.Link) -> String? {
            guard let userID, let end = end(of: claimed) else { return nil }
            return "\(issuer)/undo#\(secrets.token(link, of: userID, until: end))"
        }
        return switch claimed.mail.kind {
        case .signUp, .signIn, .emailNew: proof("v", .prove)
        case .reset: proof("reset", .prove)
        case .emailOld: proof("cancel", .cancel)
        case .emailChangedOld: undo(.undo)
        case .deletion: undo(.keep)
        case .haveAccount: "\(issuer)/account"
        case .newDevice: claimed.mail.facts["session"].flatMap { Identifier<Session>($0) }.flatMap { notMeURL?($0) }
        // A new password ends every session.
        case .loginsPaused, .passwordChanged, .factorAdded, .factorRemoved, .factorBlocked, .recoveryCodesMade,
            .recoveryCodeUsed, .passkeyAdded:
            "\(issuer)/forgot"
        case .resetBySupport, .emailChangedNew, .test, .none: nil
        }
    }

    /// When the change that a mail tells becomes final.
    private func end(of claimed: ClaimedMail) -> Instant? {
        switch claimed.mail.kind {
        case .emailChangedOld: claimed.details?.formerEmailUntil
        case .deletion: claimed.details?.deleteAt
        default: nil
        }
    }
}
