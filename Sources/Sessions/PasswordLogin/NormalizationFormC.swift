// The only file that uses the private normaliser of the standard library (`_nfc`). Foundation offers the same function,
// but needs the 40 MB of ICU for it; FoundationEssentials and the public standard library offer none. If a toolchain
// drops the function, this file stops compiling; if a toolchain changes its result, NormalizationFormCTests fail.
@_spi(_Unicode) import Swift

extension String {
    /// The text in Unicode normalisation form C (UAX 15).
    var normalizationFormC: String {
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: _nfc)
        return String(scalars)
    }
}
