package org.sojourn

/** What an app shows. */
sealed interface SessionState {
    /** The store has not been read yet: show a splash. */
    data object Starting : SessionState

    /** The store cannot be read before the device is unlocked: a splash, not the login. */
    data object Locked : SessionState

    /** The store has failed. Nothing is deleted: show the error, `start()` tries again, and a login may help. */
    data class StoreFailed(val detail: String) : SessionState

    /** No session: show the login. */
    data class SignedOut(val why: SignOut) : SessionState

    /** A user is signed in. [reachability] says whether the server has confirmed it lately. */
    data class SignedIn(val account: Account, val reachability: Reachability) : SessionState

    /** The session waits for the user's presence. Everything is kept. */
    data class PresenceRequired(val requirement: PresenceRequirement, val account: Account) : SessionState

    /** The server has ended the session: show the login, in this mode. [reason] is the server's word, for example `idle_expired`. */
    data class Ended(val reason: String, val account: Account, val mode: AuthenticationMode) : SessionState
}

/** Why there is no session. */
enum class SignOut {
    /** There was none on this device. */
    NEVER,
    BY_USER,

    /** The account was deleted. */
    DELETED,

    /** The record cannot be read, and is kept: a login sets it aside. */
    UNREADABLE,
}

/** How a session stands with the server. */
sealed interface Reachability {
    /** The last attempt to renew succeeded, or none was due. */
    data object Current : Reachability

    /** No attempt has succeeded since that time (Unix seconds of the server). */
    data class Unreachable(val since: Long) : Reachability

    /** Logins are switched off; [word] is the server's. */
    data class Suspended(val word: String) : Reachability
}

/** What the server asks of the user (RFC 9470 section 3): the accepted ways, and how many seconds ago the proof may have been. */
data class PresenceRequirement(val ways: List<String>, val maxAge: Long? = null)

/** How the app guards the tokens on the device. */
enum class AuthenticationMode {
    NO, BIOMETRIC, PASSWORD;

    internal companion object {
        fun of(word: String?): AuthenticationMode? = entries.firstOrNull { it.name == word }
    }
}

/** An access token, with what a request to an API needs. [expiresAt] is in Unix seconds of the server. */
data class AccessToken(val value: String, val type: String, val expiresAt: Long) {
    internal val isBound get() = type.equals("dpop", ignoreCase = true)
}

/** Hands the states to observers: the present one, then each change. One that is slow skips to the newest. */
internal class StateBox {
    private class Observer(val call: (SessionState) -> Unit) {
        private var seen = 0

        @Synchronized
        fun tell(state: SessionState, number: Int) {
            if (number <= seen) return
            seen = number
            call(state)
        }
    }

    private val observers = java.util.concurrent.CopyOnWriteArrayList<Observer>()
    private var number = 1

    @Volatile
    var state: SessionState = SessionState.Starting
        private set

    /** Sets the state, of which [deliver] tells the observers: never while the caller holds a lock. */
    @Synchronized
    fun set(state: SessionState) {
        if (this.state == state) return
        this.state = state
        number += 1
    }

    fun deliver() {
        val (present, told) = synchronized(this) { state to number }
        for (observer in observers) observer.tell(present, told)
    }

    fun publish(state: SessionState) {
        set(state)
        deliver()
    }

    fun observe(call: (SessionState) -> Unit): AutoCloseable {
        val observer = Observer(call)
        observers.add(observer)
        val (present, told) = synchronized(this) { state to number }
        observer.tell(present, told)
        return AutoCloseable { observers.remove(observer) }
    }
}
