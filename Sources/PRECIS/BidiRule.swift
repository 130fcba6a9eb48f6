private import CUnistring

/// The rule for names with right-to-left code points (RFC 5893 section 2, as RFC 8264 section 5.2.5 applies it).
enum BidiRule {
    /// Throws if `text` has code points that are written from right to left, and breaks one of the six conditions.
    static func check(_ text: [Unicode.Scalar]) throws(UsernameProblem) {
        let classes = text.map { Int(uc_bidi_class($0.value)) }
        guard classes.contains(where: { rightToLeft.contains($0) || $0 == UC_BIDI_AN }) else { return }
        // A name that begins from left to right can have none of them (conditions 1 and 5).
        guard let first = classes.first, rightToLeft.contains(first) else { throw .mixedDirections }
        let last = classes.last { $0 != UC_BIDI_NSM }
        guard classes.allSatisfy(allowed.contains),
            let last, rightToLeft.contains(last) || last == UC_BIDI_EN || last == UC_BIDI_AN,
            !(classes.contains(UC_BIDI_EN) && classes.contains(UC_BIDI_AN))
        else { throw .mixedDirections }
    }

    private static let rightToLeft = [UC_BIDI_R, UC_BIDI_AL]
    private static let allowed = [
        UC_BIDI_R, UC_BIDI_AL, UC_BIDI_AN, UC_BIDI_EN, UC_BIDI_ES, UC_BIDI_CS, UC_BIDI_ET, UC_BIDI_ON, UC_BIDI_BN,
        UC_BIDI_NSM,
    ]
}
