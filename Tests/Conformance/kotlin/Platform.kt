// What a client needs of the machine on which it runs.

package sojourn

/** A record as it is stored. */
class Stored(val version: String, val text: String)

/** The store cannot tell whether there is a record (rule 1). */
class StoreException(val kind: Kind) : Exception("the store: $kind") {
    enum class Kind { LOCKED, FAILED, UNREADABLE }
}

/** The store has three answers: a record, null for certainly nothing, or a [StoreException]. */
interface Store {
    fun load(): Stored?

    /** Writes if the stored version is still [expected], durably. False: another version is stored. */
    fun replace(expected: String?, text: String): Boolean

    /** Renames a record that cannot be read (rule 19). */
    fun setAside()
}

/** A key on P-256. On Android it lies in the Keystore, and cannot be read. */
interface DeviceKey {
    /** The public part as JSON with the members of RFC 7638 alone, sorted, without white space. */
    val jwk: String

    /** An ECDSA signature with SHA-256, as 64 bytes (RFC 7518 section 3.4). */
    fun sign(message: ByteArray): ByteArray
}

/** The keys of the device. [key] returns null only if there is certainly none. */
interface Keys {
    fun key(): DeviceKey?

    fun makeKey(): DeviceKey
}

interface Clock {
    /** Unix seconds by the clock that the user can set. */
    fun wall(): Double

    /** Seconds by a clock that nobody can set. On Android `SystemClock.elapsedRealtime`, which runs while the device sleeps. */
    fun uptime(): Double
}

class Request(val method: String, val url: String, val fields: Map<String, String>, val body: String? = null)

class Answer(val status: Int, private val fields: Map<String, String>, val text: String) {
    /** The value of a field; null if there is none. */
    fun field(name: String): String? = fields[name.lowercase()]
}

/** Sends a request, and throws if no answer comes within so many seconds. */
fun interface Transport {
    fun send(request: Request, limit: Double): Answer
}
