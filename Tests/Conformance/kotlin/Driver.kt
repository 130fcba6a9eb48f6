// The driver of `sojourn-conformance`: lines of JSON in, lines of JSON out.
//
//   java -cp … org.sojourn.conformance.DriverKt DIR --server URL --renewal refresh-token|bound

package org.sojourn.conformance

import org.sojourn.*
import java.io.File
import java.nio.file.Path
import java.nio.file.Paths
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.Executors
import kotlin.system.exitProcess

/** Stops at points: the process stands still until SIGCONT, or is gone at once. Each stop happens once. */
private class Points {
    private val armed = ConcurrentHashMap<String, String>()

    fun arm(point: String, stop: String) {
        armed[point] = stop
    }

    fun pass(point: String) {
        val signal = when (armed.remove(point)) {
            "freeze" -> "-STOP"
            "crash" -> "-KILL"
            else -> return
        }
        // The name of the folder behind the link is the number of the process. Java 8 has no call for it.
        ProcessBuilder("kill", signal, File("/proc/self").canonicalFile.name).start().waitFor()
    }
}

/** A store that fails when it is told to. */
private class FailingStore(private val base: SessionStore) : SessionStore {
    @Volatile var failure = "none"

    override fun load(): StoredRecord? {
        if (failure == "read") throw StoreException(StoreException.Kind.LOCKED)
        return base.load()
    }

    override fun replace(expected: String?, text: String?): Boolean {
        if (failure != "none") throw StoreException(StoreException.Kind.FAILED)
        return base.replace(expected, text)
    }

    override fun setAside() = base.setAside()
}

/** The clocks of the system, with a wall that can be moved, and time that passes at once. */
private class MovedClock : ClientClock {
    @Volatile var wallShift = 0L
    @Volatile var elapsed = 0L

    override fun wall() = System.currentTimeMillis() / 1000.0 + wallShift + elapsed

    override fun uptime() = System.nanoTime() / 1e9 + elapsed
}

private class Driver(folder: Path, server: String, isBound: Boolean) {
    private val points = Points()
    private val store = FailingStore(FileStore(folder, points::pass))
    private val clock = MovedClock()
    private val url = UrlTransport()
    private val transport = Transport { request, limit ->
        points.pass("before-send")
        url.send(request, limit).also { points.pass("received") }
    }
    private val user = UserAtScreen(folder)
    private val passkeys = SoftwarePasskeys(user)
    private val phone = PhoneVerbs { client }

    /** Made by the first verb that needs it, because the clock can be wrong already when an app starts. */
    private val client by lazy {
        val renewal = if (isBound) Renewing.BOUND_REFRESH_TOKEN else Renewing.REFRESH_TOKEN
        val configuration = SojournConfiguration(server, renewal = renewal, readyForUser = { !user.isInBackground })
        Sojourn(configuration, SojournPlatform(store, FileKeys(folder), FileGate(folder, user), clock, transport))
    }

    fun answer(command: Members): Members =
        try {
            carryOut(command)
        } catch (error: SojournException) {
            mapOf("error" to wordOf(error), "reason" to reasonOf(error), "detail" to error.message)
        } catch (error: Exception) {
            mapOf("error" to "other", "detail" to error.toString())
        }

    private fun carryOut(command: Members): Members {
        val verb = command.text("do") ?: ""
        when (verb) {
            "capabilities" -> return mapOf("lacks" to emptyList<String>())
            "start" -> return describe(client.start())
            "state" -> return describe(client.state)
            "login" -> {
                val name = command.text("username") ?: ""
                val account = client.signIn(name, command.text("password") ?: "", modeOf(command, "mode"))
                return mapOf("user" to account.username)
            }
            "token" -> return token(command.text("need") ?: "usable")
            "call" -> {
                val answer = client.send(HttpMessage("GET", command.text("url") ?: "", emptyMap()))
                return mapOf("status" to answer.status, "body" to answer.text)
            }
            "logout" -> client.signOut()
            "clock" -> {
                clock.wallShift += command.number("wall") ?: 0
                clock.elapsed += command.number("elapse") ?: 0
            }
            "store" -> store.failure = command.text("fail") ?: "none"
            "freeze", "crash" -> points.arm(command.text("at") ?: "", verb)
            else -> return presence(verb, command) ?: phone.carryOut(verb, command) ?: mapOf("error" to "no verb $verb")
        }
        return emptyMap()
    }

    private fun presence(verb: String, command: Members): Members? {
        val password = command.text("password")
        when (verb) {
            "presence" -> return user.take(command)
            "mode" -> client.switchMode(modeOf(command, "to"), password = password)
            "unlock" -> if (password == null) client.unlock() else client.unlockByPassword(password)
            "lock" -> client.lock()
            "add-passkey" -> return mapOf("passkey" to client.addPasskey(passkeys, command.text("name")).id)
            "login-passkey" -> return mapOf("user" to client.signInByPasskey(passkeys, modeOf(command, "mode")).username)
            "show-presence" -> client.showPresenceByPasskey(passkeys)
            else -> return null
        }
        return emptyMap()
    }

    private fun modeOf(command: Members, name: String) = AuthenticationMode.valueOf(command.text(name) ?: "NO")

    private fun token(need: String): Members {
        val token = when (need) {
            "fresh" -> client.accessToken(Need.Fresh)
            "renewed" -> client.accessToken(Need.After(client.accessToken()))
            else -> client.accessToken()
        }
        return mapOf("token" to token.value, "type" to token.type)
    }

    private fun describe(state: SessionState): Members = when (state) {
        SessionState.Starting -> mapOf("state" to "starting")
        SessionState.Locked -> mapOf("state" to "locked")
        is SessionState.StoreFailed -> mapOf("state" to "store-failed", "reason" to state.detail)
        is SessionState.SignedOut -> mapOf("state" to "signed-out")
        is SessionState.SignedIn -> mapOf("state" to "signed-in", "user" to state.account.username)
        is SessionState.PresenceRequired -> mapOf("state" to "presence-required", "user" to state.account.username)
        is SessionState.Ended -> mapOf("state" to "ended", "reason" to state.reason)
    }

    private fun wordOf(error: SojournException) = when (error) {
        is SojournException.NotSignedIn -> "not-signed-in"
        is SojournException.Locked, is SojournException.Store, is SojournException.Key -> "locked"
        is SojournException.Ended -> "ended"
        is SojournException.Suspended -> "suspended"
        is SojournException.PresenceRequired -> "presence-required"
        is SojournException.Presence -> "presence"
        is SojournException.SecondFactorRequired -> "second-factor-required"
        is SojournException.Refused -> "refused"
        is SojournException.Unreachable -> "unreachable"
        is SojournException.Cancelled -> "canceled"
        is SojournException.Misconfigured -> "other"
    }

    private fun reasonOf(error: SojournException) = when (error) {
        is SojournException.Ended -> error.reason
        is SojournException.Suspended -> error.reason
        is SojournException.Refused -> error.refusal.code
        is SojournException.Presence -> when (error.failure.error.kind) {
            PresenceKind.CANCELLED -> "canceled"
            PresenceKind.NOT_RECOGNIZED, PresenceKind.POSSIBLE_ATTACK -> "failed"
            PresenceKind.ENROLLMENT_CHANGED -> "enrollment-changed"
            else -> "other"
        }
        else -> null
    }
}

fun main(arguments: Array<String>) {
    fun option(name: String) = arguments.getOrElse(arguments.indexOf(name) + 1) { "" }
    val driver = Driver(Paths.get(arguments[0]), option("--server"), option("--renewal") == "bound")
    val threads = Executors.newCachedThreadPool { Thread(it).apply { isDaemon = true } }
    for (line in generateSequence(::readLine)) {
        val command = membersOf(line) ?: continue
        if (command.text("do") == "exit") break
        // Side by side: a verb does not wait for the one before it.
        threads.execute {
            val text = jsonOf(driver.answer(command).filterValues { it != null } + ("id" to command["id"]))
            synchronized(driver) { println(text) }
        }
    }
    exitProcess(0)
}
