// A login that this phone lets happen: on another device with a picture that was scanned, in a browser on the phone, or after a message
// of a backend. It is told apart from the stay of the user in this app: whatever becomes of it, no session ends here.

package org.sojourn

import java.util.concurrent.CopyOnWriteArrayList

/** How a login session behaves in this app. The options can demand more of the user than the server does, and never less. */
class LoginSessionOptions(
    /** False: the session stays in `READY_FOR_USER_INTERACTION` until `startUserInteraction`. */
    val skipsReadyForUserInteraction: Boolean = true,
    /** Whether the confirmation is left out if a second factor follows. */
    val skipsConfirmation: Boolean = false,
    val alwaysRequiresSecondFactor: Boolean = false,
    /** How long the session waits for the user, in seconds; the server's own limit may be shorter. */
    val inputLimit: Double = 180.0,
)

/**
 * A login session. It follows the login until [close] or its end. Its acts block; one that has no answer can be repeated. `startSession`
 * and its siblings make one.
 */
class LoginSession internal constructor(
    private val sojourn: Sojourn, private val claim: LoginCall?, found: LoginDetails?, private val options: LoginSessionOptions,
) : AutoCloseable {
    private companion object {
        /** How often the server is asked, in seconds: while something is expected of it, and while it cannot be reached. */
        const val POLL_INTERVAL = 1.0
        const val SLOW_POLL_INTERVAL = 15.0
    }

    private class Reply(val answer: LoginReply, val error: SojournException? = null, val retryAfter: Long? = null)

    private val isAppLogin = found?.isAppLogin ?: (claim?.isAppLogin == true)
    private val machine = LoginSessionMachine(isResumed = found != null, isAppLogin)
    private val observers = CopyOnWriteArrayList<(LoginStatus) -> Unit>()
    private val lock = Any()
    private val startedAt = sojourn.clock.uptime()
    private var version: String? = null
    private var number: Int? = null
    private val proofs = ArrayList<Pair<LoginCall, Int>>()

    @Volatile private var isClosed = false

    /** What the user is shown of it; null until the server has told it. */
    @Volatile var details: LoginDetails? = found
        private set

    /** Where the session stands. */
    @Volatile var status = machine.status
        private set

    /** What opens the backend; null until an AppLogin has succeeded, and for every other session. */
    @Volatile var backendAccess: BackendAccess? = null
        private set

    /** Calls [observer] with the present status, and then with each change, until the result is closed. */
    fun observe(observer: (LoginStatus) -> Unit): AutoCloseable {
        observers.add(observer)
        observer(status)
        return AutoCloseable { observers.remove(observer) }
    }

    /** Asks the server no more. It ends the login in time. */
    override fun close() {
        isClosed = true
    }

    internal fun run(): LoginSession {
        synchronized(lock) {
            details?.let { machine.observe(it.status) }
            if (claim != null) machine.begin(LoginAct(LoginAct.Kind.CLAIM))
        }
        publish()
        sojourn.background.execute {
            if (claim != null) sojourn.quietly { carryOut(LoginAct(LoginAct.Kind.CLAIM), claim) }
            while (followOnce()) continue
        }
        return this
    }

    // What the user does

    /** Tells that the user can act now. Only a session on hold needs it. */
    fun startUserInteraction() = act(LoginAct(LoginAct.Kind.START)) { LoginCall.start(it) }

    /** Confirms the login. [number] is what the other device shows, if `needsNumber`; a wrong one ends the session. */
    fun confirm(number: Int? = null) {
        val typed = checked(number)
        this.number = typed
        act(LoginAct(LoginAct.Kind.CONFIRM)) { LoginCall.confirm(it, typed) }
    }

    /**
     * Asks the user for biometry, once, and gives the server the signature of the presence key over this login and its number. A wrong
     * factor is `refused` with `wrong_second_factor`; a prompt that the user cancels is `Presence`, and nothing is sent.
     */
    fun enterSecondFactor(reason: String = PresencePrompt.REASON, number: Int? = null) {
        val typed = checked(number ?: this.number)
        prove(typed) { id -> membersOf("user_assertion" to sojourn.loginAssertion(id, typed, reason)) }
    }

    /** Gives the server the password of the account as the second factor. */
    fun enterSecondFactorByPassword(password: String, number: Int? = null) =
        prove(checked(number ?: this.number)) { membersOf("password" to password) }

    /** Gives the server the PIN of the app as the second factor. A wrong one is `refused` with `wrong_pin`, or `pin_locked`. */
    fun enterSecondFactorByPin(pin: String, number: Int? = null) =
        prove(checked(number ?: this.number)) { membersOf("pin" to sojourn.loginMac(pin)) }

    /**
     * Ends the session in every state: it denies a login, and logs out what the login has brought. [isReport]: the user says that the
     * login is not theirs. While the user has not acted, it ends at once, also without the network.
     */
    fun stopSession(isReport: Boolean = false) {
        val act = LoginAct(LoginAct.Kind.STOP)
        begin(act)
        // Without an answer to the claim the login ends at the server by its own limit.
        val id = details?.id ?: return
        val call = LoginCall.stop(id, isReport)
        if (status.isFinal) sojourn.background.execute { sojourn.quietly { carryOut(act, call) } } else carryOut(act, call)
    }

    // Acts

    private fun checked(number: Int?): Int? {
        if (number != null && number !in 10..99) throw SojournException.refused("invalid_number", "number")
        if (number == null && details?.needsNumber == true) throw SojournException.refused("number_required", "number")
        return number
    }

    private fun begin(act: LoginAct) {
        val word = synchronized(lock) { machine.begin(act) }
        if (word != null) throw SojournException.refused(word)
        publish()
    }

    private fun act(act: LoginAct, call: (String) -> LoginCall) {
        begin(act)
        carryOut(act, call(details?.id ?: ""))
    }

    /** One attempt at a second factor: the proof, then the network. */
    private fun prove(number: Int?, proof: (String) -> Members) {
        val act = synchronized(lock) { LoginAct(LoginAct.Kind.PROVE, machine.attempts + 1) }
        begin(act)
        val id = details?.id ?: ""
        val given = try {
            proof(id)
        } catch (error: SojournException) {
            synchronized(lock) { machine.withdraw(act) }
            throw error
        }
        val call = if (isAppLogin) LoginCall.proveAppLogin(id, given) else LoginCall.prove(id, given, number)
        if (isAppLogin) synchronized(lock) { proofs.add(call to act.attempt) }
        carryOut(act, call)
    }

    /** Sends the request of an act until it is answered, and throws the error of one that was not accepted. */
    private fun carryOut(act: LoginAct, call: LoginCall) {
        var error: SojournException? = null
        var isLooking: String? = null
        while (true) {
            val word = isLooking
            val reply: Reply
            val step: LoginStep
            if (word == null) {
                val isSent = synchronized(lock) { machine.send(act) }
                reply = if (isSent) exchange(call, machine.attempts) else Reply(LoginReply.Unsent)
                error = reply.error ?: if (isSent) null else error
                step = synchronized(lock) { machine.take(reply.answer, act) }
            } else {
                reply = exchange(LoginCall.look(details?.id ?: ""), machine.attempts)
                val found = (reply.answer as? LoginReply.Accepted)?.status?.takeIf { isTellable(it) }
                step = synchronized(lock) { machine.look(found, act, word) }
            }
            publish()
            isLooking = null
            when (step) {
                is LoginStep.Retry -> {
                    // A user waits for it, so that a longer Retry-After counts only as what the error says at last.
                    val asked = reply.retryAfter?.coerceAtMost(Retries.RETRY_AFTER_WITHIN)
                    sojourn.pause(Retries.waitWithin(step.number, asked))
                }
                is LoginStep.Look -> isLooking = step.word
                LoginStep.Accepted -> return
                is LoginStep.Refused -> throw error ?: SojournException.refused(step.word)
                LoginStep.Unanswered -> throw error ?: SojournException.Unreachable("no answer")
            }
        }
    }

    // What the server tells

    private fun exchange(call: LoginCall, attempt: Int): Reply {
        val answer = try {
            sojourn.perform(call, attempt)
        } catch (error: SojournException.Unreachable) {
            return Reply(LoginReply.None, error, error.retryAfter)
        } catch (error: SojournException) {
            val isEnd = error is SojournException.Ended || error is SojournException.NotSignedIn
            val isDeleted = (error as? SojournException.Ended)?.reason == "user_deleted"
            if (isEnd) synchronized(lock) { machine.loseSession(isDeleted) }
            return Reply(LoginReply.Unsent, error)
        }
        val reply = reply(answer)
        if (call.isAppProof && reply.answer is LoginReply.Accepted && backendAccess == null) {
            return Reply(LoginReply.None, SojournException.Unreachable("an answer without web_nonce"))
        }
        return reply
    }

    private fun reply(answer: HttpAnswer): Reply {
        val cause = SojournException.Unreachable("status ${answer.status}", answer.status, answer.retryAfter)
        val unclear = Reply(LoginReply.None, cause, answer.retryAfter)
        if (answer.isSuccess) {
            val members = membersOf(answer.text) ?: return unclear
            val login = members.members("login") ?: members
            val found = LoginDetails.of(login) ?: return unclear
            synchronized(lock) {
                val known = details
                // An answer about another login is none.
                if (known != null && known.id != found.id) return unclear
                // What was told before stays, if an answer that was made earlier comes later.
                if (known == null || found.status.rank >= machine.status.rank) details = found
                version = login.text("version")
                if (isAppLogin) backendAccess = BackendAccess.of(members, sojourn.now()) ?: backendAccess
            }
            return Reply(LoginReply.Accepted(found.status))
        }
        if (answer.status == 500) return Reply(LoginReply.Fault, cause, answer.retryAfter)
        if (answer.status !in 400..499 || answer.status == 408 || answer.status == 429) return unclear
        val error = ErrorAnswer.of(answer) ?: return unclear
        val refused = LoginReply.Refused(error.word, error.refusal.attemptsLeft)
        val isDemand = error.word == "insufficient_user_authentication"
        return Reply(
            refused,
            if (isDemand) SojournException.PresenceRequired(error.requirement) else SojournException.Refused(error.refusal))
    }

    private fun publish() {
        val found = synchronized(lock) {
            details = details?.copy(status = machine.status)
            machine.status.takeIf { it != status }?.also { status = it }
        }
        if (found != null) for (observer in observers) observer(found)
    }

    /** Asks once how the login stands, and waits. False after the end. */
    private fun followOnce(): Boolean {
        val id = details?.id
        if (isClosed || status.isFinal || id == null) return false
        val isLate = details?.inputUntil?.let { sojourn.now() >= it } ?: false
        if (isLate || sojourn.clock.uptime() - startedAt >= options.inputLimit) {
            synchronized(lock) { machine.expire() }
            publish()
            if (status.isFinal) {
                if (!isLate) sojourn.quietly { carryOut(LoginAct(LoginAct.Kind.STOP), LoginCall.stop(id, false)) }
                return false
            }
        }
        val began = sojourn.clock.uptime()
        val seconds = (sojourn.configuration.patience - 5).coerceIn(0.0, 15.0).toLong()
        val reply = exchange(LoginCall.await(id, version, seconds), machine.attempts)
        val found = (reply.answer as? LoginReply.Accepted)?.status
        if (found != null && (machine.isProofSent || isTellable(found))) synchronized(lock) { machine.observe(found) }
        publish()
        if (isClosed || status.isFinal || (reply.answer as? LoginReply.Refused)?.word == "not_found") return false
        val isSlow = reply.error != null || status.history == LoginStatus.History.LOGGED_IN
        val interval = if (isSlow) SLOW_POLL_INTERVAL else POLL_INTERVAL
        sojourn.clock.sleep((interval - (sojourn.clock.uptime() - began)).coerceAtLeast(0.05))
        return true
    }

    /**
     * Whether the app can be told of a status: an AppLogin that is let in has what opens the backend first. If the answer to its proof was
     * lost, the same request gets it again.
     */
    private fun isTellable(found: LoginStatus): Boolean {
        if (!isAppLogin || backendAccess != null) return true
        for ((call, attempt) in synchronized(lock) { proofs.toList() }.reversed()) {
            if (!machine.isReached(LoginAct(LoginAct.Kind.PROVE, attempt), found)) continue
            when (exchange(call, attempt).answer) {
                is LoginReply.Accepted -> return true
                // The next poll asks again.
                LoginReply.None, LoginReply.Fault -> return false
                else -> continue
            }
        }
        return true
    }
}
