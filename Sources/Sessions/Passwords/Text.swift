/// Rules for short texts of users and admins: names, usernames, addresses.
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

    /// `text` in Unicode normalisation form C, so that two keyboards give the same text for the same characters.
    public static func normalized(_ text: String) -> String { text.normalizationFormC }

    /// The key by which usernames are compared: normalised and lower-case.
    public static func key(_ username: String) -> String { normalized(normalized(username).lowercased()) }

    /// The key by which e-mail addresses are compared: the address in lower case; nil unless it is ASCII. Only the host
    /// decides which mailboxes are the same (RFC 5321 section 2.3.11), and may see two where Unicode sees one. A missing
    /// link costs less than a link to another user.
    public static func emailKey(_ address: String) -> String? {
        address.utf8.allSatisfy { $0 < 0x80 } ? address.lowercased() : nil
    }
}
