package org.sojourn

import java.util.concurrent.CompletableFuture
import java.util.concurrent.ExecutionException
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.TimeUnit
import java.util.concurrent.TimeoutException

/** What a caller needs of an access token. */
sealed interface Need {
    /**
     * Good for 30 seconds more. A renewal that is due is tried first, but not for longer than `renewalWait`: then the stored token is
     * handed out, and the renewal goes on in the background (10).
     */
    data object Usable : Need

    /** Renewed since `refresh_after`; an error otherwise. */
    data object Fresh : Need

    /** Another one than [token], which an API has refused. It is renewed twice in ten seconds at most. */
    data class After(val token: AccessToken) : Need
}

/** The times of renewals that APIs have asked for by refusing a token, in the last ten seconds. */
internal class Rejections(private val clock: ClientClock) {
    private val times = ArrayDeque<Double>()

    @Synchronized
    fun add() = times.addLast(clock.uptime())

    @Synchronized
    fun clear() = times.clear()

    val count: Int
        @Synchronized get() {
            while (times.isNotEmpty() && clock.uptime() - times.first() >= 10) times.removeFirst()
            return times.size
        }
}

/** An access token for a call to an API. */
fun Sojourn.accessToken(need: Need = Need.Usable): AccessToken {
    var userID: String? = null
    repeat(4) {
        val loaded = current() ?: throw SojournException.NotSignedIn()
        val session = loaded.record.session ?: throw SojournException.NotSignedIn()
        session.endReason?.let { throw SojournException.Ended(it) }
        if (!isOpen(session)) {
            publishState()
            throw SojournException.PresenceRequired(waysToOpen(session))
        }
        if (userID != null && userID != session.account.userID) throw SojournException.Cancelled()
        userID = session.account.userID
        if (!needsRenewal(session, need)) {
            if (need == Need.After(session.token)) throw SojournException.noOtherToken()
            return session.token
        }
        val fallback = fallback(session, need)
        // A token that is good by a clock which the server has confirmed is worth more than waiting.
        val isGood = fallback != null && session.isUsable(now())
        obstacle(isGood)?.let { error ->
            if (fallback != null && error.allowsStoredToken) return fallback
            throw error
        }
        if (refusal(need) == Need.After(session.token)) rejections.add()
        val outcome = await(flight(loaded.version), if (isGood) configuration.renewalWait else null)
        if (outcome == null) return fallback ?: return@repeat
        val token = token(outcome, fallback) ?: return@repeat
        // No other token follows the one of a session that nothing renews.
        if (need == Need.After(token) && !session.isRenewable) throw SojournException.noOtherToken()
        return token
    }
    throw SojournException.Unreachable("the record changes all the time")
}

/** Tells that an API has refused an access token with 401, so that the next call renews it. */
fun Sojourn.reject(token: AccessToken) {
    rejected = token
}

/** The token that a renewal has brought; null: the record has to be looked at again. */
private fun Sojourn.token(outcome: Outcome, fallback: AccessToken?): AccessToken? {
    val error = when (outcome) {
        is Outcome.Renewed -> return outcome.loaded.record.session?.takeIf { !it.isLocked }?.token
        Outcome.Overtaken -> return null
        Outcome.NotSignedIn -> throw SojournException.NotSignedIn()
        is Outcome.Ended -> throw SojournException.Ended(outcome.reason)
        else -> outcome.exception
    }
    if (fallback != null && error.allowsStoredToken) return fallback
    throw error
}

/** [need], with the refusals that `reject` has noted. */
private fun Sojourn.refusal(need: Need): Need = rejected?.takeIf { need == Need.Usable }?.let(Need::After) ?: need

private fun Sojourn.needsRenewal(session: StoredSession, need: Need): Boolean {
    if (session.isDue(now())) return true
    // An API that refuses every token must not make every call a renewal.
    return refusal(need) == Need.After(session.token) && rejections.count < (if (need == Need.Usable) 1 else 2)
}

/** The stored token, if the caller takes it. No guess of the time ends a token that the server has not confirmed (8). */
private fun Sojourn.fallback(session: StoredSession, need: Need): AccessToken? {
    if (need != Need.Usable || session.token == rejected) return null
    return session.token.takeIf { session.isUsable(now()) || !time.isAnchored }
}

/** The reason why no renewal can begin now; null if one can. */
private fun Sojourn.obstacle(hasToken: Boolean): SojournException? {
    if (!configuration.mayRenew) return SojournException.Unreachable("this process leaves renewals to another one")
    val hold = retries.hold(hasToken) ?: return null
    return when (val error = heldError) {
        is SojournException.Unreachable -> SojournException.Unreachable(error.detail, error.status, hold.toLong() + 1)
        null -> SojournException.Unreachable("waiting")
        else -> error
    }
}

// Renewals under way

/** The renewal of the record with that version; begun, if there is none. It goes on when its callers have left (11). */
internal fun Sojourn.flight(version: String, isUserPresent: Boolean = false): CompletableFuture<Outcome> {
    val fresh = CompletableFuture<Outcome>()
    flights.putIfAbsent(version, fresh)?.let { return it }
    try {
        background.execute {
            val outcome = try {
                Renewal(this, version, isUserPresent).run()
            } catch (error: Throwable) {
                // Whatever it is: callers wait for the end of this renewal, and the next ones would too.
                Outcome.Kept(Verdict.Unreachable(error.toString()))
            }
            end(fresh, version, outcome, isUserPresent)
        }
    } catch (error: RejectedExecutionException) {
        end(fresh, version, Outcome.Kept(Verdict.Unreachable("no thread for a renewal")), isUserPresent)
    }
    return fresh
}

private fun Sojourn.end(flight: CompletableFuture<Outcome>, version: String, outcome: Outcome, isUserPresent: Boolean) {
    try {
        note(outcome, isUserPresent)
    } finally {
        flights.remove(version)
        flight.complete(outcome)
        releaseIdle()
    }
}

/** The outcome of a renewal; null if it takes longer than so many seconds. */
internal fun Sojourn.await(flight: CompletableFuture<Outcome>, seconds: Double?): Outcome? =
    try {
        if (seconds == null) flight.get() else flight.get((seconds * 1000).toLong(), TimeUnit.MILLISECONDS)
    } catch (_: TimeoutException) {
        null
    } catch (_: InterruptedException) {
        Thread.currentThread().interrupt()
        throw SojournException.Cancelled()
    } catch (error: ExecutionException) {
        Outcome.Kept(Verdict.Unreachable(error.toString()))
    }

/** Draws the conclusions from a renewal. */
private fun Sojourn.note(outcome: Outcome, isUserPresent: Boolean) {
    configuration.log("renewal: ${outcome.name}")
    when (outcome) {
        is Outcome.Renewed -> {
            reachability = Reachability.Current
            heldError = null
            if (isUserPresent || demand?.isOfApi == false) demand = null
            retries.noteAnswer()
            if (outcome.loaded.record.debts.isNotEmpty()) payDebtsInBackground()
        }
        is Outcome.Kept -> {
            heldError = outcome.exception
            when (val verdict = outcome.verdict) {
                is Verdict.Suspended -> reachability = Reachability.Suspended(verdict.reason)
                is Verdict.PresenceRequired ->
                    if (session?.let(::isOpen) == true) demand = Sojourn.Demand(verdict.requirement, false)
                else -> if (reachability !is Reachability.Unreachable) reachability = Reachability.Unreachable(now())
            }
            retries.noteFailure((outcome.verdict as? Verdict.Unreachable)?.retryAfter)
        }
        is Outcome.StoreFailed, is Outcome.KeyFailed -> {
            heldError = outcome.exception
            retries.noteFailure()
        }
        Outcome.Overtaken, Outcome.NotSignedIn, is Outcome.Ended -> {}
    }
    publishState()
}
