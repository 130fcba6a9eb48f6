@_spi(_Unicode) import Swift

/// Rules for short texts that users type: names, usernames, addresses.
public enum Text {
    /// Returns true if `text` has 1 to `lengthMax` bytes of UTF-8 and no control characters.
    public static func isValid(_ text: String, lengthMax: Int) -> Bool {
        (1...lengthMax).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy { scalar in
                switch scalar.properties.generalCategory {
                case .control, .lineSeparator, .paragraphSeparator, .surrogate: false
                default: true
                }
            }
    }

    /// `text` in Unicode normalisation form C, so that texts from different keyboards that look equal are equal.
    public static func normalized(_ text: String) -> String {
        // This uses the standard library's internal normaliser, because the public one belongs to the Foundation that carries
        // 40 MB of ICU.
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: text._nfc)
        return String(scalars)
    }

    /// The key that all spellings of a username share: normalised and in lower case.
    public static func key(_ username: String) -> String { normalized(normalized(username).lowercased()) }

    /// The key that all spellings of an e-mail address share: the address in lower case. Nil for an address with a character
    /// outside ASCII, in the mailbox or in the domain. Only the host knows which mailboxes are equal (RFC 5321 section 2.3.11),
    /// a provider may distinguish two that Unicode treats as equal, and a missing link costs less than a link to another user.
    public static func emailKey(_ address: String) -> String? {
        address.utf8.allSatisfy { $0 < 0x80 } ? address.lowercased() : nil
    }
}
