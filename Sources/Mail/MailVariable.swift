public import Sessions

/// What a template may name: `{{code}}`.
public enum MailVariable: String, CaseIterable, Hashable, Sendable {
    /// The name of the app, or the host of this server.
    case app
    /// The eight digits, in two groups.
    case code
    /// The only link of the mail.
    case link
    /// The minutes for which the code is valid.
    case minutes
    /// The place, the browser and the device of the request.
    case place, browser, device
    /// When it happened.
    case at
    /// When a change becomes final.
    case until
    /// The former and the present address.
    case old, new
    /// A number, such as that of the codes that are left.
    case count
    /// Where to ask for help.
    case support
}

extension QueuedMail.Kind {
    /// What the texts of the kind must have.
    public var needed: Set<MailVariable> {
        switch self {
        case .signUp, .signIn, .emailNew, .reset: [.code, .link]
        case .emailOld, .emailChangedOld, .deletion: [.link]
        case .haveAccount, .loginsPaused, .resetBySupport, .emailChangedNew, .passwordChanged, .factorAdded,
            .factorRemoved, .factorBlocked, .recoveryCodesMade, .recoveryCodeUsed, .passkeyAdded, .newDevice, .test,
            .none:
            []
        }
    }

    /// What the texts of the kind may have.
    public var known: Set<MailVariable> {
        let common: Set<MailVariable> = [.app, .place, .browser, .device, .at, .support]
        return switch self {
        case .signUp, .signIn, .reset, .emailNew: common.union([.code, .link, .minutes])
        case .emailOld: common.union([.link, .new])
        case .emailChangedOld: common.union([.link, .new, .until])
        case .emailChangedNew: common
        case .deletion: common.union([.link, .until])
        case .recoveryCodeUsed, .recoveryCodesMade: common.union([.link, .count])
        case .haveAccount, .loginsPaused, .passwordChanged, .factorAdded, .factorRemoved, .factorBlocked,
            .passkeyAdded, .newDevice:
            common.union([.link])
        case .resetBySupport, .test, .none: common
        }
    }
}
