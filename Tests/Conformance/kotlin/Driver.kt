// The driver of `sojourn-conformance`: lines of JSON in, lines of JSON out.
//
//   java -cp … sojourn.DriverKt DIR --server URL --renewal refresh-token|bound

package sojourn

import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import java.nio.file.Path
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
        ProcessBuilder("kill", signal, ProcessHandle.current().pid().toString()).start().waitFor()
    }
}

/** A store that fails when it is told to. */
private class FailingStore(private val base: Store) : Store {
    @Volatile var failure = "none"

    override fun load(): Stored? {
        if (failure == "read") throw StoreException(StoreException.Kind.LOCKED)
        return base.load()
    }

    override fun replace(expected: String?, text: String): Boolean {
        if (failure != "none") throw StoreException(StoreException.Kind.FAILED)
        return base.replace(expected, text)
    }

    override fun setAside() = base.setAside()
}

/** The clocks of the system, with a wall that can be moved, and time that passes at once. */
private class MovedClock : Clock {
    @Volatile var wallShift = 0L
    @Volatile var elapsed = 0L

    override fun wall() = System.currentTimeMillis() / 1000.0 + wallShift + elapsed

    override fun uptime() = System.nanoTime() / 1e9 + elapsed
}

private class Driver(folder: Path, server: String, isBound: Boolean) {
    val threads = Executors.newCachedThreadPool { Thread(it).apply { isDaemon = true } }
    private val points = Points()
    private val store = FailingStore(FileStore(folder, points::pass))
    private val clock = MovedClock()
    private val url = UrlTransport(threads)
    private val transport = Transport { request, limit ->
        points.pass("before-send")
        url.send(request, limit).also { points.pass("received") }
    }

    /** Made by the first verb that needs it, because the clock can be wrong already when an app starts. */
    private val client by lazy {
        SojournClient(Settings(server, "mobile", isBound, store, FileKeys(folder), clock, transport, threads))
    }

    fun answer(command: JsonObject): Map<String, Any?> =
        try {
            carryOut(command)
        } catch (error: SessionException) {
            mapOf("error" to error.code, "reason" to error.reason)
        } catch (error: StoreException) {
            mapOf("error" to "locked", "detail" to error.message)
        } catch (error: Exception) {
            mapOf("error" to "other", "detail" to error.toString())
        }

    private fun carryOut(command: JsonObject): Map<String, Any?> {
        val verb = command.text("do") ?: ""
        when (verb) {
            "start" -> return describe(client.start())
            "state" -> return describe(client.state)
            "login" -> {
                val name = client.signIn(command.text("username") ?: "", command.text("password") ?: "")
                return mapOf("user" to name)
            }
            "token" -> return token(Need.valueOf((command.text("need") ?: "usable").uppercase()))
            "call" -> return client.call(command.text("url") ?: "").let { mapOf("status" to it.status, "body" to it.text) }
            "logout" -> client.signOut()
            "clock" -> {
                clock.wallShift += command.number("wall") ?: 0
                clock.elapsed += command.number("elapse") ?: 0
            }
            "store" -> store.failure = command.text("fail") ?: "none"
            "freeze", "crash" -> points.arm(command.text("at") ?: "", verb)
            else -> return mapOf("error" to "no verb $verb")
        }
        return emptyMap()
    }

    private fun token(need: Need): Map<String, Any?> {
        val refused = if (need == Need.RENEWED) client.accessToken().value else null
        return client.accessToken(need, refused).let { mapOf("token" to it.value, "type" to it.type) }
    }

    private fun describe(state: State) = mapOf("state" to state.state, "user" to state.user, "reason" to state.reason)
}

private fun json(value: Any?): JsonPrimitive? = when (value) {
    null -> null
    is Number -> JsonPrimitive(value)
    else -> JsonPrimitive(value.toString())
}

fun main(arguments: Array<String>) {
    fun option(name: String) = arguments.getOrElse(arguments.indexOf(name) + 1) { "" }
    val driver = Driver(Path.of(arguments[0]), option("--server"), option("--renewal") == "bound")
    for (line in generateSequence(::readLine)) {
        val command = membersOf(line) ?: continue
        if (command.text("do") == "exit") break
        // Side by side: a verb does not wait for the one before it.
        driver.threads.execute {
            val members = driver.answer(command).map { (name, value) -> name to json(value) }.toTypedArray()
            val text = JsonObject(emptyMap()).with(*members, "id" to command["id"]).toString()
            synchronized(driver) { println(text) }
        }
    }
    exitProcess(0)
}
