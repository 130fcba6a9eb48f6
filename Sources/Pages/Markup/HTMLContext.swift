/// Follows the literals of one interpolation through the syntax of HTML, as far as the pages use it, and says which values
/// may come next. It stops the program at markup that the pages must not have: attributes without double quotes, inline
/// styles, event handlers, comments.
///
/// Only literals are read, so the answer depends on the source and not on data: one rendering of each page in a debug
/// build checks it for all.
struct HTMLContext {
    private enum State {
        /// The content of an element.
        case content
        /// After `<`.
        case tagOpen
        /// The name of an element.
        case name
        /// The name of an attribute, or before it.
        case attribute
        /// After `=`.
        case beforeValue
        /// Inside double quotes.
        case value
        /// After the closing quote.
        case afterValue
    }

    /// The attributes whose value is an address.
    private static let addresses: Set = [
        "href", "src", "action", "formaction", "data-events", "data-image", "data-logout", "data-account",
    ]

    private var state = State.content
    private var attributeBytes: [UInt8] = []

    private var attribute: String { String(decoding: attributeBytes, as: UTF8.self) }

    /// Whether a text may come, as content or as an attribute's value.
    var takesText: Bool { state == .content || state == .value && !Self.addresses.contains(attribute) }
    /// Whether markup may come.
    var takesMarkup: Bool { state == .content }
    /// Whether a path of this server may come.
    var takesPath: Bool { state == .value && Self.addresses.contains(attribute) }
    /// Whether an address of any origin may come.
    var takesURL: Bool { state == .value && attribute == "href" }
    /// Whether an attribute may come.
    var takesAttribute: Bool {
        state == .name || state == .afterValue || state == .attribute && !attributeBytes.isEmpty
    }

    /// Whether an attribute takes a text: no address, no script, no style.
    static func isPlainAttribute(_ name: String) -> Bool {
        !addresses.contains(name) && !name.hasPrefix("on") && name != "style" && name != "srcdoc"
    }

    /// Reads one byte of a literal.
    mutating func read(_ byte: UInt8) {
        switch (state, byte) {
        case (.content, UInt8(ascii: "<")): state = .tagOpen
        case (.content, _): break
        case (.tagOpen, _):
            precondition(UnicodeScalar(byte).properties.isAlphabetic || "/!".utf8.contains(byte), "no name after <")
            state = .name
        case (.name, UInt8(ascii: ">")), (.attribute, UInt8(ascii: ">")), (.afterValue, UInt8(ascii: ">")):
            finishName()
            state = .content
        case (.name, UInt8(ascii: " ")), (.attribute, UInt8(ascii: " ")), (.afterValue, UInt8(ascii: " ")):
            finishName()
            attributeBytes = []
            state = .attribute
        case (.name, _): break
        case (.attribute, UInt8(ascii: "=")):
            finishName()
            state = .beforeValue
        case (.attribute, _): attributeBytes.append(byte)
        case (.beforeValue, _):
            precondition(byte == UInt8(ascii: "\""), "the attribute \(attribute) has no quotes")
            state = .value
        case (.value, UInt8(ascii: "\"")): state = .afterValue
        case (.value, _): break
        case (.afterValue, _): preconditionFailure("no space after the attribute \(attribute)")
        }
    }

    private func finishName() {
        precondition(
            Self.isPlainAttribute(attribute) || Self.addresses.contains(attribute),
            "\(attribute) is a script or a style")
    }
}
