package org.sojourn

/** Why a text is no JSON. It has no stack, because a page of a proxy is nothing exceptional. */
internal class JsonFault(at: Int) : Exception("no JSON at $at", null, false, false)

/** Reads one value out of a text. It recurses once for each level, of which there are [DEPTH_MAX] at most. */
internal class JsonReader(private val text: String) {
    private companion object {
        const val DEPTH_MAX = 64
    }

    private var at = 0
    private var depth = 0

    fun read(): Any? {
        skipSpace()
        val value = value()
        skipSpace()
        if (at < text.length) fail()
        return value
    }

    private fun fail(): Nothing = throw JsonFault(at)

    private fun peek(): Char = if (at < text.length) text[at] else fail()

    private fun take(expected: Char) {
        if (!isOver(expected)) fail()
    }

    private fun skipSpace() {
        while (at < text.length && text[at] in " \t\r\n") at += 1
    }

    private fun value(): Any? = when (peek()) {
        '{' -> nested { members() }
        '[' -> nested { elements() }
        '"' -> string()
        't' -> word("true", true)
        'f' -> word("false", false)
        'n' -> word("null", null)
        else -> number()
    }

    private fun <Value> nested(body: () -> Value): Value {
        depth += 1
        if (depth > DEPTH_MAX) fail()
        at += 1
        skipSpace()
        return body().also { depth -= 1 }
    }

    private fun word(word: String, value: Any?): Any? {
        if (!text.startsWith(word, at)) fail()
        at += word.length
        return value
    }

    private fun members(): Members = LinkedHashMap<String, Any?>().also {
        if (isOver('}')) return it
        do {
            val name = string()
            skipSpace()
            take(':')
            skipSpace()
            if (name in it) fail()
            it[name] = value()
        } while (!isLast('}'))
    }

    private fun elements(): List<Any?> = ArrayList<Any?>().also {
        if (isOver(']')) return it
        do it.add(value()) while (!isLast(']'))
    }

    private fun isOver(end: Char): Boolean = (peek() == end).also { if (it) at += 1 }

    /** Whether the end follows; otherwise a comma does. */
    private fun isLast(end: Char): Boolean {
        skipSpace()
        if (isOver(end)) return true
        take(',')
        skipSpace()
        return false
    }

    private fun string(): String {
        take('"')
        val start = at
        while (at < text.length && text[at] != '"' && text[at] != '\\' && text[at] >= ' ') at += 1
        if (peek() == '"') return checked(text.substring(start, at++))
        val output = StringBuilder(text.substring(start, at))
        while (!isOver('"')) {
            val character = peek()
            if (character < ' ') fail()
            at += 1
            output.append(if (character == '\\') escaped() else character)
        }
        return checked(output.toString())
    }

    private fun escaped(): Char {
        val character = peek()
        at += 1
        return when (character) {
            '"', '\\', '/' -> character
            'b' -> '\b'
            'f' -> '\u000C'
            'n' -> '\n'
            'r' -> '\r'
            't' -> '\t'
            'u' -> {
                val digits = text.substring(at, minOf(at + 4, text.length))
                if (digits.length < 4 || !digits.all { it in "0123456789abcdefABCDEF" }) fail()
                at += 4
                digits.toInt(16).toChar()
            }
            else -> fail()
        }
    }

    /** The text, unless a half of a surrogate pair stands alone in it. */
    private fun checked(text: String): String {
        var index = 0
        while (index < text.length) {
            val isPair = text[index].isHighSurrogate() && index + 1 < text.length && text[index + 1].isLowSurrogate()
            if (text[index].isSurrogate() && !isPair) fail()
            index += if (isPair) 2 else 1
        }
        return text
    }

    private fun number(): Any {
        val start = at
        if (peek() == '-') at += 1
        if (peek() == '0') at += 1 else digits()
        var isWhole = true
        for (part in listOf(".", "eE")) {
            if (at >= text.length || text[at] !in part) continue
            at += 1
            if (part != "." && peek() in "+-") at += 1
            digits()
            isWhole = false
        }
        val number = text.substring(start, at)
        val value: Number = (if (isWhole) number.toLongOrNull() else null) ?: number.toDouble()
        return if (value is Double && value.isInfinite()) fail() else value
    }

    private fun digits() {
        val start = at
        while (at < text.length && text[at] in '0'..'9') at += 1
        if (at == start) fail()
    }
}
