package com.example.shop

import org.sojourn.AccessToken
import org.sojourn.AuthenticationMode
import org.sojourn.LoginPage
import org.sojourn.Need
import org.sojourn.SessionState
import org.sojourn.SignOut
import org.sojourn.Sojourn
import org.sojourn.SojournException
import org.sojourn.accessToken
import org.sojourn.authorize
import org.sojourn.beginSignIn
import org.sojourn.reject
import org.sojourn.settle
import org.sojourn.signIn
import org.sojourn.signInByCallback
import org.sojourn.signOut
import org.sojourn.unlock
import org.sojourn.unlockByPassword
import java.util.concurrent.Executor

/** The ten calls of an app in another language. Renewals, keys and prompts stay native, with one owner. */
class SojournBridge(
    private val sojourn: Sojourn, private val threads: Executor, private val openPage: (url: String) -> Unit,
    onState: (Map<String, Any?>) -> Unit,
) {
    init {
        sojourn.observe { onState(members(it)) }
    }

    /** [answer] gets the result, or a map with `error`. Calls wait for the network or the user, so each has a thread. */
    fun call(name: String, words: Map<String, Any?>, answer: (Map<String, Any?>) -> Unit) = threads.execute {
        answer(
            try {
                result(name, words)
            } catch (error: SojournException) {
                failure(error)
            }
        )
    }

    private fun result(name: String, words: Map<String, Any?>): Map<String, Any?> {
        fun word(key: String) = words[key] as? String ?: ""
        when (name) {
            "start" -> return members(sojourn.start())
            "state" -> return members(sojourn.state)
            "signIn" -> {
                val mode = AuthenticationMode.entries.firstOrNull { it.name == (words["mode"] ?: "NO") }
                    ?: return mapOf("error" to "misconfigured", "detail" to "mode")
                sojourn.signIn(word("username"), word("password"), mode)
            }
            "signInByPage" -> {
                // The page comes back with a URL to the activity, perhaps of a new process.
                val callback = words["callback"] as? String
                if (callback != null) sojourn.signInByCallback(callback)
                else openPage(sojourn.beginSignIn(LoginPage(word("redirectURI"))))
            }
            "accessToken" -> return members(sojourn.accessToken(if (words["need"] == "fresh") Need.Fresh else Need.Usable))
            "authorize" -> return sojourn.authorize(word("method"), word("url"))
            "reject" -> {
                val expiresAt = (words["expiresAt"] as? Number)?.toLong() ?: 0
                sojourn.reject(AccessToken(word("value"), word("type"), expiresAt))
            }
            "signOut" -> sojourn.signOut()
            "unlock" -> (words["password"] as? String)?.let { sojourn.unlockByPassword(it) } ?: sojourn.unlock()
            "settle" -> return mapOf("isSettled" to sojourn.settle((words["seconds"] as? Number)?.toDouble() ?: 5.0))
            else -> return mapOf("error" to "misconfigured", "detail" to "no call $name")
        }
        return members(sojourn.state)
    }

    private fun members(token: AccessToken) = mapOf("value" to token.value, "type" to token.type, "expiresAt" to token.expiresAt)

    private fun members(state: SessionState): Map<String, Any?> = when (state) {
        SessionState.Starting -> mapOf("kind" to "starting")
        SessionState.Locked -> mapOf("kind" to "locked")
        is SessionState.StoreFailed -> mapOf("kind" to "storeFailed")
        is SessionState.SignedOut -> mapOf("kind" to "signedOut", "why" to word(state.why))
        is SessionState.SignedIn -> mapOf("kind" to "signedIn", "username" to state.account.username)
        is SessionState.PresenceRequired -> mapOf("kind" to "presenceRequired", "username" to state.account.username)
        is SessionState.Ended -> mapOf("kind" to "ended", "reason" to state.reason, "username" to state.account.username)
    }

    private fun word(why: SignOut) = when (why) {
        SignOut.NEVER -> "never"
        SignOut.BY_USER -> "byUser"
        SignOut.DELETED -> "deleted"
        SignOut.UNREADABLE -> "unreadable"
    }

    private fun failure(error: SojournException): Map<String, Any?> = when (error) {
        is SojournException.NotSignedIn -> mapOf("error" to "notSignedIn")
        is SojournException.Ended -> mapOf("error" to "ended", "reason" to error.reason)
        is SojournException.Suspended -> mapOf("error" to "suspended", "reason" to error.reason)
        is SojournException.PresenceRequired -> mapOf("error" to "presenceRequired")
        is SojournException.Presence -> mapOf("error" to "presence", "code" to error.failure.errorCode)
        is SojournException.Refused -> mapOf("error" to "refused", "reason" to error.refusal.code)
        is SojournException.Unreachable -> mapOf("error" to "unreachable")
        is SojournException.Locked -> mapOf("error" to "locked")
        is SojournException.Cancelled -> mapOf("error" to "cancelled")
        is SojournException.SecondFactorRequired -> mapOf("error" to "secondFactorRequired")
        is SojournException.Store, is SojournException.Key -> mapOf("error" to "store", "detail" to error.message)
        is SojournException.Misconfigured -> mapOf("error" to "misconfigured", "detail" to error.message)
    }
}
