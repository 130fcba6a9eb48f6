// A provider named as Android's Keystore, with faults on command. Its keys are keys of the Java platform.

package org.sojourn.android

import android.security.keystore.KeyGenParameterSpec
import java.io.InputStream
import java.io.OutputStream
import java.security.AlgorithmParameters
import java.security.InvalidAlgorithmParameterException
import java.security.Key
import java.security.KeyPair
import java.security.KeyPairGenerator
import java.security.KeyPairGeneratorSpi
import java.security.KeyStoreSpi
import java.security.Provider
import java.security.SecureRandom
import java.security.Security
import java.security.cert.Certificate
import java.security.spec.AlgorithmParameterSpec
import java.security.spec.ECGenParameterSpec
import java.util.ArrayDeque
import java.util.Collections
import java.util.Date
import java.util.Enumeration
import java.util.concurrent.ConcurrentHashMap
import javax.crypto.Cipher
import javax.crypto.CipherSpi
import javax.crypto.IllegalBlockSizeException
import javax.crypto.KeyGenerator
import javax.crypto.KeyGeneratorSpi
import javax.crypto.SecretKey
import javax.crypto.spec.SecretKeySpec

/** The state of the device that all tests of a process share, and that each test empties. */
object Device {
    val keys: MutableMap<String, Key> = ConcurrentHashMap()

    /** Thrown by the next calls at [faultPlace], one each. */
    val faults = ArrayDeque<Exception>()

    /** `load`, `getKey`, `generate` or `doFinal`. */
    @Volatile var faultPlace = "getKey"

    /** Whether a fingerprint is enrolled. */
    @Volatile var hasBiometry = true

    /** The ciphers that a prompt has opened. */
    val opened: MutableSet<Cipher> = Collections.newSetFromMap(ConcurrentHashMap())

    fun empty() {
        keys.clear()
        faults.clear()
        faultPlace = "getKey"
        opened.clear()
        hasBiometry = true
    }

    @Synchronized
    fun pass(place: String) {
        if (place == faultPlace) faults.poll()?.let { throw it }
    }

    fun install() {
        Security.insertProviderAt(FakeProvider(), 1)
    }
}

/** A key of the Keystore: its bytes are shown to the fake cipher alone. */
class FakeSecretKey(val key: SecretKeySpec, val needsUser: Boolean) : SecretKey {
    /** Thrown when a cipher begins with this key. */
    @Volatile var obstacle: Exception? = null

    override fun getAlgorithm() = "AES"

    override fun getFormat(): String? = null

    override fun getEncoded(): ByteArray? = null
}

class FakeProvider : Provider("AndroidKeyStore", 1.0, "a Keystore with faults") {
    init {
        put("KeyStore.AndroidKeyStore", FakeKeyStoreSpi::class.java.name)
        put("KeyGenerator.AES", FakeKeyGeneratorSpi::class.java.name)
        put("KeyPairGenerator.EC", FakeKeyPairGeneratorSpi::class.java.name)
        put("Cipher.AES/GCM/NoPadding", FakeCipherSpi::class.java.name)
        put("Cipher.AES/GCM/NoPadding SupportedKeyClasses", FakeSecretKey::class.java.name)
    }
}

class FakeKeyStoreSpi : KeyStoreSpi() {
    override fun engineLoad(stream: InputStream?, password: CharArray?) = Device.pass("load")

    override fun engineContainsAlias(alias: String) = alias in Device.keys

    override fun engineGetKey(alias: String, password: CharArray?): Key? {
        Device.pass("getKey")
        return Device.keys[alias]
    }

    override fun engineDeleteEntry(alias: String) {
        Device.keys.remove(alias)
    }

    override fun engineAliases(): Enumeration<String> = Collections.enumeration(Device.keys.keys)

    override fun engineSize() = Device.keys.size

    override fun engineIsKeyEntry(alias: String) = alias in Device.keys

    override fun engineIsCertificateEntry(alias: String) = false

    override fun engineGetCertificateChain(alias: String): Array<Certificate>? = null

    override fun engineGetCertificate(alias: String): Certificate? = null

    override fun engineGetCreationDate(alias: String): Date? = null

    override fun engineGetCertificateAlias(certificate: Certificate): String? = null

    override fun engineSetKeyEntry(alias: String, key: Key, password: CharArray?, chain: Array<Certificate>?) =
        throw UnsupportedOperationException()

    override fun engineSetKeyEntry(alias: String, key: ByteArray, chain: Array<Certificate>?) =
        throw UnsupportedOperationException()

    override fun engineSetCertificateEntry(alias: String, certificate: Certificate) = throw UnsupportedOperationException()

    override fun engineStore(stream: OutputStream?, password: CharArray?) = throw UnsupportedOperationException()
}

class FakeKeyGeneratorSpi : KeyGeneratorSpi() {
    private lateinit var spec: KeyGenParameterSpec

    override fun engineInit(params: AlgorithmParameterSpec, random: SecureRandom?) {
        spec = params as KeyGenParameterSpec
        if (spec.isUserAuthenticationRequired && !Device.hasBiometry) {
            throw InvalidAlgorithmParameterException("At least one biometric must be enrolled")
        }
    }

    override fun engineInit(random: SecureRandom?) = throw UnsupportedOperationException()

    override fun engineInit(size: Int, random: SecureRandom?) = throw UnsupportedOperationException()

    override fun engineGenerateKey(): SecretKey {
        Device.pass("generate")
        val bytes = KeyGenerator.getInstance("AES", "SunJCE").apply { init(256) }.generateKey().encoded
        val key = FakeSecretKey(SecretKeySpec(bytes, "AES"), spec.isUserAuthenticationRequired)
        check(Device.keys.put(spec.keystoreAlias, key) == null) { "a key was replaced under its alias" }
        return key
    }
}

class FakeKeyPairGeneratorSpi : KeyPairGeneratorSpi() {
    private lateinit var spec: KeyGenParameterSpec

    override fun initialize(params: AlgorithmParameterSpec, random: SecureRandom?) {
        // The Java platform asks each provider for its own parameters first.
        spec = params as? KeyGenParameterSpec ?: throw InvalidAlgorithmParameterException("not of this provider")
    }

    override fun initialize(size: Int, random: SecureRandom?) = throw UnsupportedOperationException()

    override fun generateKeyPair(): KeyPair {
        Device.pass("generate")
        val generator = KeyPairGenerator.getInstance("EC", "SunEC").apply { initialize(ECGenParameterSpec("secp256r1")) }
        val pair = generator.generateKeyPair()
        check(Device.keys.put(spec.keystoreAlias, pair.private) == null) { "a key was replaced under its alias" }
        return pair
    }
}

class FakeCipherSpi : CipherSpi() {
    private val base = Cipher.getInstance("AES/GCM/NoPadding", "SunJCE")
    private lateinit var key: FakeSecretKey

    override fun engineInit(mode: Int, key: Key, random: SecureRandom?) {
        begin(key)
        base.init(mode, this.key.key)
    }

    override fun engineInit(mode: Int, key: Key, params: AlgorithmParameterSpec?, random: SecureRandom?) {
        begin(key)
        base.init(mode, this.key.key, params)
    }

    override fun engineInit(mode: Int, key: Key, params: AlgorithmParameters?, random: SecureRandom?) =
        throw UnsupportedOperationException()

    private fun begin(key: Key) {
        this.key = key as FakeSecretKey
        key.obstacle?.let { throw it }
    }

    override fun engineDoFinal(input: ByteArray, offset: Int, count: Int): ByteArray {
        Device.pass("doFinal")
        // A key that waits for the user says so at the end of the operation.
        if (key.needsUser && Device.opened.none { it.iv.contentEquals(base.iv) }) throw IllegalBlockSizeException("no user")
        return base.doFinal(input, offset, count)
    }

    override fun engineDoFinal(input: ByteArray, offset: Int, count: Int, output: ByteArray, outputOffset: Int): Int =
        engineDoFinal(input, offset, count).let { it.copyInto(output, outputOffset).let { _ -> it.size } }

    override fun engineUpdate(input: ByteArray, offset: Int, count: Int): ByteArray? = base.update(input, offset, count)

    override fun engineUpdate(input: ByteArray, offset: Int, count: Int, output: ByteArray, outputOffset: Int) =
        base.update(input, offset, count, output, outputOffset)

    override fun engineGetIV(): ByteArray = base.iv

    override fun engineGetBlockSize() = base.blockSize

    override fun engineGetOutputSize(count: Int) = base.getOutputSize(count)

    override fun engineGetParameters(): AlgorithmParameters? = base.parameters

    override fun engineSetMode(mode: String) {}

    override fun engineSetPadding(padding: String) {}
}
