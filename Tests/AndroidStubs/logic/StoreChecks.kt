package org.sojourn.android

import android.security.keystore.KeyPermanentlyInvalidatedException
import org.sojourn.DeviceKeyring
import org.sojourn.KeyException
import org.sojourn.KeyName
import org.sojourn.PublicJwk
import org.sojourn.StoreException
import java.io.File
import java.security.ProviderException
import java.security.Signature
import java.security.UnrecoverableKeyException
import java.util.concurrent.atomic.AtomicInteger
import javax.crypto.IllegalBlockSizeException

private fun record(number: Int) = """{"schema":1,"device_id":"d","retry_secret":"c2VjcmV0","number":$number}"""

private val faults = listOf<Pair<String, () -> Exception>>(
    "load" to { ProviderException("no connection to the Keystore") },
    "getKey" to { ProviderException("Keystore operation failed") },
    "getKey" to { UnrecoverableKeyException("Failed to obtain information") },
    "doFinal" to { IllegalBlockSizeException("KeyStoreException: -33") },
)

internal fun Checks.store() {
    check("a record is read by the next process, and each write has a version of its own") {
        expect(store().load(), null)
        expect(store().replace(null, record(1)), true)
        val first = checkNotNull(store().load())
        expect(first.text, record(1))
        expect(store().replace("another", record(2)), false)
        expect(store().replace(first.version, record(1)), true)
        check(checkNotNull(store().load()).version != first.version) { "the same vector twice" }
        check(!String(record.readBytes()).contains("retry_secret")) { "the file is not encrypted" }
    }
    check("a store that fails twice is asked a third time, after 100 and 800 ms") {
        store().replace(null, record(1))
        for ((place, fault) in faults) {
            Device.faultPlace = place
            waits.clear()
            repeat(2) { Device.faults += fault() }
            expect(store().load()?.text, record(1))
            expect(waits, listOf(100L, 800L))
        }
    }
    check("a store that fails three times cannot tell, and keeps the record") {
        store().replace(null, record(1))
        val bytes = record.readBytes()
        for ((place, fault) in faults) {
            Device.faultPlace = place
            repeat(3) { Device.faults += fault() }
            expect(expectError<StoreException> { store().load() }.kind, StoreException.Kind.FAILED)
            repeat(3) { Device.faults += fault() }
            val version = org.sojourn.base64url(org.sojourn.sha256(bytes))
            expect(expectError<StoreException> { store().replace(version, record(2)) }.kind, StoreException.Kind.FAILED)
            check(record.readBytes().contentEquals(bytes)) { "the record has changed" }
            expect(store().load()?.text, record(1))
        }
    }
    check("a key that the Keystore calls invalid is a failed store, and keeps the record") {
        store().replace(null, record(1))
        Device.faults += KeyPermanentlyInvalidatedException()
        expect(expectError<StoreException> { store().load() }.kind, StoreException.Kind.FAILED)
        expect(store().load()?.text, record(1))
    }
    check("a record without its key, as after a backup, is kept and set aside by a login") {
        store().replace(null, record(1))
        val bytes = record.readBytes()
        val alias = Device.keys.keys.single()
        Device.keys.clear()
        expect(expectError<StoreException> { store().load() }.kind, StoreException.Kind.UNREADABLE)
        store().setAside()
        val kept = checkNotNull(files.folder.listFiles()).single { it.name.startsWith("session.unreadable-") }
        check(kept.readBytes().contentEquals(bytes)) { "the record was changed" }
        expect(store().load(), null)
        expect(store().replace(null, record(2)), true)
        check(alias !in Device.keys) { "a new key has the alias of the old one" }
    }
    check("a record that can be read is not set aside, nor one that the Keystore cannot tell of") {
        store().replace(null, record(1))
        store().setAside()
        expect(store().load()?.text, record(1))
        repeat(3) { Device.faults += ProviderException() }
        expectError<StoreException> { store().setAside() }
        expect(store().load()?.text, record(1))
    }
    check("a key that cannot be made is a failed store, and the next try makes one") {
        Device.faultPlace = "generate"
        repeat(3) { Device.faults += ProviderException() }
        expect(expectError<StoreException> { store().replace(null, record(1)) }.kind, StoreException.Kind.FAILED)
        expect(store().load(), null)
        expect(store().replace(null, record(1)), true)
    }
    check("half a record, and one with a changed byte, is unreadable") {
        store().replace(null, record(1))
        val bytes = record.readBytes()
        for (count in bytes.indices) {
            record.writeBytes(bytes.copyOf(count))
            expect(expectError<StoreException> { store().load() }.kind, StoreException.Kind.UNREADABLE)
            record.writeBytes(bytes.clone().also { it[count] = (it[count] + 1).toByte() })
            expect(expectError<StoreException> { store().load() }.kind, StoreException.Kind.UNREADABLE)
        }
    }
    check("a record of a later version is unreadable, and kept") {
        store().replace(null, record(1))
        val text = record(1).replace("\"schema\":1", "\"schema\":2")
        expect(store().replace(store().load()?.version, text), true)
        expect(expectError<StoreException> { store().load() }.kind, StoreException.Kind.UNREADABLE)
    }
    check("a device before its first unlock is locked, and read again afterwards") {
        store().replace(null, record(1))
        unlock.isUnlocked = false
        expect(expectError<StoreException> { store().load() }.kind, StoreException.Kind.LOCKED)
        expect(expectError<StoreException> { store().replace(null, record(2)) }.kind, StoreException.Kind.LOCKED)
        var calls = 0
        store().observe { calls += 1 }
        unlock.isUnlocked = true
        unlock.observer?.invoke()
        expect(calls, 1)
        expect(store().load()?.text, record(1))
    }
    check("a removed record takes its key along") {
        store().replace(null, record(1))
        expect(store().replace(store().load()?.version, null), true)
        expect(store().load(), null)
        expect(Device.keys.size, 0)
    }
    check("a folder that cannot be made durable is a failed store") {
        val broken = SafeFolder(File(folder, "broken")) { throw java.io.IOException("no space") }
        val store = KeystoreStore(broken, keystore, unlock)
        expect(expectError<StoreException> { store.replace(null, record(1)) }.kind, StoreException.Kind.FAILED)
    }
    check("swaps of two threads have one winner each") {
        store().replace(null, record(0))
        val wins = AtomicInteger()
        val threads = List(2) {
            Beside {
                repeat(50) {
                    val loaded = checkNotNull(store().load())
                    val number = loaded.text.substringAfter("\"number\":").trimEnd('}').toInt()
                    if (store().replace(loaded.version, record(number + 1))) wins.incrementAndGet()
                }
            }
        }
        threads.forEach { it.get() }
        expect(store().load()?.text, record(wins.get()))
    }
}

internal fun Checks.keyring() {
    check("a key of the Keystore signs, and is the same one for the next process") {
        expect(keyring().key(KeyName.DEVICE), null)
        val key = keyring().makeKey(KeyName.DEVICE)
        expect(keyring().makeKey(KeyName.DEVICE).publicKey.thumbprint, key.publicKey.thumbprint)
        val signature = checkNotNull(keyring().key(KeyName.DEVICE)).sign("text".toByteArray())
        expect(signature.size, 64)
        val isRight = Signature.getInstance("SHA256withECDSAinP1363Format").run {
            initVerify(key.publicKey.toKey())
            update("text".toByteArray())
            verify(signature)
        }
        expect(isRight, true)
    }
    check("a key is certainly gone only if the Keystore says so without a fault") {
        val ring: DeviceKeyring = keyring()
        val old = ring.makeKey(KeyName.DEVICE).publicKey.thumbprint
        repeat(3) { Device.faults += ProviderException() }
        expect(expectError<KeyException> { ring.key(KeyName.DEVICE) }.kind, KeyException.Kind.FAILED)
        expect(ring.key(KeyName.DEVICE)?.publicKey?.thumbprint, old)
        val alias = Device.keys.keys.single()
        Device.keys.clear()
        expect(ring.key(KeyName.DEVICE), null)
        check(ring.makeKey(KeyName.DEVICE).publicKey.thumbprint != old) { "the old key" }
        check(alias !in Device.keys) { "a new key has the alias of the old one" }
    }
    check("a deleted key leaves no alias, and a locked device tells of no key") {
        keyring().makeKey(KeyName.DEVICE)
        keyring().deleteKey(KeyName.DEVICE)
        expect(Device.keys.size, 0)
        expect(keyring().key(KeyName.DEVICE), null)
        unlock.isUnlocked = false
        expect(expectError<KeyException> { keyring().key(KeyName.DEVICE) }.kind, KeyException.Kind.LOCKED)
    }
    check("keys for encryption agree on a secret, and their file shows no private half") {
        val one = keyring().makeKey(KeyName.ENCRYPTION)
        val other = keyring().makeKey(KeyName.PIN)
        val again = checkNotNull(keyring().key(KeyName.ENCRYPTION))
        check(again.agree(other.publicKey).contentEquals(other.agree(one.publicKey))) { "two secrets" }
        expect(expectError<KeyException> { one.sign(ByteArray(1)) }.kind, KeyException.Kind.DENIED)
        // A key of a message comes from a stranger, and need not lie on the curve.
        val stray = PublicJwk(ByteArray(32) { 1 }, ByteArray(32) { 1 })
        expect(expectError<KeyException> { one.agree(stray) }.kind, KeyException.Kind.FAILED)
        Device.keys.clear()
        expect(keyring().key(KeyName.ENCRYPTION), null)
    }
}
