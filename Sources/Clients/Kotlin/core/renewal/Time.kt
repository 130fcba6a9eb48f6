// The server's time (rule 8), and the waits after failures (rule 9).

package org.sojourn

import kotlin.math.abs
import kotlin.math.floor
import kotlin.math.min

/**
 * The server's time, as far as a device can tell it. It decides when to renew and what to sign, and ends nothing. It is anchored in
 * answers of the server, and goes on by a clock that no user can set.
 */
internal class ServerClock(private val clock: ClientClock) {
    private class Sample(val server: Long, val uptime: Double, val roundTrip: Double)

    private companion object {
        /** An answer that took longer says too little. */
        const val ROUND_TRIP_MAX = 5.0

        /** A sample that is older gives way to any other. */
        const val SAMPLE_AGE_MAX = 3600.0
    }

    private val startWall = clock.wall()
    private val startUptime = clock.uptime()
    private var sample: Sample? = null
    private var offset = 0L

    /** Whether the server has told its time to this process. Before that, the time is a guess by the wall clock. */
    @get:Synchronized
    val isAnchored get() = sample != null

    /** Unix seconds of the server. */
    @Synchronized
    fun now(): Long = now(clock.uptime())

    private fun now(uptime: Double): Long {
        val sample = sample ?: return floor(startWall + offset + uptime - startUptime).toLong()
        return sample.server + floor(uptime - sample.uptime).toLong()
    }

    /** The offset from the wall clock in the record, which counts until the server answers. */
    @Synchronized
    fun recall(offset: Long) {
        this.offset = offset
    }

    /** The offset for the record; null before the first answer. */
    val recordOffset: Long?
        @Synchronized get() = if (sample == null) null else now() - floor(clock.wall()).toLong()

    /**
     * Takes the time of an answer. The answer with the shortest round trip of the last hour counts; if two contradict each other by
     * more than their round trips, the later one does, because the server's clock has been set.
     */
    @Synchronized
    fun note(server: Long, sentAt: Double, receivedAt: Double) {
        val roundTrip = receivedAt - sentAt
        if (roundTrip < 0 || roundTrip > ROUND_TRIP_MAX) return
        val old = sample
        val isBetter = old == null || roundTrip <= old.roundTrip || receivedAt - old.uptime > SAMPLE_AGE_MAX ||
            abs(server - now(receivedAt)) > old.roundTrip + roundTrip + 2
        if (isBetter) sample = Sample(server, receivedAt, roundTrip)
    }
}

/** Holds all callers back after a renewal that failed. One with a token that works can wait for longer. */
internal class Retries(private val clock: ClientClock) {
    companion object {
        /** The longest `Retry-After` for which one renewal waits. */
        const val RETRY_AFTER_WITHIN = 5L
        private val withinRenewal = listOf(0.5, 2.0, 5.0)
        private val betweenRenewals = listOf(5.0, 10.0, 30.0, 60.0)
        private val beyondRetryAfter = listOf(10.0, 20.0)
        private const val WITHOUT_TOKEN_MAX = 30.0
        private const val NEVER = Double.NEGATIVE_INFINITY

        /** The wait in seconds before the retry of that number (1 is the first) within one renewal. */
        fun waitWithin(attempt: Int, retryAfter: Long?): Double =
            retryAfter?.let(::asked) ?: (randomPart() * step(attempt, withinRenewal))

        /** Up to a second is added, so that clients that were refused together do not come back in step. */
        private fun asked(retryAfter: Long): Double = if (retryAfter > 0) retryAfter + randomPart() else 0.0

        private fun step(number: Int, waits: List<Double>) = waits[min(number, waits.size) - 1]
    }

    private var failures = 0
    private var heldUntil = NEVER
    private var patientUntil = NEVER
    private var isServersWord = false

    /** How many seconds the next renewal is held back; null: it may begin. */
    @Synchronized
    fun hold(hasToken: Boolean = false): Double? =
        ((if (hasToken) patientUntil else heldUntil) - clock.uptime()).takeIf { it > 0 }

    @Synchronized
    fun noteFailure(retryAfter: Long? = null) {
        failures += 1
        isServersWord = retryAfter != null
        val part = randomPart()
        if (retryAfter != null) {
            heldUntil = clock.uptime() + asked(retryAfter)
            patientUntil = heldUntil + part * step(failures, beyondRetryAfter)
        } else {
            val longest = step(failures, betweenRenewals)
            heldUntil = clock.uptime() + part * min(longest, WITHOUT_TOKEN_MAX)
            patientUntil = clock.uptime() + part * longest
        }
    }

    @Synchronized
    fun noteAnswer() {
        failures = 0
        heldUntil = NEVER
        patientUntil = NEVER
        isServersWord = false
    }

    /** The network may be another one when the app comes to the foreground. What the server asked for holds. */
    @Synchronized
    fun noteStart() {
        if (!isServersWord) heldUntil = NEVER
        patientUntil = heldUntil
    }
}
