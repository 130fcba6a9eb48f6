package org.sojourn

/** The user of a session, as the server told it at the last login or renewal. An anonymous user has no [username] yet. */
data class Account(
    val userID: String, val username: String? = null, val email: String? = null, val phoneNumber: String? = null,
    val displayName: String? = null, val givenName: String? = null, val familyName: String? = null,
    val country: String? = null, val isAnonymous: Boolean = false,
) {
    internal companion object {
        fun of(members: Members) = Account(
            members.text("user_id") ?: "", members.text("username"), members.text("email"), members.text("phone_number"),
            members.text("display_name"), members.text("given_name"), members.text("family_name"), members.text("country"),
            members.bool("anonymous") ?: false,
        )
    }
}

/** A device on which the user is signed in. [lastSeenAt] is in Unix seconds of the server. */
data class Device(
    val id: String, val name: String?, val platform: String?, val appVersion: String?, val lastSeenAt: Long,
    val isCurrent: Boolean,
)

/** The user's own switch for logins: whether new logins and renewals are refused, and when that takes effect. */
data class LoginSettings(val loginsDisabled: Boolean, val effective: Effect? = null) {
    /** When the switch takes effect on devices that are signed in. */
    enum class Effect(internal val word: String) {
        IMMEDIATE("immediate"),

        /** When their access tokens expire. */
        ON_EXPIRY("on_expiry"),
    }
}

/** A passkey of the user, as the server keeps it. Times are in Unix seconds; [lastUsedAt] is null if it was never used. */
data class Passkey(
    val id: String, val name: String, val isBackedUp: Boolean, val createdAt: Long, val lastUsedAt: Long?,
)
