package org.sojourn.android

import org.sojourn.DeviceKey
import org.sojourn.DeviceKeyring
import org.sojourn.KeyException
import org.sojourn.KeyName
import org.sojourn.PublicJwk
import org.sojourn.base64url
import org.sojourn.decodeBase64url
import org.sojourn.rawSignature
import java.io.IOException
import java.security.GeneralSecurityException
import java.security.KeyFactory
import java.security.KeyPairGenerator
import java.security.PrivateKey
import java.security.Signature
import java.security.interfaces.ECPublicKey
import java.security.spec.ECGenParameterSpec
import java.security.spec.PKCS8EncodedKeySpec
import java.security.spec.X509EncodedKeySpec
import javax.crypto.KeyAgreement

/**
 * Keeps the key that binds sessions in the Keystore, which signs with it and never shows it. Each key has an alias of its own, and
 * a file that names the alias and the public key, so that a key is never replaced under its alias (rule 14).
 *
 * Keys that agree on secrets lie in their file, encrypted by a key of the Keystore, because the Keystore itself agrees on secrets
 * from API 31 on.
 */
internal class KeystoreKeyring(
    private val files: SafeFolder, private val keystore: Keystore, private val unlock: UserUnlock,
) : DeviceKeyring {
    private companion object {
        const val ALIAS_PREFIX = "sojourn.key."
    }

    override fun key(name: KeyName): DeviceKey? = guarded {
        val entry = read(name) ?: return@guarded null
        if (entry.sealed == null) {
            keystore.signingKey(entry.alias)?.let { SigningKey(it, entry.publicKey, keystore) }
        } else {
            val wrapping = keystore.secretKey(entry.alias) ?: return@guarded null
            val bytes = keystore.decrypt(wrapping, entry.sealed) ?: throw KeyException(KeyException.Kind.UNREADABLE)
            AgreeingKey(KeyFactory.getInstance("EC").generatePrivate(PKCS8EncodedKeySpec(bytes)), entry.publicKey)
        }
    }

    override fun makeKey(name: KeyName): DeviceKey = guarded {
        files.locked {
            // Another process may have been first: its key is the device's.
            key(name) ?: run {
                val alias = ALIAS_PREFIX + name.id + "." + randomName()
                val entry = if (name == KeyName.DEVICE) signingEntry(alias) else agreeingEntry(alias)
                files.write(fileName(name), entry.text.toByteArray())
                checkNotNull(key(name))
            }
        }
    }

    override fun deleteKey(name: KeyName) {
        guarded {
            files.locked {
                val entry = read(name) ?: return@locked
                files.delete(fileName(name))
                keystore.delete(entry.alias)
            }
        }
    }

    /** A line of a file: the alias, the public key, and the encrypted private key of those that agree on secrets. */
    private class Entry(val alias: String, val publicKey: ECPublicKey, val sealed: ByteArray?) {
        val text get() = listOf(alias, base64url(publicKey.encoded), sealed?.let(::base64url) ?: "-").joinToString(" ")
    }

    private fun signingEntry(alias: String) = Entry(alias, keystore.makeSigningKey(alias).public as ECPublicKey, null)

    private fun agreeingEntry(alias: String): Entry {
        val pair = KeyPairGenerator.getInstance("EC").apply { initialize(ECGenParameterSpec("secp256r1")) }.generateKeyPair()
        val sealed = keystore.encrypt(keystore.makeSecretKey(alias), pair.private.encoded)
        return Entry(alias, pair.public as ECPublicKey, sealed)
    }

    private fun read(name: KeyName): Entry? {
        val parts = String(files.read(fileName(name)) ?: return null).split(" ")
        val public = parts.getOrNull(1)?.let(::decodeBase64url)
        val sealed = parts.getOrNull(2)?.takeIf { it != "-" }?.let(::decodeBase64url)
        if (parts.size != 3 || public == null) throw KeyException(KeyException.Kind.UNREADABLE)
        return Entry(parts[0], KeyFactory.getInstance("EC").generatePublic(X509EncodedKeySpec(public)) as ECPublicKey, sealed)
    }

    private fun fileName(name: KeyName) = "key." + name.id

    private fun <Result> guarded(body: () -> Result): Result {
        if (!unlock.isUnlocked) throw KeyException(KeyException.Kind.LOCKED)
        try {
            return body()
        } catch (error: IOException) {
            throw KeyException(KeyException.Kind.FAILED, error.javaClass.simpleName)
        } catch (error: KeystoreFault) {
            throw KeyException(KeyException.Kind.FAILED, error.message ?: "")
        } catch (error: java.security.spec.InvalidKeySpecException) {
            throw KeyException(KeyException.Kind.UNREADABLE, error.javaClass.simpleName)
        } catch (error: GeneralSecurityException) {
            throw KeyException(KeyException.Kind.FAILED, error.javaClass.simpleName)
        }
    }
}

private class SigningKey(
    private val key: PrivateKey, publicKey: ECPublicKey, private val keystore: Keystore,
) : DeviceKey {
    override val publicKey = PublicJwk.of(publicKey)

    override fun sign(message: ByteArray): ByteArray = try {
        keystore.retrying { signature(key, message) }
    } catch (error: KeystoreFault) {
        throw KeyException(KeyException.Kind.FAILED, error.message ?: "")
    } catch (error: GeneralSecurityException) {
        throw KeyException(KeyException.Kind.FAILED, error.javaClass.simpleName)
    }
}

private class AgreeingKey(private val key: PrivateKey, publicKey: ECPublicKey) : DeviceKey {
    override val publicKey = PublicJwk.of(publicKey)

    override fun sign(message: ByteArray): ByteArray =
        throw KeyException(KeyException.Kind.DENIED, "this key signs nothing")

    /** The other key comes from outside, and need not lie on the curve. */
    override fun agree(other: PublicJwk): ByteArray = try {
        KeyAgreement.getInstance("ECDH").run {
            init(key)
            doPhase(other.toKey(), true)
            generateSecret()
        }
    } catch (error: GeneralSecurityException) {
        throw KeyException(KeyException.Kind.FAILED, error.javaClass.simpleName)
    }
}

/** An ECDSA signature in the form of a JWS. */
internal fun signature(key: PrivateKey, message: ByteArray): ByteArray = Signature.getInstance("SHA256withECDSA").run {
    initSign(key)
    update(message)
    rawSignature(sign())
}
