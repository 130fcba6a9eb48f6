package org.sojourn

/**
 * Changes how the app guards the tokens of this session. `BIOMETRIC` needs one prompt; its keys are made at the first time, and stay
 * when the mode changes. A change that guards less needs the user's presence within the last five minutes: by the login, by biometry,
 * or by [password], which also opens a session that biometry cannot open. While a login with biometry is under way, the change is
 * refused as `activation_pending`.
 */
fun Sojourn.switchMode(mode: AuthenticationMode, reason: String = PresencePrompt.REASON, password: String? = null) {
    if (activations.get() > 0) {
        throw SojournException.Refused(Refusal(409, "activation_pending", "a login is under way"))
    }
    if (!isOpen(living())) if (password != null) unlockByPassword(password) else unlock(reason)
    val session = living()
    if (session.mode == mode && (mode != AuthenticationMode.BIOMETRIC || session.isSealed)) return
    if (mode != AuthenticationMode.BIOMETRIC) return change(mode, session, openGate(session), isNew = false, password)
    val (gate, isNew) = gateKeys(session, reason)
    try {
        gate.during { change(mode, session, gate, isNew, password) }
    } catch (error: SojournException) {
        if (isNew) discard(gate) else if (openGate(session) == null) gate.close()
        throw error
    }
}

/** The keys of the session, opened by one prompt, and whether they are new: if there were none, or the biometry has changed. */
internal fun Sojourn.gateKeys(session: StoredSession, reason: String): Pair<OpenGate, Boolean> {
    openGate(session)?.let { return it to false }
    session.gateID?.let { id ->
        try {
            return prompt { it.unlock(id, reason) } to false
        } catch (error: SojournException.Presence) {
            // The gate has not asked the user in this case.
            if (error.failure.error.kind != PresenceKind.ENROLLMENT_CHANGED) throw error
            presenceFailures.set(0)
        }
    }
    return prompt { it.enroll(reason) } to true
}

/** Changes the mode at the server, and then in the record. */
private fun Sojourn.change(
    mode: AuthenticationMode, session: StoredSession, gate: OpenGate?, isNew: Boolean, password: String?,
) {
    val assertion = gate?.let { storing { assertion(it, session) } }
    val members = membersOf(
        "authentication_mode" to mode.name,
        "presence_key" to gate?.presenceKey?.publicKey?.members.takeIf { isNew },
        "user_assertion" to assertion, "password" to password,
    )
    call(AccountCall("PUT", "/v1/me/authentication-mode", members, needsUserItself = true))
    val earlier = unlocked?.gate
    // Until the record is written the tokens are under the seal of this gate, or will be.
    unlocked = Unlocked(session.sessionID, gate, clock.uptime())
    val isSealed = mode == AuthenticationMode.BIOMETRIC
    storing {
        update(gate) { record ->
            val stored = record.session
            if (stored == null || stored.sessionID != session.sessionID || stored.isLocked) return@update null
            record.with(
                "authentication_mode" to mode.name, "gate_id" to (gate?.id ?: stored.gateID),
                "sealed" to if (isSealed) "" else null)
        }
    }
    if (!isSealed) unlocked = Unlocked(session.sessionID, null, clock.uptime())
    publishState()
    if (!isSealed) gate?.close()
    earlier?.takeIf { it.id != gate?.id }?.close()
    session.gateID?.takeIf { isNew }?.let { this.gate?.discard(it) }
}

/** Deletes keys that no session has. */
internal fun Sojourn.discard(opened: OpenGate) {
    opened.close()
    gate?.discard(opened.id)
}

/**
 * Logs in by [logIn]. In the mode `BIOMETRIC` the user is asked first, and what the prompt opened is the session's gate. What was
 * opened for the first step of a login is there for the second one.
 */
internal fun Sojourn.activating(
    mode: AuthenticationMode, reason: String, secondStepOf: SecondFactorChallenge?, logIn: (OpenGate?) -> Account,
): Account {
    if (mode != AuthenticationMode.BIOMETRIC) return logIn(null)
    activations.incrementAndGet()
    try {
        val session = quietly { living() }
        val (opened, isNew) = gateOfLogin(session, reason, secondStepOf)
        val account = try {
            opened.during { logIn(opened) }
        } catch (error: SojournException) {
            val step = (error as? SojournException.SecondFactorRequired)?.login?.challenge ?: secondStepOf
            when {
                step != null -> heldGate = HeldGate(step, opened, isNew)
                isNew -> discard(opened)
                openGate(session)?.id != opened.id -> opened.close()
            }
            throw error
        }
        endActivation(opened)
        return account
    } finally {
        activations.decrementAndGet()
    }
}

private fun Sojourn.gateOfLogin(
    session: StoredSession?, reason: String, secondStepOf: SecondFactorChallenge?,
): Pair<OpenGate, Boolean> {
    val held = heldGate
    heldGate = null
    if (held != null && held.step == secondStepOf) return held.gate to held.isNew
    if (held != null) if (held.isNew) discard(held.gate) else held.gate.close()
    return if (session != null) gateKeys(session, reason) else prompt { it.enroll(reason) } to true
}

/** The first signature ends the activation. If it does not arrive, that of the next unlock does. */
internal fun Sojourn.endActivation(opened: OpenGate) {
    val session = session
    if (session == null || openGate(session)?.id != opened.id) return
    quietly { assertion(opened, session)?.let { call(presenceCall(it)) } }
}
