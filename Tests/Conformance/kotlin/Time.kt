// The server's time (rule 8), and the waits after failures (rule 9).

package sojourn

import kotlin.math.floor
import kotlin.math.min
import kotlin.random.Random

/** The server's time, as far as a device can tell it. It goes on by a clock that the user cannot set. */
class ServerClock(private val clock: Clock) {
    private val startWall = clock.wall()
    private val startUptime = clock.uptime()
    private var anchor: Pair<Long, Double>? = null
    private var offset = 0L

    /** Whether the server has told its time to this process. Before that, the time is a guess by the wall clock. */
    @get:Synchronized
    val isAnchored get() = anchor != null

    /** Unix seconds of the server. */
    @Synchronized
    fun now(): Long {
        val (server, uptime) = anchor?.let { it.first.toDouble() to it.second } ?: (startWall + offset to startUptime)
        return floor(server + clock.uptime() - uptime).toLong()
    }

    /** The offset from the wall clock in the record, which counts until the server answers. */
    @Synchronized
    fun recall(offset: Long) {
        this.offset = offset
    }

    /** The offset for the record; null before the first answer. */
    val recordOffset get() = if (isAnchored) now() - floor(clock.wall()).toLong() else null

    @Synchronized
    fun note(server: Long) {
        anchor = server to clock.uptime()
    }
}

/** Holds all callers back after a renewal that got no answer. */
class Retries(private val clock: Clock) {
    companion object {
        private val withinRenewal = listOf(0.5, 2.0)
        private val betweenRenewals = listOf(5.0, 10.0, 30.0, 60.0)
        private const val WITHOUT_TOKEN_MAX = 30.0
        private val beyondRetryAfter = listOf(10.0, 20.0)

        /** The wait in seconds before the retry of that number (1 is the first) within one renewal. */
        fun waitWithin(attempt: Int, retryAfter: Long?): Double =
            retryAfter?.let { asked(it) } ?: (Random.nextDouble() * withinRenewal[min(attempt, withinRenewal.size) - 1])

        private fun asked(retryAfter: Long): Double = if (retryAfter > 0) retryAfter + Random.nextDouble() else 0.0
    }

    private var failures = 0
    private var heldUntil = 0.0
    private var patientUntil = 0.0
    private var isServersWord = false

    /** Whether a caller waits; one with a token that works can wait for longer. */
    @Synchronized
    fun isHeld(hasToken: Boolean): Boolean = (if (hasToken) patientUntil else heldUntil) > clock.uptime()

    @Synchronized
    fun noteFailure(retryAfter: Long? = null) {
        val longest = betweenRenewals[min(failures, betweenRenewals.size - 1)]
        val beyond = beyondRetryAfter[min(failures, beyondRetryAfter.size - 1)]
        failures += 1
        isServersWord = retryAfter != null
        val part = Random.nextDouble()
        if (retryAfter != null) {
            heldUntil = clock.uptime() + asked(retryAfter)
            patientUntil = heldUntil + part * beyond
        } else {
            heldUntil = clock.uptime() + part * min(longest, WITHOUT_TOKEN_MAX)
            patientUntil = clock.uptime() + part * longest
        }
    }

    @Synchronized
    fun noteAnswer() {
        failures = 0
        heldUntil = 0.0
        patientUntil = 0.0
    }

    /** The network may be another one when the app comes to the foreground. What the server asked for holds. */
    @Synchronized
    fun noteStart() {
        if (!isServersWord) heldUntil = 0.0
        patientUntil = heldUntil
    }
}
