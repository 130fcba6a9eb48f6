// How logins with a phone end: by what happens to their sessions, to their phones and to their users, and the ways into a final
// state.

extension PhoneLoginPolicy {
    /// A session of the login has ended. The login is logged in for as long as one lives, so that its phone can end each of
    /// them; an end that is about the login, and not about one app, goes to all.
    func noteEnd(
        _ reason: EndReason, _ call: PhoneLoginAttempt, _ login: inout PhoneLogin, at now: Instant,
        _ effects: inout [PhoneLogin.Effect]
    ) {
        guard login.isLoggedIn else {
            if reason.endsLogin { _ = undo(reason, call, login, &effects) }
            return
        }
        let cause = PhoneLogin.Cause(rawValue: reason.rawValue) ?? .ended(reason)
        if call.hasSessions {
            if !reason.endsLogin { return }
            effects.append(.endSession(cause))
        }
        end(&login, .done, .loggedOut, cause, at: now)
    }

    /// Ends the sessions of a login of one act, which keeps its state and its history. False if no session of such a login lives.
    func undo(
        _ reason: EndReason, _ call: PhoneLoginAttempt, _ login: PhoneLogin, _ effects: inout [PhoneLogin.Effect]
    ) -> Bool {
        guard login.history == .loggedInOneShot, call.hasSessions else { return false }
        effects.append(.endSession(.ended(reason)))
        return true
    }

    func report(
        _ call: PhoneLoginAttempt, _ login: inout PhoneLogin, at now: Instant, _ effects: inout [PhoneLogin.Effect]
    ) -> PhoneLogin.Reply {
        if login.isLoggedIn {
            logOut(&login, .ended(.notMe), at: now, &effects)
        } else if !login.state.isFinal {
            abort(&login, .denied, at: now, &effects)
        } else if !undo(.notMe, call, login, &effects) {
            return .refused(.terminated)
        }
        effects.append(.record(.reported))
        return .accepted
    }

    func revoke(
        _ call: PhoneLoginAttempt, _ login: inout PhoneLogin, at now: Instant, _ effects: inout [PhoneLogin.Effect]
    ) {
        if login.isLoggedIn {
            logOut(&login, .ended(.revokedByAdmin), at: now, &effects)
        } else if !login.state.isFinal {
            abort(&login, .canceled, at: now, &effects)
        } else {
            _ = undo(.revokedByAdmin, call, login, &effects)
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
        end(&login, .done, .loggedOut, cause, at: now)
    }

    func abort(
        _ login: inout PhoneLogin, _ cause: PhoneLogin.Cause, at now: Instant, _ effects: inout [PhoneLogin.Effect]
    ) {
        effects.append(.record(.aborted))
        end(&login, .done, .aborted, cause, at: now)
    }

    func fail(
        _ login: inout PhoneLogin, _ cause: PhoneLogin.Cause, at now: Instant, _ effects: inout [PhoneLogin.Effect]
    ) {
        effects.append(.record(.failed))
        end(&login, .error, .error, cause, at: now)
    }

    /// The history of a deleted user is `DELETED`, whatever it was; the state of a living login is final from then on.
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
        if login.state.isFinal {
            login.history = .deleted
        } else {
            if login.isLoggedIn { effects.append(.endSession(.ended(.userDeleted))) }
            end(&login, .done, .deleted, .ended(.userDeleted), at: now)
        }
    }

    func end(
        _ login: inout PhoneLogin, _ state: PhoneLogin.State, _ history: PhoneLogin.History, _ cause: PhoneLogin.Cause,
        at now: Instant
    ) {
        login.state = state
        login.history = history
        login.cause = cause
        login.endedAt = now
    }
}
