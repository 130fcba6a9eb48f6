package org.sojourn

import java.io.IOException
import java.nio.file.AccessDeniedException
import java.nio.file.Path

/** Keeps the record in `session.json` of a folder. Several processes may share it. [observe] is told of each step of a write. */
class FileStore(folder: Path, observe: (String) -> Unit = {}) : SessionStore {
    private val file = PrivateFile(folder, "session.json", observe)

    override fun load(): StoredRecord? = tried { loaded() }

    private fun loaded(): StoredRecord? {
        val bytes = try {
            file.read() ?: return null
        } catch (error: PrivateFile.OversizeException) {
            throw StoreException(StoreException.Kind.UNREADABLE, error.message ?: "")
        }
        return StoredRecord(base64url(sha256(bytes)), String(bytes))
    }

    override fun replace(expected: String?, text: String?): Boolean = tried {
        file.locked {
            val isExpected = loaded()?.version == expected
            if (isExpected) file.replace(text?.toByteArray())
            isExpected
        }
    }

    override fun setAside() = tried {
        file.locked {
            val isReadable = try {
                loaded()?.let { isReadableRecord(it.text) } ?: true
            } catch (_: StoreException) {
                false
            }
            if (!isReadable) file.moveAside()
        }
    }

    private fun <Result> tried(body: () -> Result): Result =
        try {
            body()
        } catch (error: AccessDeniedException) {
            throw StoreException(StoreException.Kind.DENIED, error.toString())
        } catch (error: IOException) {
            throw StoreException(StoreException.Kind.FAILED, error.toString())
        }
}
