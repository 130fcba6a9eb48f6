package org.sojourn

/** What a picture, a link or a message says of a login: which one it is, as 26 characters of base32. The server alone can read it. */
internal class ScannedCode private constructor(val text: String, val source: String, val isEnrolment: Boolean) {
    companion object {
        private const val ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
        private const val CHARACTER_COUNT = 26
        private const val BYTE_COUNT = 16
        const val PICTURE = "qr"
        const val LINK = "deep_link"
        const val PUSH = "push"

        private fun invalid() = SojournException.refused("invalid_code")

        /**
         * The code in the text of a picture: the link, or the code alone, in base32 or base64. `refused` with `invalid_code` for
         * anything else, and with `other_server` for the link of another server.
         */
        fun of(text: String, source: String, server: ServerAddress): ScannedCode {
            if (text.length > 512) throw invalid()
            val plain = text.trim()
            val scheme = plain.substringBefore("://", "").lowercase()
            val own = server.base.lowercase() + "/"
            val path = when {
                scheme == "https" || scheme == "http" -> {
                    // The host is compared, so that a picture of another server is told apart from one that is over.
                    if (!plain.lowercase().startsWith(own)) throw SojournException.refused("other_server")
                    plain.drop(own.length)
                }
                else -> plain.substringAfter(':')
            }.substringBefore('?').substringBefore('#')
            // Base64 has slashes too, so that the code is the shortest end of the path that is one.
            val parts = (unescaped(path) ?: path).split("/")
            for (start in parts.indices.reversed()) {
                val code = code(parts.drop(start).joinToString("/")) ?: continue
                return ScannedCode(code, source, start > 0 && parts[start - 1].lowercase() == "e")
            }
            throw invalid()
        }

        /** The code in the bytes of a picture: those of a text, or the 16 bytes of the code itself. */
        fun of(bytes: ByteArray, source: String, server: ServerAddress): ScannedCode =
            of(if (bytes.size == BYTE_COUNT) base32(bytes) else String(bytes), source, server)

        /** The code in base32; null unless [text] is one, in base32 or in base64 of its 16 bytes. */
        private fun code(text: String): String? {
            val upper = text.uppercase()
            if (upper.length == CHARACTER_COUNT && upper.all { it in ALPHABET }) return upper
            val plain = text.replace('+', '-').replace('/', '_').substringBefore('=')
            return decodeBase64url(plain)?.takeIf { it.size == BYTE_COUNT }?.let(::base32)
        }

        /** Base32 without padding (RFC 4648 section 6). */
        private fun base32(bytes: ByteArray): String {
            val text = StringBuilder()
            var group = 0
            var bits = 0
            for (byte in bytes) {
                group = group shl 8 or (byte.toInt() and 0xFF)
                bits += 8
                while (bits >= 5) {
                    bits -= 5
                    text.append(ALPHABET[group shr bits and 31])
                }
                group = group and (1 shl bits) - 1
            }
            if (bits > 0) text.append(ALPHABET[group shl 5 - bits and 31])
            return text.toString()
        }
    }
}
