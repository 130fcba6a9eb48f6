private import CUnistring

/// The rules of the code points that are allowed only beside certain others (RFC 5892 appendix A).
enum ContextRule {
    /// Whether the code point at `index` may stand there.
    static func allows(_ text: [Unicode.Scalar], at index: Int) -> Bool {
        let before = index > 0 ? text[index - 1].value : nil
        let after = index + 1 < text.count ? text[index + 1].value : nil
        switch text[index].value {
        case 0x200C: return isAfterVirama(before) || joinsBothSides(text, at: index)
        case 0x200D: return isAfterVirama(before)
        case 0xB7: return before == 0x6C && after == 0x6C
        case 0x375: return after.map { isOf("Greek", $0) } ?? false
        case 0x5F3, 0x5F4: return before.map { isOf("Hebrew", $0) } ?? false
        case 0x30FB:
            return text.contains {
                isOf("Hiragana", $0.value) || isOf("Katakana", $0.value) || isOf("Han", $0.value)
            }
        case 0x660...0x669: return !text.contains { (0x6F0...0x6F9).contains($0.value) }
        case 0x6F0...0x6F9: return !text.contains { (0x660...0x669).contains($0.value) }
        default: return false
        }
    }

    private static func isOf(_ script: StaticString, _ value: UInt32) -> Bool {
        script.withUTF8Buffer { name in
            unsafe name.withMemoryRebound(to: CChar.self) { unsafe CUnistring_is_of_script(value, $0.baseAddress) }
        }
    }

    private static func isAfterVirama(_ before: UInt32?) -> Bool {
        before.map { uc_combining_class($0) == UC_CCC_VR } ?? false
    }

    /// Whether the nearest code points that are not transparent join towards `index`.
    private static func joinsBothSides(_ text: [Unicode.Scalar], at index: Int) -> Bool {
        func nearest(_ scalars: some Sequence<Unicode.Scalar>) -> Int32? {
            scalars.lazy.map { uc_joining_type($0.value) }.first { $0 != Int32(UC_JOINING_TYPE_T) }
        }
        let before = nearest(text[..<index].reversed()), after = nearest(text[(index + 1)...])
        let (left, right, dual) = (
            Int32(UC_JOINING_TYPE_L), Int32(UC_JOINING_TYPE_R), Int32(UC_JOINING_TYPE_D)
        )
        return (before == left || before == dual) && (after == right || after == dual)
    }
}
