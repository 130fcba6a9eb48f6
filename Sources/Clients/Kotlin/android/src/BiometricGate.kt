package org.sojourn.android

import android.security.keystore.KeyPermanentlyInvalidatedException
import org.sojourn.BiometryPlatform
import org.sojourn.DeviceKey
import org.sojourn.GateAvailability
import org.sojourn.KeyException
import org.sojourn.OpenGate
import org.sojourn.PresenceException
import org.sojourn.PresenceGate
import org.sojourn.PublicJwk
import java.io.IOException
import java.security.InvalidAlgorithmParameterException
import java.security.GeneralSecurityException
import java.security.KeyFactory
import java.security.KeyPairGenerator
import java.security.ProviderException
import java.security.SecureRandom
import java.security.interfaces.ECPublicKey
import java.security.spec.ECGenParameterSpec
import java.security.spec.PKCS8EncodedKeySpec
import java.security.spec.X509EncodedKeySpec

/**
 * Holds the two keys of an enrollment in a file, encrypted by a key of the Keystore that opens for one use after strong biometry.
 *
 * The keys are in the file, because the Keystore opens one operation for each prompt, and one prompt has to open both. A key of
 * the Keystore that opens for a span of time would take the PIN of the device as well before API 30.
 */
internal class BiometricGate(
    private val files: SafeFolder, private val keystore: Keystore, private val prompts: Prompts, screen: Screen,
    private val hasAuthenticators: Boolean,
) : PresenceGate {
    private val turn = PromptTurn(prompts, screen)

    override val platform get() = BiometryPlatform.ANDROID

    override fun availability(): GateAvailability = prompts.availability()

    override fun enroll(reason: String): OpenGate {
        val id = randomName()
        var isEnrolled = false
        try {
            return guarded {
                val cipher = keystore.encryption(keystore.makeBiometricKey(alias(id), hasAuthenticators))
                turn.ask(Prompt(reason, null, cipher))
                val secrets = GateSecrets.make()
                files.locked { files.write(fileName(id), keystore.seal(cipher, secrets.bytes)) }
                isEnrolled = true
                secrets.open(id)
            }
        } finally {
            if (!isEnrolled) discard(id)
        }
    }

    override fun unlock(id: String, reason: String): OpenGate = guarded {
        val bytes = files.read(fileName(id)) ?: throw presence(PresenceException.ENROLLMENT_CHANGED)
        // Both say it without a prompt: a key that is gone, and one that other biometry has made useless.
        val key = keystore.secretKey(alias(id)) ?: throw presence(PresenceException.ENROLLMENT_CHANGED)
        val cipher = keystore.decryption(key, bytes)
        turn.ask(Prompt(reason, null, cipher))
        GateSecrets.of(keystore.open(cipher, bytes)).open(id)
    }

    override fun confirmWithDeviceCredential(title: String, text: String) = turn.ask(Prompt(title, text, null))

    override fun discard(id: String) {
        try {
            files.locked { files.delete(fileName(id)) }
        } catch (_: IOException) {
            // Without its key the file opens nothing.
        }
        keystore.delete(alias(id))
    }

    private fun alias(id: String) = "sojourn.gate.$id"

    private fun fileName(id: String) = "gate.$id"

    private fun <Result> guarded(body: () -> Result): Result = try {
        body()
    } catch (_: KeyPermanentlyInvalidatedException) {
        throw presence(PresenceException.ENROLLMENT_CHANGED)
    } catch (_: InvalidAlgorithmParameterException) {
        // A key that biometry opens cannot be made while none is enrolled.
        throw presence(PromptCode.NONE_ENROLLED)
    } catch (_: GeneralSecurityException) {
        throw presence(PromptCode.VENDOR)
    } catch (_: ProviderException) {
        throw presence(PromptCode.VENDOR)
    } catch (_: KeystoreFault) {
        throw presence(PromptCode.VENDOR)
    } catch (_: IOException) {
        throw presence(PromptCode.VENDOR)
    }
}

/** The sealing key, the presence key and its public half, as they are encrypted together. */
private class GateSecrets(val bytes: ByteArray) {
    companion object {
        private const val SEALING_COUNT = 32

        fun make(): GateSecrets {
            val pair = KeyPairGenerator.getInstance("EC").apply { initialize(ECGenParameterSpec("secp256r1")) }.generateKeyPair()
            val public = pair.public.encoded
            val sealing = ByteArray(SEALING_COUNT).also(SecureRandom()::nextBytes)
            return GateSecrets(sealing + public.size.toByte() + public + pair.private.encoded)
        }

        fun of(bytes: ByteArray): GateSecrets {
            if (bytes.size <= SEALING_COUNT || bytes.size <= SEALING_COUNT + bytes[SEALING_COUNT]) throw IOException("too short")
            return GateSecrets(bytes)
        }
    }

    /** The gate is open until its `close`, which overwrites the keys. */
    fun open(id: String): OpenGate {
        val end = SEALING_COUNT + 1 + bytes[SEALING_COUNT]
        val factory = KeyFactory.getInstance("EC")
        val public = factory.generatePublic(X509EncodedKeySpec(bytes.copyOfRange(SEALING_COUNT + 1, end))) as ECPublicKey
        val key = PresenceKey(PublicJwk.of(public), bytes.copyOfRange(end, bytes.size))
        val sealing = bytes.copyOf(SEALING_COUNT)
        bytes.fill(0)
        return OpenGate(id, key, sealing) {
            key.close()
            sealing.fill(0)
        }
    }

    private class PresenceKey(override val publicKey: PublicJwk, private val bytes: ByteArray) : DeviceKey {
        @Volatile private var isOpen = true

        override fun sign(message: ByteArray): ByteArray {
            if (!isOpen) throw KeyException(KeyException.Kind.LOCKED)
            return signature(KeyFactory.getInstance("EC").generatePrivate(PKCS8EncodedKeySpec(bytes)), message)
        }

        fun close() {
            isOpen = false
            bytes.fill(0)
        }
    }
}
