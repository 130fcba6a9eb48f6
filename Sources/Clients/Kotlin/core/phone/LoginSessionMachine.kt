package org.sojourn

/** What the phone asks of the server. The attempts of `PROVE` count from one. */
internal data class LoginAct(val kind: Kind, val attempt: Int = 0) {
    enum class Kind { CLAIM, START, CONFIRM, PROVE, STOP }

    val isClaim get() = kind == Kind.CLAIM
    val isStop get() = kind == Kind.STOP
    val isProof get() = kind == Kind.PROVE

    /** Whether it can let a device in. */
    val letsIn get() = kind == Kind.CONFIRM || isProof
}

/** What came of a request. */
internal sealed interface LoginReply {
    class Accepted(val status: LoginStatus) : LoginReply
    class Refused(val word: String, val attemptsLeft: Int? = null) : LoginReply

    /** An error of the server. */
    data object Fault : LoginReply

    /** No answer, or none of the server. */
    data object None : LoginReply
    data object Unsent : LoginReply
}

/** How an act ends, or what to do next for it. */
internal sealed interface LoginStep {
    /** Wait before the retry of that number, and send the same request again. */
    class Retry(val number: Int) : LoginStep

    /** Ask the server how the login stands, and pass that to `look`. */
    class Look(val word: String) : LoginStep
    data object Accepted : LoginStep
    data class Refused(val word: String) : LoginStep
    data object Unanswered : LoginStep
}

/**
 * A login session of the phone, without input and output.
 *
 * - Final states are final, and no answer takes the session back.
 * - An act is retried until it is answered, always as the same request, so that the server decides it once.
 * - The session ends on the device alone only while no act that can let a device in is without its answer.
 * - After `STOP` no act that can let a device in is sent.
 * - What is no word of the server changes nothing.
 * - An AppLogin is let in by the answer to its proof alone, because that brings what opens the backend.
 */
internal class LoginSessionMachine(private val isResumed: Boolean, private val isAppLogin: Boolean) {
    private companion object {
        const val RETRIES_MAX = 3
        val uncertain = listOf("session_terminated", "not_awaited", "not_claimant", "taken", "spent", "not_found")
    }

    var status = LoginStatus(LoginStatus.State.STARTING)
        private set
    var attempts = 0
        private set
    private val tries = HashMap<LoginAct, Int>()
    private val underWay = HashSet<LoginAct>()

    /** Acts that can let a device in, of which it is unknown whether the server has decided them. */
    private val unresolved = HashSet<LoginAct>()
    private val sent = HashSet<LoginAct>()

    /** The ends of attempts with results that were told before their answers came. */
    private val told = HashMap<LoginAct, LoginStep>()
    private var isStopRequested = false
    private var isEndedLocally = false

    /** Begins an act. Returns the word of the refusal if the state does not await it. */
    fun begin(act: LoginAct): String? {
        val word = when {
            status.isFinal -> "session_terminated"
            act in underWay || !act.isStop && underWay.isNotEmpty() -> "act_pending"
            isStopRequested && !act.isStop -> "session_terminated"
            !isAwaited(act) -> "not_awaited"
            else -> null
        }
        if (word != null) return word
        underWay.add(act)
        tries[act] = 0
        if (act.isProof) attempts = act.attempt
        if (act.isStop) {
            isStopRequested = true
            endLocally("denied")
        }
        return null
    }

    private fun isAwaited(act: LoginAct) = when (act.kind) {
        LoginAct.Kind.CLAIM -> status.state == LoginStatus.State.STARTING
        LoginAct.Kind.START -> status.rank in 1..3
        LoginAct.Kind.CONFIRM -> status.input == LoginStatus.Input.WAIT_FOR_CONFIRMATION
        LoginAct.Kind.PROVE -> status.input == LoginStatus.Input.WAIT_FOR_SECOND_FACTOR
        LoginAct.Kind.STOP -> true
    }

    /** Notes that a request goes out. False if it must not, because the session is over or the user has stopped it. */
    fun send(act: LoginAct): Boolean {
        if (!act.isStop && (status.isFinal || isStopRequested || act in told)) return false
        if (act.letsIn) unresolved.add(act)
        if (act.isProof) sent.add(act)
        return true
    }

    /** Takes back an act that has begun, because what it sends could not be had. */
    fun withdraw(act: LoginAct) {
        underWay.remove(act)
    }

    /** The time for the user's input is over by the device's clock. */
    fun expire() = endLocally("timed_out")

    /** Ends the session without the server, if nothing that was sent can let a device in. */
    private fun endLocally(cause: String) {
        if (!status.awaitsInput || isResumed || unresolved.isNotEmpty()) return
        isEndedLocally = true
        observe(LoginStatus(LoginStatus.State.DONE, null, LoginStatus.History.ABORTED, cause))
    }

    /** Whether an attempt at a second factor was sent and is without its result. */
    val isProofSent get() = attempt().let { it in underWay && it in sent }

    private fun attempt() = LoginAct(LoginAct.Kind.PROVE, attempts)

    /** Takes the answer to a request of an act. */
    fun take(reply: LoginReply, act: LoginAct): LoginStep {
        told[act]?.let { end ->
            if (reply != LoginReply.None && reply != LoginReply.Fault) unresolved.remove(act)
            if (reply is LoginReply.Accepted) observe(reply.status)
            return end
        }
        return when (reply) {
            is LoginReply.Accepted -> {
                unresolved.remove(act)
                finish(act, LoginStep.Accepted, reply.status)
            }
            is LoginReply.Refused -> refuse(act, reply.word, reply.attemptsLeft)
            LoginReply.Unsent -> unsent(act)
            LoginReply.Fault -> if (act.isClaim) fail("fault") else unanswered(act)
            LoginReply.None -> unanswered(act)
        }
    }

    private fun unsent(act: LoginAct): LoginStep {
        if (tries[act] ?: 0 == 0) {
            unresolved.remove(act)
            sent.remove(act)
        }
        if (act.isClaim) return fail("not_sent")
        val isOver = (status.isFinal || isStopRequested) && !act.isStop
        return finish(act, if (isOver) LoginStep.Refused("session_terminated") else LoginStep.Unanswered)
    }

    private fun unanswered(act: LoginAct): LoginStep {
        // The server itself has told the end meanwhile.
        if (status.isFinal && !isEndedLocally) {
            return finish(act, if (act.isStop) LoginStep.Accepted else LoginStep.Refused("session_terminated"))
        }
        val number = (tries[act] ?: 0) + 1
        tries[act] = number
        if (number <= (if (act.isStop) 2 * RETRIES_MAX else RETRIES_MAX)) return LoginStep.Retry(number)
        return if (act.isClaim) fail("unreachable") else finish(act, LoginStep.Unanswered)
    }

    private fun refuse(act: LoginAct, word: String, left: Int?): LoginStep {
        unresolved.remove(act)
        fun error(cause: String) = LoginStatus(LoginStatus.State.ERROR, null, LoginStatus.History.ERROR, cause)
        return when {
            act.isClaim -> fail(word)
            word == "wrong_number" || word == "contested" -> finish(act, LoginStep.Refused(word), error(word))
            word == "wrong_second_factor" && (left ?: 1) <= 0 ->
                finish(act, LoginStep.Refused(word), error("second_factor_failed"))
            word in uncertain -> LoginStep.Look(word)
            else -> finish(act, LoginStep.Refused(word))
        }
    }

    /**
     * Takes how the login stands, after an act was refused as not awaited: that can be a retry of what the server has accepted.
     * Null: it could not be learnt.
     */
    fun look(found: LoginStatus?, act: LoginAct, word: String): LoginStep {
        told[act]?.let { end ->
            found?.let(::observe)
            return end
        }
        val isReached = found != null && isReached(act, found) && !(act.isProof && isAppLogin)
        return finish(act, if (isReached) LoginStep.Accepted else LoginStep.Refused(word), found)
    }

    /** Whether a login stands as the act wanted it. */
    fun isReached(act: LoginAct, status: LoginStatus): Boolean {
        if (status.history == LoginStatus.History.LOGGED_IN_ONE_SHOT) return !act.isStop
        return when (act.kind) {
            LoginAct.Kind.CLAIM -> status.rank in 1..5
            LoginAct.Kind.START -> status.rank in 2..5
            LoginAct.Kind.CONFIRM -> status.rank in 3..5
            LoginAct.Kind.PROVE -> status.rank in 4..5
            LoginAct.Kind.STOP -> status.isFinal
        }
    }

    /** Takes what the server tells of the login. */
    fun observe(found: LoginStatus) {
        if (found.rank <= status.rank) return
        val attempt = attempt()
        if (attempt in underWay) {
            // The answer, or a later look, tells it after the proof.
            if (isAppLogin && isProofSent && isReached(attempt, found)) return
            endAttempt(attempt, found)
        }
        status = found
        if (found.isFinal) unresolved.clear()
    }

    /** Ends the attempt that led to [found], because a look can overtake the answer to it. The call ends in the same way. */
    private fun endAttempt(attempt: LoginAct, found: LoginStatus) {
        val isSent = isProofSent
        told[attempt] = when {
            isSent && found.cause == "second_factor_failed" -> LoginStep.Refused("wrong_second_factor")
            isSent && found.cause == "wrong_number" -> LoginStep.Refused("wrong_number")
            !isReached(attempt, found) -> return
            isSent -> LoginStep.Accepted
            else -> LoginStep.Refused("not_awaited")
        }
        underWay.remove(attempt)
    }

    /** Takes the end of the phone's own session, which ends the login as well. */
    fun loseSession(isDeleted: Boolean) {
        val history = when {
            isDeleted -> LoginStatus.History.DELETED
            status.history == LoginStatus.History.LOGGED_IN -> LoginStatus.History.LOGGED_OUT
            else -> LoginStatus.History.ABORTED
        }
        val cause = if (isDeleted) "user_deleted" else "parent_ended"
        if (!status.isFinal) observe(LoginStatus(LoginStatus.State.DONE, null, history, cause))
    }

    private fun fail(cause: String): LoginStep = finish(
        LoginAct(LoginAct.Kind.CLAIM), LoginStep.Refused(cause),
        LoginStatus(LoginStatus.State.ERROR, null, LoginStatus.History.ERROR, cause))

    private fun finish(act: LoginAct, end: LoginStep, found: LoginStatus? = null): LoginStep {
        underWay.remove(act)
        found?.let(::observe)
        return end
    }
}
