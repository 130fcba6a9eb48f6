package org.sojourn.android

import org.sojourn.SessionStore
import org.sojourn.StoreException
import org.sojourn.StoredRecord
import org.sojourn.base64url
import org.sojourn.isReadableRecord
import org.sojourn.sha256
import java.io.IOException
import java.security.GeneralSecurityException
import java.security.SecureRandom

/** Letters and digits for names of keys and files. */
internal fun randomName(): String {
    val bytes = ByteArray(9).also(SecureRandom()::nextBytes)
    return base64url(bytes)
}

/**
 * Keeps the record in a file that a key of the Keystore encrypts. The folder is one that no backup holds, because a record that a
 * backup brings to a second phone presents tokens of the first one.
 *
 * The file has the alias of its key in front. A record that was set aside keeps its key, and the next record gets another one.
 */
internal class KeystoreStore(
    private val files: SafeFolder, private val keystore: Keystore, private val unlock: UserUnlock,
) : SessionStore {
    private companion object {
        const val NAME = "session"
        const val FORMAT: Byte = 1
        const val ALIAS_PREFIX = "sojourn.record."
    }

    /** The record that was decrypted last. The Keystore takes milliseconds for what a comparison of the file does at once. */
    @Volatile private var last: StoredRecord? = null

    override fun load(): StoredRecord? = guarded {
        val bytes = files.read(NAME) ?: return@guarded null
        val version = base64url(sha256(bytes))
        last?.takeIf { it.version == version }?.let { return@guarded it }
        val text = decrypted(bytes) ?: throw StoreException(StoreException.Kind.UNREADABLE)
        if (!isReadableRecord(text)) throw StoreException(StoreException.Kind.UNREADABLE)
        StoredRecord(version, text).also { last = it }
    }

    override fun replace(expected: String?, text: String?): Boolean = guarded {
        files.locked {
            val stored = files.read(NAME)
            if (stored?.let { base64url(sha256(it)) } != expected) return@locked false
            val alias = stored?.let(::aliasOf)
            if (text == null) {
                if (stored != null) files.delete(NAME)
                alias?.let(keystore::delete)
            } else {
                write(alias, text)
            }
            true
        }
    }

    override fun setAside() {
        guarded {
            files.locked {
                val text = files.read(NAME)?.let { decrypted(it) ?: "" } ?: return@locked
                if (!isReadableRecord(text)) files.setAside(NAME, randomName())
            }
        }
    }

    override fun observe(observer: () -> Unit): AutoCloseable = unlock.observe(observer)

    private fun write(oldAlias: String?, text: String) {
        val alias = oldAlias ?: (ALIAS_PREFIX + randomName())
        // A key under an old alias that is gone is not made again, because the old record would look damaged then.
        val key = (if (oldAlias == null) keystore.makeSecretKey(alias) else keystore.secretKey(alias))
            ?: throw StoreException(StoreException.Kind.UNREADABLE)
        val name = alias.toByteArray()
        files.write(NAME, byteArrayOf(FORMAT, name.size.toByte()) + name + keystore.encrypt(key, text.toByteArray()))
    }

    /** The record of a file; null if its key certainly no longer exists, or if these bytes are not of that key. */
    private fun decrypted(bytes: ByteArray): String? {
        val alias = aliasOf(bytes) ?: return null
        val key = keystore.secretKey(alias) ?: return null
        return keystore.decrypt(key, bytes.copyOfRange(2 + alias.length, bytes.size))?.let { String(it) }
    }

    private fun aliasOf(bytes: ByteArray): String? {
        if (bytes.size < 2 || bytes[0] != FORMAT) return null
        val end = 2 + bytes[1]
        if (end > bytes.size || end < 2) return null
        return String(bytes, 2, end - 2).takeIf { it.startsWith(ALIAS_PREFIX) && it.length == end - 2 }
    }

    /** Before the first unlock after a start of the device its files look as if they did not exist. */
    private fun <Result> guarded(body: () -> Result): Result {
        if (!unlock.isUnlocked) throw StoreException(StoreException.Kind.LOCKED)
        try {
            return body()
        } catch (error: IOException) {
            throw StoreException(StoreException.Kind.FAILED, error.javaClass.simpleName)
        } catch (error: KeystoreFault) {
            throw StoreException(StoreException.Kind.FAILED, error.message ?: "")
        } catch (error: GeneralSecurityException) {
            // Such as a key that a maker's Keystore calls invalid: "cannot tell", because no error deletes anything (19).
            throw StoreException(StoreException.Kind.FAILED, error.javaClass.simpleName)
        }
    }
}
