package org.sojourn.android

import android.security.keystore.KeyPermanentlyInvalidatedException
import org.sojourn.KeyException
import org.sojourn.PresenceException
import java.security.ProviderException
import java.util.concurrent.LinkedBlockingQueue

internal fun Checks.gate() {
    check("an enrollment asks once, and the next process opens the same keys by one prompt") {
        val prompts = FakePrompts()
        val opened = gate(prompts).enroll("Log in")
        expect(prompts.shown.size, 1)
        val again = gate(prompts).unlock(opened.id, "Log in")
        expect(prompts.shown.size, 2)
        check(again.sealingKey.contentEquals(opened.sealingKey) && again.sealingKey.any { it != 0.toByte() }) { "another key" }
        expect(again.presenceKey.publicKey.thumbprint, opened.presenceKey.publicKey.thumbprint)
        repeat(2) { expect(again.presenceKey.sign(byteArrayOf(1)).size, 64) }
        expect(prompts.shown.size, 2)
    }
    check("a closed gate signs nothing, and its sealing key is overwritten") {
        val opened = gate(FakePrompts()).enroll("Log in")
        opened.close()
        expect(expectError<KeyException> { opened.presenceKey.sign(byteArrayOf(1)) }.kind, KeyException.Kind.LOCKED)
        check(opened.sealingKey.all { it == 0.toByte() }) { "the key is still there" }
    }
    check("other biometry is told without a prompt, and the file is kept") {
        val id = gate(FakePrompts()).enroll("Log in").id
        val prompts = FakePrompts()
        val key = Device.keys.values.single() as FakeSecretKey
        key.obstacle = KeyPermanentlyInvalidatedException()
        expect(expectError<PresenceException> { gate(prompts).unlock(id, "Log in") }.code, PresenceException.ENROLLMENT_CHANGED)
        Device.keys.clear()
        expect(expectError<PresenceException> { gate(prompts).unlock(id, "Log in") }.code, PresenceException.ENROLLMENT_CHANGED)
        expect(prompts.shown.size, 0)
        expect(expectError<PresenceException> { gate(prompts).unlock("x", "") }.code, PresenceException.ENROLLMENT_CHANGED)
    }
    check("a device without biometry enrolls nothing, and asks nothing") {
        Device.hasBiometry = false
        val prompts = FakePrompts()
        expect(expectError<PresenceException> { gate(prompts).enroll("Log in") }.code, PromptCode.NONE_ENROLLED)
        expect(prompts.shown.size, 0)
        expect(Device.keys.size, 0)
    }
    check("an enrollment that the user cancels leaves no key and no file") {
        val gate = gate(FakePrompts { it.answer(PromptCode.NEGATIVE_BUTTON) })
        expect(expectError<PresenceException> { gate.enroll("Log in") }.errorCode, 802_000_013)
        expect(Device.keys.size, 0)
        check(files.folder.listFiles().orEmpty().none { it.name.startsWith("gate.") }) { "a file stays" }
    }
    check("an answer of the prompt without the user opens nothing") {
        val gate = gate(FakePrompts { it.answer(null) })
        expect(expectError<PresenceException> { gate.enroll("Log in") }.code, PromptCode.VENDOR)
    }
    check("a Keystore that fails is no changed biometry") {
        val id = gate(FakePrompts()).enroll("Log in").id
        repeat(3) { Device.faults += ProviderException() }
        expect(expectError<PresenceException> { gate(FakePrompts()).unlock(id, "") }.code, PromptCode.VENDOR)
        expect(gate(FakePrompts()).unlock(id, "").id, id)
    }
    check("discarded keys are gone, and an unknown enrollment is no error") {
        val opened = gate(FakePrompts()).enroll("Log in")
        gate(FakePrompts()).discard(opened.id)
        gate(FakePrompts()).discard("unknown")
        expect(Device.keys.size, 0)
    }
}

internal fun Checks.prompts() {
    check("a prompt that is never answered is canceled 10 s after its activity stopped") {
        val screen = FakeScreen()
        val prompts = FakePrompts {}
        val turn = PromptTurn(prompts, screen)
        val asked = Beside { turn.ask(Prompt("Log in", null, null)) }
        val shown = prompts.shown.take()
        screen.advance(60_000)
        check(asked.thread.isAlive) { "given up while the user looks" }
        screen.stop()
        screen.advance(9_999)
        check(asked.thread.isAlive) { "given up too early" }
        screen.advance(1)
        expect(expectError<PresenceException> { asked.get() }.code, PromptCode.CANCELED)
        screen.onDrawingThread {}
        expect(shown.isCanceled, true)
    }
    check("the first answer of a prompt counts, and a late one does not answer the next prompt") {
        val screen = FakeScreen()
        val prompts = FakePrompts {}
        val turn = PromptTurn(prompts, screen)
        val first = Beside { turn.ask(Prompt("first", null, null)) }
        val one = prompts.shown.take()
        one.answer(PromptCode.CANCELED)
        one.answer(null)
        expect(expectError<PresenceException> { first.get() }.code, PromptCode.CANCELED)
        val second = Beside { turn.ask(Prompt("second", null, null)) }
        val other = prompts.shown.take()
        one.answer(null)
        other.answer(7)
        expect(expectError<PresenceException> { second.get() }.code, 7)
    }
    check("a prompt is shown to a resumed activity alone, and never from the thread that draws") {
        val screen = FakeScreen()
        val prompts = FakePrompts()
        val turn = PromptTurn(prompts, screen)
        expectError<IllegalStateException> { screen.onDrawingThread { turn.ask(Prompt("", null, null)) } }
        screen.stop()
        expect(expectError<PresenceException> { turn.ask(Prompt("", null, null)) }.code, PromptCode.CANCELED)
        expect(prompts.shown.size, 0)
    }
    check("an activity that leaves before its prompt is shown gets none") {
        val screen = FakeScreen()
        val prompts = FakePrompts()
        val turn = PromptTurn(prompts, screen)
        val hold = LinkedBlockingQueue<Int>()
        screen.post(0) { hold.take() }
        val asked = Beside { turn.ask(Prompt("", null, null)) }
        while (asked.thread.state != Thread.State.WAITING) Thread.yield()
        screen.isResumed = false
        hold += 1
        expect(expectError<PresenceException> { asked.get() }.code, PromptCode.CANCELED)
        expect(prompts.shown.size, 0)
    }
    check("two callers are asked one after the other") {
        val screen = FakeScreen()
        val prompts = FakePrompts {}
        val turn = PromptTurn(prompts, screen)
        val callers = List(2) { Beside { turn.ask(Prompt("$it", null, null)) } }
        val first = prompts.shown.take()
        screen.onDrawingThread {}
        expect(prompts.shown.size, 0)
        first.confirm()
        prompts.shown.take().confirm()
        callers.forEach { it.get() }
    }
    check("a caller that is interrupted takes its prompt away") {
        val screen = FakeScreen()
        val prompts = FakePrompts {}
        val asked = Beside { PromptTurn(prompts, screen).ask(Prompt("", null, null)) }
        val shown = prompts.shown.take()
        asked.thread.interrupt()
        expect(expectError<PresenceException> { asked.get() }.code, PromptCode.CANCELED)
        screen.onDrawingThread {}
        expect(shown.isCanceled, true)
    }
    check("a prompt that cannot be shown is an error of the prompt") {
        val turn = PromptTurn(FakePrompts { throw IllegalArgumentException("Negative text must be set") }, FakeScreen())
        expect(expectError<PresenceException> { turn.ask(Prompt("", null, null)) }.code, PromptCode.VENDOR)
    }
}
