package sojourn

import java.io.IOException
import java.net.HttpURLConnection
import java.net.URL
import java.util.concurrent.Callable
import java.util.concurrent.ExecutionException
import java.util.concurrent.ExecutorService
import java.util.concurrent.TimeUnit
import java.util.concurrent.TimeoutException

/** Sends by `HttpURLConnection`: no redirects, no cache, and a connection for each request. */
class UrlTransport(private val threads: ExecutorService) : Transport {
    companion object {
        private const val BODY_COUNT_MAX = 64 * 1024

        init {
            // Otherwise the class sends a POST again by itself, and the client would not know of it.
            System.setProperty("sun.net.http.retryPost", "false")
            System.setProperty("http.keepAlive", "false")
        }
    }

    override fun send(request: Request, limit: Double): Answer {
        val connection = URL(request.url).openConnection() as HttpURLConnection
        val exchange = threads.submit(Callable { exchange(connection, request) })
        try {
            return exchange.get((limit * 1000).toLong(), TimeUnit.MILLISECONDS)
        } catch (_: TimeoutException) {
            throw IOException("no answer in time")
        } catch (error: ExecutionException) {
            throw error.cause as? IOException ?: error
        } finally {
            connection.disconnect()
        }
    }

    private fun exchange(connection: HttpURLConnection, request: Request): Answer {
        connection.requestMethod = request.method
        connection.instanceFollowRedirects = false
        connection.useCaches = false
        for ((name, value) in request.fields) connection.setRequestProperty(name, value)
        if (request.body != null) {
            connection.doOutput = true
            connection.outputStream.use { it.write(request.body.toByteArray()) }
        }
        val status = connection.responseCode
        val stream = if (status < 400) connection.inputStream else connection.errorStream
        val bytes = stream?.use { it.readNBytes(BODY_COUNT_MAX + 1) } ?: ByteArray(0)
        if (bytes.size > BODY_COUNT_MAX) throw IOException("the answer is too long")
        val fields = connection.headerFields.filterKeys { it != null }.map { it.key.lowercase() to it.value.first() }
        return Answer(status, fields.toMap(), String(bytes))
    }
}
