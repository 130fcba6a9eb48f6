@testable import Sessions

// What must hold after every step of `BrowserWorld`.
extension BrowserWorld {
    /// What is wrong after a step; nil: nothing is.
    func wrong(after before: BrowserWorld, _ step: Step) -> String? {
        ofStart(before) ?? ofBrowser(before, step) ?? ofUndoing(before, step) ?? ofSpared(before, step)
            ?? ofLogin(before, step)
    }

    /// A session that the phone let in has its bond, its probation and its scope; one that the password let in has none of them.
    private func ofStart(_ before: BrowserWorld) -> String? {
        guard apps.count > before.apps.count, let app = apps.last else { return nil }
        let isByPhone = isLastByPhone && (before.login.state == .approved || before.phoneAnswers)
        let session = app.session
        if !isByPhone {
            if session.phoneID != nil || session.probationUntil != nil { return "a password inherits from the phone" }
            return session.scope == Scope("read write") ? nil : "a password has the scope of the phone"
        }
        if session.phoneID != (rules.bond == .none ? nil : login.claim?.sessionID) { return "no bond" }
        if session.probationUntil != Sample.start + PhoneLoginRules.probation { return "no probation" }
        return session.scope == Scope("read") ? nil : "the whole scope"
    }

    /// A phone renews nothing of a session that began before, and binds it to nothing.
    private func ofBrowser(_ before: BrowserWorld, _ step: Step) -> String? {
        guard rules.isOlder, let browser, let old = before.browser else { return nil }
        if step == .collect, browser.presence != old.presence { return "the phone renews the presence of the browser" }
        return browser.phoneID == nil ? nil : "an older session depends on the phone"
    }

    /// An end that is about the login reaches all that the phone has let in, and nothing else.
    private func ofUndoing(_ before: BrowserWorld, _ step: Step) -> String? {
        var isReached = false
        switch step {
        case .stop(let isReport):
            let isKnown = before.phone.ending == nil && !before.isPhoneIdle
            isReached = isKnown && (isReport || before.login.isLoggedIn)
        case .report, .revoke: isReached = true
        case .endPhone: isReached = before.phone.ending == nil && rules.bond != .none
        case .end(let app, .revokedByAdmin): isReached = before.apps[app].isByPhone
        case .ping: isReached = before.login.isLoggedIn && !before.phoneAnswers
        default: break
        }
        guard isReached else { return nil }
        if apps.contains(where: { $0.isAlive && $0.isByPhone }) { return "a session escapes the phone" }
        if browser.map({ $0.isByPhone && $0.ending == nil }) == true { return "the browser escapes the phone" }
        return nil
    }

    /// All other ends are of one session; and none of the phone is that of a session which the password let in.
    private func ofSpared(_ before: BrowserWorld, _ step: Step) -> String? {
        var one: Int?
        switch step {
        case .end(let app, .revokedByAdmin):
            if before.apps[app].isByPhone { break }
            one = app
        case .end(let app, _): one = app
        case .endBrowser: return nil
        default: break
        }
        for (index, app) in before.apps.enumerated() where app.isAlive && !apps[index].isAlive && index != one {
            if one != nil { return "another app ends with one" }
            if !app.isByPhone { return "the phone ends what the password let in" }
        }
        return nil
    }

    /// As long as a session lives that the phone let in, the phone can end it; and an act of one shot stays one.
    private func ofLogin(_ before: BrowserWorld, _ step: Step) -> String? {
        if before.login.state.outcome == .completed {
            return login.state == before.login.state ? nil : "a login of one act changes its state"
        }
        let isAlive = apps.contains { $0.isAlive && $0.isByPhone }
        if isAlive, !login.isLoggedIn, rules.bond != .none { return "a session without a login that can end it" }
        if case .replacePhone = step, before.phone.ending == nil, login.isLoggedIn {
            for app in apps where app.isAlive && app.isByPhone && app.session.phoneID != phone.id {
                return "a session depends on a session of the phone that is gone"
            }
        }
        return nil
    }
}

/// A rule of a browser that a phone has let in, broken: the walk must turn red for each of them.
enum BrowserMutation: String, CaseIterable, Sendable {
    case phoneIsForgotten, bondIsNotInherited, probationIsNotInherited, scopeIsNotInherited, passwordInherits
    case phoneRenewsPresence, endSparesOthers, endSparesBrowser, logoutEndsOthers, adminSparesOthers
    case loginEndsWithFirst, oneShotIsFinal, reportMovesOneShot, linkIsDeaf, endedPhoneAnswers, othersAreNotMoved
    case silenceIsIgnored
}
