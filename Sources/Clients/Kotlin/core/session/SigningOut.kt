// Sign-outs, and those of which the server is still to be told (rule 13).

package org.sojourn

import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.TimeUnit

/**
 * Signs the user out: at once, and offline too. The server is told in the background, now or after a later start; a program that ends
 * at once calls [settle] before. It is not told of a session with tokens that are sealed and locked: it ends by itself.
 *
 * Returns whether the sign-out is stored. If not, the state is `SignedOut` all the same, and each later call tries to write again.
 */
fun Sojourn.signOut(): Boolean = leave(isOwing = true)

/** Signs out, tells the server if it can be reached, and deletes the record and the keys. The next login is that of a new device. */
fun Sojourn.forgetDevice() {
    leave(isOwing = true)
    synchronized(debtsLock) { quietly { payDebts() } }
    storing {
        try {
            for (attempt in 1..16) {
                val stored = store.load() ?: break
                if (store.replace(stored.version, null)) break
            }
            loadStored()
        } catch (error: StoreException) {
            if (error.kind != StoreException.Kind.UNREADABLE) throw error
            store.setAside()
        }
        isSigningOut = false
        keys.deleteKey(KeyName.DEVICE)
        keys.deleteKey(KeyName.PIN)
    }
}

/**
 * Waits until the server has been told of each sign-out, and until no renewal is under way: for a program that ends then. What could
 * not be told before is tried once more. Returns whether nothing is left; false as well when [seconds] are over.
 */
fun Sojourn.settle(seconds: Double): Boolean {
    val end = System.nanoTime() + (seconds * 1e9).toLong()
    if (!becomeIdle(end)) return false
    if (owesNothing()) return true
    payDebtsInBackground()
    return becomeIdle(end) && owesNothing()
}

private fun Sojourn.owesNothing(): Boolean =
    try {
        load()?.record?.debts?.isEmpty() ?: true
    } catch (_: SojournException) {
        false
    }

private fun Sojourn.becomeIdle(end: Long): Boolean {
    idleLock.lock()
    try {
        while (flights.isNotEmpty() || debtTasks.get() > 0) {
            val left = end - System.nanoTime()
            if (left <= 0) return false
            idle.await(left, TimeUnit.NANOSECONDS)
        }
        return true
    } catch (_: InterruptedException) {
        Thread.currentThread().interrupt()
        return false
    } finally {
        idleLock.unlock()
    }
}

internal fun Sojourn.releaseIdle() {
    idleLock.lock()
    idle.signalAll()
    idleLock.unlock()
}

/** Removes everything of the user. The server still has to be told if [isOwing]. Returns whether that is stored. */
internal fun Sojourn.leave(isOwing: Boolean): Boolean {
    signOuts.incrementAndGet()
    synchronized(lock) {
        isSigningOut = true
        this.isOwing = isOwing
    }
    publishSignOut()
    val isWritten = try {
        settleSignOut()
        true
    } catch (error: StoreException) {
        configuration.log("the sign-out could not be stored: ${error.message}")
        false
    }
    configuration.clearProviderCookies()
    if (isWritten) payDebtsInBackground()
    return isWritten
}

/** Writes a sign-out. */
internal fun Sojourn.settleSignOut() {
    val isOwing = isOwing
    var gateID: String? = null
    update { record ->
        gateID = record.session?.gateID
        if (record.session == null) null else record.signedOut(isOwing)
    }
    isSigningOut = false
    val opened = unlocked?.gate
    unlocked = null
    publishState()
    opened?.close()
    gateID?.let { gate?.discard(it) }
}

// Debts

/** Tells the server of the sign-outs that it has not heard of. The caller does not wait. */
internal fun Sojourn.payDebtsInBackground() {
    debtTasks.incrementAndGet()
    try {
        background.execute {
            try {
                // A store that fails is asked again at the next occasion.
                synchronized(debtsLock) { quietly { payDebts() } }
            } finally {
                endDebtTask()
            }
        }
    } catch (_: RejectedExecutionException) {
        // The debts are stored, and the next start pays them.
        endDebtTask()
    }
}

private fun Sojourn.endDebtTask() {
    debtTasks.decrementAndGet()
    releaseIdle()
}

private enum class Payment { PAID, REFUSED, UNREACHABLE }

private fun Sojourn.payDebts() {
    val tried = mutableSetOf<Members>()
    while (true) {
        val debt = loadStored()?.record?.debts?.firstOrNull { it !in tried } ?: return
        tried += debt
        val isOver = (debt.number("expires_at") ?: Long.MAX_VALUE) < now()
        when (if (isOver) Payment.PAID else pay(debt)) {
            Payment.PAID -> update { record -> if (debt in record.debts) record.without(debt) else null }
            Payment.REFUSED -> {}
            Payment.UNREACHABLE -> return
        }
    }
}

private fun Sojourn.pay(debt: Members): Payment {
    val token = debt.text("token") ?: return Payment.PAID
    val kind = debt.text("kind") ?: "refresh_token"
    val isRefreshToken = kind == "refresh_token"
    repeat(2) {
        var request = server.request(
            "POST", "/v1/logout", if (isRefreshToken) membersOf("refresh_token" to token) else null)
        if (!isRefreshToken) request = request.with("Authorization" to "$kind $token")
        debt.text("key_thumbprint")?.let { thumbprint ->
            // Without its key the session cannot be ended from here. It ends by itself.
            val key = deviceKey(thumbprint) ?: return Payment.PAID
            request = request.with(
                "DPoP" to proof(key, request.method, request.url, token.takeIf { !isRefreshToken }))
        }
        val answer = exchange(request) ?: return Payment.UNREACHABLE
        if (answer.isSuccess) return Payment.PAID
        when (Verdict.of(answer)) {
            Verdict.SignAgain -> return@repeat
            is Verdict.Unreachable -> return Payment.UNREACHABLE
            // The server knows the token no more.
            is Verdict.Ended -> return Payment.PAID
            else -> return if (ErrorAnswer.of(answer)?.word == "invalid_token") Payment.PAID else Payment.REFUSED
        }
    }
    return Payment.REFUSED
}
