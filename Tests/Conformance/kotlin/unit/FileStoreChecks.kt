package org.sojourn.unit

import org.sojourn.*
import java.io.File
import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger

/** A folder that goes with the process. */
fun folder(): Path = Files.createTempDirectory("sojourn-kotlin").also { path ->
    Runtime.getRuntime().addShutdownHook(Thread { path.toFile().deleteRecursively() })
}

class FileStoreChecks : Subject("FileStore") {
    private val record = SessionRecord.new("device").text(null)

    init {
        check("a swap succeeds for the stored version alone") {
            val store = FileStore(folder().resolve("deep/folder"))
            expect(store.load()?.version, null)
            expect(store.replace("other", record), false)
            expect(store.replace(null, record), true)
            expect(store.replace(null, record), false)
            val stored = checkNotNull(store.load())
            expect(stored.text, record)
            expect(store.replace(stored.version, null), true)
            expect(store.load()?.version, null)
        }
        check("of swaps side by side one wins each time, over two objects on one folder") {
            val folder = folder()
            val stores = listOf(FileStore(folder), FileStore(folder))
            val threads = Executors.newFixedThreadPool(4)
            val wins = AtomicInteger()
            for (thread in 0 until 4) threads.execute {
                repeat(25) { round ->
                    val store = stores[thread % 2]
                    val seen = store.load()?.version
                    if (store.replace(seen, SessionRecord.new("$thread-$round").text(null))) wins.incrementAndGet()
                }
            }
            threads.shutdown()
            expect(threads.awaitTermination(30, TimeUnit.SECONDS), "the swaps hang")
            expect(wins.get() in 25..100, "wins: ${wins.get()}")
        }
        check("a readable record is not set aside, and one that is none is kept under another name") {
            val folder = folder()
            val store = FileStore(folder)
            store.replace(null, record)
            store.setAside()
            expect(store.load() != null, "the record is gone")
            store.replace(store.load()?.version, "no record")
            store.setAside()
            expect(store.load()?.version, null)
            val kept = folder.toFile().listFiles().orEmpty().filter { "unreadable" in it.name }
            expect(kept.map(File::readText), listOf("no record"))
        }
        check("a write that ends early leaves the old record, and the next one succeeds") {
            val folder = folder()
            val store = FileStore(folder)
            store.replace(null, record)
            val version = store.load()?.version
            val cut = FileStore(folder) { step -> if (step == "temp-written") throw IllegalStateException("cut") }
            failure<IllegalStateException> { cut.replace(version, "cut") }
            expect(store.load()?.text, record)
            expect(store.replace(version, SessionRecord.new("next").text(null)), true)
        }
        check("files are the owner's alone") {
            val folder = folder().resolve("own")
            FileStore(folder).replace(null, record)
            FileKeys(folder).makeKey(KeyName.DEVICE)
            for (file in folder.toFile().listFiles().orEmpty()) {
                val rights = Files.getPosixFilePermissions(file.toPath()).map { it.name }
                expect(rights.all { it.startsWith("OWNER_") }, "${file.name}: $rights")
            }
        }
        check("a record of another version or half a record is unreadable") {
            for (text in listOf("", "{}", record.replace("\"schema\":1", "\"schema\":2"), record.dropLast(3), "<html>")) {
                expect(isReadableRecord(text), false, text)
            }
            expect(isReadableRecord(record), true)
        }
        check("a key is never replaced, and one that is none is an error") {
            val folder = folder()
            val made = FileKeys(folder).makeKey(KeyName.DEVICE).publicKey.thumbprint
            expect(FileKeys(folder).makeKey(KeyName.DEVICE).publicKey.thumbprint, made)
            expect(FileKeys(folder).key(KeyName.PIN)?.publicKey, null)
            folder.resolve("device.key").toFile().writeText("no key")
            expect(failure<KeyException> { FileKeys(folder).key(KeyName.DEVICE) }.kind, KeyException.Kind.UNREADABLE)
        }
    }
}
