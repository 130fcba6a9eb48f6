// The words of the vendors' SDKs, so that an app that knows them keeps its handlers: an event is posted, and its result comes once.

package org.sojourn.events

import org.sojourn.Account
import org.sojourn.AuthenticationMode

/** The user of an event. With one user per slot the IDs are for the app's own books: the event concerns the session of the handler. */
data class UserIdentifier(val tenantId: String, val userId: String)

/** How an event has ended. */
enum class StatusType {
    OK,

    /** The user's presence could not be shown: `errorCode` says why, and the password or another prompt leads on. */
    FAILED,

    /** There is no session, or the server has ended it: the login is to be shown, in the same mode as before. */
    NOT_LOGGED_IN,

    /** Another second proof is needed. */
    SECOND_FACTOR_REQUIRED,

    /** Logins are switched off. The tokens are kept. */
    SUSPENDED,

    /** The server refused the call. */
    REFUSED,

    /** No answer of the server. The session is kept. */
    UNREACHABLE,

    /** The store or the keyring cannot be read now. Nothing is lost. */
    LOCKED,

    /** The app is set up wrongly. */
    MISCONFIGURED,
}

/** What can be posted. */
sealed interface EventFrameworkEvent

/**
 * Validates the stored session. The session's own mode decides whether the user is asked, because an event must not make a session less
 * guarded; [authenticationMode] is what the app believes, for the log. `switchMode` changes it.
 */
data class OfflineLoginEvent(
    val userIdentifier: UserIdentifier, val authenticationMode: AuthenticationMode? = null,
) : EventFrameworkEvent

/**
 * Logs in by an ID token of an identity provider ([accessToken] in the vendors' word), or goes on with the stored session if there is
 * none. [authCode] is the code of the login page that waits, and counts before the token.
 */
data class LoginWithTokenEvent(
    val userIdentifier: UserIdentifier, val accessToken: String? = null, val authCode: String? = null,
    val authenticationMode: AuthenticationMode = AuthenticationMode.NO, val provider: String? = null,
) : EventFrameworkEvent

/** Ends a login on the server's page by its code, or by the whole URL with which the browser came back. */
data class SetAuthorisationCodeEvent(
    val authorisationCode: String, val authenticationMode: AuthenticationMode = AuthenticationMode.NO,
    val userIdentifier: UserIdentifier? = null,
) : EventFrameworkEvent

/**
 * The result of an event. [errorCode] is 802000000 and the number of `BiometricPrompt` after a failure of biometry, else 0. [reason] is
 * the word of the server or of the client, for a log.
 */
sealed class ResultEvent {
    abstract val status: StatusType
    abstract val errorCode: Int
    abstract val reason: String?
    abstract val account: Account?
}

data class OfflineLoginResultEvent(
    override val status: StatusType, override val errorCode: Int = 0, override val reason: String? = null,
    override val account: Account? = null,
) : ResultEvent()

data class LoginWithTokenResultEvent(
    override val status: StatusType, override val errorCode: Int = 0, override val reason: String? = null,
    override val account: Account? = null,
) : ResultEvent()

data class SetAuthorisationCodeResultEvent(
    override val status: StatusType, override val errorCode: Int = 0, override val reason: String? = null,
    override val account: Account? = null,
) : ResultEvent()
