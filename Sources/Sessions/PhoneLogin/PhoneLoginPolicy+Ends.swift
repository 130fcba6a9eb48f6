// How logins with a phone end: by what happens to their sessions, to their phones and to their users, and the ways into a final
// state.

extension PhoneLoginPolicy {
    /// A session of the login has ended. The login is logged in for as long as one lives, so that its phone can end each of
    /// them; an end that is about the login, and not about one app, goes to all.
    func noteEnd(
        _ reason: EndReason, _ attempt: PhoneLoginAttempt, _ login: inout PhoneLogin, at now: Instant,
        _ effects: inout [PhoneLogin.Effect]
    ) {
        guard login.isLoggedIn else {
            if reason.endsLogin { _ = undo(reason, attempt, login, &effects) }
            return
        }
        let cause = PhoneLogin.Cause(rawValue: reason.rawValue) ?? .ended(reason)
        if attempt.hasSessions {
            if !reason.endsLogin { return }
            effects.append(.endSession(cause))
        }
        end(&login, .signedOut, cause, at: now)
    }

    /// Ends the sessions of a login of one act, which keeps its state. False if no session of such a login lives.
    func undo(
        _ reason: EndReason, _ attempt: PhoneLoginAttempt, _ login: PhoneLogin, _ effects: inout [PhoneLogin.Effect]
    ) -> Bool {
        guard login.state.outcome == .completed, attempt.hasSessions else { return false }
        effects.append(.endSession(.ended(reason)))
        return true
    }

    func report(
        _ attempt: PhoneLoginAttempt, _ login: inout PhoneLogin, at now: Instant, _ effects: inout [PhoneLogin.Effect]
    ) -> PhoneLogin.Reply {
        if login.isLoggedIn {
            logOut(&login, .ended(.notMe), at: now, &effects)
        } else if !login.state.isFinal {
            abort(&login, .denied, at: now, &effects)
        } else if !undo(.notMe, attempt, login, &effects) {
            return .refused(.terminated)
        }
        effects.append(.record(.reported))
        return .accepted
    }

    func revoke(
        _ attempt: PhoneLoginAttempt, _ login: inout PhoneLogin, at now: Instant, _ effects: inout [PhoneLogin.Effect]
    ) {
        if login.isLoggedIn {
            logOut(&login, .ended(.revokedByAdmin), at: now, &effects)
        } else if !login.state.isFinal {
            abort(&login, .canceled, at: now, &effects)
        } else {
            _ = undo(.revokedByAdmin, attempt, login, &effects)
        }
    }

    /// The phone is gone: what it has let in goes too, unless there is no bond.
    func losePhone(
        _ login: inout PhoneLogin, _ cause: PhoneLogin.Cause, at now: Instant, _ effects: inout [PhoneLogin.Effect]
    ) {
        if login.isLoggedIn {
            logOut(&login, cause, at: now, &effects)
        } else {
            abort(&login, cause, at: now, &effects)
        }
    }

    func logOut(
        _ login: inout PhoneLogin, _ cause: PhoneLogin.Cause, at now: Instant, _ effects: inout [PhoneLogin.Effect]
    ) {
        effects.append(.endSession(cause))
        end(&login, .signedOut, cause, at: now)
    }

    func abort(
        _ login: inout PhoneLogin, _ cause: PhoneLogin.Cause, at now: Instant, _ effects: inout [PhoneLogin.Effect]
    ) {
        effects.append(.record(.aborted))
        end(&login, .aborted, cause, at: now)
    }

    func fail(
        _ login: inout PhoneLogin, _ cause: PhoneLogin.Cause, at now: Instant, _ effects: inout [PhoneLogin.Effect]
    ) {
        effects.append(.record(.failed))
        end(&login, .failed, cause, at: now)
    }

    /// A login of a deleted user is `deleted`, whatever came of it before, and keeps the cause and the time of its end.
    func noteDeletion(
        of userID: Identifier<User>, _ login: inout PhoneLogin, at now: Instant, _ effects: inout [PhoneLogin.Effect]
    ) {
        guard login.userID == userID else {
            let isOfUser = [login.claim?.userID, login.request.backchannel?.userID].contains(userID)
            if login.userID == nil, isOfUser, !login.state.isFinal {
                losePhone(&login, .parentEnded, at: now, &effects)
            }
            return
        }
        if var ending = login.state.ending {
            ending.outcome = .deleted
            login.state = .ended(ending)
        } else {
            if login.isLoggedIn { effects.append(.endSession(.ended(.userDeleted))) }
            end(&login, .deleted, .ended(.userDeleted), at: now)
        }
    }

    func end(
        _ login: inout PhoneLogin, _ outcome: PhoneLogin.Ending.Outcome, _ cause: PhoneLogin.Cause?, at now: Instant
    ) {
        login.state = .ended(PhoneLogin.Ending(outcome, cause, at: now))
    }
}
