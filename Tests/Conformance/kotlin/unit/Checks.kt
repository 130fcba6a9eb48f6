// The unit tests of the Kotlin client: a line for each, and the status 1 if one fails. They stand beside the client in one module, so
// that they see what is internal.
//
//   java -cp … org.sojourn.unit.ChecksKt [WORD]

package org.sojourn.unit

import org.sojourn.SojournException
import kotlin.system.exitProcess

/** The checks of one subject. */
abstract class Subject(val name: String) {
    val checks = ArrayList<Pair<String, () -> Unit>>()

    protected fun check(title: String, body: () -> Unit) {
        checks.add(title to body)
    }
}

fun <Value> expect(found: Value, expected: Value, about: String = "") {
    if (found != expected) throw AssertionError("$about: $found, not $expected")
}

fun expect(isTrue: Boolean, about: String) {
    if (!isTrue) throw AssertionError(about)
}

/** The error of a body that has to fail. */
inline fun <reified Failure : Exception> failure(body: () -> Unit): Failure {
    try {
        body()
    } catch (error: Exception) {
        if (error is Failure) return error
        throw AssertionError("another error: $error", error)
    }
    throw AssertionError("no error")
}

fun refusal(body: () -> Unit): String = failure<SojournException.Refused>(body).refusal.code

fun main(arguments: Array<String>) {
    val subjects = listOf(
        JsonChecks(), FileStoreChecks(), TransportChecks(), VerdictChecks(), PresenceChecks(), SessionChecks(), LoginPageChecks(),
        PhoneChecks(), EventChecks(), SeedChecks(), SpeedChecks())
    var failed = 0
    var passed = 0
    for (subject in subjects) {
        for ((title, body) in subject.checks) {
            if (arguments.isNotEmpty() && arguments[0] !in "${subject.name}: $title") continue
            try {
                body()
                passed += 1
            } catch (error: Throwable) {
                failed += 1
                println("failed ${subject.name}: $title: $error")
                error.stackTrace.firstOrNull { "unit" in it.className && "Checks.kt" !in (it.fileName ?: "") }?.let { println("  $it") }
            }
        }
    }
    println("$passed passed, $failed failed")
    exitProcess(if (failed == 0 && passed > 0) 0 else 1)
}
