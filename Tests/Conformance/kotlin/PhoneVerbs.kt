package org.sojourn.conformance

import org.sojourn.*
import java.util.concurrent.CountDownLatch
import kotlin.concurrent.thread

/** The verbs of logins with a phone, which this client approves, or for which it asks. */
class PhoneVerbs(private val client: () -> Sojourn) {
    @Volatile private var session: LoginSession? = null
    @Volatile private var asked: Members = mapOf("phase" to "waiting")

    fun carryOut(verb: String, command: Members): Members? {
        val text = command.text("text") ?: ""
        val number = command.number("number")?.toInt()
        when (verb) {
            "scan" -> session = started(client().startSession(text))
            "link" -> session = started(client().startSessionByLink(text))
            "confirm" -> session?.confirm(number)
            "prove" -> {
                val password = command.text("password")
                if (password == null) session?.enterSecondFactor() else session?.enterSecondFactorByPassword(password)
            }
            "deny" -> session?.stopSession()
            "login-state" -> {}
            "ask-phone" -> return askPhone()
            "asked" -> return asked
            else -> return null
        }
        val found = session ?: return mapOf("error" to "other", "detail" to "no login session")
        val status = found.status
        return mapOf(
            "state" to status.state.name, "input" to status.input?.name, "history" to status.history.name,
            "cause" to status.cause, "login" to found.details?.id, "return_url" to found.details?.returnURL)
    }

    /** Asks in the background, and returns the first picture. */
    private fun askPhone(): Members {
        val isShown = CountDownLatch(1)
        asked = mapOf("phase" to "waiting")
        val login = PhoneLogin(onChange = { event ->
            asked = when (event) {
                is PhoneLoginEvent.Code -> mapOf("phase" to "waiting", "code" to event.qr, "link" to event.link)
                is PhoneLoginEvent.Number -> mapOf("phase" to "number", "number" to event.number)
                PhoneLoginEvent.Approved -> mapOf("phase" to "approved")
            }
            isShown.countDown()
        })
        thread(isDaemon = true) {
            asked = try {
                client().signInByPhone(login)
                mapOf("phase" to "signed-in")
            } catch (_: SojournException.Cancelled) {
                mapOf("phase" to "canceled")
            } catch (error: SojournException) {
                val reason = (error as? SojournException.Refused)?.refusal?.code ?: error.message
                mapOf("phase" to "failed", "reason" to reason)
            }
            isShown.countDown()
        }
        isShown.await()
        return asked
    }

    /** The session once the server has told it. */
    private fun started(session: LoginSession): LoginSession {
        val isTold = CountDownLatch(1)
        session.observe { if (it.state != LoginStatus.State.STARTING) isTold.countDown() }.use { isTold.await() }
        return session
    }
}
