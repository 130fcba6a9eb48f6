// What an answer means for the session: the table of the protocol document (rule 7), without input and output.

package sojourn

import kotlinx.serialization.json.JsonObject
import java.text.SimpleDateFormat
import java.util.Locale
import java.util.TimeZone

sealed interface Verdict {
    class Renewed(val answer: JsonObject) : Verdict
    class Ended(val reason: String) : Verdict
    class Suspended(val reason: String) : Verdict
    data object PresenceRequired : Verdict
    data object SignAgain : Verdict
    class Unreachable(val retryAfter: Long? = null) : Verdict
    class Refused(val reason: String, val detail: String? = null) : Verdict

    companion object {
        /** Lists what is final. All that is not in it keeps the session. */
        fun of(answer: Answer, isKeyGone: Boolean = false): Verdict {
            val seconds = answer.field("Retry-After")?.toLongOrNull()?.takeIf { it >= 0 }
            val unreachable = Unreachable(seconds?.coerceAtMost(3600))
            val members = membersOf(answer.text) ?: return unreachable
            if (answer.status == 200) {
                val isAnswer = members.text("access_token") != null && members.number("issued_at") != null
                return if (isAnswer) Renewed(members) else unreachable
            }
            if (answer.status !in 400..499 || answer.status == 408 || answer.status == 429) return unreachable
            val reason = members.text("reason") ?: members.text("code")
            val word = reason ?: members.text("error") ?: return unreachable
            val again = members.bool("reauthenticate")
            if ((answer.status == 400 || answer.status == 401) && reason != null && again != null) {
                if (again || reason == "user_deleted") return Ended(reason)
                if (reason == "binding_mismatch" && isKeyGone) return Ended("key_lost")
            }
            return when (word) {
                "login_disabled_by_user", "login_disabled_by_admin", "device_mismatch", "binding_mismatch" -> Suspended(word)
                "insufficient_user_authentication" -> PresenceRequired
                "use_dpop_nonce", "invalid_dpop_proof", "invalid_assertion" -> SignAgain
                else -> Refused(word, members.text("detail") ?: members.text("error_description"))
            }
        }

        /** The server's time, if this is an answer of the server itself: `Date` counts only beside its errors (rule 8). */
        fun serverTime(answer: Answer): Long? {
            val members = membersOf(answer.text) ?: return null
            if (answer.status == 200) return members.number("issued_at")
            val isError = listOf("reason", "code", "error").any { members.text(it) != null }
            val date = answer.field("Date") ?: return null
            return if (isError && answer.field("Age") == null) seconds(date) else null
        }

        private fun seconds(date: String): Long? {
            val format = SimpleDateFormat("EEE, dd MMM yyyy HH:mm:ss z", Locale.US)
            format.timeZone = TimeZone.getTimeZone("GMT")
            return runCatching { format.parse(date).time / 1000 }.getOrNull()
        }
    }
}
