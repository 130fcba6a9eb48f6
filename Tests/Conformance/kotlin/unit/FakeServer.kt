package org.sojourn.unit

import org.sojourn.*
import java.io.IOException

/** A server in the process: it gives tokens to every login and renewal, unless [answers] has another answer for the path. */
class FakeServer : Transport {
    val requests = ArrayList<HttpMessage>()
    val answers = HashMap<String, (HttpMessage) -> HttpAnswer?>()
    var isReachable = true
    var lifetime = 3600L
    private var serial = 0

    @Synchronized
    override fun send(request: HttpMessage, limit: Double): HttpAnswer {
        if (!isReachable) throw IOException("no network")
        requests.add(request)
        val path = request.url.removePrefix(URL).substringBefore('?')
        answers[path]?.invoke(request)?.let { return it }
        return when (path) {
            "/v1/login", "/oauth/token" -> json(tokens(membersOf(request.body ?: "")?.text("authentication_mode")))
            else -> json(emptyMap())
        }
    }

    /** The answer of a login or of a renewal, which names no mode. */
    fun tokens(mode: String? = null): Members {
        serial += 1
        val now = System.currentTimeMillis() / 1000
        val tokens = mapOf(
            "access_token" to "access-$serial", "token_type" to "Bearer", "refresh_token" to "refresh-$serial",
            "issued_at" to now, "expires_at" to now + lifetime, "refresh_after" to now + lifetime / 2, "session_id" to "session",
            "user" to mapOf("user_id" to "u1", "username" to "anna"),
        )
        return if (mode == null) tokens else tokens + ("authentication_mode" to mode)
    }

    fun count(path: String) = requests.count { it.url == URL + path }

    fun json(members: Members, status: Int = 200) = HttpAnswer(status, emptyMap(), jsonOf(members))

    companion object {
        const val URL = "https://login.example"
    }
}

/** A gate that asks its [answer]: null is a confirmed prompt, else the code of an error. */
class FakeGate(private val answer: () -> Int?) : PresenceGate {
    val enrollments = HashMap<String, OpenGate>()
    var prompts = 0
    override val platform = BiometryPlatform.ANDROID

    override fun availability() = GateAvailability()

    override fun enroll(reason: String): OpenGate {
        ask()
        val id = "gate-${enrollments.size}"
        enrollments[id] = OpenGate(id, SoftwareKey.make(), ByteArray(32) { it.toByte() })
        return opened(id)
    }

    override fun unlock(id: String, reason: String): OpenGate {
        if (id !in enrollments) throw PresenceException(platform, PresenceException.ENROLLMENT_CHANGED)
        ask()
        return opened(id)
    }

    /** As the gate of Android does, `close` overwrites the key. */
    private fun opened(id: String): OpenGate {
        val kept = enrollments.getValue(id)
        val key = kept.sealingKey.copyOf()
        return OpenGate(id, kept.presenceKey, key) { key.fill(0) }
    }

    override fun confirmWithDeviceCredential(title: String, text: String) = ask()

    override fun discard(id: String) {
        enrollments.remove(id)
    }

    private fun ask() {
        prompts += 1
        answer()?.let { throw PresenceException(platform, it) }
    }
}

fun sojourn(
    server: FakeServer, store: SessionStore = MemoryStore(), gate: PresenceGate? = null,
    renewal: Renewing = Renewing.REFRESH_TOKEN, isReady: Boolean = true,
) = Sojourn(
    SojournConfiguration(FakeServer.URL, renewal = renewal, readyForUser = { isReady }),
    SojournPlatform(store, MemoryKeys(), gate, transport = server))
