package org.sojourn.unit

import org.sojourn.*
import java.io.IOException
import java.net.InetAddress
import java.net.ServerSocket
import java.net.Socket
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread

/** A server that answers each request by bytes, and counts them. Null: the connection is cut after the request. */
private class RawServer(private val answer: (Int) -> String?) : AutoCloseable {
    private val socket = ServerSocket(0, 10, InetAddress.getLoopbackAddress())
    val count = AtomicInteger()
    val url = "http://127.0.0.1:${socket.localPort}/path"

    init {
        thread(isDaemon = true) {
            while (true) {
                val connection = try {
                    socket.accept()
                } catch (_: IOException) {
                    return@thread
                }
                thread(isDaemon = true) { connection.use { serve(it) } }
            }
        }
    }

    private fun serve(connection: Socket) {
        val input = connection.getInputStream()
        while (true) {
            val head = StringBuilder()
            while (!head.endsWith("\r\n\r\n")) head.append(input.read().also { if (it < 0) return }.toChar())
            val length = Regex("content-length: (\\d+)", RegexOption.IGNORE_CASE).find(head)?.groupValues?.get(1)?.toInt() ?: 0
            repeat(length) { input.read() }
            val text = answer(count.incrementAndGet()) ?: return
            connection.getOutputStream().write(text.toByteArray())
            connection.getOutputStream().flush()
        }
    }

    override fun close() = socket.close()
}

class TransportChecks : Subject("UrlTransport") {
    private fun answer(head: String, text: String) = "HTTP/1.1 $head\r\nContent-Length: ${text.length}\r\n\r\n$text"

    private fun post(url: String) = HttpMessage("POST", url, mapOf("Content-Type" to "application/json"), "{}")

    init {
        check("a 401 to a POST is an answer with its content and fields") {
            RawServer { answer("401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\nRetry-After: 3", "{\"a\":1}") }.use { server ->
                val found = UrlTransport().send(post(server.url), 5.0)
                expect(found.status to found.text, 401 to "{\"a\":1}")
                expect(found.field("retry-AFTER"), "3")
            }
        }
        check("a redirect is an answer, and is not followed") {
            RawServer { answer("307 Temporary Redirect\r\nLocation: /other", "") }.use { server ->
                expect(UrlTransport().send(post(server.url), 5.0).status, 307)
                expect(server.count.get(), 1)
            }
        }
        check("a POST is sent once, also if the connection was used before and is cut") {
            RawServer { count -> if (count == 2) null else answer("200 OK", "{}") }.use { server ->
                val transport = UrlTransport()
                transport.send(post(server.url), 5.0)
                failure<IOException> { transport.send(post(server.url), 5.0) }
                expect(server.count.get(), 2)
            }
        }
        check("every method arrives, PATCH as well") {
            RawServer { answer("200 OK", "{}") }.use { server ->
                for (method in listOf("GET", "POST", "PUT", "PATCH", "DELETE")) {
                    val request = HttpMessage(method, server.url, emptyMap(), if (method == "GET") null else "{}")
                    expect(UrlTransport().send(request, 5.0).status, 200, method)
                }
                expect(server.count.get(), 5)
            }
        }
        check("an answer that is too long, or none in time, is no answer") {
            RawServer { answer("200 OK", "a".repeat(70_000)) }.use { server ->
                failure<IOException> { UrlTransport().send(post(server.url), 5.0) }
            }
            val mayEnd = CountDownLatch(1)
            RawServer { mayEnd.await(); null }.use { server ->
                failure<IOException> { UrlTransport().send(post(server.url), 0.05) }
                mayEnd.countDown()
            }
        }
    }
}
