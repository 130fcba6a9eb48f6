package org.sojourn.unit

import org.sojourn.*

class PhoneChecks : Subject("phone") {
    private val server = ServerAddress("https://login.example")
    private val code = "ABCDEFGHIJKLMNOPQRSTUVWXY2"

    private fun scanned(text: String) = ScannedCode.of(text, ScannedCode.PICTURE, server).text

    init {
        check("codes are read from links, schemes, base32 and base64") {
            for (text in listOf(code, code.lowercase(), " $code\n", "https://login.example/l/$code?x=1", "sojourn:/l/$code", "sojourn:$code")) {
                expect(scanned(text), code, text)
            }
            val bytes = ByteArray(16) { (it * 16 + 15).toByte() }
            val plain = java.util.Base64.getEncoder().encodeToString(bytes)
            expect(scanned(plain), scanned(base64url(bytes)))
            expect(ScannedCode.of(bytes, ScannedCode.PICTURE, server).text, scanned(plain))
            expect(ScannedCode.of("https://login.example/e/$code", ScannedCode.LINK, server).isEnrolment, true)
        }
        check("what is no code is refused") {
            for (text in listOf("", "x", "https://login.example/", "a".repeat(600), code.replace('A', '1'))) {
                expect(refusal { scanned(text) }, "invalid_code", text)
            }
            expect(refusal { scanned("https://other.example/l/$code") }, "other_server")
        }
        check("an encrypted message opens by its key alone, and not changed") {
            val key = SoftwareKey.make()
            val message = EncryptedMessage.seal("text".toByteArray(), key.publicKey, SoftwareKey.make())
            expect(String(EncryptedMessage.open(message, key)), "text")
            expect(failure<EncryptedMessage.Problem> { EncryptedMessage.open(message, SoftwareKey.make()) }.isOtherKey, true)
            val parts = message.split(".").toMutableList()
            parts[3] = base64url("other".toByteArray())
            expect(failure<EncryptedMessage.Problem> { EncryptedMessage.open(parts.joinToString("."), key) }.isOtherKey, false)
            val header = membersOf(String(checkNotNull(decodeBase64url(parts[0]))))
            parts[0] = base64url(jsonOf(checkNotNull(header) + ("alg" to "dir")).toByteArray())
            expect(failure<EncryptedMessage.Problem> { EncryptedMessage.open(parts.joinToString("."), key) }.isOtherKey, false)
        }
        check("both halves of a message make the same content key") {
            val (one, two) = SoftwareKey.make() to SoftwareKey.make()
            val secret = one.agree(two.publicKey)
            expect(EncryptedMessage.contentKey(secret).toList(), EncryptedMessage.contentKey(two.agree(one.publicKey)).toList())
            expect(EncryptedMessage.contentKey(secret).size, 32)
        }
        check("final states are final, and no answer takes a login back") {
            val machine = LoginSessionMachine(isResumed = false, isAppLogin = false)
            val waiting = LoginStatus(LoginStatus.State.WAITING_FOR_USER_INPUT, LoginStatus.Input.WAIT_FOR_CONFIRMATION)
            machine.observe(waiting)
            expect(machine.begin(LoginAct(LoginAct.Kind.STOP)), null)
            expect(machine.status.cause, "denied")
            machine.observe(LoginStatus(LoginStatus.State.ACTIVE))
            expect(machine.status.isFinal, true)
            expect(machine.begin(LoginAct(LoginAct.Kind.CONFIRM)), "session_terminated")
        }
        check("a login that may have been let in ends by the server's word alone") {
            val machine = LoginSessionMachine(isResumed = false, isAppLogin = false)
            machine.observe(LoginStatus(LoginStatus.State.WAITING_FOR_USER_INPUT, LoginStatus.Input.WAIT_FOR_CONFIRMATION))
            val confirm = LoginAct(LoginAct.Kind.CONFIRM)
            expect(machine.begin(confirm), null)
            expect(machine.send(confirm), true)
            machine.take(LoginReply.None, confirm)
            machine.begin(LoginAct(LoginAct.Kind.STOP))
            expect(machine.status.isFinal, false)
            expect(machine.send(confirm), false)
        }
    }
}
