// A process that renews again and again, for the proof of `TwoProcesses.kt`.
//
//   java -cp … org.sojourn.conformance.RenewerKt DIR --server URL --seed N --renewals N [--password TEXT] [--kill POINT]
//       [--lossless] [--bearer]
//
// It loses a fifth of the answers to renewals, unless it is lossless. With a password it signs in first. Its last line has the state of the session.

package org.sojourn.conformance

import org.sojourn.*
import java.io.File
import java.io.IOException
import java.nio.file.Paths
import java.util.Random
import kotlin.system.exitProcess

/** The points at which a process is killed. */
internal val killPoints =
    listOf("loaded", "before-send", "received", "lost", "temp-written", "renamed", "replaced", "renewed")

/** Goes at once, as by `kill -9`. */
private fun end(): Nothing {
    ProcessBuilder("kill", "-KILL", File("/proc/self").canonicalFile.name).start().waitFor()
    while (true) Thread.sleep(1000)
}

private class PointStore(private val base: SessionStore, private val pass: (String) -> Unit) : SessionStore by base {
    override fun load() = base.load().also { pass("loaded") }

    override fun replace(expected: String?, text: String?) = base.replace(expected, text).also { if (it) pass("replaced") }
}

/** The waits after lost answers are short, so that many renewals fit into little time. */
private class HastyClock(private val base: ClientClock) : ClientClock by base {
    override fun sleep(seconds: Double) = Thread.sleep((seconds * 20).toLong())
}

internal fun optionOf(arguments: Array<String>, name: String): String? =
    arguments.indexOf(name).let { if (it < 0) null else arguments.getOrNull(it + 1) }

fun main(arguments: Array<String>) {
    val folder = Paths.get(arguments[0])
    val random = Random(optionOf(arguments, "--seed")?.toLong() ?: 0)
    val point = optionOf(arguments, "--kill")
    check(point == null || point in killPoints)
    // A point is passed a few times before the process ends there.
    var passes = 1 + random.nextInt(3)
    fun pass(passed: String) {
        if (passed == point && --passes == 0) end()
    }
    val isLossy = "--lossless" !in arguments
    val url = UrlTransport()
    val transport = Transport { request, limit ->
        pass("before-send")
        val answer = url.send(request, limit)
        pass("received")
        if (isLossy && request.url.endsWith(TOKEN_PATH) && random.nextInt(5) == 0) {
            pass("lost")
            throw IOException("the answer is lost")
        }
        answer
    }
    val renewal = if ("--bearer" in arguments) Renewing.REFRESH_TOKEN else Renewing.BOUND_REFRESH_TOKEN
    val client = Sojourn(
        SojournConfiguration(optionOf(arguments, "--server") ?: "", renewal = renewal),
        SojournPlatform(
            PointStore(FileStore(folder, ::pass), ::pass), FileKeys(folder), clock = HastyClock(SystemClock()),
            transport = transport))
    optionOf(arguments, "--password")?.let { client.signIn("anna", it) }
    var left = optionOf(arguments, "--renewals")?.toInt() ?: 1
    while (left > 0) {
        val loaded = client.load() ?: break
        if (loaded.record.session?.takeIf { it.endReason == null } == null) break
        val outcome = client.await(client.flight(loaded.version), null)
        if (outcome is Outcome.Renewed) left -= 1
        if (outcome is Outcome.Renewed) pass("renewed")
        if (outcome is Outcome.Ended || outcome == Outcome.NotSignedIn) break
    }
    val state = client.restore()
    println(if (state is SessionState.Ended) "ended ${state.reason}" else state.javaClass.simpleName)
    System.out.flush()
    exitProcess(0)
}
