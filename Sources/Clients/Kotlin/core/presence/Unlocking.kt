// The session behind the user's presence (rules 16 to 18).

package org.sojourn

import java.util.concurrent.CompletableFuture
import java.util.concurrent.ExecutionException

/** What the user has opened in this process, for one session; [gate] is null in a mode without biometry. */
internal class Unlocked(val sessionID: String?, val gate: OpenGate?, val at: Double)

/** What the prompt of a login opened that waits for a second factor, and whether its keys are new. */
internal class HeldGate(val step: SecondFactorChallenge, val gate: OpenGate, val isNew: Boolean)

/** Locks the session at once: the next use of its tokens needs [unlock]. It changes nothing in a session with the mode `NO`. */
fun Sojourn.lock() {
    val gate = unlocked?.gate
    synchronized(lock) {
        unlocked = null
        cache = cache?.let { Sojourn.Cached(it.loaded?.copy(record = it.loaded.record.locked()), it.at) }
        publishState()
    }
    box.deliver()
    gate?.close()
}

/** Locks the session if the unlock has lasted long enough. */
internal fun Sojourn.lockIfLapsed() {
    val limit = configuration.unlockLasts ?: return
    val unlocked = unlocked ?: return
    if (clock.uptime() - unlocked.at >= limit) lock()
}

/**
 * Whether the tokens of [session] can be used without the user. In the mode `PASSWORD` stored tokens are used only by a process to
 * which the user has given the password.
 */
internal fun Sojourn.isOpen(session: StoredSession): Boolean {
    if (!session.isSealed && session.mode != AuthenticationMode.PASSWORD) return true
    val unlocked = unlocked ?: return false
    return unlocked.sessionID == session.sessionID && !session.isLocked
}

internal fun Sojourn.waysToOpen(session: StoredSession): PresenceRequirement {
    val isSealed = session.isSealed && session.mode == AuthenticationMode.BIOMETRIC
    return PresenceRequirement(if (isSealed) listOf("presence", "password", "id_token") else listOf("password", "id_token"))
}

/** The gate of [session], if it is open. */
internal fun Sojourn.openGate(session: StoredSession?): OpenGate? {
    val unlocked = unlocked ?: return null
    return unlocked.gate?.takeIf { it.id == session?.gateID && unlocked.sessionID == session.sessionID && !it.isClosed }
}

/**
 * Asks the user for biometry, once, and opens the session: the gate, then the sealed tokens, then the network. Callers that come while
 * a prompt is shown share it. If the user cancels the prompt, or the gate fails, nothing is sent and nothing changes.
 */
fun Sojourn.unlock(reason: String = PresencePrompt.REASON) {
    val fresh = CompletableFuture<Unit>()
    val shown = synchronized(lock) { unlocking ?: fresh.also { unlocking = it } }
    if (shown === fresh) {
        try {
            openByBiometry(reason)
            fresh.complete(Unit)
        } catch (error: Throwable) {
            // Whatever it is: callers that share the prompt wait for its end.
            fresh.completeExceptionally(error)
            throw error
        } finally {
            synchronized(lock) { unlocking = null }
        }
        return
    }
    try {
        shown.get()
    } catch (error: ExecutionException) {
        throw error.cause ?: error
    } catch (_: InterruptedException) {
        Thread.currentThread().interrupt()
        throw SojournException.Cancelled()
    }
}

/**
 * Opens the session by the password, and answers what the server asks of the user. If biometry cannot open it, the mode becomes
 * `PASSWORD`; [switchMode] leads back without a new enrollment, as long as the keys exist.
 */
fun Sojourn.unlockByPassword(password: String): Account {
    val session = living()
    val name = session.account.username ?: throw SojournException.PresenceRequired(PresenceRequirement(listOf("id_token")))
    return logInAgain(Credentials.password(name, password), session)
}

/** Opens the session by a new ID token of the user's identity provider, as [unlockByPassword] does. */
fun Sojourn.unlockByIdToken(idToken: String, provider: String, nonce: String? = null): Account =
    logInAgain(Credentials.idToken(idToken, provider, nonce), living())

/** Asks for the device's PIN, pattern or password, after too many failed attempts at biometry. Afterwards [unlock] works again. */
fun Sojourn.confirmDeviceCredential(
    title: String = PresencePrompt.LOCKED_TITLE, text: String = PresencePrompt.LOCKED_TEXT,
) {
    val gate = gateForPrompt()
    val availability = gate.availability()
    try {
        if (!availability.hasDeviceCredential) {
            throw PresenceException(gate.platform, if (gate.platform == BiometryPlatform.APPLE) 5 else 14)
        }
        gate.confirmWithDeviceCredential(title, text)
    } catch (error: PresenceException) {
        throw failure(error, availability)
    }
    presenceFailures.set(0)
}

/** The session, if the server has not ended it. */
internal fun Sojourn.living(): StoredSession {
    val session = current()?.record?.session ?: throw SojournException.NotSignedIn()
    session.endReason?.let { throw SojournException.Ended(it) }
    return session
}

private fun Sojourn.openByBiometry(reason: String) {
    val session = living()
    if (isOpen(session) && demand == null) return
    val id = session.gateID
    if (session.mode != AuthenticationMode.BIOMETRIC || id == null) {
        throw SojournException.PresenceRequired(demand?.requirement ?: waysToOpen(session))
    }
    val opened = prompt { it.unlock(id, reason) }
    val earlier = unlocked
    unlocked = Unlocked(session.sessionID, opened, clock.uptime())
    val found = load()?.record?.session
    earlier?.gate?.close()
    if (found == null || found.sessionID != session.sessionID) {
        lock()
        throw SojournException.Cancelled()
    }
    if (found.isLocked) {
        // The app has locked the session meanwhile.
        if (openGate(found) !== opened) throw SojournException.Cancelled()
        lock()
        throw SojournException.Store(
            StoreException(StoreException.Kind.UNREADABLE, "the sealing key does not open the tokens"))
    }
    if (configuration.mayRenew) renewWithPresence()
}

/** Shows one prompt, as soon as the app can (18). Nothing is remembered of earlier ones but how many failed in a row. */
internal fun Sojourn.prompt(ask: (PresenceGate) -> OpenGate): OpenGate {
    val gate = gateForPrompt()
    try {
        gate.availability().obstacle?.let { throw it }
        return ask(gate).also { presenceFailures.set(0) }
    } catch (error: PresenceException) {
        // What the prompt has changed counts for the advice.
        throw failure(error, gate.availability())
    }
}

private fun Sojourn.gateForPrompt(): PresenceGate {
    val gate = gate ?: throw SojournException.Misconfigured("biometry needs a PresenceGate")
    if (!configuration.readyForUser()) throw SojournException.Cancelled()
    return gate
}

private fun Sojourn.failure(error: PresenceException, availability: GateAvailability): SojournException {
    // An interruption is no failed attempt.
    val isInterruption = error.kind == PresenceKind.CANCELLED
    val failures = if (isInterruption) presenceFailures.get() else presenceFailures.incrementAndGet()
    val advice = configuration.presenceAdvice(error, failures)
        ?: error.kind.advice(failures, configuration.presenceFailuresMax, availability.hasDeviceCredential)
    configuration.log(error.message ?: "")
    return SojournException.Presence(PresenceFailure(error, advice))
}

/** An assertion of the presence key for [session]. */
internal fun Sojourn.assertion(gate: OpenGate, session: StoredSession): String? =
    session.sessionID?.let { assertion(gate.presenceKey, it, session.account.userID) }

/** Renews, and shows the server that the user is present. */
private fun Sojourn.renewWithPresence() {
    repeat(4) {
        // A renewal under way does not say that the user is present.
        while (true) await(flights.values.firstOrNull() ?: break, null)
        val loaded = load()
        val session = loaded?.record?.session ?: throw SojournException.NotSignedIn()
        val isDemanded = demand != null
        val limit = configuration.renewalWait.takeIf { session.isUsable(now()) && !isDemanded }
        val outcome = await(flight(loaded.version, isUserPresent = true), limit) ?: return
        when {
            outcome is Outcome.Renewed -> return
            outcome == Outcome.Overtaken -> return@repeat
            outcome == Outcome.NotSignedIn -> throw SojournException.NotSignedIn()
            outcome is Outcome.Kept && outcome.verdict is Verdict.Unreachable && !isDemanded -> return
            else -> throw outcome.exception
        }
    }
    throw SojournException.Unreachable("the record changes all the time")
}
