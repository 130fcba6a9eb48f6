package org.sojourn.unit

import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.sojourn.*
import org.sojourn.coroutines.SojournFlow
import org.sojourn.events.*
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger

class EventChecks : Subject("events") {
    private val user = UserIdentifier("tenant", "u1")

    private fun <Result : Any> awaited(pending: Pending<Result>): Result {
        val isDone = CountDownLatch(1)
        var found: Result? = null
        pending.then {
            found = it
            isDone.countDown()
        }
        expect(isDone.await(10, TimeUnit.SECONDS), "no result")
        return checkNotNull(found)
    }

    init {
        check("a result comes once, to the first handler") {
            val (first, second) = AtomicInteger() to AtomicInteger()
            val handler = SynchronousEventHandler(sojourn(FakeServer()))
            val isDone = CountDownLatch(1)
            val pending = handler.postEvent(OfflineLoginEvent(user))
            pending.then {
                expect(it.status, StatusType.NOT_LOGGED_IN)
                first.incrementAndGet()
                isDone.countDown()
            }
            expect(isDone.await(10, TimeUnit.SECONDS), "no result")
            pending.then { second.incrementAndGet() }
            // Events come one after the other: what the first one does late is done when the next one ends.
            expect(awaited(handler.postEvent(OfflineLoginEvent(user))).status, StatusType.NOT_LOGGED_IN)
            expect(first.get() to second.get(), 1 to 0)
        }
        check("the code of biometry arrives as 802 and the platform's number") {
            val server = FakeServer()
            var answer: Int? = null
            val client = sojourn(server, gate = FakeGate { answer })
            client.signIn("anna", "pw", AuthenticationMode.BIOMETRIC)
            client.lock()
            val handler = SynchronousEventHandler(client)
            answer = 7
            val failed = awaited(handler.postEvent(OfflineLoginEvent(user)))
            expect(failed.status to failed.errorCode, StatusType.FAILED to 802000007)
            answer = null
            expect(awaited(handler.postEvent(OfflineLoginEvent(user))).status, StatusType.OK)
            expect(awaited(handler.postEvent(LoginWithTokenEvent(user))).account?.username, "anna")
        }
        check("a code of the login page ends the login that waits") {
            val client = sojourn(FakeServer())
            client.beginSignIn(LoginPage("shop:/callback"))
            val event = SetAuthorisationCodeEvent("c1", AuthenticationMode.NO, user)
            val handler = SynchronousEventHandler(client)
            expect(awaited(handler.postEvent(event)).status, StatusType.OK)
            expect(awaited(handler.postEvent(event)).status, StatusType.REFUSED)
        }
        check("a cancelled coroutine stops waiting, and the login goes on") {
            val server = FakeServer()
            val (isSent, mayAnswer) = CountDownLatch(1) to CountDownLatch(1)
            val client = Sojourn(
                SojournConfiguration(FakeServer.URL, renewal = Renewing.REFRESH_TOKEN),
                SojournPlatform(MemoryStore(), MemoryKeys(), transport = { request, limit ->
                    isSent.countDown()
                    mayAnswer.await()
                    server.send(request, limit)
                }))
            val flow = SojournFlow(client)
            runBlocking {
                val caller = launch(start = CoroutineStart.UNDISPATCHED) { flow.signIn("anna", "pw") }
                isSent.await()
                caller.cancel(CancellationException("gone"))
                caller.join()
            }
            val isSignedIn = CountDownLatch(1)
            client.observe { if (it is SessionState.SignedIn) isSignedIn.countDown() }.use {
                mayAnswer.countDown()
                expect(isSignedIn.await(10, TimeUnit.SECONDS), "the login was cancelled")
            }
            expect(flow.states.value is SessionState.SignedIn, "${flow.states.value}")
        }
    }
}

class SpeedChecks : Subject("speed") {
    init {
        check("a token that is good costs less than 20 µs, and no load of the store") {
            val server = FakeServer()
            val client = sojourn(server, FileStore(folder()))
            client.signIn("anna", "pw")
            repeat(20_000) { client.accessToken() }
            val count = 50_000
            val began = System.nanoTime()
            repeat(count) { client.accessToken() }
            val each = (System.nanoTime() - began) / 1000.0 / count
            println("accessToken: %.2f µs".format(java.util.Locale.US, each))
            expect(each < 20, "$each µs")
            expect(server.requests.size, 1)
        }
    }
}
