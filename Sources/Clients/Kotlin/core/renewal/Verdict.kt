// What an answer means for the session: the table of the protocol document (rule 7), without input and output.

package org.sojourn

import java.text.ParsePosition
import java.text.SimpleDateFormat
import java.util.Locale
import java.util.TimeZone

internal sealed interface Verdict {
    class Granted(val answer: TokenAnswer) : Verdict

    /** The server has ended the session of the token that was presented. The only verdict that does. */
    class Ended(val reason: String) : Verdict
    class Suspended(val reason: String) : Verdict
    class PresenceRequired(val requirement: PresenceRequirement) : Verdict

    /** The signature was refused for its nonce or time: sign again, once. */
    data object SignAgain : Verdict
    class Unreachable(val detail: String, val status: Int? = null, val retryAfter: Long? = null) : Verdict
    class SecondFactorRequired(val challenge: SecondFactorChallenge) : Verdict
    class Refused(val refusal: Refusal) : Verdict
    class Misconfigured(val word: String, val detail: String? = null) : Verdict

    /** The error of a call with this verdict; null if it was granted. */
    fun exception(): SojournException? = when (this) {
        is Granted -> null
        is Ended -> SojournException.Ended(reason)
        is Suspended -> SojournException.Suspended(reason)
        is PresenceRequired -> SojournException.PresenceRequired(requirement)
        SignAgain -> SojournException.Unreachable("the server refuses this device's signatures, or its clock")
        is Unreachable -> SojournException.Unreachable(detail, status, retryAfter)
        is SecondFactorRequired -> SojournException.Refused(Refusal(401, "second_factor_required"))
        is Refused -> SojournException.Refused(refusal)
        is Misconfigured -> SojournException.Misconfigured(word, detail)
    }

    companion object {
        /**
         * The verdict on an answer to a renewal or a login. It lists what is final, because all that is not known keeps the session.
         * [isKeyGone]: whether the key of the session certainly no longer exists. Only then `binding_mismatch` is final.
         */
        fun of(answer: HttpAnswer, isKeyGone: Boolean = false): Verdict {
            val unreachable = Unreachable("status ${answer.status}", answer.status, answer.retryAfter)
            if (answer.status == 200) return TokenAnswer.of(membersOf(answer.text))?.let(::Granted) ?: unreachable
            if (answer.status !in 400..499 || answer.status == 408 || answer.status == 429) return unreachable
            val error = ErrorAnswer.of(answer) ?: return unreachable
            val methods = error.members.elements("methods")
            if (error.word == "second_factor_required" && methods != null) {
                val token = error.members.text("login_token")
                return SecondFactorRequired(SecondFactorChallenge(token, methods.filterIsInstance<String>()))
            }
            if (answer.status == 400 || answer.status == 401) ending(error, isKeyGone)?.let { return it }
            return kept(error)
        }

        /** The verdict on a call with the access token of a session that nothing renews: a refused token is its end. */
        fun of(answer: HttpAnswer, session: StoredSession): Verdict {
            if (answer.isSuccess) {
                if (membersOf(answer.text) != null) return Granted(TokenAnswer.confirming(session))
                return Unreachable("not an answer of the server", answer.status)
            }
            val verdict = of(answer)
            val isOver = verdict is Refused && verdict.refusal.status == 401 && verdict.refusal.code == "invalid_token"
            return if (isOver) Ended("max_lifetime_reached") else verdict
        }

        private fun ending(error: ErrorAnswer, isKeyGone: Boolean): Ended? {
            val again = error.members.bool("reauthenticate")
            if (!error.isReason || again == null) return null
            if (again || error.word == "user_deleted") return Ended(error.word)
            return if (error.word == "binding_mismatch" && isKeyGone) Ended("key_lost") else null
        }

        private fun kept(error: ErrorAnswer): Verdict = when (error.word) {
            "login_disabled_by_user", "login_disabled_by_admin", "device_mismatch", "binding_mismatch" ->
                Suspended(error.word)
            "insufficient_user_authentication" -> PresenceRequired(error.requirement)
            "use_dpop_nonce", "invalid_dpop_proof", "invalid_assertion" -> SignAgain
            "invalid_client", "unauthorized_client", "login_method_not_allowed", "unsupported_grant_type" ->
                Misconfigured(error.word, error.refusal.detail)
            else -> Refused(error.refusal)
        }
    }
}

/** The challenge of a second factor: the first proof, sealed by the server (null: it comes again), and the ways that it takes. */
internal data class SecondFactorChallenge(val token: String?, val methods: List<String>)

/** An error answer of the server: a problem (RFC 9457), or an error of the token endpoint (RFC 6749 section 5.2). */
internal class ErrorAnswer private constructor(val status: Int, val members: Members, val word: String, val isReason: Boolean) {
    val requirement get() = PresenceRequirement(
        (members.text("acr_values") ?: "").split(" ").filter { it.isNotEmpty() }, members.number("max_age"))
    val refusal get() = Refusal(
        status, word, members.text("detail") ?: members.text("error_description"), members.text("member"),
        members.number("attempts_left")?.coerceIn(0, Int.MAX_VALUE.toLong())?.toInt(),
        members.bool("clock_differs") ?: false)

    companion object {
        /** Null if the content is no error of the server. */
        fun of(answer: HttpAnswer): ErrorAnswer? {
            val members = membersOf(answer.text) ?: return null
            val reason = members.text("reason") ?: members.text("code")
            val word = reason ?: members.text("error") ?: return null
            return ErrorAnswer(answer.status, members, word, reason != null)
        }
    }
}

/** No server can make a client wait longer than this, because a wrong answer of a proxy would stop it for ever. */
private const val RETRY_AFTER_MAX = 3600L

/** The seconds of `Retry-After`, as a number or as a date beside `Date`. */
internal val HttpAnswer.retryAfter: Long?
    get() {
        val value = field("Retry-After") ?: return null
        value.toLongOrNull()?.let { return if (it < 0) null else it.coerceAtMost(RETRY_AFTER_MAX) }
        val until = httpDate(value) ?: return null
        val now = field("Date")?.let(::httpDate) ?: return null
        return (until - now).coerceIn(0, RETRY_AFTER_MAX)
    }

/** The server's time, if this is an answer of the server itself. `Date` counts only beside its objects and errors (rule 8). */
internal val HttpAnswer.serverTime: Long?
    get() {
        val members = membersOf(text) ?: return null
        if (status == 200) TokenAnswer.of(members)?.let { return it.issuedAt }
        val isOfServer = isSuccess || ErrorAnswer.of(this) != null
        return if (isOfServer && field("Age") == null) field("Date")?.let(::httpDate) else null
    }

/** Unix seconds of a date of HTTP (RFC 9110 section 5.6.7); null if it is none. */
internal fun httpDate(text: String): Long? {
    val format = SimpleDateFormat("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US)
    format.timeZone = TimeZone.getTimeZone("GMT")
    format.isLenient = false
    val end = ParsePosition(0)
    val date = format.parse(text, end) ?: return null
    return if (end.index == text.length) date.time / 1000 else null
}
