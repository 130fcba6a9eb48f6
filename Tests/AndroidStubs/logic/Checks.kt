// Runs the checks of the parts for Android on the Java platform: one line each, and the status 1 if one has failed.

package org.sojourn.android

import java.io.File
import java.nio.file.Files
import kotlin.system.exitProcess

/** The files and the waits of one check. */
internal class Place {
    val folder: File = Files.createTempDirectory("sojourn-android").toFile()
    val waits = mutableListOf<Long>()
    val keystore = Keystore { waits += it }
    val unlock = FakeUnlock()
    val files = SafeFolder(File(folder, "session-folder")) { check(it.isDirectory) }
    val record get() = File(files.folder, "session")

    fun store() = KeystoreStore(files, keystore, unlock)

    fun keyring() = KeystoreKeyring(files, keystore, unlock)

    fun gate(prompts: Prompts, screen: Screen = FakeScreen()) = BiometricGate(files, keystore, prompts, screen, true)
}

internal class FakeUnlock : UserUnlock {
    override var isUnlocked = true
    var observer: (() -> Unit)? = null

    override fun observe(observer: () -> Unit): AutoCloseable {
        this.observer = observer
        return AutoCloseable { this.observer = null }
    }
}

internal class Checks {
    private var failed = 0

    fun check(name: String, body: Place.() -> Unit) {
        Device.empty()
        val place = Place()
        try {
            place.body()
            println("passed $name")
        } catch (error: Throwable) {
            failed += 1
            println("FAILED $name: $error at ${error.stackTrace.firstOrNull { it.fileName?.endsWith("Checks.kt") == true }}")
        } finally {
            place.folder.deleteRecursively()
        }
    }

    fun end(): Nothing = exitProcess(if (failed == 0) 0 else 1)
}

internal fun <Value> expect(actual: Value, expected: Value) = check(actual == expected) { "$actual, not $expected" }

internal inline fun <reified Error : Throwable> expectError(body: () -> Unit): Error {
    try {
        body()
    } catch (error: Throwable) {
        if (error is Error) return error
        throw error
    }
    throw AssertionError("no error")
}

/** Runs [body] beside the check. Its outcome is asked for later. */
internal class Beside<Result>(body: () -> Result) {
    @Volatile private var outcome: kotlin.Result<Result>? = null
    val thread = Thread { outcome = runCatching(body) }.apply {
        isDaemon = true
        start()
    }

    fun get(): Result {
        thread.join(20_000)
        return checkNotNull(outcome) { "it hangs" }.getOrThrow()
    }
}

fun main() {
    Device.install()
    val checks = Checks()
    checks.store()
    checks.keyring()
    checks.gate()
    checks.prompts()
    checks.interceptor()
    checks.end()
}
