package org.sojourn.unit

import org.sojourn.*

class LoginPageChecks : Subject("login page") {
    private val redirect = "shop:/callback"

    private fun parameters(url: String) = url.substringAfter('?').split("&").associate { part ->
        part.substringBefore('=') to (unescaped(part.substringAfter('=')) ?: "")
    }

    private fun callback(state: String, issuer: String = FakeServer.URL, code: String = "c1") =
        "$redirect?code=$code&state=$state&iss=${escaped(issuer)}"

    init {
        check("the answer counts in another process, by the verifier in the record") {
            val store = MemoryStore()
            val server = FakeServer()
            val url = sojourn(server, store).beginSignIn(LoginPage(redirect, prompt = "login", uiLocales = listOf("de", "en")))
            val asked = parameters(url)
            expect(asked["code_challenge_method"] to asked["ui_locales"], "S256" to "de en")
            val account = sojourn(server, store).signInByCallback(callback(asked["state"] ?: ""))
            expect(account.username, "anna")
            val sent = parameters("?" + server.requests.last().body)
            expect(base64url(sha256((sent["code_verifier"] ?: "").toByteArray())), asked["code_challenge"])
            expect(store.load()?.text?.contains("pending_login"), false)
        }
        check("an answer with another state, issuer or place is refused, and the login goes on waiting") {
            val client = sojourn(FakeServer())
            val state = parameters(client.beginSignIn(LoginPage(redirect)))["state"] ?: ""
            expect(refusal { client.signInByCallback(callback("other")) }, "state_mismatch")
            expect(refusal { client.signInByCallback(callback(state, "https://other.example")) }, "iss_mismatch")
            expect(refusal { client.signInByCallback("$redirect?code=c1&state=$state") }, "iss_mismatch")
            expect(refusal { client.signInByCallback(callback(state).replace("shop:", "bank:")) }, "redirect_uri_mismatch")
            expect(refusal { client.signInByCallback(callback(state) + "&state=$state") }, "invalid_callback")
            expect(refusal { client.signInByCallback(callback(state, code = "")) }, "invalid_callback")
            expect(client.signInByCallback(callback(state)).username, "anna")
            expect(refusal { client.signInByCallback(callback(state)) }, "no_login_pending")
        }
        check("a refusal by the user ends the login") {
            val client = sojourn(FakeServer())
            val state = parameters(client.beginSignIn(LoginPage(redirect)))["state"] ?: ""
            val url = "$redirect?error=access_denied&state=$state&iss=${escaped(FakeServer.URL)}"
            expect(refusal { client.signInByCallback(url) }, "access_denied")
            expect(refusal { client.signInByCallback(url) }, "no_login_pending")
        }
        check("an ID token with another nonce begins no session here, and the server is told to end it") {
            val server = FakeServer()
            val client = sojourn(server)
            val state = parameters(client.beginSignIn(LoginPage(redirect)))["state"] ?: ""
            val token = listOf("{}", """{"nonce":"other"}""", "").joinToString(".") { base64url(it.toByteArray()) }
            server.answers["/oauth/token"] = { server.json(server.tokens() + ("id_token" to token)) }
            expect(refusal { client.signInByCallback(callback(state)) }, "nonce_mismatch")
            client.settle(5.0)
            expect(server.count("/v1/logout"), 1)
            expect(client.restore(), SessionState.SignedOut(SignOut.NEVER))
        }
    }
}
