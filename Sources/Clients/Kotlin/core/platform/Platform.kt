// What a client needs of the machine on which it runs. Android's answers are in `android/`, those of a desktop or a server beside
// this file.

package org.sojourn

import java.io.IOException

/** A record as it is stored. Two writes have the same [version] only if they wrote the same text. */
class StoredRecord(val version: String, val text: String)

/** The reason why a store could not read or write. No error says that a user is signed out (rule 1). */
class StoreException(val kind: Kind, val detail: String = "") : Exception("the store: $kind $detail".trim()) {
    enum class Kind {
        /** The operating system holds the record back until the device is unlocked. */
        LOCKED,

        /** The app has no right to the store. */
        DENIED,

        /** The stored text is no record. It is kept, and a login sets it aside. */
        UNREADABLE,
        FAILED,
    }
}

/**
 * Keeps one record for an app. A read has three answers: a record, null for certainly nothing, or a [StoreException]. Several
 * processes may use one store, and [replace] is atomic between them.
 */
interface SessionStore {
    /** The record. `LOCKED` while the system holds it back, `UNREADABLE` if what is stored cannot be decrypted or parsed. */
    fun load(): StoredRecord?

    /**
     * Writes [text], or removes the record if [text] is null, if the stored version is still [expected] (null: nothing is stored).
     * The record is durable when this returns true. False: another version is stored, and nothing was changed.
     */
    fun replace(expected: String?, text: String?): Boolean

    /** Renames a record that cannot be read, so that the next login can write. A readable one stays (rule 19). */
    fun setAside()

    /** Has [observer] called when another process may have changed the record, if the platform can tell. Closing ends it. */
    fun observe(observer: () -> Unit): AutoCloseable = AutoCloseable {}
}

/** Whether a text is a record that this version reads: for stores, which set aside only what is none. */
fun isReadableRecord(text: String): Boolean =
    try {
        SessionRecord.parse(text)
        true
    } catch (_: StoreException) {
        false
    }

/** The keys of a device. [id] is a name for files and aliases. */
enum class KeyName(val id: String) {
    /** Binds sessions (RFC 9449) and resumes them (RFC 7523). It signs. */
    DEVICE("device"),

    /** Decrypts messages of the server (RFC 7516). It agrees on secrets, and signs nothing. */
    ENCRYPTION("encryption"),

    /** Has the secret of the PIN. It agrees on secrets, and signs nothing. */
    PIN("pin"),
}

/** The reason why a keyring could not answer. No error says that a key is gone. */
class KeyException(val kind: Kind, val detail: String = "") : Exception("the keyring: $kind $detail".trim()) {
    enum class Kind { LOCKED, DENIED, UNREADABLE, FAILED }
}

/** Keeps the keys of a device. A key is never replaced under its name. */
interface DeviceKeyring {
    /** The key of that name; null only if there certainly is none. */
    fun key(name: KeyName): DeviceKey?

    /** The key of that name; made and kept durably, if there is none. */
    fun makeKey(name: KeyName): DeviceKey

    fun deleteKey(name: KeyName)
}

/** A private key on P-256 that does not leave its keyring. */
interface DeviceKey {
    val publicKey: PublicJwk

    /** An ECDSA signature with SHA-256, as 64 bytes (RFC 7518 section 3.4). [rawSignature] makes them of Java's. */
    fun sign(message: ByteArray): ByteArray

    /** The secret of this key and a public one (ECDH): 32 bytes. A keyring without such keys still signs. */
    fun agree(other: PublicJwk): ByteArray = throw KeyException(KeyException.Kind.DENIED, "this keyring agrees on no secret")
}

/** The clocks of a device, in seconds. */
interface ClientClock {
    /** Unix time by the clock that the user can set. */
    fun wall(): Double

    /** Time by a clock that no user can set. On Android `SystemClock.elapsedRealtime`, which runs while the device sleeps. */
    fun uptime(): Double

    fun sleep(seconds: Double) = Thread.sleep((seconds * 1000).toLong())
}

/** The clocks of the Java platform. */
class SystemClock : ClientClock {
    override fun wall() = System.currentTimeMillis() / 1000.0

    override fun uptime() = System.nanoTime() / 1e9
}

class HttpMessage(val method: String, val url: String, val fields: Map<String, String>, val body: String? = null) {
    fun with(vararg more: Pair<String, String>) = HttpMessage(method, url, fields + more, body)
}

/** An answer. The names of [fields] are in lower case. */
class HttpAnswer(val status: Int, private val fields: Map<String, String>, val text: String) {
    /** The value of a field; null if there is none. */
    fun field(name: String): String? = fields[name.lowercase()]

    /** Whether the call has succeeded: a 2xx without content or with JSON. A page of a portal is neither. */
    val isSuccess get() = status in 200..299 && (text.isEmpty() || valueOf(text) != null)
}

/**
 * Sends a request once, and throws an [IOException] if no answer comes within [send]'s limit in seconds. It follows no redirect,
 * has no cache and no cookies, and returns whatever status the server answers, with 64 KiB of content at most.
 */
fun interface Transport {
    @Throws(IOException::class)
    fun send(request: HttpMessage, limit: Double): HttpAnswer
}
