// Keeps a user signed in on a device, by the rules of "How an app stays signed in". The numbers in comments are those of the rules.
//
// Owns: the loaded record, the renewals under way, and the state that the app shows. Must not know: Android, coroutines, other
// libraries than Kotlin's own, and calls that Java 8 does not have. Its verbs block the thread that calls them.
//
// Reading order: platform/Platform.kt, renewal/Verdict.kt (what is final), record/SessionRecord.kt (what is stored), this file,
// renewal/Tokens.kt, renewal/Renewal.kt, session/SigningIn.kt, session/SigningOut.kt; then presence/, accounts/ and phone/.

package org.sojourn

import java.io.IOException
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.Executor
import java.util.concurrent.Executors
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.locks.ReentrantLock

/**
 * One user on this device. [start] at every launch, [observe] for what to show, `signIn` and `signOut`, and `accessToken` for calls
 * to APIs: that is all of it. Only [SessionState.SignedOut] and [SessionState.Ended] mean that the login is to be shown.
 *
 * The other verbs are functions beside the class: `import org.sojourn.*`. They throw [SojournException].
 */
class Sojourn(val configuration: SojournConfiguration, platform: SojournPlatform) {
    internal class Cached(val loaded: Loaded?, val at: Double)

    /** What was asked of the user: by the server until a renewal succeeds, by an API until one shows the user's presence. */
    internal class Demand(val requirement: PresenceRequirement, val isOfApi: Boolean)

    internal val store = platform.store
    internal val keys = platform.keys
    internal val gate = platform.gate
    internal val clock = platform.clock
    internal val transport = platform.transport
    internal val background: Executor = platform.background ?: daemonThreads()
    internal val lock = Any()
    internal val box = StateBox()

    /** The record as it was last loaded, and when: nothing that could not be stored is ever here. */
    @Volatile internal var cache: Cached? = null
    private var loads = 0
    private var lastLoad = 0
    internal val time = ServerClock(clock)
    internal val retries = Retries(clock)

    /** The error of the last renewal that failed. */
    @Volatile internal var heldError: SojournException? = null
    @Volatile internal var reachability: Reachability = Reachability.Current
    @Volatile internal var demand: Demand? = null
    @Volatile internal var unlocked: Unlocked? = null
    internal var unlocking: CompletableFuture<Unit>? = null
    internal val presenceFailures = AtomicInteger()

    /** Logins with biometry that are under way. */
    internal val activations = AtomicInteger()

    /** What the prompt of a login opened that waits for a second factor. */
    @Volatile internal var heldGate: HeldGate? = null

    /** One renewal for each version of the record (11). */
    internal val flights = ConcurrentHashMap<String, CompletableFuture<Outcome>>()

    /** The access token that an API has refused. */
    @Volatile internal var rejected: AccessToken? = null
    internal val rejections = Rejections(clock)
    internal val nonces = ConcurrentHashMap<String, Pair<String, Double>>()

    /** A sign-out that the store has not taken yet, and whether the server has to be told of it. */
    @Volatile internal var isSigningOut = false
    @Volatile internal var isOwing = true
    internal val signOuts = AtomicInteger()
    internal val logins = AtomicInteger()
    @Volatile internal var lastLoginCommitted = 0
    internal val debtsLock = Any()
    internal val debtTasks = AtomicInteger()
    internal val idleLock = ReentrantLock()
    internal val idle = idleLock.newCondition()
    private var watch: AutoCloseable? = null

    /** The last known state, for the first frame. */
    val state: SessionState get() = box.state

    /** Calls [observer] with the present state, and then with each change, until the result is closed. */
    fun observe(observer: (SessionState) -> Unit): AutoCloseable = box.observe(observer)

    /** The way in which the app guards the stored session; null: none is known. [restore] or [start] reads it. */
    val authenticationMode: AuthenticationMode? get() = session?.mode

    /** The latest end of the session, in Unix seconds of the server, however often it is renewed; null: no session is known. */
    val sessionExpiresAt: Long? get() = session?.takeIf { it.endReason == null }?.sessionExpiresAt

    internal val session: StoredSession? get() = cache?.loaded?.record?.session

    /**
     * Reads the store, and renews in the background, whether that is due or not. To be called at each launch, and when the app comes
     * to the foreground. It does not wait for the network.
     */
    fun start(): SessionState {
        retries.noteStart()
        val loaded = quietly { watched().load() } ?: return state
        val session = loaded.record.session
        if (session != null && session.endReason == null) {
            if (configuration.mayRenew && isOpen(session) && retries.hold() == null) flight(loaded.version)
        } else if (loaded.record.debts.isNotEmpty()) {
            payDebtsInBackground()
        }
        return state
    }

    /** Reads the store, and sends nothing: the state without the server. */
    fun restore(): SessionState {
        quietly { watched().load() }
        return state
    }

    /** Loads again when the store says that another process has written. */
    private fun watched(): Sojourn {
        synchronized(lock) { if (watch == null) watch = store.observe { quietly { load() } } }
        return this
    }

    // The record

    /** Loads the record, and publishes the state that follows from it. */
    internal fun load(): Loaded? =
        try {
            if (isSigningOut) {
                try {
                    settleSignOut()
                } catch (_: StoreException) {
                    throw SojournException.NotSignedIn()
                }
            }
            loadStored()
        } catch (error: StoreException) {
            throw published(error)
        }

    /** Loads the record as it is. */
    internal fun loadStored(): Loaded? {
        lockIfLapsed()
        val number = synchronized(lock) { ++loads }
        val stored = store.load()
        val record = stored?.let { SessionRecord.parse(it.text) }
        val key = openGate(record?.session)?.sealingKey
        val loaded = record?.let { Loaded(stored.version, if (key == null) it else it.opened(key)) }
        // A load that began earlier may come back later, with what is no longer stored.
        synchronized(lock) {
            if (number > lastLoad) {
                lastLoad = number
                take(loaded)
            }
        }
        box.deliver()
        return loaded
    }

    /** The record, from memory if it was loaded within the last second. */
    internal fun current(): Loaded? {
        lockIfLapsed()
        val known = cache
        if (known != null && clock.uptime() - known.at < 1 && !isSigningOut) return known.loaded
        try {
            return load()
        } catch (error: SojournException) {
            // What was read is good for calls, until it has to be renewed.
            val session = session
            if (!isSigningOut && session != null && !session.isDue(now())) return cache?.loaded
            throw error
        }
    }

    /** Takes over what is stored. */
    private fun take(loaded: Loaded?) {
        val previous = session
        cache = Cached(loaded, clock.uptime())
        loaded?.record?.clockOffset?.let { if (!time.isAnchored) time.recall(it) }
        if (previous?.sessionID != loaded?.record?.session?.sessionID) forgetRenewals()
        // Another process has reached the server since.
        val failing = reachability as? Reachability.Unreachable
        if (failing != null && (loaded?.record?.session?.issuedAt ?: 0) >= failing.since) {
            reachability = Reachability.Current
            noteReached()
        }
        publishState()
    }

    internal fun forgetRenewals() {
        reachability = Reachability.Current
        demand = null
        rejected = null
        heldError = null
        retries.noteAnswer()
    }

    /** The server has been reached since the last renewal failed: what failed then is no longer known to be so. */
    internal fun noteReached() {
        if (heldError !is SojournException.Unreachable) return
        retries.noteStart()
        if (retries.hold() == null) heldError = null
    }

    /** Publishes the state that the record and the last renewal give. */
    internal fun publishState() {
        synchronized(lock) { cache?.let { box.set(stateOf(it.loaded?.record)) } }
        if (!Thread.holdsLock(lock)) box.deliver()
    }

    private fun stateOf(record: SessionRecord?): SessionState {
        if (isSigningOut) return SessionState.SignedOut(SignOut.BY_USER)
        val session = record?.session
            ?: return SessionState.SignedOut(if (record?.isSignedOut == true) SignOut.BY_USER else SignOut.NEVER)
        val demand = demand
        return when {
            session.endReason == "user_deleted" -> SessionState.SignedOut(SignOut.DELETED)
            session.endReason != null -> SessionState.Ended(session.endReason, session.account, session.mode)
            !isOpen(session) -> SessionState.PresenceRequired(waysToOpen(session), session.account)
            demand != null -> SessionState.PresenceRequired(demand.requirement, session.account)
            else -> SessionState.SignedIn(session.account, reachability)
        }
    }

    /** Publishes that the store could not be read, unless it was read before, and returns the error for the caller (1). */
    private fun published(error: StoreException): SojournException {
        configuration.log("the store cannot be read: ${error.message}")
        if (cache == null && !isSigningOut) {
            box.publish(
                when (error.kind) {
                    StoreException.Kind.LOCKED -> SessionState.Locked
                    StoreException.Kind.UNREADABLE -> SessionState.SignedOut(SignOut.UNREADABLE)
                    StoreException.Kind.DENIED, StoreException.Kind.FAILED -> SessionState.StoreFailed(error.message ?: "")
                })
        }
        return SojournException.of(error)
    }

    /**
     * Changes the stored record, as often as another process is first; a change that returns null leaves it. Returns what is stored
     * then. [gate] is that of a session that begins to be stored under seal; null: the one that is open.
     */
    internal fun update(gate: OpenGate? = null, change: (SessionRecord) -> SessionRecord?): Loaded? {
        repeat(16) {
            val loaded = loadStored() ?: return null
            val changed = change(loaded.record) ?: return loaded
            val text = changed.text(gate ?: openGate(changed.session))
            if (store.replace(loaded.version, text)) return loadStored()
        }
        throw StoreException(StoreException.Kind.FAILED, "the record changes all the time")
    }

    /** [update] for verbs: a store that fails is an error of the call. */
    internal fun change(change: (SessionRecord) -> SessionRecord?): Loaded? = storing { update(null, change) }

    /** Publishes a sign-out before it is stored. */
    internal fun publishSignOut() = box.publish(SessionState.SignedOut(SignOut.BY_USER))

    // Small things

    /** The server's time in Unix seconds. */
    internal fun now(): Long = time.now()

    /**
     * Sends a request, and notes what its answer says of time and nonces. Null: no answer. One that comes after the limit is dropped,
     * because the process may have stood still in between (3).
     */
    internal fun exchange(request: HttpMessage, limit: Double = configuration.patience): HttpAnswer? {
        val sentAt = clock.uptime()
        val answer = try {
            transport.send(request, limit)
        } catch (error: IOException) {
            configuration.log("no answer: $error")
            return null
        }
        val receivedAt = clock.uptime()
        if (receivedAt - sentAt > limit) return null
        answer.serverTime?.let { time.note(it, sentAt, receivedAt) }
        noteNonce(request.url, answer.field("DPoP-Nonce"))
        return answer
    }

    /** Waits. An interrupted caller gives up, as in every other wait. */
    internal fun pause(seconds: Double) =
        try {
            clock.sleep(seconds)
        } catch (_: InterruptedException) {
            Thread.currentThread().interrupt()
            throw SojournException.Cancelled()
        }

    internal fun <Result> storing(body: () -> Result): Result =
        try {
            body()
        } catch (error: StoreException) {
            throw SojournException.of(error)
        } catch (error: KeyException) {
            throw SojournException.of(error)
        }

    /** The result, or null after an error of the client or of its platform. */
    internal fun <Result> quietly(body: () -> Result): Result? =
        try {
            body()
        } catch (_: SojournException) {
            null
        } catch (_: StoreException) {
            null
        } catch (_: KeyException) {
            null
        }
}

private fun daemonThreads(): Executor = Executors.newCachedThreadPool { work ->
    Thread(work, "sojourn").apply { isDaemon = true }
}
