package org.sojourn

import java.util.concurrent.CopyOnWriteArrayList

/** Keeps the record in memory: for tests, and for sessions that end with the process. */
class MemoryStore(text: String? = null) : SessionStore {
    private var record = text?.let { StoredRecord("0", it) }
    private var lastVersion = 0L
    private val observers = CopyOnWriteArrayList<() -> Unit>()

    @Synchronized
    override fun load(): StoredRecord? = record

    override fun replace(expected: String?, text: String?): Boolean {
        synchronized(this) {
            if (record?.version != expected) return false
            lastVersion += 1
            record = text?.let { StoredRecord(lastVersion.toString(), it) }
        }
        for (observer in observers) observer()
        return true
    }

    @Synchronized
    override fun setAside() {
        if (record?.let { isReadableRecord(it.text) } == false) record = null
    }

    override fun observe(observer: () -> Unit): AutoCloseable {
        observers.add(observer)
        return AutoCloseable { observers.remove(observer) }
    }
}
