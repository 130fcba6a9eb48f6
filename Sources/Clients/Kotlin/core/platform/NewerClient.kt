package org.sojourn

import java.io.IOException
import java.io.InputStream
import java.lang.reflect.InvocationTargetException
import java.lang.reflect.Method
import java.net.URI
import java.time.Duration

/**
 * The HTTP client of Java 11, by reflection, because calls of Java 8 do not have it. It follows no redirects and repeats no POST. Unlike
 * it, `HttpURLConnection` outside of Android hides the content of a 401 to a request that it must not repeat, and knows no PATCH.
 */
internal class NewerClient private constructor() {
    private fun type(name: String): Class<*> = Class.forName("java.net.http.$name")

    private val builder = type("HttpRequest\$Builder")
    private val response = type("HttpResponse")
    private val client: Any
    private val reader = type("HttpResponse\$BodyHandlers").getMethod("ofInputStream").invoke(null)
    private val send: Method = type("HttpClient").getMethod("send", type("HttpRequest"), type("HttpResponse\$BodyHandler"))

    init {
        val clients = type("HttpClient\$Builder")
        // Without it the client asks a server without TLS for HTTP/2.
        val version = type("HttpClient\$Version")
        val older = version.enumConstants.first { it.toString() == "HTTP_1_1" }
        val made = clients.getMethod("version", version)
            .invoke(type("HttpClient").getMethod("newBuilder").invoke(null), older)
        client = clients.getMethod("build").invoke(made)
    }

    /** Sends a request, and blocks until the answer has come. An interrupt ends the exchange. */
    fun exchange(request: HttpMessage, limit: Double, read: (InputStream) -> String): HttpAnswer {
        val text = type("HttpRequest\$BodyPublishers")
        val content = if (request.body == null) text.getMethod("noBody").invoke(null) else {
            text.getMethod("ofString", String::class.java).invoke(null, request.body)
        }
        var built = type("HttpRequest").getMethod("newBuilder", URI::class.java).invoke(null, URI(request.url))
        built = builder.getMethod("method", String::class.java, type("HttpRequest\$BodyPublisher"))
            .invoke(built, request.method, content)
        built = builder.getMethod("timeout", Duration::class.java).invoke(built, Duration.ofMillis((limit * 1000).toLong()))
        val header = builder.getMethod("header", String::class.java, String::class.java)
        for ((name, value) in request.fields) built = header.invoke(built, name, value)
        val answer = try {
            send.invoke(client, builder.getMethod("build").invoke(built), reader)
        } catch (error: InvocationTargetException) {
            val cause = error.cause
            throw cause as? IOException ?: IOException("not sent: ${cause?.javaClass?.name}", cause)
        }
        val headers = type("HttpHeaders").getMethod("map").invoke(response.getMethod("headers").invoke(answer)) as Map<*, *>
        val fields = headers.entries.associate { it.key.toString().lowercase() to (it.value as List<*>).first().toString() }
        val body = (response.getMethod("body").invoke(answer) as InputStream).use(read)
        return HttpAnswer(response.getMethod("statusCode").invoke(answer) as Int, fields, body)
    }

    companion object {
        /** Null where the platform has none: on Android, and on Java 8. */
        val shared: NewerClient? by lazy {
            try {
                NewerClient()
            } catch (_: ReflectiveOperationException) {
                null
            }
        }
    }
}
