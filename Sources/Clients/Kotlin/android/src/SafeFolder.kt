package org.sojourn.android

import android.system.ErrnoException
import android.system.Os
import android.system.OsConstants
import java.io.File
import java.io.FileNotFoundException
import java.io.FileOutputStream
import java.io.IOException
import java.io.RandomAccessFile
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.locks.ReentrantLock
import kotlin.concurrent.withLock

/** Makes the names in a folder durable. */
internal fun syncFolder(folder: File) {
    try {
        val descriptor = Os.open(folder.path, OsConstants.O_RDONLY, 0)
        try {
            Os.fsync(descriptor)
        } finally {
            Os.close(descriptor)
        }
    } catch (error: ErrnoException) {
        throw IOException(error)
    }
}

/**
 * Files of an app that a power cut leaves whole: written beside their place, made durable, renamed.
 *
 * Processes of the app exclude each other by [locked] for a swap alone, never while they wait for the network (rule 12).
 */
internal class SafeFolder(val folder: File, private val sync: (File) -> Unit = ::syncFolder) {
    private companion object {
        /** A lock of a file is one of the whole process, so that its threads need one of their own. */
        val locks = ConcurrentHashMap<String, ReentrantLock>()
    }

    /** The bytes of a file; null if there certainly is none. */
    fun read(name: String): ByteArray? = try {
        file(name).readBytes()
    } catch (error: FileNotFoundException) {
        // Android throws the same for a file that it may not open.
        if (file(name).exists()) throw error
        null
    }

    fun write(name: String, bytes: ByteArray) {
        val temp = file("$name.new")
        FileOutputStream(temp).use { out ->
            out.write(bytes)
            out.fd.sync()
        }
        if (!temp.renameTo(file(name))) throw IOException("no rename to $name")
        sync(folder)
    }

    /** Keeps a file under another name. */
    fun setAside(name: String, suffix: String) {
        if (!file(name).renameTo(file("$name.unreadable-$suffix"))) throw IOException("no rename of $name")
        sync(folder)
    }

    fun delete(name: String) {
        if (!file(name).delete() && file(name).exists()) throw IOException("no deletion of $name")
        sync(folder)
    }

    fun <Result> locked(body: () -> Result): Result {
        if (!folder.isDirectory && !folder.mkdirs() && !folder.isDirectory) throw IOException("no folder ${folder.name}")
        return locks.getOrPut(folder.path) { ReentrantLock() }.withLock {
            RandomAccessFile(file("lock"), "rw").use { file -> file.channel.lock().use { body() } }
        }
    }

    private fun file(name: String) = File(folder, name)
}
