package org.sojourn

import java.io.ByteArrayOutputStream
import java.io.IOException
import java.nio.ByteBuffer
import java.nio.channels.FileChannel
import java.nio.file.Files
import java.nio.file.NoSuchFileException
import java.nio.file.Path
import java.nio.file.StandardCopyOption
import java.nio.file.StandardOpenOption
import java.nio.file.StandardOpenOption.CREATE
import java.nio.file.StandardOpenOption.READ
import java.nio.file.StandardOpenOption.TRUNCATE_EXISTING
import java.nio.file.StandardOpenOption.WRITE
import java.nio.file.attribute.FileAttribute
import java.nio.file.attribute.PosixFilePermissions
import java.util.concurrent.ConcurrentHashMap

/**
 * A small file in a folder that only its owner can read. It is replaced as a whole and durably, or not at all.
 *
 * Processes exclude each other by a lock that they hold for the replacement alone (rule 12); the end of a process gives it back.
 * Threads exclude each other as well, because a file lock is one of the whole process. [observe] is told of each step.
 */
internal class PrivateFile(
    private val folder: Path, private val name: String, private val observe: (String) -> Unit = {},
) {
    companion object {
        const val COUNT_MAX = 1 shl 20
        private val locks = ConcurrentHashMap<String, Any>()
    }

    val path: Path = folder.resolve(name)

    /** The content; null if there is no file. Throws `IOException`, also for a file that is too long. */
    fun read(): ByteArray? {
        val content = ByteArrayOutputStream()
        try {
            Files.newInputStream(path).use { file ->
                val part = ByteArray(16_384)
                while (true) {
                    val count = file.read(part)
                    if (count < 0) return content.toByteArray()
                    content.write(part, 0, count)
                    if (content.size() > COUNT_MAX) throw OversizeException()
                }
            }
        } catch (_: NoSuchFileException) {
            return null
        }
    }

    class OversizeException : IOException("longer than $COUNT_MAX bytes")

    /** Replaces the file by [content], or removes it if that is null. To be called within [locked]. */
    fun replace(content: ByteArray?) {
        if (content == null) {
            Files.deleteIfExists(path)
        } else {
            val temp = folder.resolve("$name.new")
            Files.deleteIfExists(temp)
            val options = setOf<StandardOpenOption>(CREATE, WRITE, TRUNCATE_EXISTING)
            FileChannel.open(temp, options, *attributes("rw-------")).use { file ->
                val bytes = ByteBuffer.wrap(content)
                while (bytes.hasRemaining()) file.write(bytes)
                file.force(true)
            }
            observe("temp-written")
            Files.move(temp, path, StandardCopyOption.ATOMIC_MOVE)
        }
        sync(folder)
        observe("renamed")
    }

    /** Renames the file. To be called within [locked]. */
    fun moveAside() {
        Files.move(path, folder.resolve("$name.unreadable-" + randomText(6)), StandardCopyOption.ATOMIC_MOVE)
        sync(folder)
    }

    fun <Result> locked(body: () -> Result): Result {
        if (!Files.isDirectory(folder)) Files.createDirectories(folder, *attributes("rwx------"))
        // Two ways to one folder have one lock.
        val key = folder.toRealPath().resolve(name).toString()
        return synchronized(locks.getOrPut(key) { Any() }) {
            val options = setOf<StandardOpenOption>(CREATE, WRITE)
            FileChannel.open(folder.resolve("$name.lock"), options, *attributes("rw-------")).use { file ->
                file.lock().use { body() }
            }
        }
    }

    /** Makes the names durable. Windows opens no folder, and refuses the attempt. */
    private fun sync(folder: Path) {
        if (knowsRights) FileChannel.open(folder, READ).use { it.force(true) }
    }

    private val knowsRights get() = "posix" in path.fileSystem.supportedFileAttributeViews()

    /** The rights of a new file, where the file system knows such rights. */
    private fun attributes(rights: String): Array<FileAttribute<*>> {
        if (!knowsRights) return emptyArray()
        return arrayOf(PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(rights)))
    }
}
