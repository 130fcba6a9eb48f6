import Foundation
import Testing

/// The contrast ratio of WCAG 2.2, written down a second time.
enum Contrast {
    static func of(_ one: String?, _ two: String?) throws -> Double {
        let values = try [#require(one), #require(two)].map(luminance).sorted()
        return (values[1] + 0.05) / (values[0] + 0.05)
    }

    /// The relative luminance of `#rgb` or `#rrggbb`.
    private static func luminance(_ hex: String) throws -> Double {
        var digits = Array(hex.dropFirst())
        if digits.count == 3 { digits = digits.flatMap { [$0, $0] } }
        let weights = [0.2126, 0.7152, 0.0722]
        return try (0..<3).reduce(0) { sum, index in
            let value = try Double(#require(Int(String(digits[2 * index...2 * index + 1]), radix: 16))) / 255
            return sum + weights[index] * (value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4))
        }
    }
}
