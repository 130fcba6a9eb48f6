// JSON (RFC 8259) as plain values: maps, lists, texts, `Long`, `Double`, `Boolean` and null. The standard library of Kotlin has
// none, and the one of Android is not on other machines. What is no JSON by the letter of the RFC is refused: a member that stands
// twice, half of a surrogate pair, and more than 64 levels as well, because such an answer is not the server's.

package org.sojourn

/** The members of a JSON object. */
typealias Members = Map<String, Any?>

/** The members of a JSON object; null if the text is none. */
@Suppress("UNCHECKED_CAST")
fun membersOf(text: String): Members? = valueOf(text) as? Members

/** The value of a text; null if it is no JSON, or `null`. */
internal fun valueOf(text: String): Any? =
    try {
        JsonReader(text).read()
    } catch (_: JsonFault) {
        null
    }

/** The non-empty text of a member; null if it is absent, empty or no text. */
fun Members.text(name: String): String? = (this[name] as? String)?.takeIf { it.isNotEmpty() }

/** The whole number of a member. */
fun Members.number(name: String): Long? = when (val value = this[name]) {
    is Long -> value
    is Double -> value.toLong().takeIf { it.toDouble() == value && it != Long.MAX_VALUE }
    else -> null
}

fun Members.bool(name: String): Boolean? = this[name] as? Boolean

/** The members of an object within. */
@Suppress("UNCHECKED_CAST")
fun Members.members(name: String): Members? = this[name] as? Members

/** The elements of a list within. */
fun Members.elements(name: String): List<Any?>? = this[name] as? List<Any?>

/** The objects among the elements of a list within; none if there is no list. */
@Suppress("UNCHECKED_CAST")
internal fun Members.objects(name: String): List<Members> = elements(name).orEmpty().filter { it is Map<*, *> } as List<Members>

/** The object with other members; null removes one. */
internal fun Members.with(vararg changes: Pair<String, Any?>): Members {
    val members = LinkedHashMap(this)
    for ((name, value) in changes) if (value == null) members.remove(name) else members[name] = value
    return members
}

/** An object of the members that are not null. */
internal fun membersOf(vararg members: Pair<String, Any?>): Members = emptyMap<String, Any?>().with(*members)

/** The value as JSON, with members sorted by name. */
fun jsonOf(value: Any?): String = StringBuilder().also { write(value, it) }.toString()

private fun write(value: Any?, output: StringBuilder) {
    when (value) {
        null -> output.append("null")
        is Boolean, is Number -> output.append(value)
        is List<*> -> {
            output.append('[')
            value.forEachIndexed { index, element ->
                if (index > 0) output.append(',')
                write(element, output)
            }
            output.append(']')
        }
        is Map<*, *> -> {
            output.append('{')
            value.keys.map { it.toString() }.sorted().forEachIndexed { index, name ->
                if (index > 0) output.append(',')
                write(name, output)
                output.append(':')
                write(value[name], output)
            }
            output.append('}')
        }
        else -> quote(value.toString(), output)
    }
}

private fun quote(text: String, output: StringBuilder) {
    output.append('"')
    for (character in text) {
        when {
            character == '"' || character == '\\' -> output.append('\\').append(character)
            character < ' ' -> output.append("\\u%04x".format(character.code))
            else -> output.append(character)
        }
    }
    output.append('"')
}
