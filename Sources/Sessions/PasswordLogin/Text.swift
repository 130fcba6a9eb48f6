internal import PRECIS

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

    /// Whether `text` has 1 to `scalarsMax` Unicode scalars, each of which is a part of plain text in one line: no control, no
    /// line break, no mark that turns the direction of writing, nothing invisible but what joins letters or parts them.
    public static func isPlain(_ text: String, scalarsMax: Int) -> Bool {
        (1...scalarsMax).contains(text.unicodeScalars.count)
            && text.unicodeScalars.allSatisfy { scalar in
                // The zero-width joiner and non-joiner belong to letters of some scripts.
                if scalar.properties.isDefaultIgnorableCodePoint { return [0x200C, 0x200D].contains(scalar.value) }
                return switch scalar.properties.generalCategory {
                case .control, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned, .format: false
                default: true
                }
            }
            && text.unicodeScalars.contains(where: isVisible)
    }

    /// Whether the character has a shape of its own: a text of blanks, marks and joiners shows nothing, or covers what stands
    /// around it.
    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .spaceSeparator, .format, .nonspacingMark, .spacingMark, .enclosingMark: false
        default: true
        }
    }

    /// `text` in Unicode normalisation form C, so that two keyboards give the same text for the same characters.
    public static func normalized(_ text: String) -> String { text.normalizationFormC }

    /// The key by which usernames are compared: UsernameCaseMapped of RFC 8265. Blanks around the name are left out, because
    /// keyboards of phones add them. A text that cannot be a username has the key of no user.
    public static func key(_ username: String) -> String {
        let name = withoutOuterBlanks(username)
        return (try? Username(name))?.key ?? folded(name)
    }

    /// The username as it is stored and shown: widths are mapped, and the text is in form C. A text that cannot be a username
    /// stays as it is.
    public static func preparedUsername(_ username: String) -> String { (try? Username(username))?.text ?? username }

    /// The rule for usernames that `username` breaks, as a sentence goes on after its member; nil if it is valid.
    public static func problem(withUsername username: String) -> String? {
        guard username.utf8.count <= User.usernameLengthMax else {
            return "must have 1 to \(User.usernameLengthMax) bytes"
        }
        do throws(UsernameProblem) {
            let prepared = try Username(username)
            return prepared.text.utf8.count <= User.usernameLengthMax && prepared.key.utf8.count <= keyLengthMax
                ? nil : "must have 1 to \(User.usernameLengthMax) bytes"
        } catch { return error.description }
    }

    /// The longest key of a username in bytes: a lower-case form can be longer than its capital.
    private static let keyLengthMax = 3 * User.usernameLengthMax

    static func withoutOuterBlanks(_ text: String) -> String {
        guard text.first?.isWhitespace ?? false || text.last?.isWhitespace ?? false else { return text }
        return String(text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }

    /// Normalised and lower-case, to look for one text in another.
    static func folded(_ text: String) -> String { normalized(normalized(text).lowercased()) }

    /// The key by which e-mail addresses are compared: the address in lower case; nil unless it is ASCII. Only the host
    /// decides which mailboxes are the same (RFC 5321 section 2.3.11), and may see two where Unicode sees one. A missing
    /// link costs less than a link to another user.
    public static func emailKey(_ address: String) -> String? {
        address.utf8.allSatisfy { $0 < 0x80 } ? address.lowercased() : nil
    }

    /// The key of an address as a user types it at a login, with blanks around it; nil unless it is a mailbox.
    static func typedEmailKey(_ text: String) -> String? {
        let address = withoutOuterBlanks(text)
        return Mailbox.isValid(address) ? emailKey(address) : nil
    }
}
