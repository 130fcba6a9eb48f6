// The verbs as `suspend`, and the states as a `StateFlow`, over kotlinx-coroutines. A caller that is cancelled stops waiting and cancels
// nothing: the verb goes on, because what it has sent may have been decided already.

package org.sojourn.coroutines

import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.StateFlow
import kotlinx.coroutines.flow.asStateFlow
import org.sojourn.*
import java.util.concurrent.Executor
import java.util.concurrent.Executors

/** A [Sojourn] for coroutines. Verbs run on [executor], because they block; the caller's thread is never one of its threads. */
class SojournFlow(val sojourn: Sojourn, private val executor: Executor = threads) : AutoCloseable {
    private val current = MutableStateFlow(sojourn.state)
    private val watch = sojourn.observe { current.value = it }

    /** The present state, then each change. One that is collected slowly skips to the newest. */
    val states: StateFlow<SessionState> = current.asStateFlow()

    /** Ends [states]. The session goes on. */
    override fun close() = watch.close()

    /** Runs any verb: `flow.run { devices() }`. */
    suspend fun <Result> run(verb: Sojourn.() -> Result): Result {
        val result = CompletableDeferred<kotlin.Result<Result>>()
        executor.execute { result.complete(runCatching { sojourn.verb() }) }
        return result.await().getOrThrow()
    }

    suspend fun start(): SessionState = run { start() }

    suspend fun restore(): SessionState = run { restore() }

    suspend fun accessToken(need: Need = Need.Usable): AccessToken = run { accessToken(need) }

    fun reject(token: AccessToken) = sojourn.reject(token)

    suspend fun authorize(method: String, url: String): Map<String, String> = run { authorize(method, url) }

    suspend fun send(request: HttpMessage): HttpAnswer = run { send(request) }

    // Logins

    suspend fun signIn(
        username: String, password: String, mode: AuthenticationMode = AuthenticationMode.NO,
        reason: String = PresencePrompt.REASON,
    ): Account = run { signIn(username, password, mode, reason) }

    suspend fun signInByIdToken(
        idToken: String, provider: String, nonce: String? = null, providerRefreshToken: String? = null,
        mode: AuthenticationMode = AuthenticationMode.NO, reason: String = PresencePrompt.REASON,
    ): Account = run { signInByIdToken(idToken, provider, nonce, providerRefreshToken, mode, reason) }

    suspend fun beginSignIn(page: LoginPage, mode: AuthenticationMode = AuthenticationMode.NO): String =
        run { beginSignIn(page, mode) }

    suspend fun signInByCallback(callback: String, reason: String = PresencePrompt.REASON): Account =
        run { signInByCallback(callback, reason) }

    suspend fun signInByCode(
        authorizationCode: String, mode: AuthenticationMode? = null, reason: String = PresencePrompt.REASON,
    ): Account = run { signInByCode(authorizationCode, mode, reason) }

    suspend fun signInByPasskey(
        authenticator: PasskeyAuthenticator, mode: AuthenticationMode = AuthenticationMode.NO,
        reason: String = PresencePrompt.REASON,
    ): Account = run { signInByPasskey(authenticator, mode, reason) }

    suspend fun signInByPhone(login: PhoneLogin): Account = run { signInByPhone(login) }

    suspend fun signInAnonymously(
        mode: AuthenticationMode = AuthenticationMode.NO, reason: String = PresencePrompt.REASON,
    ): Account = run { signInAnonymously(mode, reason) }

    suspend fun nameAccount(username: String, password: String): Account = run { nameAccount(username, password) }

    suspend fun adopt(tokenAnswer: String): Account = run { adopt(tokenAnswer) }

    suspend fun deviceIdentity(): DeviceIdentity = run { deviceIdentity() }

    suspend fun signOut(): Boolean = run { signOut() }

    suspend fun settle(seconds: Double): Boolean = run { settle(seconds) }

    suspend fun forgetDevice() = run { forgetDevice() }

    // Presence

    suspend fun unlock(reason: String = PresencePrompt.REASON) = run { unlock(reason) }

    suspend fun unlockByPassword(password: String): Account = run { unlockByPassword(password) }

    suspend fun unlockByIdToken(idToken: String, provider: String, nonce: String? = null): Account =
        run { unlockByIdToken(idToken, provider, nonce) }

    suspend fun lock() = run { lock() }

    suspend fun switchMode(
        mode: AuthenticationMode, reason: String = PresencePrompt.REASON, password: String? = null,
    ) = run { switchMode(mode, reason, password) }

    suspend fun confirmDeviceCredential(
        title: String = PresencePrompt.LOCKED_TITLE, text: String = PresencePrompt.LOCKED_TEXT,
    ) = run { confirmDeviceCredential(title, text) }

    suspend fun showPresence(password: String? = null, code: String? = null) = run { showPresence(password, code) }

    suspend fun showPresenceByPasskey(authenticator: PasskeyAuthenticator) = run { showPresenceByPasskey(authenticator) }

    // The account; the other calls about it go by `run`

    suspend fun refreshProfile(): Account = run { refreshProfile() }

    suspend fun devices(): List<Device> = run { devices() }

    suspend fun endDevice(id: String) = run { endDevice(id) }

    suspend fun endAllDevices() = run { endAllDevices() }

    suspend fun changePassword(old: String, new: String) = run { changePassword(old, new) }

    private companion object {
        val threads: Executor by lazy {
            Executors.newCachedThreadPool { work -> Thread(work, "sojourn-flow").apply { isDaemon = true } }
        }
    }
}
