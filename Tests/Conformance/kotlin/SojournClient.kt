// A client that keeps the rules of "How an app stays signed in". The numbers in comments are those of the rules.
//
// Its functions block: an app calls them from a dispatcher for input and output (`withContext(Dispatchers.IO)`).
// Reading order: Verdict.kt (what is final), Record.kt (what is stored), SojournClient.kt, Renewal.kt (one renewal), Account.kt
// (logins and sign-outs).

package sojourn

import java.util.concurrent.CompletableFuture
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.ExecutorService
import java.util.concurrent.TimeUnit
import java.util.concurrent.TimeoutException

/** Why a call failed. Only `not-signed-in` and `ended` mean that the app shows the login. */
/** The `detail` is the server's sentence about the reason, for the log. */
class SessionException(val code: String, val reason: String? = null, val detail: String? = null) :
    Exception(listOfNotNull(reason ?: code, detail).joinToString(": "))

data class State(val state: String, val user: String? = null, val reason: String? = null)

class Settings(
    val server: String, val clientID: String, val isBound: Boolean, val store: Store, val keys: Keys, val clock: Clock,
    val transport: Transport, val threads: ExecutorService,
)

class Loaded(val version: String, val record: SessionRecord)

/** How a renewal ends. */
sealed interface Outcome {
    class Renewed(val loaded: Loaded) : Outcome
    data object Overtaken : Outcome
    data object NotSignedIn : Outcome
    class Ended(val reason: String) : Outcome
    class Kept(val verdict: Verdict) : Outcome
    data object StoreFailed : Outcome
}

/** USABLE: renewed if that is due and possible. FRESH: renewed if that is due. RENEWED: another one than the refused one. */
enum class Need { USABLE, FRESH, RENEWED }

class SojournClient(internal val settings: Settings) {
    internal val time = ServerClock(settings.clock)
    internal val retries = Retries(settings.clock)

    /** One renewal for each version of the record (11). */
    private val flights = ConcurrentHashMap<String, CompletableFuture<Outcome>>()

    @Volatile private var heldVerdict: Verdict = Verdict.Unreachable()
    @Volatile private var renewedForRefusalAt = Double.NEGATIVE_INFINITY
    @Volatile private var isDemanded = false
    @Volatile internal var nonce: String? = null
    @Volatile internal var signOuts = 0
    internal val debtsLock = Any()

    /** The last known state. */
    @Volatile var state = State("starting")
        internal set

    /** Reads the store, and tells the server of sign-outs that it has not heard of. To be called at each launch. */
    fun start(): State {
        retries.noteStart()
        runCatching { load() }
        payDebtsInBackground()
        return state
    }

    fun accessToken(need: Need = Need.USABLE, refused: String? = null): AccessToken {
        repeat(4) {
            val loaded = load()?.takeIf { it.record.hasSession } ?: throw SessionException("not-signed-in")
            val record = loaded.record
            record.endReason?.let { throw SessionException("ended", it) }
            val now = time.now()
            val isRefused = need == Need.RENEWED && refused == record.token.value
            // An API that refuses every token must not make every call a renewal.
            val isWorthIt = isRefused && settings.clock.uptime() - renewedForRefusalAt >= 10
            if (!record.isDue(now) && !isWorthIt) return record.token
            // Due is not expired (10). No time of the client's own ends a token that the server has not confirmed (8).
            val isGood = need == Need.USABLE && record.isUsable(now)
            val fallback = record.token.takeIf { isGood || (need == Need.USABLE && !time.isAnchored) }
            if (retries.isHeld(hasToken = isGood)) return fallback ?: throw exception(heldVerdict)
            if (isRefused) renewedForRefusalAt = settings.clock.uptime()
            val outcome = outcome(loaded, if (isGood) 3 else null) ?: return record.token
            when (outcome) {
                is Outcome.Renewed -> return outcome.loaded.record.token
                Outcome.Overtaken -> return@repeat
                Outcome.NotSignedIn -> throw SessionException("not-signed-in")
                is Outcome.Ended -> throw SessionException("ended", outcome.reason)
                Outcome.StoreFailed -> return fallback ?: throw SessionException("locked")
                is Outcome.Kept -> {
                    if (fallback != null && outcome.verdict != Verdict.PresenceRequired) return fallback
                    throw exception(outcome.verdict)
                }
            }
        }
        throw SessionException("unreachable")
    }

    /** Calls an API. Its 401 is no verdict: it renews once, and the call is repeated once (7). */
    fun call(url: String): Answer {
        val token = accessToken()
        val answer = callOnce(url, token)
        return if (answer.status == 401) callOnce(url, accessToken(Need.RENEWED, token.value)) else answer
    }

    private fun callOnce(url: String, token: AccessToken): Answer {
        val fields = mutableMapOf("Authorization" to "${token.type} ${token.value}")
        if (token.type.equals("dpop", ignoreCase = true)) {
            settings.keys.key()?.let { fields["DPoP"] = proof(it, "GET", url, time.now(), nonce, token.value) }
        }
        return settings.transport.send(Request("GET", url, fields), 20.0)
    }

    // Renewals

    /** The outcome of the renewal of a record; null if it takes longer than so many seconds. It goes on all the same. */
    private fun outcome(seen: Loaded, seconds: Long?): Outcome? {
        val flight = flights.computeIfAbsent(seen.version) { version ->
            CompletableFuture<Outcome>().also { flight ->
                settings.threads.execute {
                    val outcome = runCatching { Renewal(this, seen).run() }.getOrElse {
                        Outcome.Kept(Verdict.Unreachable())
                    }
                    note(outcome)
                    flights.remove(version)
                    flight.complete(outcome)
                }
            }
        }
        if (seconds == null) return flight.get()
        return try {
            flight.get(seconds, TimeUnit.SECONDS)
        } catch (_: TimeoutException) {
            null
        }
    }

    private fun note(outcome: Outcome) {
        when (outcome) {
            is Outcome.Renewed -> {
                isDemanded = false
                retries.noteAnswer()
                payDebtsInBackground()
            }
            is Outcome.Kept -> {
                isDemanded = outcome.verdict == Verdict.PresenceRequired
                heldVerdict = outcome.verdict
                retries.noteFailure((outcome.verdict as? Verdict.Unreachable)?.retryAfter)
            }
            Outcome.StoreFailed -> retries.noteFailure()
            Outcome.Overtaken, Outcome.NotSignedIn, is Outcome.Ended -> {}
        }
        if (isDemanded && state.state == "signed-in") state = State("presence-required")
    }

    internal fun noteLogin() {
        isDemanded = false
        retries.noteAnswer()
    }

    // The store

    /** Loads the record, and publishes the state that follows from it. */
    internal fun load(): Loaded? {
        try {
            val loaded = settings.store.load()?.let { Loaded(it.version, SessionRecord.parse(it.text)) }
            loaded?.record?.clockOffset?.let(time::recall)
            state = stateOf(loaded?.record)
            return loaded
        } catch (error: StoreException) {
            // A store that cannot tell is no missing session (1). What was read before is still shown.
            if (state.state == "starting") {
                state = State(if (error.kind == StoreException.Kind.LOCKED) "locked" else "store-failed")
            }
            throw error
        }
    }

    private fun stateOf(record: SessionRecord?): State {
        if (record == null || !record.hasSession) return State("signed-out")
        record.endReason?.let { return State("ended", reason = it) }
        return State(if (isDemanded) "presence-required" else "signed-in", record.username)
    }

    /** Changes the stored record, as often as another process is first. */
    internal fun update(change: (SessionRecord) -> SessionRecord?) {
        repeat(16) {
            val loaded = load() ?: return
            val changed = change(loaded.record) ?: return
            if (settings.store.replace(loaded.version, changed.members.toString())) {
                load()
                return
            }
        }
        throw SessionException("other", "the record changes all the time")
    }

    // The wire

    /** Sends a request, and notes what its answer says of time and nonces; null: no answer. */
    internal fun exchange(request: Request, limit: Double): Answer? {
        val sent = settings.clock.uptime()
        val answer = try {
            settings.transport.send(request, limit)
        } catch (_: java.io.IOException) {
            return null
        }
        // The process may have stood still in between: what comes late is dropped (3).
        if (settings.clock.uptime() - sent > limit) return null
        Verdict.serverTime(answer)?.let(time::note)
        answer.field("DPoP-Nonce")?.let { nonce = it }
        return answer
    }

    internal fun exception(verdict: Verdict) = when (verdict) {
        is Verdict.Suspended -> SessionException("suspended", verdict.reason)
        is Verdict.Refused -> SessionException("refused", verdict.reason, verdict.detail)
        is Verdict.Ended -> SessionException("ended", verdict.reason)
        Verdict.PresenceRequired -> SessionException("presence-required")
        is Verdict.Unreachable, is Verdict.Renewed, Verdict.SignAgain -> SessionException("unreachable")
    }
}
