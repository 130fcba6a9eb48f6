// The user of the driver: biometry and passkeys in software, with answers that are told before.

package org.sojourn.conformance

import org.sojourn.*
import java.nio.file.Files
import java.nio.file.Path
import java.security.MessageDigest
import java.security.SecureRandom
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.ConcurrentLinkedDeque
import java.util.concurrent.atomic.AtomicInteger

/** What the user does at the next prompts. Without a word of it every prompt is confirmed. */
class UserAtScreen(private val folder: Path) {
    private val answers = ConcurrentLinkedDeque<String>()
    private val prompts = AtomicInteger()

    @Volatile var isInBackground = false

    fun take(command: Members): Members {
        command.elements("answers")?.let { told ->
            answers.clear()
            told.forEach { answers.add(it.toString()) }
        }
        command.bool("background")?.let { isInBackground = it }
        // Other biometry: the keys behind the check are gone.
        if (command.bool("enrolled") == true) {
            folder.toFile().listFiles().orEmpty().filter { it.name.startsWith("gate-") }.forEach { it.delete() }
        }
        return mapOf("prompts" to prompts.get())
    }

    /** Shows a prompt, and returns `confirmed`, `canceled` or `failed`. */
    fun ask(): String {
        prompts.incrementAndGet()
        return answers.poll() ?: "confirmed"
    }
}

/** A gate with its keys in files of the folder, so that the next process opens them. The codes are those of Android. */
class FileGate(private val folder: Path, private val user: UserAtScreen) : PresenceGate {
    override val platform = BiometryPlatform.ANDROID

    override fun availability() = GateAvailability()

    override fun enroll(reason: String): OpenGate {
        confirm()
        val key = SoftwareKey.make()
        val secret = ByteArray(32).also { SecureRandom().nextBytes(it) }
        val id = base64url(ByteArray(8).also { SecureRandom().nextBytes(it) })
        Files.createDirectories(folder)
        Files.write(file(id), (key.text + "\n" + base64url(secret)).toByteArray())
        return OpenGate(id, key, secret)
    }

    override fun unlock(id: String, reason: String): OpenGate {
        if (!Files.exists(file(id))) throw PresenceException(platform, PresenceException.ENROLLMENT_CHANGED)
        confirm()
        val (key, secret) = String(Files.readAllBytes(file(id))).split("\n")
        return OpenGate(id, checkNotNull(SoftwareKey.of(key)), checkNotNull(decodeBase64url(secret)))
    }

    override fun confirmWithDeviceCredential(title: String, text: String) = confirm()

    override fun discard(id: String) {
        Files.deleteIfExists(file(id))
    }

    private fun file(id: String) = folder.resolve("gate-$id")

    private fun confirm() {
        when (user.ask()) {
            "canceled" -> throw PresenceException(platform, 10)
            "failed" -> throw PresenceException(platform, 2)
        }
    }
}

/** An authenticator with its passkeys in memory (WebAuthn Level 3), for the relying party of the options. */
class SoftwarePasskeys(private val user: UserAtScreen) : PasskeyAuthenticator {
    private class Credential(val id: ByteArray, val userHandle: String, val key: SoftwareKey)

    private val credentials = ConcurrentHashMap<String, Credential>()

    override fun registration(options: String): String {
        confirm()
        val members = checkNotNull(membersOf(options))
        val excluded = members.elements("excludeCredentials").orEmpty().map { (it as? Map<*, *>)?.get("id") }
        if (excluded.any { it in credentials.keys }) throw PasskeyException(PasskeyException.Kind.ALREADY_REGISTERED)
        val handle = members.members("user")?.text("id") ?: ""
        val credential = Credential(ByteArray(16).also { SecureRandom().nextBytes(it) }, handle, SoftwareKey.make())
        credentials[base64url(credential.id)] = credential
        val public = credential.key.publicKey
        // A key of COSE (RFC 9053): kty EC2, alg ES256, crv P-256.
        val cose = bytes(0xA5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20) + public.x +
            bytes(0x22, 0x58, 0x20) + public.y
        val attested = ByteArray(16) + bytes(0, credential.id.size) + credential.id + cose
        val data = authenticatorData(members.members("rp")?.text("id"), 0x5D) + attested
        // {"fmt": "none", "attStmt": {}, "authData": …} in CBOR.
        val attestation = bytes(0xA3, 0x63) + "fmt".toByteArray() + bytes(0x64) + "none".toByteArray() + bytes(0x67) +
            "attStmt".toByteArray() + bytes(0xA0, 0x68) + "authData".toByteArray() + bytes(0x58, data.size) + data
        val client = clientData("webauthn.create", members)
        return answer(
            credential, mapOf("attestationObject" to base64url(attestation), "clientDataJSON" to base64url(client)))
    }

    override fun assertion(options: String): String {
        confirm()
        val members = checkNotNull(membersOf(options))
        val credential = credentials.values.lastOrNull()
            ?: throw PasskeyException(PasskeyException.Kind.FAILED, "no passkey")
        val client = clientData("webauthn.get", members)
        val data = authenticatorData(members.text("rpId"), 0x1D)
        val raw = credential.key.sign(data + MessageDigest.getInstance("SHA-256").digest(client))
        return answer(
            credential,
            mapOf(
                "authenticatorData" to base64url(data), "clientDataJSON" to base64url(client),
                "signature" to base64url(der(raw)), "userHandle" to credential.userHandle,
            ))
    }

    private fun answer(credential: Credential, response: Members) = jsonOf(
        mapOf(
            "id" to base64url(credential.id), "rawId" to base64url(credential.id), "type" to "public-key",
            "authenticatorAttachment" to "platform", "clientExtensionResults" to emptyMap<String, Any?>(),
            "response" to response,
        ))

    private fun clientData(type: String, options: Members) = jsonOf(
        mapOf(
            "type" to type, "challenge" to options.text("challenge"), "origin" to "https://localhost",
            "crossOrigin" to false,
        )).toByteArray()

    private fun authenticatorData(relyingParty: String?, flags: Int) =
        sha256((relyingParty ?: "").toByteArray()) + bytes(flags, 0, 0, 0, 0)

    /** A signature of 64 bytes in DER. */
    private fun der(raw: ByteArray): ByteArray {
        val parts = listOf(raw.copyOf(32), raw.copyOfRange(32, 64)).map { java.math.BigInteger(1, it).toByteArray() }
        val content = parts.fold(ByteArray(0)) { all, part -> all + bytes(2, part.size) + part }
        return bytes(0x30, content.size) + content
    }

    private fun bytes(vararg values: Int) = ByteArray(values.size) { values[it].toByte() }

    private fun confirm() {
        when (user.ask()) {
            "canceled" -> throw PasskeyException(PasskeyException.Kind.CANCELLED)
            "failed" -> throw PasskeyException(PasskeyException.Kind.FAILED, "not recognized")
        }
    }
}
