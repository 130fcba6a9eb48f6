package org.sojourn

/**
 * Asks the user for biometry, and holds two keys back until the user has given it: the presence key, which the server knows, and
 * the sealing key, which encrypts the stored tokens.
 *
 * A gate asks only when one of its calls is made, and once per call. Its calls block until the user has answered.
 */
interface PresenceGate {
    /** The platform that gives the errors of this gate their codes. */
    val platform: BiometryPlatform

    /** What the device offers at present. It is asked before every prompt, because a lock-out concerns the whole device. */
    fun availability(): GateAvailability

    /** Makes both keys under a new ID, and asks the user once. The keys of earlier enrollments stay. */
    @Throws(PresenceException::class)
    fun enroll(reason: String): OpenGate

    /** Opens the keys of an enrollment. If the biometry has changed since, it throws `ENROLLMENT_CHANGED` without asking. */
    @Throws(PresenceException::class)
    fun unlock(id: String, reason: String): OpenGate

    /** Asks for the device's PIN, pattern or password. Afterwards biometry that was locked can be used again. */
    @Throws(PresenceException::class)
    fun confirmWithDeviceCredential(title: String, text: String)

    /** Deletes the keys of an enrollment, if there are any. */
    fun discard(id: String)
}

/**
 * What one prompt has opened. [id] names the enrollment: letters, digits, `-` and `_`. [presenceKey] signs without another prompt
 * until [close]. [sealingKey] is a key of AES-256-GCM, 32 bytes.
 */
class OpenGate(val id: String, val presenceKey: DeviceKey, val sealingKey: ByteArray, private val onClose: () -> Unit = {}) {
    private var holders = 0

    /** Whether nothing new may begin with these keys. */
    @get:Synchronized
    internal var isClosed = false
        private set

    /**
     * Ends the use of the keys. What is under way with them ends first: without that, tokens that a renewal brings after a lock would be
     * sealed by what has overwritten the key.
     */
    fun close() {
        synchronized(this) {
            if (isClosed) return
            isClosed = true
            if (holders > 0) return
        }
        onClose()
    }

    /** Keeps the keys until [release]. False if they are gone. */
    @Synchronized
    internal fun hold(): Boolean {
        if (isClosed && holders == 0) return false
        holders += 1
        return true
    }

    internal fun release() {
        val isLast = synchronized(this) {
            holders -= 1
            isClosed && holders == 0
        }
        if (isLast) onClose()
    }

    /** Runs [body] while the keys are kept. */
    internal inline fun <Result> during(body: () -> Result): Result {
        val isHeld = hold()
        try {
            return body()
        } finally {
            if (isHeld) release()
        }
    }

    /** What is sealed by [sealingKey]; null if the key is gone. */
    internal fun sealed(text: ByteArray, context: ByteArray): ByteArray? {
        if (!hold()) return null
        try {
            return seal(text, sealingKey, context)
        } finally {
            release()
        }
    }
}

/** What a device offers: why biometry cannot be asked for (null: it can), and whether there is a PIN, pattern or password. */
class GateAvailability(val obstacle: PresenceException? = null, val hasDeviceCredential: Boolean = true)

/** The default texts of prompts. The SDK has no other text for users. */
object PresencePrompt {
    const val REASON = "Unlock your session."
    const val LOCKED_TITLE = "Biometry Locked"
    const val LOCKED_TEXT =
        "Too many failed fingerprint/faceId attempts! Provide your credentials to unlock fingerprint/faceId for further use."
}
