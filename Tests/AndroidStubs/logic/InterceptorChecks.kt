package org.sojourn.android

import okhttp3.HttpUrl
import okhttp3.Interceptor
import okhttp3.Request
import okhttp3.RequestBody
import okhttp3.Response
import org.sojourn.HttpAnswer
import org.sojourn.MemoryStore
import org.sojourn.Renewing
import org.sojourn.SessionState
import org.sojourn.Sojourn
import org.sojourn.SojournConfiguration
import org.sojourn.SojournException
import org.sojourn.SojournPlatform
import org.sojourn.signIn

private class FakeUrl(override val host: String) : HttpUrl() {
    override val scheme = "https"
    override val port = 443
    override val isHttps = true

    override fun toString() = "https://$host/orders"
}

private class FakeRequest(
    override val url: HttpUrl, override val body: RequestBody? = null, val fields: Map<String, String> = emptyMap(),
) : Request() {
    override val method = if (body == null) "GET" else "POST"

    override fun header(name: String) = fields[name]

    override fun newBuilder() = object : Builder() {
        private val more = fields.toMutableMap()

        override fun header(name: String, value: String) = apply { more[name] = value }

        override fun build() = FakeRequest(url, body, more)
    }
}

private class FakeResponse(override val code: Int, private val challenge: String?) : Response() {
    var isClosed = false

    override fun header(name: String, defaultValue: String?) = challenge.takeIf { name == "WWW-Authenticate" } ?: defaultValue

    override fun close() {
        isClosed = true
    }
}

/** An API that answers with these statuses, one after the other, and keeps what it got. */
private class FakeChain(private val request: FakeRequest, vararg codes: Int) : Interceptor.Chain {
    private val codes = codes.toMutableList()
    var challenge: String? = null
    val tokens = mutableListOf<String?>()
    val answers = mutableListOf<FakeResponse>()

    override fun request() = request

    override fun proceed(request: Request): Response {
        tokens += request.header("Authorization")
        return FakeResponse(codes.removeAt(0), challenge).also { answers += it }
    }
}

/** A client on a server that gives the tokens `a1`, `a2` and so on. */
private fun Place.client(): Sojourn {
    var count = 0
    val configuration = SojournConfiguration("https://login.example", renewal = Renewing.REFRESH_TOKEN)
    return Sojourn(configuration, SojournPlatform(MemoryStore(), keyring(), transport = { _, _ ->
        count += 1
        val now = System.currentTimeMillis() / 1000
        val times = """"issued_at":$now,"expires_at":${now + 3600},"refresh_after":${now + 1800},"rotation_interval":120"""
        val session = """"session_id":"s","refresh_token":"r$count","renewal":["refresh_token"],"device_id":"d""""
        HttpAnswer(200, emptyMap(), """{"access_token":"a$count","token_type":"Bearer",$times,$session,"user":{"user_id":"u"}}""")
    }))
}

internal fun Checks.interceptor() {
    val own = FakeUrl("api.example")
    check("an interceptor authorizes calls to the app's own APIs alone") {
        val client = client().also { it.signIn("anna", "p") }
        val interceptor = SojournInterceptor(client, listOf("https://API.example/"))
        fun token(request: FakeRequest) = FakeChain(request, 200).also { interceptor.intercept(it) }.tokens.single()
        expect(token(FakeRequest(own)), "Bearer a1")
        expect(token(FakeRequest(FakeUrl("pictures.example"))), null)
        expect(token(FakeRequest(own, fields = mapOf("Authorization" to "Basic x"))), "Basic x")
    }
    check("an interceptor renews once after a 401, and repeats the call once") {
        val client = client().also { it.signIn("anna", "p") }
        val interceptor = SojournInterceptor(client, listOf("https://api.example"))
        val chain = FakeChain(FakeRequest(own), 401, 200)
        expect(interceptor.intercept(chain).code, 200)
        expect(chain.tokens, listOf<String?>("Bearer a1", "Bearer a2"))
        expect(chain.answers.first().isClosed, true)
        // An API that refuses each token does not make each call a renewal.
        val refusing = FakeChain(FakeRequest(own), 401, 401)
        expect(interceptor.intercept(refusing).code, 401)
        check(refusing.tokens.size <= 2) { "more than one repetition" }
    }
    check("an interceptor renews neither for a nonce nor for the user's presence") {
        val client = client().also { it.signIn("anna", "p") }
        val interceptor = SojournInterceptor(client, listOf("https://api.example"))
        val nonce = FakeChain(FakeRequest(own), 401, 200).also { it.challenge = """DPoP error="use_dpop_nonce"""" }
        expect(interceptor.intercept(nonce).code, 200)
        expect(nonce.tokens, listOf<String?>("Bearer a1", "Bearer a1"))
        val presence = FakeChain(FakeRequest(own), 401)
        presence.challenge = """Bearer error="insufficient_user_authentication", acr_values="presence", max_age="60""""
        expect(interceptor.intercept(presence).code, 401)
        expect(presence.answers.single().isClosed, false)
        check(client.state is SessionState.PresenceRequired) { "${client.state}" }
    }
    check("an interceptor does not repeat a body that can be sent once") {
        val client = client().also { it.signIn("anna", "p") }
        val body = object : RequestBody() {
            override fun isOneShot() = true
        }
        val chain = FakeChain(FakeRequest(own, body), 401)
        expect(SojournInterceptor(client, listOf("https://api.example")).intercept(chain).code, 401)
        expect(chain.tokens.size, 1)
    }
    check("a call without a session is an IOException with its reason") {
        val chain = FakeChain(FakeRequest(own))
        val interceptor = SojournInterceptor(client(), listOf("https://api.example"))
        val error = expectError<SojournIOException> { interceptor.intercept(chain) }
        check(error.cause is SojournException.NotSignedIn) { "no reason" }
        expect(chain.tokens.size, 0)
    }
}
