// The proof that two processes on one folder lose no session while one is killed at eight points and a fifth of the answers is lost;
// and that a thief of a refresh token is found all the same.
//
//   java -cp … org.sojourn.conformance.TwoProcessesKt DIR --server URL --password TEXT --rounds N --renewals N
//   java -cp … org.sojourn.conformance.TwoProcessesKt DIR --server URL --password TEXT --theft
//
// For the theft the server rotates at each renewal (`rotation_interval` 0): otherwise a token that was copied a moment ago is still the
// present one.

package org.sojourn.conformance

import org.sojourn.SessionRecord
import java.io.File
import java.util.concurrent.TimeUnit
import kotlin.system.exitProcess

private class Proof(private val folder: File, private val server: String) {
    private var seed = 0
    var kills = 0

    fun start(folder: File, renewals: Int, vararg more: String): Process {
        seed += 1
        val words = listOf(
            File(System.getProperty("java.home"), "bin/java").path, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto",
            "-cp", System.getProperty("java.class.path"), "org.sojourn.conformance.RenewerKt", folder.path, "--server", server,
            "--seed", "$seed", "--renewals", "$renewals") + more
        return ProcessBuilder(words).redirectError(ProcessBuilder.Redirect.INHERIT).start()
    }

    /** The last line of a process; null if it was killed. */
    fun last(process: Process): String? {
        val text = process.inputStream.bufferedReader().readText()
        check(process.waitFor(120, TimeUnit.SECONDS)) { "a process hangs" }
        if (process.exitValue() == 137) return null
        check(process.exitValue() == 0) { "status ${process.exitValue()}: $text" }
        return text.trim().lines().last()
    }

    fun round(point: String, renewals: Int) {
        val victim = start(folder, renewals, "--kill", point)
        val other = start(folder, renewals)
        val ends = listOf(last(victim), last(other))
        if (ends[0] == null) kills += 1
        for (end in ends) check(end == null || end == "SignedIn") { "killed at $point: $end" }
    }

    /**
     * The thief has the token, and not the secret of the retries: a copy with the secret is one more process of the device. It presents
     * what the device has left behind, and the session ends for both.
     */
    fun theft() {
        val copy = File(folder.parentFile, "thief")
        folder.copyRecursively(copy)
        val record = File(copy, "session.json")
        record.writeText(SessionRecord.parse(record.readText()).withSecret().text(null))
        check(last(start(folder, 3, "--lossless", "--bearer")) == "SignedIn") { "the device cannot renew" }
        val thief = last(start(copy, 1, "--lossless", "--bearer"))
        check(thief == "ended refresh_token_reused") { "the thief: $thief" }
        val device = last(start(folder, 1, "--lossless", "--bearer"))
        check(device == "ended refresh_token_reused") { "the device: $device" }
    }
}

fun main(arguments: Array<String>) {
    fun option(name: String) = optionOf(arguments, name) ?: ""
    val folder = File(arguments[0], "device")
    val proof = Proof(folder, option("--server"))
    try {
        val isTheft = "--theft" in arguments
        val way = if (isTheft) arrayOf("--bearer") else emptyArray()
        val login = proof.start(folder, 1, "--lossless", "--password", option("--password"), *way)
        check(proof.last(login) == "SignedIn") { "no login" }
        if (isTheft) {
            proof.theft()
            println("the thief was found")
        } else {
            val renewals = option("--renewals").toInt()
            repeat(option("--rounds").toInt()) { for (point in killPoints) proof.round(point, renewals) }
            check(proof.kills > 0) { "no process was killed" }
            println("${proof.kills} processes killed, no session lost")
        }
        exitProcess(0)
    } catch (error: IllegalStateException) {
        println("FAILED ${error.message}")
        exitProcess(1)
    }
}
