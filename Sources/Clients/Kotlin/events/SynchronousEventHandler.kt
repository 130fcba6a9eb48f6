package org.sojourn.events

import org.sojourn.*
import java.util.concurrent.Executor
import java.util.concurrent.Executors

/**
 * Carries out events on a [Sojourn], one at a time, in the order in which they were posted. Results come on [main]: on Android the main
 * thread, by default the thread that carries events out.
 */
class SynchronousEventHandler(private val sojourn: Sojourn, private val main: Executor = Executor { it.run() }) {
    private val worker = Executors.newSingleThreadExecutor { Thread(it, "sojourn-events").apply { isDaemon = true } }

    fun postEvent(event: OfflineLoginEvent): Pending<OfflineLoginResultEvent> {
        sojourn.configuration.log("offline login, mode ${event.authenticationMode}")
        return post(::OfflineLoginResultEvent) { it.goOn() }
    }

    fun postEvent(event: LoginWithTokenEvent): Pending<LoginWithTokenResultEvent> = post(::LoginWithTokenResultEvent) {
        val token = event.accessToken
        val code = event.authCode
        when {
            code != null -> it.signInByCode(code, event.authenticationMode)
            token != null -> it.signInByIdToken(token, event.provider ?: "", mode = event.authenticationMode)
            else -> it.goOn()
        }
    }

    fun postEvent(event: SetAuthorisationCodeEvent): Pending<SetAuthorisationCodeResultEvent> =
        post(::SetAuthorisationCodeResultEvent) {
            // A code has no colon, and a URL does.
            val isURL = ':' in event.authorisationCode
            if (isURL) it.signInByCallback(event.authorisationCode) else {
                it.signInByCode(event.authorisationCode, event.authenticationMode)
            }
        }

    private fun <Result : ResultEvent> post(
        result: (StatusType, Int, String?, Account?) -> Result, body: (Sojourn) -> Account?,
    ): Pending<Result> {
        val pending = Pending<Result>(main)
        worker.execute {
            pending.complete(
                try {
                    result(StatusType.OK, 0, null, body(sojourn))
                } catch (error: SojournException) {
                    result(statusOf(error), errorCodeOf(error), error.message, null)
                } catch (error: RuntimeException) {
                    result(StatusType.MISCONFIGURED, 0, error.toString(), null)
                })
        }
        return pending
    }

    /** Goes on with the stored session: after one prompt, if its mode asks for that. */
    private fun Sojourn.goOn(): Account? {
        if (start() is SessionState.PresenceRequired) unlock()
        accessToken()
        return (state as? SessionState.SignedIn)?.account
    }

    private fun errorCodeOf(error: SojournException) = (error as? SojournException.Presence)?.failure?.errorCode ?: 0

    private fun statusOf(error: SojournException): StatusType = when (error) {
        is SojournException.NotSignedIn, is SojournException.Ended -> StatusType.NOT_LOGGED_IN
        is SojournException.Presence, is SojournException.PresenceRequired, is SojournException.Cancelled -> StatusType.FAILED
        is SojournException.SecondFactorRequired -> StatusType.SECOND_FACTOR_REQUIRED
        is SojournException.Suspended -> StatusType.SUSPENDED
        is SojournException.Refused -> StatusType.REFUSED
        is SojournException.Unreachable -> StatusType.UNREACHABLE
        is SojournException.Locked, is SojournException.Store, is SojournException.Key -> StatusType.LOCKED
        is SojournException.Misconfigured -> StatusType.MISCONFIGURED
    }
}

/** A result to come. Of several calls of [then] the first one counts, and it runs once. */
class Pending<Result : Any> internal constructor(private val main: Executor) {
    private var result: Result? = null
    private var handler: ((Result) -> Unit)? = null
    private var isDelivered = false

    fun then(handler: (Result) -> Unit) {
        synchronized(this) { if (this.handler == null) this.handler = handler }
        deliver()
    }

    internal fun complete(result: Result) {
        synchronized(this) { if (this.result == null) this.result = result }
        deliver()
    }

    private fun deliver() {
        val (found, call) = synchronized(this) {
            val found = result
            val call = handler
            if (isDelivered || found == null || call == null) return
            isDelivered = true
            found to call
        }
        main.execute { call(found) }
    }
}
