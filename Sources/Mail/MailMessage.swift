internal import Calendar
public import Sessions

/// A mail as bytes: its head and both forms of its text (RFC 5322, RFC 2046).
public struct MailMessage: Sendable {
    /// The sender.
    public let from: MailAddress
    /// The address of the recipient.
    public let to: String
    /// The id of the mail, which all copies of it share.
    public let id: String
    /// When it was first to be sent.
    public let date: Instant
    /// The language, as a tag.
    public let language: String
    /// The words.
    public let content: MailContent

    /// A mail.
    public init(
        from: MailAddress, to: String, id: String, date: Instant, language: String, content: MailContent
    ) {
        (self.from, self.to, self.id, self.date) = (from, to, id, date)
        (self.language, self.content) = (language, content)
    }

    /// The `Message-ID`.
    public var messageID: String { "<\(id)@\(from.domain)>" }

    /// The message, with lines that end in CR LF and have at most 76 characters.
    public var bytes: [UInt8] {
        let boundary = "sojourn-\(id)"
        var head = [
            "Date: \(Self.date(date))", "From: \(from.field)", "To: \(to)",
            "Subject: \(EncodedWord.unstructured(content.subject, after: "Subject: ".count))",
            "Message-ID: \(messageID)", "MIME-Version: 1.0", "Content-Language: \(language)",
            "Auto-Submitted: auto-generated", "X-Auto-Response-Suppress: All",
            "Content-Type: multipart/alternative;\r\n boundary=\"\(boundary)\"",
        ]
        head.append("")
        for (type, text) in [("text/plain", content.text + "\n"), ("text/html", content.html)] {
            head += [
                "--\(boundary)", "Content-Type: \(type); charset=utf-8", "Content-Transfer-Encoding: quoted-printable",
                "", QuotedPrintable.encode(text),
            ]
        }
        head.append("--\(boundary)--")
        return Array((head.joined(separator: "\r\n") + "\r\n").utf8)
    }

    /// `Sat, 28 Nov 2026 17:30:00 +0000`.
    private static func date(_ instant: Instant) -> String {
        let time = UTCTime(secondsSinceEpoch: instant.secondsSinceEpoch)
        let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let day = days[Int(Int64(time.daysSinceEpoch).floorDivided(by: 7).remainder)]
        return "\(day), \(time.date.day) \(months[time.date.month - 1]) \(time.date.year) \(time.timeText) +0000"
    }
}

/// Quoted-printable (RFC 2045 section 6.7).
enum QuotedPrintable {
    private static let lineMax = 76

    /// The text with lines that end in CR LF, none of more than 76 characters.
    static func encode(_ text: String) -> String {
        text.replacing("\r\n", with: "\n").split(separator: "\n", omittingEmptySubsequences: false)
            .map { line(Array($0.utf8)) }.joined(separator: "\r\n")
    }

    private static func line(_ bytes: [UInt8]) -> String {
        var (lines, line) = ("", "")
        for (index, byte) in bytes.enumerated() {
            let isLast = index == bytes.count - 1
            let isBlank = byte == 0x20 || byte == 0x09
            let isPlain = (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "=") || isBlank && !isLast
            let piece = isPlain ? String(Unicode.Scalar(byte)) : "=" + hex(byte)
            // The last character of a line may be the = of a soft break.
            if line.utf8.count + piece.utf8.count > lineMax - (isLast ? 0 : 1) {
                lines += line + "=\r\n"
                line = ""
            }
            line += piece
        }
        return lines + line
    }

    static func hex(_ byte: UInt8) -> String {
        let digits = Array("0123456789ABCDEF")
        return String([digits[Int(byte >> 4)], digits[Int(byte & 15)]])
    }
}

/// Words of a field that are not ASCII (RFC 2047).
enum EncodedWord {
    private static let wordMax = 75
    private static let (prefix, suffix) = ("=?utf-8?Q?", "?=")

    /// The value of an unstructured field after a name of `start` characters.
    static func unstructured(_ text: String, after start: Int) -> String {
        let isPlain = text.utf8.allSatisfy { (0x20...0x7E).contains($0) } && !text.contains("=?")
        return isPlain && text.utf8.count + start <= 76 ? text : Self.text(text, after: start)
    }

    /// Encoded words, each with whole characters; further ones are on lines of their own.
    static func text(_ text: String, after start: Int = 16) -> String {
        var (words, word) = ([String](), "")
        for character in text.unicodeScalars {
            let piece = String(character).utf8.map(encoded).joined()
            let room = wordMax - prefix.count - suffix.count - (words.isEmpty ? start : 1)
            if word.utf8.count + piece.utf8.count > room {
                words.append(word)
                word = ""
            }
            word += piece
        }
        words.append(word)
        return words.map { prefix + $0 + suffix }.joined(separator: "\r\n ")
    }

    private static func encoded(_ byte: UInt8) -> String {
        switch byte {
        case 0x20: "_"
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: String(Unicode.Scalar(byte))
        default: "=" + QuotedPrintable.hex(byte)
        }
    }
}
