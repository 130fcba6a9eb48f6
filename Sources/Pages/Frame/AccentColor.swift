internal import Glibc

/// The color of an app: six hexadecimal digits. The style sheet that `styleSheet` returns makes four colors of it, each
/// with a contrast of at least 4.5:1 (WCAG 2.2, 1.4.3): the color of a button with black or white text on it, and the
/// color of links on the light and on the dark ground, darkened or lightened as far as it takes.
public struct AccentColor: Hashable, Sendable {
    private let red, green, blue: UInt8

    /// The color of `#0a5fd1`; nil for anything but `#` and six hexadecimal digits.
    public init?(_ hex: String) {
        guard hex.utf8.count == 7, hex.utf8.first == UInt8(ascii: "#"),
            hex.utf8.dropFirst().allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
            let value = UInt32(hex.dropFirst(), radix: 16)
        else { return nil }
        self.init(value)
    }

    private init(_ value: UInt32) {
        (red, green, blue) = (UInt8(value >> 16 & 255), UInt8(value >> 8 & 255), UInt8(value & 255))
    }

    /// Six digits, lower case.
    public var digits: String {
        [red, green, blue].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Where the style sheet lies: `/assets/accent/0a5fd1.css`.
    public var path: PagePath { PagePath("/assets/accent").appending(digits + ".css") }

    /// The color whose style sheet lies at a path; nil for any other path.
    public init?(path: String) {
        guard path.hasPrefix("/assets/accent/"), path.hasSuffix(".css") else { return nil }
        let digits = path.dropFirst("/assets/accent/".count).dropLast(4)
        guard digits == digits.lowercased() else { return nil }
        self.init("#" + digits)
    }

    /// The style sheet, which overrides the colors of the page's own.
    public var styleSheet: String {
        let (light, dark) = links
        return """
            :root{--accent:#\(digits);--on-accent:#\(onAccent.digits);--link:#\(light.digits)}
            @media(prefers-color-scheme:dark){:root{--link:#\(dark.digits)}}

            """
    }

    /// The color of links on the light and on the dark ground.
    var links: (light: AccentColor, dark: AccentColor) {
        (moved(to: .black, on: .lightGround), moved(to: .white, on: .darkGround))
    }

    /// `#0a5fd1`
    var hex: String { "#" + digits }

    static let black = AccentColor(0x000000)
    static let white = AccentColor(0xFFFFFF)
    /// The darkest light ground and the lightest dark ground of the style sheet.
    static let lightGround = AccentColor(0xF4F5F7)
    static let darkGround = AccentColor(0x1A1E27)

    /// Black or white, whichever has more contrast: at least 4.58:1 on any color.
    var onAccent: AccentColor {
        contrast(with: .white) >= contrast(with: .black) ? .white : .black
    }

    /// The color, mixed with as much of another as a contrast of 4.5:1 with the ground takes.
    private func moved(to other: AccentColor, on ground: AccentColor) -> AccentColor {
        (0...20).lazy.map { mixed(with: other, twentieths: $0) }.first { $0.contrast(with: ground) >= 4.5 } ?? other
    }

    private func mixed(with other: AccentColor, twentieths: Int) -> AccentColor {
        func mix(_ one: UInt8, _ two: UInt8) -> UInt32 {
            UInt32((Int(one) * (20 - twentieths) + Int(two) * twentieths) / 20)
        }
        return AccentColor(mix(red, other.red) << 16 | mix(green, other.green) << 8 | mix(blue, other.blue))
    }

    /// The contrast ratio of WCAG 2.2, 1 to 21.
    func contrast(with other: AccentColor) -> Double {
        let (one, two) = (luminance, other.luminance)
        return (max(one, two) + 0.05) / (min(one, two) + 0.05)
    }

    /// The relative luminance of WCAG 2.2.
    private var luminance: Double {
        func linear(_ value: UInt8) -> Double {
            let part = Double(value) / 255
            return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }
}
