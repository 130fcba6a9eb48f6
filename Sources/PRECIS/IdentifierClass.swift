private import CUnistring

/// The string class IdentifierClass (RFC 8264 section 4.2), by the algorithm of section 8.
enum IdentifierClass {
    /// The derived property of a code point.
    enum Property: Hashable {
        case valid
        /// Allowed by a rule for joiners, or by one for other code points.
        case contextual
        case blank
        case disallowed
        case unassigned
    }

    /// Throws the first code point of `text` that the class refuses.
    static func check(_ text: [Unicode.Scalar]) throws(UsernameProblem) {
        for (index, scalar) in text.enumerated() {
            switch property(of: scalar) {
            case .valid: continue
            case .contextual:
                guard ContextRule.allows(text, at: index) else { throw .outOfContext(scalar) }
            case .blank: throw .blank(scalar)
            case .disallowed: throw .disallowed(scalar)
            case .unassigned: throw .unassigned(scalar)
            }
        }
    }

    /// The derived property of `scalar`. The order of the rules is that of section 8, because the first one that applies decides.
    static func property(of scalar: Unicode.Scalar) -> Property {
        let value = scalar.value
        if let exception = exception(value) { return exception }
        if isOf(UnicodeText.unassigned, value), !uc_is_property_not_a_character(value) { return .unassigned }
        if (0x21...0x7E).contains(value) { return .valid }
        if uc_is_property_join_control(value) { return .contextual }
        if isOldHangulJamo(value) { return .disallowed }
        if uc_is_property_default_ignorable_code_point(value) || uc_is_property_not_a_character(value) {
            return .disallowed
        }
        if isOf(UnicodeText.control, value) { return .disallowed }
        if isOf(UnicodeText.separators, value) { return .blank }
        if CUnistring_has_compatibility_mapping(value) { return .disallowed }
        return isOf(UnicodeText.lettersAndDigits, value) ? .valid : .disallowed
    }

    private static func isOf(_ categories: UInt32, _ value: UInt32) -> Bool {
        uc_is_general_category_withtable(value, categories)
    }

    /// Exceptions (section 9.6).
    private static func exception(_ value: UInt32) -> Property? {
        switch value {
        case 0xDF, 0x3C2, 0x6FD, 0x6FE, 0xF0B, 0x3007: .valid
        case 0xB7, 0x375, 0x5F3, 0x5F4, 0x30FB, 0x660...0x669, 0x6F0...0x6F9: .contextual
        case 0x640, 0x7FA, 0x302E, 0x302F, 0x3031...0x3035, 0x303B: .disallowed
        default: nil
        }
    }

    /// OldHangulJamo (section 9.9): leading consonants, vowels and trailing consonants.
    private static func isOldHangulJamo(_ value: UInt32) -> Bool {
        switch value {
        case 0x1100...0x11FF, 0xA960...0xA97C, 0xD7B0...0xD7C6, 0xD7CB...0xD7FB: true
        default: false
        }
    }
}
