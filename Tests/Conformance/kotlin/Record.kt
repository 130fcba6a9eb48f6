// What is stored for one user: the record of the protocol document, and changes of it without input and output.

package sojourn

import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.booleanOrNull
import kotlinx.serialization.json.longOrNull

/** The members of a JSON object; null if the text is none. */
fun membersOf(text: String): JsonObject? =
    try {
        Json.parseToJsonElement(text) as? JsonObject
    } catch (_: IllegalArgumentException) {
        null
    }

fun JsonObject.text(name: String): String? =
    (this[name] as? JsonPrimitive)?.takeIf { it.isString && it.content.isNotEmpty() }?.content

fun JsonObject.number(name: String): Long? = (this[name] as? JsonPrimitive)?.takeIf { !it.isString }?.longOrNull

fun JsonObject.bool(name: String): Boolean? = (this[name] as? JsonPrimitive)?.takeIf { !it.isString }?.booleanOrNull

/** The object with other members; null removes one. */
fun JsonObject.with(vararg changes: Pair<String, JsonElement?>): JsonObject {
    val members = toMutableMap()
    for ((name, value) in changes) if (value == null) members.remove(name) else members[name] = value
    return JsonObject(members)
}

/** A record. Members that this version does not know are kept. */
data class SessionRecord(val members: JsonObject) {
    companion object {
        private val sessionMembers = listOf(
            "session_id", "refresh_token", "access_token", "token_type", "issued_at", "expires_at", "refresh_after",
            "session_idle_expires_at", "session_expires_at", "rotation_interval", "authentication_mode", "user",
        )

        /** Reads a record. A text that is none, or of a later schema, counts as unreadable, and is kept. */
        fun parse(text: String): SessionRecord {
            val members = membersOf(text)
            val isRecord = members?.number("schema") == 1L && members.text("device_id") != null
            if (members == null || !isRecord || members.text("retry_secret") == null) {
                throw StoreException(StoreException.Kind.UNREADABLE)
            }
            return SessionRecord(members)
        }

        fun new(deviceID: String, secret: String) = SessionRecord(
            JsonObject(
                mapOf(
                    "schema" to JsonPrimitive(1), "device_id" to JsonPrimitive(deviceID),
                    "retry_secret" to JsonPrimitive(secret),
                )
            )
        )
    }

    val deviceID get() = members.text("device_id") ?: ""
    val secret get() = members.text("retry_secret") ?: ""
    val hasSession get() = members.text("access_token") != null
    val token get() = AccessToken(members.text("access_token") ?: "", members.text("token_type") ?: "Bearer")
    val refreshToken get() = members.text("refresh_token") ?: ""
    val isBound get() = token.type.equals("dpop", ignoreCase = true)
    val keyThumbprint get() = members.text("key_thumbprint")
    val rotationInterval get() = members.number("rotation_interval") ?: 0
    val clockOffset get() = members.number("clock_offset")
    val username get() = (members["user"] as? JsonObject)?.text("username")
    val endReason get() = (members["ended"] as? JsonObject)?.text("reason")
    val debts get() = (members["debts"] as? JsonArray)?.filterIsInstance<JsonObject>() ?: emptyList()

    /** Whether the access token is good for a request: for 30 seconds more. */
    fun isUsable(now: Long) = (members.number("expires_at") ?: 0) - now >= 30

    /** Whether a renewal is due: strictly after `refresh_after` (rule 8). */
    fun isDue(now: Long) = now > (members.number("refresh_after") ?: Long.MAX_VALUE) || !isUsable(now)

    /** The record with what an answer brings. What the answer leaves out stays as it is. */
    fun take(answer: JsonObject): SessionRecord {
        val brought = sessionMembers.filter { answer[it] != null }.map { it to answer[it] }.toTypedArray()
        val issuedAt = answer.number("issued_at") ?: 0
        val expiry = answer.number("expires_at") ?: (issuedAt + (answer.number("expires_in") ?: 3600))
        return SessionRecord(members.with(*brought, "expires_at" to JsonPrimitive(expiry), "ended" to null))
    }

    fun ended(reason: String, at: Long): SessionRecord {
        val ending = JsonObject(mapOf("reason" to JsonPrimitive(reason), "at" to JsonPrimitive(at)))
        return SessionRecord(members.with("ended" to ending))
    }

    fun withOffset(offset: Long?) =
        if (offset == null) this else SessionRecord(members.with("clock_offset" to JsonPrimitive(offset)))

    /** The record without its session, of which the server has to be told unless it has ended it (rule 13). */
    fun owe(): SessionRecord {
        val rest = members.with(*(sessionMembers + listOf("key_thumbprint", "ended")).map { it to null }.toTypedArray())
        if (!hasSession || endReason != null || refreshToken.isEmpty()) return SessionRecord(rest)
        val debt = JsonObject(emptyMap()).with(
            "session_id" to members["session_id"], "token" to JsonPrimitive(refreshToken),
            "kind" to JsonPrimitive("refresh_token"), "key_thumbprint" to members["key_thumbprint"].takeIf { isBound },
            "expires_at" to (members["session_idle_expires_at"] ?: members["session_expires_at"]),
        )
        return SessionRecord(rest.with("debts" to JsonArray((debts + debt).takeLast(5))))
    }

    /** The record after a sign-out. */
    fun signedOut(secret: String) = SessionRecord(
        owe().members.with("signed_out" to JsonPrimitive(true), "retry_secret" to JsonPrimitive(secret))
    )

    /** The record with the session of a login. Another session that was left without a sign-out is owed. */
    fun begun(answer: JsonObject, secret: String, thumbprint: String?): SessionRecord {
        val id = answer.text("session_id")
        val base = if (members.text("session_id") != id) owe() else this
        val debts = base.debts.filter { it.text("session_id") != id }
        val changed = base.members.with(
            "debts" to JsonArray(debts), "signed_out" to null, "retry_secret" to JsonPrimitive(secret),
            "key_thumbprint" to thumbprint?.let { JsonPrimitive(it) },
            "device_id" to JsonPrimitive(answer.text("device_id") ?: deviceID),
        )
        return SessionRecord(changed).take(answer)
    }

    fun without(debt: JsonObject) = SessionRecord(members.with("debts" to JsonArray(debts.filter { it != debt })))
}

data class AccessToken(val value: String, val type: String)
