package org.sojourn

/** Where a login session stands: its state, what the user is asked for, and what has come of it. The words are those of the wire. */
data class LoginStatus(
    val state: State, val input: Input? = null, val history: History = History.FAIL, val cause: String? = null,
) {
    enum class State {
        STARTING,

        /** On hold until `startUserInteraction`. */
        READY_FOR_USER_INTERACTION,

        /** The user has to act: see [input]. */
        WAITING_FOR_USER_INPUT,

        /** The user has acted. Whether the login is finished is in the history. */
        ACTIVE,

        /** Final: ended in the normal way, with or without success. */
        DONE,

        /** Final: ended by an error. */
        ERROR,
    }

    enum class Input {
        /** The consent to log in. */
        WAIT_FOR_CONFIRMATION,

        /** Biometry, the password or the PIN. */
        WAIT_FOR_SECOND_FACTOR,
    }

    /** What has come of a login. */
    enum class History { FAIL, LOGGED_IN, LOGGED_IN_ONE_SHOT, ABORTED, LOGGED_OUT, ERROR, DELETED }

    /** Whether nothing but a deletion of the account changes the status any more. */
    val isFinal get() = state == State.DONE || state == State.ERROR

    internal val awaitsInput get() = !isFinal && state != State.ACTIVE

    /** The order in which a login passes its statuses: an answer that was made earlier must not take the session back. */
    internal val rank: Int
        get() = when (state) {
            State.STARTING -> 0
            State.READY_FOR_USER_INTERACTION -> 1
            State.WAITING_FOR_USER_INPUT -> if (input == Input.WAIT_FOR_SECOND_FACTOR) 3 else 2
            State.ACTIVE -> if (history == History.FAIL) 4 else 5
            State.DONE, State.ERROR -> if (history == History.DELETED) 7 else 6
        }

    override fun toString() = listOfNotNull(state, input, history, cause).joinToString(" ")

    internal companion object {
        /** Null if the words are unknown, or do not belong together. A session stays as it is then. */
        fun of(members: Members): LoginStatus? {
            val state = State.entries.firstOrNull { it.name == members.text("state") } ?: return null
            val history = History.entries.firstOrNull { it.name == members.text("history") } ?: return null
            val input = Input.entries.firstOrNull { it.name == members.text("input") }
            if ((state == State.WAITING_FOR_USER_INPUT) != (input != null)) return null
            val status = LoginStatus(state, input, history, members.text("cause")?.take(100))
            return status.takeUnless { it.isFinal && history == History.FAIL }
        }
    }
}

/**
 * What the user is shown of a login, as the server told it last. Times are in Unix seconds of the server.
 *
 * - [kind]: `authorize`, `device`, `backchannel` or `app`.
 * - [announceInfo], [sessionInfo]: what a client that has proved itself says before and after the decision, as JSON.
 * - [announceQuote], [sessionQuote]: what a device without a secret says. Anyone can have written it: show it in quotation marks.
 * - [needsNumber]: the user types the number that the other device shows.
 * - [isInAnotherCountry]: ask twice, because a code that was relayed comes from somewhere else.
 * - [returnURL]: opened once after the approval of a login that a link began.
 */
data class LoginDetails(
    val id: String, val status: LoginStatus, val kind: String, val clientID: String?, val clientName: String?,
    val bindingMessage: String?, val announceInfo: String?, val sessionInfo: String?, val announceQuote: String?,
    val sessionQuote: String?, val isRegistration: Boolean, val isAppLogin: Boolean, val needsNumber: Boolean,
    val attemptsLeft: Int?, val userAgent: String?, val remoteAddress: String?, val place: String?,
    val isKnownBrowser: Boolean, val ownPlace: String?, val isInAnotherCountry: Boolean, val returnURL: String?,
    val accountID: String?, val pingSeconds: Long?, val startedAt: Long?, val inputUntil: Long?, val endedAt: Long?,
) {
    internal companion object {
        /** Null if the object has no ID, or a status that this version does not know. */
        fun of(members: Members): LoginDetails? {
            val id = members.text("login_id")?.takeIf { it.length <= 128 } ?: return null
            val status = LoginStatus.of(members) ?: return null
            val client = members.members("client") ?: emptyMap()
            val isLoggedIn = status.history in listOf(
                LoginStatus.History.LOGGED_IN, LoginStatus.History.LOGGED_IN_ONE_SHOT, LoginStatus.History.LOGGED_OUT)
            return LoginDetails(
                id, status, short(members, "kind") ?: "", short(client, "client_id"), short(client, "name"),
                short(members, "binding_message"), info(members, "announce_info"),
                info(members, "session_info").takeIf { isLoggedIn }, quote(members, "announce_quote"),
                quote(members, "session_quote").takeIf { isLoggedIn }, members.bool("is_registration") ?: false,
                members.bool("is_app_login") ?: false, members.bool("number_required") ?: false,
                members.number("attempts_left")?.toInt(), short(members, "user_agent"), short(members, "remote_address"),
                short(members, "place"), members.bool("browser_known") ?: false, short(members, "own_place"),
                members.bool("other_country") ?: false, members.text("return_url")?.takeIf { it.length <= 4096 },
                short(members, "user_id"), members.number("ping_seconds"), members.number("started_at"),
                members.number("expires_at"), members.number("ended_at"),
            )
        }

        /** A text that is shown to people, cut to what fits on a screen. */
        private fun short(members: Members, name: String) = members.text(name)?.take(500)

        private fun info(members: Members, name: String): String? {
            val value = members[name] ?: return null
            return (value as? String ?: jsonOf(value)).takeIf { it.toByteArray().size <= 4096 }
        }

        /** The words of a stranger: one line of plain text, without what turns the direction of writing; null if they are more. */
        private fun quote(members: Members, name: String): String? {
            val text = members.text(name) ?: return null
            if (text.codePointCount(0, text.length) > 200) return null
            var at = 0
            while (at < text.length) {
                val point = text.codePointAt(at)
                at += Character.charCount(point)
                when (Character.getType(point).toByte()) {
                    Character.CONTROL, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR, Character.SURROGATE,
                    Character.PRIVATE_USE, Character.UNASSIGNED -> return null
                    // The zero-width joiner and non-joiner.
                    Character.FORMAT -> if (point != 0x200C && point != 0x200D) return null
                }
            }
            return text
        }
    }
}

/** What opens the app's backend after an AppLogin: a nonce that counts once, the page that takes it, and its end in Unix seconds. */
data class BackendAccess(val webNonce: String, val url: String?, val expiresAt: Long?) {
    internal companion object {
        fun of(members: Members, now: Long): BackendAccess? {
            val nonce = members.text("web_nonce")?.takeIf { it.length <= 1024 } ?: return null
            return BackendAccess(nonce, members.text("url"), members.number("expires_in")?.let { now + it.coerceIn(0, 3600) })
        }
    }
}
