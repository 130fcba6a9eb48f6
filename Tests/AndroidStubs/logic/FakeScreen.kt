package org.sojourn.android

import org.sojourn.GateAvailability
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.LinkedBlockingQueue

/** A screen with a thread that draws, and with time that passes on command. */
internal class FakeScreen : Screen {
    private class Delayed(val at: Long, val body: () -> Unit)

    private val work = LinkedBlockingQueue<() -> Unit>()
    private val delayed = CopyOnWriteArrayList<Delayed>()
    private val observers = CopyOnWriteArrayList<() -> Unit>()
    private val drawing = Thread { while (true) work.take()() }.apply { isDaemon = true }
    @Volatile private var now = 0L
    @Volatile override var isResumed = true

    init {
        drawing.start()
    }

    override val isMainThread get() = Thread.currentThread() === drawing

    override fun onStop(observer: () -> Unit): AutoCloseable {
        observers += observer
        return AutoCloseable { observers -= observer }
    }

    override fun post(delay: Long, body: () -> Unit) {
        if (delay == 0L) work += body else delayed += Delayed(now + delay, body)
    }

    /** The activity leaves the screen. */
    fun stop() = onDrawingThread {
        isResumed = false
        observers.forEach { it() }
    }

    fun advance(milliseconds: Long) = onDrawingThread {
        now += milliseconds
        for (entry in delayed) if (entry.at <= now && delayed.remove(entry)) entry.body()
    }

    /** Runs [body] after all that was posted before, and waits for its end. */
    fun <Result> onDrawingThread(body: () -> Result): Result {
        val answer = LinkedBlockingQueue<kotlin.Result<Result>>()
        work += { answer += runCatching(body) }
        return answer.take().getOrThrow()
    }
}

/** Prompts that answer as a test says: at once, later, twice, or never. */
internal class FakePrompts(private val onShow: (Shown) -> Unit = { it.confirm() }) : Prompts {
    class Shown(val prompt: Prompt, val answer: (Int?) -> Unit) {
        @Volatile var isCanceled = false

        /** The right user: the cipher is open from now on. */
        fun confirm() {
            prompt.cipher?.let { Device.opened += it }
            answer(null)
        }
    }

    /** The prompts so far. */
    val shown = LinkedBlockingQueue<Shown>()

    override fun availability() = GateAvailability()

    override fun show(prompt: Prompt, answer: (code: Int?) -> Unit): () -> Unit {
        val one = Shown(prompt, answer)
        shown += one
        onShow(one)
        return { one.isCanceled = true }
    }
}
