package org.sojourn.unit

import org.sojourn.*
import org.sojourn.events.*
import org.sojourn.seeds.*
import java.util.concurrent.Executor

/** The passages do at run time what the seeds say. */
class SeedChecks : Subject("seeds") {
    init {
        check("the passage of the offline login gets its result once") {
            val passage = StayLoggedIn(SynchronousEventHandler(sojourn(FakeServer()), Executor { it.run() }))
            passage.triggerOfflineLoginEvent(UserIdentifier("tenant", "u1"))
            val end = System.nanoTime() + 10_000_000_000
            while (passage.log.isEmpty() && System.nanoTime() < end) Thread.yield()
            expect(passage.log.single().startsWith("triggerOfflineLoginEvent: received OfflineLoginResultEvent"), "${passage.log}")
        }
        check("the last two digits are the number of BiometricPrompt") {
            val server = FakeServer()
            var answer: Int? = null
            val client = sojourn(server, gate = FakeGate { answer })
            for (code in listOf(5, 7, 8, 9, 10, 11, 13)) {
                answer = null
                client.signOut()
                client.signIn("anna", "pw", AuthenticationMode.BIOMETRIC)
                client.lock()
                answer = code
                val error = failure<SojournException.Presence> { client.unlock() }
                val event = OfflineLoginResultEvent(StatusType.FAILED, error.failure.errorCode)
                expect(AuthenticationHandler().handle(event), code)
            }
        }
        check("the passage of the PIN asks the system") {
            val activity = PinOrPassword()
            activity.askForPinOrPassword()
            expect(activity.started, Activity.INTENT_AUTHENTICATE_REQUEST_CODE)
        }
    }
}
