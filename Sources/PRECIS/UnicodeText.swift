private import CUnistring

/// The mappings of whole texts, and the masks of general categories.
enum UnicodeText {
    /// The code point to which a wide or narrow one is mapped (RFC 8264 section 5.2.1).
    static func widthMapped(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        Unicode.Scalar(CUnistring_width_mapped(scalar.value)) ?? scalar
    }

    /// Form C.
    static func composed(_ text: [Unicode.Scalar]) -> [Unicode.Scalar] {
        unsafe mapped(text) { unsafe CUnistring_composed($0, $1, $2) }
    }

    /// `toLowerCase` and form C. A capital sigma at the end of a word becomes a final one; nothing is folded.
    static func lowercased(_ text: [Unicode.Scalar]) -> [Unicode.Scalar] {
        unsafe mapped(text) { unsafe CUnistring_lowercased($0, $1, $2) }
    }

    private static func mapped(
        _ text: [Unicode.Scalar],
        _ map: (UnsafePointer<UInt32>?, Int, UnsafeMutablePointer<Int>) -> UnsafeMutablePointer<UInt32>?
    ) -> [Unicode.Scalar] {
        guard !text.isEmpty else { return [] }
        let values = text.map(\.value)
        var count = 0
        let result = unsafe values.withUnsafeBufferPointer { unsafe map($0.baseAddress, $0.count, &count) }
        guard let result = unsafe result else {
            preconditionFailure("no memory for a text of \(values.count) code points")
        }
        defer { unsafe free(result) }
        return unsafe UnsafeBufferPointer(start: result, count: count).compactMap(Unicode.Scalar.init)
    }

    static let unassigned = UInt32(UC_CATEGORY_MASK_Cn)
    static let control = UInt32(UC_CATEGORY_MASK_Cc)
    static let separators = UInt32(UC_CATEGORY_MASK_Z)
    /// LetterDigits (RFC 8264 section 9.1).
    static let lettersAndDigits = [
        UC_CATEGORY_MASK_Ll, UC_CATEGORY_MASK_Lu, UC_CATEGORY_MASK_Lo, UC_CATEGORY_MASK_Nd, UC_CATEGORY_MASK_Lm,
        UC_CATEGORY_MASK_Mn, UC_CATEGORY_MASK_Mc,
    ].reduce(UInt32(0)) { $0 | UInt32($1) }
}

extension String {
    init(_ scalars: [Unicode.Scalar]) {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        self.init(view)
    }
}
