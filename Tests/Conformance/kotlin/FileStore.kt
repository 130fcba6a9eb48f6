// A store and keys in files. Several processes may share the folder.

package sojourn

import java.io.IOException
import java.math.BigInteger
import java.nio.ByteBuffer
import java.nio.channels.FileChannel
import java.nio.file.FileAlreadyExistsException
import java.nio.file.Files
import java.nio.file.NoSuchFileException
import java.nio.file.Path
import java.nio.file.StandardCopyOption
import java.nio.file.StandardOpenOption.CREATE
import java.nio.file.StandardOpenOption.READ
import java.nio.file.StandardOpenOption.TRUNCATE_EXISTING
import java.nio.file.StandardOpenOption.WRITE
import java.security.KeyFactory
import java.security.KeyPair
import java.security.KeyPairGenerator
import java.security.Signature
import java.security.interfaces.ECPublicKey
import java.security.spec.ECGenParameterSpec
import java.security.spec.PKCS8EncodedKeySpec
import java.security.spec.X509EncodedKeySpec
import java.util.Base64

/** Writes a file durably. */
private fun write(path: Path, text: String) {
    FileChannel.open(path, CREATE, WRITE, TRUNCATE_EXISTING).use { file ->
        val bytes = ByteBuffer.wrap(text.toByteArray())
        while (bytes.hasRemaining()) file.write(bytes)
        file.force(true)
    }
}

private fun sync(folder: Path) = FileChannel.open(folder, READ).use { it.force(true) }

/**
 * Keeps the record in `session.json`: written beside it, made durable, renamed. Processes exclude each other by a lock that they hold
 * for this alone, never while they wait for the network (rule 12). The end of a process gives the lock back.
 */
class FileStore(private val folder: Path, private val observe: (String) -> Unit = {}) : Store {
    private val path = folder.resolve("session.json")

    override fun load(): Stored? =
        try {
            val text = Files.readString(path)
            Stored(sha256(text), text)
        } catch (_: NoSuchFileException) {
            null
        } catch (_: IOException) {
            throw StoreException(StoreException.Kind.FAILED)
        }

    override fun replace(expected: String?, text: String): Boolean = locked {
        if (load()?.version != expected) return@locked false
        val temp = folder.resolve("session.json.new")
        write(temp, text)
        observe("temp-written")
        Files.move(temp, path, StandardCopyOption.ATOMIC_MOVE)
        sync(folder)
        observe("renamed")
        true
    }

    override fun setAside() {
        locked {
            val isRecord = load()?.let { runCatching { SessionRecord.parse(it.text) }.isSuccess }
            if (isRecord == false) Files.move(path, folder.resolve("session.json.unreadable-" + randomText(6)))
        }
    }

    /** Threads exclude each other as well, because a file lock is one of the whole process. */
    @Synchronized
    private fun <Result> locked(body: () -> Result): Result =
        try {
            Files.createDirectories(folder)
            FileChannel.open(folder.resolve("session.json.lock"), CREATE, WRITE).use { file ->
                file.lock().use { body() }
            }
        } catch (_: IOException) {
            throw StoreException(StoreException.Kind.FAILED)
        }
}

/** Keeps the key in `device.key`. A program that can read the file has the key; on Android the Keystore keeps it. */
class FileKeys(private val folder: Path) : Keys {
    private val path = folder.resolve("device.key")

    override fun key(): DeviceKey? {
        val text = try {
            Files.readString(path)
        } catch (_: NoSuchFileException) {
            return null
        }
        val (secret, public) = text.trim().split(" ").map(Base64.getDecoder()::decode)
        val factory = KeyFactory.getInstance("EC")
        val publicKey = factory.generatePublic(X509EncodedKeySpec(public))
        return ECKey(KeyPair(publicKey, factory.generatePrivate(PKCS8EncodedKeySpec(secret))))
    }

    override fun makeKey(): DeviceKey {
        key()?.let { return it }
        Files.createDirectories(folder)
        val pair = KeyPairGenerator.getInstance("EC").apply { initialize(ECGenParameterSpec("secp256r1")) }.generateKeyPair()
        val temp = folder.resolve("device.key." + randomText(6))
        write(temp, listOf(pair.private, pair.public).joinToString(" ") { Base64.getEncoder().encodeToString(it.encoded) })
        try {
            // Another process may have been first: its key is the device's.
            Files.createLink(path, temp)
        } catch (_: FileAlreadyExistsException) {
        } finally {
            Files.deleteIfExists(temp)
        }
        return checkNotNull(key())
    }
}

private class ECKey(private val pair: KeyPair) : DeviceKey {
    override val jwk: String = (pair.public as ECPublicKey).w.let { point ->
        """{"crv":"P-256","kty":"EC","x":"${coordinate(point.affineX)}","y":"${coordinate(point.affineY)}"}"""
    }

    override fun sign(message: ByteArray): ByteArray = Signature.getInstance("SHA256withECDSAinP1363Format").run {
        initSign(pair.private)
        update(message)
        sign()
    }

    /** A number as 32 bytes. `BigInteger` writes a sign, and leaves out leading zeros. */
    private fun coordinate(number: BigInteger): String {
        val bytes = number.toByteArray().dropWhile { it == 0.toByte() }.toByteArray()
        return base64url(ByteArray(32 - bytes.size) + bytes)
    }
}
