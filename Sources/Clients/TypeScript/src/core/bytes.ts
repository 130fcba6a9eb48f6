// Texts as bytes, base64 for URLs (RFC 4648 §5), and forms.

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

/** The bytes of a text. A half of a surrogate pair becomes U+FFFD, as in every encoder. */
export function utf8(text: string): Uint8Array {
    const bytes: number[] = []
    for (const character of text) {
        const point = character.codePointAt(0) ?? 0
        const code = point >= 0xd800 && point < 0xe000 ? 0xfffd : point
        if (code < 0x80) bytes.push(code)
        else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63))
        else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63))
        else bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63))
    }
    return Uint8Array.from(bytes)
}

function encoded(bytes: Uint8Array, letters: string): string {
    let text = ""
    let buffer = 0
    let bits = 0
    for (const byte of bytes) {
        buffer = ((buffer & 0xff) << 8) | byte
        for (bits += 8; bits >= 6; ) text += letters[(buffer >> (bits -= 6)) & 63]
    }
    return bits ? text + letters[(buffer << (6 - bits)) & 63] : text
}

export const base64url = (bytes: Uint8Array): string => encoded(bytes, alphabet)

/** Base64 with padding (RFC 4648 §4), for `Authorization: Basic`. */
export function base64(bytes: Uint8Array): string {
    const text = encoded(bytes, alphabet.slice(0, 62) + "+/")
    return text + "=".repeat((4 - (text.length % 4)) % 4)
}

/** The bytes of a text in base64url; null if it has another character. */
export function bytesOf(text: string): Uint8Array | null {
    if (text.length % 4 === 1) return null
    const bytes: number[] = []
    let buffer = 0
    let bits = 0
    for (const character of text) {
        const value = alphabet.indexOf(character)
        if (value < 0) return null
        buffer = ((buffer & 0xff) << 6) | value
        bits += 6
        if (bits >= 8) bytes.push((buffer >> (bits -= 8)) & 0xff)
    }
    return Uint8Array.from(bytes)
}

/** The text of bytes in UTF-8; null if they are none. */
export function textOf(bytes: Uint8Array): string | null {
    try {
        return decodeURIComponent(Array.from(bytes, (byte) => "%" + byte.toString(16).padStart(2, "0")).join(""))
    } catch {
        return null
    }
}

/** A text with every character escaped that is not unreserved (RFC 3986 §2.3). */
export const escaped = (text: string): string =>
    encodeURIComponent(text.replace(/[\ud800-\udfff]/gu, "\ufffd"))
        .replace(/[!'()*]/g, (character) => "%" + character.charCodeAt(0).toString(16).toUpperCase())

/** A form (`application/x-www-form-urlencoded`), without the members that are undefined. */
export const form = (members: Record<string, string | string[] | undefined>): string =>
    Object.entries(members)
        .flatMap(([name, values]) => (values === undefined ? [] : [values].flat().map((value) => [name, value])))
        .map((pair) => pair.map((part) => escaped(part ?? "")).join("="))
        .join("&")
