// The Keystore's keys, with three answers to the question whether one is there (rule 1).
//
// The Keystore fails now and then on some phones, and works a second later. So each call is made three times before the answer is
// "cannot tell", and only `containsAlias` without an exception says that a key is gone.

package org.sojourn.android

import android.security.keystore.KeyGenParameterSpec
import android.security.keystore.KeyPermanentlyInvalidatedException
import android.security.keystore.KeyProperties
import java.security.GeneralSecurityException
import java.security.KeyPair
import java.security.KeyPairGenerator
import java.security.KeyStore
import java.security.PrivateKey
import java.security.ProviderException
import java.security.spec.ECGenParameterSpec
import javax.crypto.AEADBadTagException
import javax.crypto.Cipher
import javax.crypto.KeyGenerator
import javax.crypto.SecretKey
import javax.crypto.spec.GCMParameterSpec

/** The Keystore failed three times in a row. Nothing follows from that for the key or for the session. */
class KeystoreFault(cause: Exception) : Exception("the Keystore: ${cause.javaClass.simpleName}", cause)

/** The keys that a [SessionStore][org.sojourn.SessionStore] and a keyring of this app have in the Keystore. */
internal class Keystore(private val sleep: (milliseconds: Long) -> Unit = Thread::sleep) {
    private companion object {
        const val PROVIDER = "AndroidKeyStore"
        const val TRANSFORMATION = "AES/GCM/NoPadding"
        const val TAG_BITS = 128
        val WAITS = longArrayOf(100, 800)
    }

    /** A key that encrypts without the user, because renewals run in the background. */
    fun makeSecretKey(alias: String): SecretKey = retrying {
        secretKey(aesKey(alias).build())
    }

    /**
     * A key that opens for one use, after strong biometry alone, and that other biometry makes useless. The PIN beside it would
     * switch that off. A biometric check that is not set up is an `InvalidAlgorithmParameterException`.
     */
    fun makeBiometricKey(alias: String, hasAuthenticators: Boolean): SecretKey {
        val spec = aesKey(alias).setUserAuthenticationRequired(true).setInvalidatedByBiometricEnrollment(true)
        // Before API 30 a key that opens for each use takes strong biometry only.
        if (hasAuthenticators) spec.setUserAuthenticationParameters(0, KeyProperties.AUTH_BIOMETRIC_STRONG)
        return secretKey(spec.build())
    }

    /** A key pair on P-256 that signs. StrongBox is not asked for: it is slow, and some phones throw for it. */
    fun makeSigningKey(alias: String): KeyPair = retrying {
        val spec = KeyGenParameterSpec.Builder(alias, KeyProperties.PURPOSE_SIGN)
            .setAlgorithmParameterSpec(ECGenParameterSpec("secp256r1")).setDigests(KeyProperties.DIGEST_SHA256).build()
        KeyPairGenerator.getInstance(KeyProperties.KEY_ALGORITHM_EC, PROVIDER).apply { initialize(spec) }.generateKeyPair()
    }

    /** The secret key of that alias; null only if there certainly is none. */
    fun secretKey(alias: String): SecretKey? = key(alias) as SecretKey?

    /** The signing key of that alias; null only if there certainly is none. */
    fun signingKey(alias: String): PrivateKey? = key(alias) as PrivateKey?

    /** Deletes a key, if it is there. A key that stays behind opens nothing any more. */
    fun delete(alias: String) {
        try {
            retrying { store().deleteEntry(alias) }
        } catch (_: KeystoreFault) {
        }
    }

    /** The initialization vector and the encrypted text with its tag. The Keystore makes each vector itself. */
    fun encrypt(key: SecretKey, text: ByteArray): ByteArray = retrying {
        Cipher.getInstance(TRANSFORMATION).run {
            init(Cipher.ENCRYPT_MODE, key)
            seal(this, text)
        }
    }

    /** The text; null if these bytes are certainly not of this key. */
    fun decrypt(key: SecretKey, bytes: ByteArray): ByteArray? = retrying {
        try {
            open(decryption(key, bytes), bytes)
        } catch (_: AEADBadTagException) {
            null
        }
    }

    /** A cipher that waits for the user's biometry. `KeyPermanentlyInvalidatedException`: other biometry is enrolled. */
    fun encryption(key: SecretKey): Cipher =
        Cipher.getInstance(TRANSFORMATION).apply { init(Cipher.ENCRYPT_MODE, key) }

    fun decryption(key: SecretKey, bytes: ByteArray): Cipher = Cipher.getInstance(TRANSFORMATION).apply {
        val count = bytes.firstOrNull()?.toInt() ?: 0
        if (count !in 1..32 || bytes.size < 1 + count + TAG_BITS / 8) throw AEADBadTagException("too short")
        init(Cipher.DECRYPT_MODE, key, GCMParameterSpec(TAG_BITS, bytes, 1, count))
    }

    fun seal(cipher: Cipher, text: ByteArray): ByteArray =
        cipher.doFinal(text).let { byteArrayOf(cipher.iv.size.toByte()) + cipher.iv + it }

    fun open(cipher: Cipher, bytes: ByteArray): ByteArray {
        val start = 1 + bytes[0]
        return cipher.doFinal(bytes, start, bytes.size - start)
    }

    /** Repeats what failed by the Keystore's fault: after 100 ms, and after 800 ms more. */
    fun <Result> retrying(body: () -> Result): Result {
        for (wait in WAITS) {
            try {
                return body()
            } catch (error: Exception) {
                if (!isFault(error)) throw error
                sleep(wait)
            }
        }
        try {
            return body()
        } catch (error: Exception) {
            throw if (isFault(error)) KeystoreFault(error) else error
        }
    }

    /** Changed biometry is an answer. All other errors of the Keystore are faults, also those that no interface declares. */
    private fun isFault(error: Exception) = when (error) {
        is KeyPermanentlyInvalidatedException -> false
        is GeneralSecurityException, is ProviderException, is IllegalStateException -> true
        else -> false
    }

    private fun key(alias: String) = retrying {
        val store = store()
        // A null of `getKey` beside a true of `containsAlias` is a fault, and no missing key.
        if (!store.containsAlias(alias)) null else store.getKey(alias, null) ?: throw ProviderException("no answer")
    }

    private fun store(): KeyStore = try {
        KeyStore.getInstance(PROVIDER).apply { load(null) }
    } catch (error: java.io.IOException) {
        throw ProviderException(error)
    }

    private fun aesKey(alias: String): KeyGenParameterSpec.Builder =
        KeyGenParameterSpec.Builder(alias, KeyProperties.PURPOSE_ENCRYPT or KeyProperties.PURPOSE_DECRYPT)
            .setBlockModes(KeyProperties.BLOCK_MODE_GCM).setEncryptionPaddings(KeyProperties.ENCRYPTION_PADDING_NONE)

    private fun secretKey(spec: KeyGenParameterSpec): SecretKey =
        KeyGenerator.getInstance(KeyProperties.KEY_ALGORITHM_AES, PROVIDER).apply { init(spec) }.generateKey()
}
