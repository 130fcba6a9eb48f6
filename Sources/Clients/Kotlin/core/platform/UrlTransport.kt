package org.sojourn

import java.io.ByteArrayOutputStream
import java.io.IOException
import java.io.InputStream
import java.io.InterruptedIOException
import java.net.HttpURLConnection
import java.net.URL
import java.util.concurrent.ExecutionException
import java.util.concurrent.FutureTask
import java.util.concurrent.TimeUnit
import java.util.concurrent.TimeoutException

/**
 * Sends by `HttpURLConnection` on Android and by the client of Java 11 elsewhere, without redirects and without a cache. Settings of the
 * whole process stay as they are.
 *
 * A request is sent once. `HttpURLConnection` repeats a POST by itself after a lost connection unless its content has a fixed length.
 * On Java 8 itself that hides the content of each 401, so that an app there needs another [Transport].
 */
class UrlTransport : Transport {
    private companion object {
        const val COUNT_MAX = 64 * 1024
    }

    override fun send(request: HttpMessage, limit: Double): HttpAnswer {
        val newer = NewerClient.shared
        if (newer != null) return within(limit, {}) { newer.exchange(request, limit, ::read) }
        val connection = URL(request.url).openConnection() as? HttpURLConnection ?: throw IOException("no URL of HTTP")
        return within(limit, connection::disconnect) { exchange(connection, request) }
    }

    /** Runs an exchange in a thread of its own, because the time limits of the classes are for parts of it. */
    private fun within(limit: Double, end: () -> Unit, exchange: () -> HttpAnswer): HttpAnswer {
        val task = FutureTask(exchange)
        Thread(task, "sojourn-request").apply { isDaemon = true }.start()
        try {
            return task.get((limit * 1000).toLong(), TimeUnit.MILLISECONDS)
        } catch (_: TimeoutException) {
            throw IOException("no answer in time")
        } catch (error: InterruptedException) {
            Thread.currentThread().interrupt()
            throw InterruptedIOException(error.toString())
        } catch (error: ExecutionException) {
            val cause = error.cause
            // Some messages quote the field that could not be sent, which may be a token (20).
            throw cause as? IOException ?: IOException("not sent: ${cause?.javaClass?.name}", cause)
        } finally {
            if (!task.isDone) {
                task.cancel(true)
                end()
            }
        }
    }

    private fun exchange(connection: HttpURLConnection, request: HttpMessage): HttpAnswer {
        connection.requestMethod = request.method
        connection.instanceFollowRedirects = false
        connection.useCaches = false
        for ((name, value) in request.fields) connection.setRequestProperty(name, value)
        if (request.body != null || request.method in listOf("POST", "PUT", "PATCH")) {
            val bytes = (request.body ?: "").toByteArray()
            connection.doOutput = true
            connection.setFixedLengthStreamingMode(bytes.size)
            connection.outputStream.use { it.write(bytes) }
        }
        val status = connection.responseCode
        val text = (if (status < 400) connection.inputStream else connection.errorStream)?.use { read(it) } ?: ""
        val fields = connection.headerFields.filterKeys { it != null }.map { it.key.lowercase() to it.value.first() }
        return HttpAnswer(status, fields.toMap(), text)
    }

    private fun read(stream: InputStream): String {
        val content = ByteArrayOutputStream()
        val part = ByteArray(8192)
        while (true) {
            val count = stream.read(part)
            if (count < 0) return String(content.toByteArray())
            content.write(part, 0, count)
            if (content.size() > COUNT_MAX) throw IOException("the answer is too long")
        }
    }
}
