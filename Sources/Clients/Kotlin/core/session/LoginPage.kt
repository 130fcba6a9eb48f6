// Logins on the server's page (RFC 8252). What the answer is checked with is in the record, so that the end of the process while the
// browser is in front costs nothing.

package org.sojourn

import java.net.URI

/**
 * What an app asks of the login page (OpenID Connect Core section 3.1.2.1): where the browser returns to, whether the user logs in
 * anew (`login`), the name in the form, the languages, and the ways of login.
 */
class LoginPage(
    val redirectURI: String, val prompt: String? = null, val loginHint: String? = null,
    val uiLocales: List<String> = emptyList(), val acrValues: List<String> = emptyList(),
)

/**
 * Begins a login on the server's login page. Returns the URL that the app opens in the browser. The answer goes to [signInByCallback],
 * which may be in another process of the app. A later login takes the place of this one.
 */
fun Sojourn.beginSignIn(page: LoginPage, mode: AuthenticationMode = AuthenticationMode.NO): String {
    if (uriOf(page.redirectURI)?.scheme == null) throw SojournException.Misconfigured("the redirect URI must be absolute")
    val server = server
    val verifier = randomText(32)
    val state = randomText(16)
    val nonce = randomText(16)
    prepareRecord()
    val key = if (configuration.renewal == Renewing.BOUND_REFRESH_TOKEN) loginKey() else null
    val parameters = listOf(
        "response_type" to "code", "client_id" to configuration.clientID, "redirect_uri" to page.redirectURI,
        "scope" to configuration.scope, "state" to state, "nonce" to nonce, "code_challenge" to sha256Text(verifier),
        "code_challenge_method" to "S256", "dpop_jkt" to key?.publicKey?.thumbprint, "prompt" to page.prompt,
        "login_hint" to page.loginHint, "ui_locales" to page.uiLocales.joinToString(" ").ifEmpty { null },
        "acr_values" to page.acrValues.joinToString(" ").ifEmpty { null },
    ) + configuration.resources.map { "resource" to it }
    val pending = membersOf(
        "state" to state, "nonce" to nonce, "code_verifier" to verifier, "redirect_uri" to page.redirectURI,
        "authentication_mode" to mode.name,
    )
    change { it.with("pending_login" to pending) }
    return server.base + "/oauth/authorize?" + formOf(parameters)
}

/**
 * Ends the login that [beginSignIn] has begun, by the URL with which the browser came back.
 *
 * A URL that does not answer that login is `refused` with `invalid_callback`, `redirect_uri_mismatch`, `state_mismatch` or
 * `iss_mismatch`, and the login goes on waiting; a refusal by the user is `access_denied`. After `Unreachable` the call can be repeated.
 * Without a login that waits it is `no_login_pending`. [reason] is what the prompt of the mode `BIOMETRIC` says.
 */
fun Sojourn.signInByCallback(callback: String, reason: String = PresencePrompt.REASON): Account {
    val login = pendingLogin()
    val code = try {
        codeOf(callback, login, server)
    } catch (error: SojournException.Refused) {
        if (error.refusal.code == "access_denied") forgetPending(login)
        throw error
    }
    return signIn(code, login, modeOf(login), reason)
}

/**
 * Ends the login that waits by its code alone, for an app that has checked `state` and `iss` itself. A code of another login is
 * refused by the server, because the verifier of this one does not fit. [mode]: null is that of [beginSignIn].
 */
fun Sojourn.signInByCode(
    authorizationCode: String, mode: AuthenticationMode? = null, reason: String = PresencePrompt.REASON,
): Account {
    val login = pendingLogin()
    return signIn(authorizationCode, login, mode ?: modeOf(login), reason)
}

private fun modeOf(login: Members) = AuthenticationMode.of(login.text("authentication_mode")) ?: AuthenticationMode.NO

private fun Sojourn.pendingLogin(): Members = load()?.record?.pendingLogin ?: throw SojournException.refused("no_login_pending")

private fun Sojourn.signIn(code: String, login: Members, mode: AuthenticationMode, reason: String): Account =
    activating(mode, reason, null) { opened ->
        try {
            exchange(code, login, mode, opened)
        } catch (error: SojournException.Refused) {
            // The server knows the code no more, or it was the code of another login.
            forgetPending(login)
            throw error
        }
    }

/** Exchanges the code for a session, and stores it. */
private fun Sojourn.exchange(code: String, login: Members, mode: AuthenticationMode, opened: OpenGate?): Account {
    val order = nextLogin()
    val record = prepareRecord().record
    val key = loginKey()
    val verifier = login.text("code_verifier") ?: ""
    val parameters = listOf(
        "grant_type" to "authorization_code", "client_id" to configuration.clientID, "code" to code,
        "redirect_uri" to login.text("redirect_uri"), "code_verifier" to verifier, "device_id" to record.deviceID,
        "session_id" to record.session?.takeIf { it.endReason == null }?.sessionID,
        "device_name" to configuration.deviceName, "device_platform" to configuration.platform,
        "device_app_version" to configuration.appVersion, "authentication_mode" to mode.name,
        "device_key" to key?.publicKey?.json.takeIf { configuration.renewal == Renewing.DEVICE_KEY },
        "presence_key" to opened?.presenceKey?.publicKey?.json.takeIf { mode == AuthenticationMode.BIOMETRIC },
    )
    // The key is of the verifier, and not of the secret in the record, because a login that comes in between changes that.
    val request = server.form(TOKEN_PATH, parameters)
        .with("Idempotency-Key" to retryKey(verifier.toByteArray(), "code:$code"))
    val answer = storable(loginAnswer(request, key))
    val thumbprint = key?.publicKey?.thumbprint
    val nonce = answer.idTokenNonce
    if (nonce != null && nonce != login.text("nonce")) {
        // This session is not the user's own login: the server is told to end it.
        change { it.owing(StoredSession(answer.members.with("key_thumbprint" to thumbprint))) }
        payDebtsInBackground()
        throw SojournException.refused("nonce_mismatch")
    }
    return commit(answer, thumbprint, opened, order)
}

/** Removes a login from the record. If that fails, the next login replaces it. */
private fun Sojourn.forgetPending(login: Members) {
    quietly { change { if (it.pendingLogin == login) it.with("pending_login" to null) else null } }
}

/**
 * The code in the URL with which the browser returned (RFC 6749 section 4.1.2). Any program can open a URL with the scheme of an app:
 * it counts only if it comes to the redirect URI, with the `state` of the login, and with the issuer of the server (RFC 9207).
 */
internal fun codeOf(callback: String, login: Members, server: ServerAddress): String {
    val invalid = SojournException.refused("invalid_callback")
    val uri = uriOf(callback) ?: throw invalid
    val parameters = parametersOf(uri) ?: throw invalid
    if (!isSent(uri, parameters, login.text("redirect_uri") ?: "")) throw SojournException.refused("redirect_uri_mismatch")
    if (parameters["state"] != login.text("state")) throw SojournException.refused("state_mismatch")
    val issuer = parameters["iss"]
    if (issuer != server.base && issuer != server.base + "/") throw SojournException.refused("iss_mismatch")
    parameters["error"]?.let { error ->
        val detail = parameters["error_description"]
        throw when (error) {
            "server_error", "temporarily_unavailable" -> SojournException.Unreachable(detail ?: error)
            "unauthorized_client" -> SojournException.Misconfigured(error, detail)
            else -> SojournException.Refused(Refusal(0, error, detail))
        }
    }
    return parameters["code"]?.takeIf { it.isNotEmpty() } ?: throw invalid
}

/** The parameters of a URL; null if one stands twice or cannot be read. */
private fun parametersOf(uri: URI): Map<String, String>? {
    val parameters = HashMap<String, String>()
    for (part in uri.rawQuery.orEmpty().split("&").filter { it.isNotEmpty() }) {
        val name = unescaped(part.substringBefore('=')) ?: return null
        val value = unescaped(part.substringAfter('=', "")) ?: return null
        if (parameters.put(name, value) != null) return null
    }
    return parameters
}

/** Whether a URL is [redirectURI] with further parameters. A host without a path may have got a slash on its way. */
private fun isSent(uri: URI, parameters: Map<String, String>, redirectURI: String): Boolean {
    val own = uriOf(redirectURI) ?: return false
    fun path(uri: URI) = if (uri.rawPath.isNullOrEmpty() && uri.rawAuthority != null) "/" else uri.rawPath
    return own.scheme.equals(uri.scheme, ignoreCase = true) &&
        own.rawAuthority.equals(uri.rawAuthority, ignoreCase = true) && path(own) == path(uri) &&
        parametersOf(own)?.all { parameters[it.key] == it.value } == true
}
