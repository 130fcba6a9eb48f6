package org.sojourn.unit

import org.sojourn.*

class PresenceChecks : Subject("presence") {
    private fun android(code: Int) = PresenceException(BiometryPlatform.ANDROID, code)

    init {
        check("codes have the subsystem 802, which is subtracted") {
            expect(android(7).errorCode, 802000007)
            expect(android(7).errorCode.toString().takeLast(2).toInt(), 7)
            expect(PresenceException(BiometryPlatform.APPLE, -25293).errorCode, 802025293)
            expect(PresenceException.of(BiometryPlatform.ANDROID, 802000009)?.kind, PresenceKind.LOCKED_OUT_FOR_GOOD)
            expect(PresenceException.of(BiometryPlatform.ANDROID, 801000009)?.code, null)
            expect(android(Int.MIN_VALUE).errorCode, 802999999)
        }
        check("the platforms' numbers collide, and are told apart") {
            expect(android(8).kind, PresenceKind.NOT_RECOGNIZED)
            expect(PresenceException(BiometryPlatform.APPLE, 8).kind, PresenceKind.LOCKED_OUT)
            expect(android(99).kind, PresenceKind.UNKNOWN)
        }
        check("advice is that of the table, and asks from the third failure on") {
            expect(android(13).kind.advice(), PresenceAdvice.MayRetry)
            expect(android(2).kind.advice(2), PresenceAdvice.AskToRetry)
            expect(android(2).kind.advice(3).steps.size, 3)
            expect(android(7).kind.advice().steps.first(), PresenceStep.UNLOCK_WITH_DEVICE_CREDENTIAL)
            expect(android(7).kind.advice(hasDeviceCredential = false).steps, listOf(PresenceStep.USE_PASSWORD))
            expect(android(12).kind.advice(), PresenceAdvice.DisableBiometry)
            expect(android(67811).kind.advice(), PresenceAdvice.EnrollAgain)
        }
        check("both tokens are sealed in the store, and another process opens them by one prompt") {
            val store = MemoryStore()
            val server = FakeServer()
            val gate = FakeGate { null }
            sojourn(server, store, gate).signIn("anna", "pw", AuthenticationMode.BIOMETRIC)
            val text = store.load()?.text ?: ""
            expect("access-" in text || "refresh-" in text, false, text)
            val next = sojourn(server, store, gate)
            expect(next.start() is SessionState.PresenceRequired, "the start is locked")
            failure<SojournException.PresenceRequired> { next.accessToken() }
            val prompts = gate.prompts
            next.unlock()
            expect(gate.prompts, prompts + 1)
            expect(next.accessToken().value.startsWith("access-"), "a token")
            expect(next.state is SessionState.SignedIn, "${next.state}")
            next.lock()
            expect(next.state is SessionState.PresenceRequired, "${next.state}")
        }
        check("what a renewal brings after a lock is sealed by the key that was open, and not by the overwritten one") {
            val store = MemoryStore()
            val server = FakeServer()
            val client = sojourn(server, store, FakeGate { null })
            client.signIn("anna", "pw", AuthenticationMode.BIOMETRIC)
            server.answers["/oauth/token"] = {
                client.lock()
                null
            }
            try {
                client.accessToken(Need.After(client.accessToken()))
            } catch (_: SojournException) {
                // The caller's token is locked away.
            }
            expect(server.count("/oauth/token"), 1)
            server.answers.clear()
            val text = store.load()?.text ?: ""
            val sealed = decodeBase64url(membersOf(text)?.text("sealed") ?: "") ?: ByteArray(0)
            val context = "sojourn tokens ${membersOf(text)?.text("device_id")} session".toByteArray()
            expect(unseal(sealed, ByteArray(32), context) == null, "sealed by a key of zeros")
            client.unlock()
            expect(client.accessToken().value.startsWith("access-"), "a token")
        }
        check("a prompt that is cancelled sends nothing and changes nothing") {
            val store = MemoryStore()
            val server = FakeServer()
            var answer: Int? = null
            val gate = FakeGate { answer }
            val client = sojourn(server, store, gate)
            client.signIn("anna", "pw", AuthenticationMode.BIOMETRIC)
            client.lock()
            val (version, count) = store.load()?.version to server.requests.size
            answer = 10
            val error = failure<SojournException.Presence> { client.unlock() }
            expect(error.failure.errorCode, 802000010)
            expect(store.load()?.version to server.requests.size, version to count)
        }
        check("keys that changed biometry has removed lead to the password, and the session stays") {
            val store = MemoryStore()
            val server = FakeServer()
            val gate = FakeGate { null }
            val client = sojourn(server, store, gate)
            client.signIn("anna", "pw", AuthenticationMode.BIOMETRIC)
            client.lock()
            gate.enrollments.clear()
            expect(failure<SojournException.Presence> { client.unlock() }.failure.advice, PresenceAdvice.EnrollAgain)
            client.unlockByPassword("pw")
            expect(client.authenticationMode, AuthenticationMode.PASSWORD)
            expect(client.accessToken().value.startsWith("access-"), "a token")
        }
        check("no prompt is shown while the app cannot show one") {
            val gate = FakeGate { null }
            val client = sojourn(FakeServer(), gate = gate, isReady = false)
            failure<SojournException.Cancelled> { client.signIn("anna", "pw", AuthenticationMode.BIOMETRIC) }
            expect(gate.prompts, 0)
        }
    }
}
