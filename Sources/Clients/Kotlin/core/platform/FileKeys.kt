package org.sojourn

import java.io.IOException
import java.nio.file.Path
import java.security.GeneralSecurityException
import java.security.KeyFactory
import java.security.KeyPair
import java.security.KeyPairGenerator
import java.security.PrivateKey
import java.security.Signature
import java.security.interfaces.ECPublicKey
import java.security.spec.ECGenParameterSpec
import java.security.spec.PKCS8EncodedKeySpec
import java.security.spec.X509EncodedKeySpec
import java.util.Base64
import javax.crypto.KeyAgreement

/** Keeps keys in files `NAME.key` of a folder. A program that can read them has the keys; on Android the Keystore keeps them. */
class FileKeys(private val folder: Path) : DeviceKeyring {
    override fun key(name: KeyName): DeviceKey? = tried { read(file(name)) }

    override fun makeKey(name: KeyName): DeviceKey = tried {
        val file = file(name)
        // Another process may have been first: its key is the device's.
        read(file) ?: file.locked {
            read(file) ?: SoftwareKey.make().also { file.replace(it.text.toByteArray()) }
        }
    }

    override fun deleteKey(name: KeyName) = tried { file(name).run { locked { replace(null) } } }

    private fun file(name: KeyName) = PrivateFile(folder, name.id + ".key")

    private fun read(file: PrivateFile): SoftwareKey? {
        val text = String(file.read() ?: return null)
        return SoftwareKey.of(text) ?: throw KeyException(KeyException.Kind.UNREADABLE, file.path.toString())
    }

    private fun <Result> tried(body: () -> Result): Result =
        try {
            body()
        } catch (error: IOException) {
            throw KeyException(KeyException.Kind.FAILED, error.toString())
        }
}

/** Keeps keys in memory: for tests, and for sessions that end with the process. */
class MemoryKeys : DeviceKeyring {
    private val keys = HashMap<KeyName, DeviceKey>()

    @Synchronized
    override fun key(name: KeyName): DeviceKey? = keys[name]

    @Synchronized
    override fun makeKey(name: KeyName): DeviceKey = keys.getOrPut(name) { SoftwareKey.make() }

    @Synchronized
    override fun deleteKey(name: KeyName) {
        keys.remove(name)
    }
}

/** A private key on P-256 in memory. */
class SoftwareKey private constructor(private val pair: KeyPair) : DeviceKey {
    override val publicKey = PublicJwk.of(pair.public as ECPublicKey)

    override fun sign(message: ByteArray): ByteArray = tried {
        rawSignature(
            Signature.getInstance("SHA256withECDSA").run {
                initSign(pair.private)
                update(message)
                sign()
            })
    }

    override fun agree(other: PublicJwk): ByteArray = tried {
        KeyAgreement.getInstance("ECDH").run {
            init(pair.private)
            doPhase(other.toKey(), true)
            generateSecret()
        }
    }

    /** Both halves, each in Base64: for files. */
    val text: String
        get() = listOf(pair.private, pair.public).joinToString(" ") { Base64.getEncoder().encodeToString(it.encoded) }

    private fun <Result> tried(body: () -> Result): Result =
        try {
            body()
        } catch (error: GeneralSecurityException) {
            throw KeyException(KeyException.Kind.FAILED, error.toString())
        }

    companion object {
        fun make(): SoftwareKey {
            val maker = KeyPairGenerator.getInstance("EC").apply { initialize(ECGenParameterSpec("secp256r1")) }
            return SoftwareKey(maker.generateKeyPair())
        }

        /** The key of a text that [text] has made; null if it is none. */
        fun of(text: String): SoftwareKey? =
            try {
                val parts = text.trim().split(" ").map(Base64.getDecoder()::decode)
                val factory = KeyFactory.getInstance("EC")
                val secret: PrivateKey = factory.generatePrivate(PKCS8EncodedKeySpec(parts[0]))
                val public = factory.generatePublic(X509EncodedKeySpec(parts.getOrElse(1) { ByteArray(0) }))
                if (public is ECPublicKey) SoftwareKey(KeyPair(public, secret)) else null
            } catch (_: GeneralSecurityException) {
                null
            } catch (_: IllegalArgumentException) {
                null
            }
    }
}
