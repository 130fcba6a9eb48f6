package org.sojourn.android

import org.sojourn.BiometryPlatform
import org.sojourn.GateAvailability
import org.sojourn.PresenceException
import java.util.concurrent.CompletableFuture
import java.util.concurrent.locks.ReentrantLock
import javax.crypto.Cipher
import kotlin.concurrent.withLock

/** The codes of a prompt that this code gives itself. All others come from the system. */
internal object PromptCode {
    const val NOT_AVAILABLE = 1
    const val CANCELED = 5
    const val VENDOR = 8
    const val NONE_ENROLLED = 11
    const val NOT_PRESENT = 12

    /** The button that leaves the prompt, which the framework reports as a click and androidx by this number. */
    const val NEGATIVE_BUTTON = 13
}

internal fun presence(code: Int) = PresenceException(BiometryPlatform.ANDROID, code)

/** A prompt: for the cipher that biometry opens, or without one for the credential of the device. */
internal class Prompt(val title: String, val text: String?, val cipher: Cipher?)

/** Shows prompts. The system may answer never, twice, or after the prompt is gone. */
internal interface Prompts {
    fun availability(): GateAvailability

    /** Shows a prompt, and returns how to take it away. [answer] gets null for the right user, and else a code. */
    fun show(prompt: Prompt, answer: (code: Int?) -> Unit): () -> Unit
}

/**
 * Shows one prompt at a time, and waits for its first answer.
 *
 * A prompt above an activity that has stopped may never be answered. So 10 seconds later it counts as canceled by the system, because a
 * login that waits for ever looks to the user like an app that hangs.
 */
internal class PromptTurn(private val prompts: Prompts, private val screen: Screen) {
    private companion object {
        const val PATIENCE_AFTER_STOP = 10_000L
    }

    private val turn = ReentrantLock(true)

    fun ask(prompt: Prompt) {
        check(!screen.isMainThread) { "a prompt waits for the user: call it from another thread than the main one" }
        turn.withLock {
            if (!screen.isResumed) throw presence(PromptCode.CANCELED)
            val answer = CompletableFuture<Int>()
            val stop = screen.onStop {
                screen.post(PATIENCE_AFTER_STOP) { answer.complete(PromptCode.CANCELED) }
            }
            stop.use { wait(prompt, answer) }
        }
    }

    private fun wait(prompt: Prompt, answer: CompletableFuture<Int>) {
        // Written and read on the thread that draws.
        var cancel: () -> Unit = {}
        screen.post(0) {
            // The activity may have gone meanwhile, or the caller.
            if (!screen.isResumed) answer.complete(PromptCode.CANCELED)
            if (!answer.isDone) {
                try {
                    cancel = prompts.show(prompt) { answer.complete(it ?: 0) }
                } catch (_: RuntimeException) {
                    answer.complete(PromptCode.VENDOR)
                }
            }
        }
        val code = try {
            answer.get()
        } catch (_: InterruptedException) {
            Thread.currentThread().interrupt()
            PromptCode.CANCELED
        }
        // Late callbacks find the answer taken. A prompt that was answered by the system is not there any more.
        answer.complete(PromptCode.CANCELED)
        if (code != 0) {
            screen.post(0) { cancel() }
            throw presence(code)
        }
    }
}
