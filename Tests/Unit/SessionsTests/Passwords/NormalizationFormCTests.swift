import Testing

@testable import Sessions

@Suite struct NormalizationFormCTests {
    @Test(
        "normalisation form C follows UAX 15",
        arguments: [
            ("", ""), ("plain", "plain"), ("e\u{301}", "\u{E9}"), ("\u{E9}", "\u{E9}"),
            // Singletons: Angstrom, Ohm, Kelvin.
            ("\u{212B}", "\u{C5}"), ("\u{2126}", "\u{3A9}"), ("\u{212A}", "K"),
            // Marks are put in the order of their classes.
            ("d\u{307}\u{323}", "\u{1E0D}\u{307}"), ("s\u{307}\u{323}", "\u{1E69}"),
            // Hangul is composed by arithmetic.
            ("\u{1100}\u{1161}\u{11A8}", "\u{AC01}"), ("\u{AC00}\u{11A8}", "\u{AC01}"),
            // Composition exclusions stay decomposed.
            ("\u{958}", "\u{915}\u{93C}"), ("\u{FB1D}", "\u{5D9}\u{5B4}"),
            // Compatibility characters are kept.
            ("\u{FB01}", "\u{FB01}"), ("\u{FF21}", "\u{FF21}"),
        ])
    func vectors(text: String, expected: String) {
        #expect(Array(text.normalizationFormC.unicodeScalars) == Array(expected.unicodeScalars))
        #expect(Array(Text.normalized(text).unicodeScalars) == Array(expected.unicodeScalars))
    }
}
