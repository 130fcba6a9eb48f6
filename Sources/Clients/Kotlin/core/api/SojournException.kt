package org.sojourn

/** The reason why a call failed. Only [NotSignedIn] and [Ended] mean that the app shows the login. */
sealed class SojournException(message: String, cause: Throwable? = null) : Exception(message, cause) {
    /** No user is signed in on this device. */
    class NotSignedIn : SojournException("no user is signed in")

    /** The device is locked. Try again after it was unlocked; nothing is lost. */
    class Locked(cause: Throwable? = null) : SojournException("the device is locked", cause)

    /** The store failed. The record is kept. */
    class Store(override val cause: StoreException) : SojournException(cause.message ?: "", cause)

    /** The keyring failed. The keys are kept. */
    class Key(override val cause: KeyException) : SojournException(cause.message ?: "", cause)

    /** The server has ended the session. [reason] is its word, or `key_lost`. */
    class Ended(val reason: String) : SojournException("the session has ended: $reason")

    /** Logins are switched off; the tokens are kept. */
    class Suspended(val reason: String) : SojournException("logins are switched off: $reason")

    /** The server asks for the user's presence (RFC 9470), or the session is locked. */
    class PresenceRequired(val requirement: PresenceRequirement) :
        SojournException("presence required: " + requirement.ways.joinToString(" or "))

    /** The presence gate failed, or the user cancelled it. Nothing was sent, and nothing has changed. */
    class Presence(val failure: PresenceFailure) : SojournException(failure.error.message ?: "", failure.error)

    /** The first proof of a login was right, and the server asks for a second one. [login] ends the login. */
    class SecondFactorRequired(val login: SecondFactorLogin) : SojournException("a second factor is required")

    /** The server refused the call. The session is not concerned. */
    class Refused(val refusal: Refusal) : SojournException("refused: " + listOfNotNull(refusal.code, refusal.detail).joinToString(": "))

    /** No answer of the server: the network, 429, 5xx, or a page of a proxy. [retryAfter] is in seconds. */
    class Unreachable(val detail: String, val status: Int? = null, val retryAfter: Long? = null) : SojournException("unreachable: $detail")

    /** The user closed the login page, the session of the call was replaced meanwhile, or the thread was interrupted. */
    class Cancelled : SojournException("cancelled")

    /** The app is set up wrongly. [detail] is the server's sentence about its [word]. */
    class Misconfigured(val word: String, val detail: String? = null) :
        SojournException("misconfigured: " + listOfNotNull(word, detail).joinToString(": "))

    /** Whether a call may go on with the stored token after this failure of a renewal. */
    internal val allowsStoredToken: Boolean
        get() = this is Unreachable || this is Suspended || this is Refused || this is Misconfigured || this is Store ||
            this is Key || this is Locked

    internal companion object {
        fun of(error: StoreException) = if (error.kind == StoreException.Kind.LOCKED) Locked(error) else Store(error)

        fun of(error: KeyException) = if (error.kind == KeyException.Kind.LOCKED) Locked(error) else Key(error)

        fun refused(code: String, member: String? = null) = Refused(Refusal(0, code, member = member))

        /** The answer is none of the server's. */
        fun notAnAnswer(answer: HttpAnswer) = Unreachable("not an answer of the server", answer.status)

        /** The API has refused a token after which no other one comes now. */
        fun noOtherToken() = Refused(Refusal(401, "invalid_token", "the API has refused the newest token"))
    }
}

/**
 * A refused call that says nothing about the session. [status] is 0 for what the browser of a login brought. [clockDiffers] says
 * that a wrong code of an authenticator app would have been right at another time.
 */
data class Refusal(
    val status: Int, val code: String, val detail: String? = null, val member: String? = null,
    val attemptsLeft: Int? = null, val clockDiffers: Boolean = false,
)
