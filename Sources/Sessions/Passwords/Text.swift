@_spi(_Unicode) import Swift

/// Rules for short texts that people type: names, usernames, addresses.
public enum Text {
    /// Whether `text` is not empty, not longer than `lengthMax` bytes of UTF-8, and free of control characters.
    public static func isValid(_ text: String, lengthMax: Int) -> Bool {
        (1...lengthMax).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy { scalar in
                switch scalar.properties.generalCategory {
                case .control, .lineSeparator, .paragraphSeparator, .surrogate: false
                default: true
                }
            }
    }

    /// `text` in Unicode normalisation form C, so that what looks the same is the same, whichever keyboard typed it.
    public static func normalized(_ text: String) -> String {
        // The standard library's own normaliser: the public one is in the Foundation that carries 40 MB of ICU.
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: text._nfc)
        return String(scalars)
    }

    /// What two spellings of a username share: normalised and lower-case.
    public static func key(_ username: String) -> String { normalized(normalized(username).lowercased()) }

    /// What two spellings of an e-mail address share: its ASCII letters in lower case. Nil if it has any other character, in the
    /// mailbox or in the domain: which mailboxes are one is for their host to say (RFC 5321 section 2.3.11), a provider may see two
    /// where Unicode sees one, and a link that is not made costs less than one to somebody else.
    public static func emailKey(_ address: String) -> String? {
        address.utf8.allSatisfy { $0 < 0x80 } ? address.lowercased() : nil
    }
}
