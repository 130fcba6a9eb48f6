/// A piece of HTML. Markup comes from literals only, because literals are `StaticString`s; an interpolated text is escaped
/// for the content of an element and for an attribute in double quotes.
///
///     let greeting: HTML = "<p title=\"\(title)\">Hello, \(name)</p>"
///
/// In a debug build the literals are followed by `HTMLContext`, which stops the program where a value is interpolated in a
/// place for which its type is not escaped: outside quotes, as the name of an element, a text as the target of a link.
public struct HTML: Sendable, ExpressibleByStringInterpolation {
    /// UTF-8 with `PagePath.mark` before each path of this server.
    private(set) var marked: [UInt8]

    /// Nothing.
    public init() { marked = [] }

    init(escaped bytes: [UInt8]) { marked = bytes }

    /// Markup as it stands in the source.
    public init(stringLiteral markup: StaticString) {
        marked = []
        marked.append(literal: markup)
    }

    /// Markup with values.
    public init(stringInterpolation: StringInterpolation) {
        #if DEBUG
            precondition(stringInterpolation.context.takesMarkup, "a tag does not end in the literal that begins it")
        #endif
        marked = stringInterpolation.bytes
    }

    /// UTF-8, for a server at the root of its host.
    public var bytes: [UInt8] {
        var bytes = marked
        PagePath.place(&bytes, below: "")
        return bytes
    }

    /// The markup as text, for a server at the root of its host.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Whether there is nothing.
    public var isEmpty: Bool { marked.isEmpty }

    /// One piece after the other.
    public static func + (left: HTML, right: HTML) -> HTML { HTML(escaped: left.marked + right.marked) }

    /// The pieces, one after the other.
    public init(_ pieces: [HTML]) { marked = Array(pieces.map(\.marked).joined()) }
}

extension HTML {
    /// Collects literals and escaped values.
    public struct StringInterpolation: StringInterpolationProtocol {
        var bytes: [UInt8] = []
        #if DEBUG
            fileprivate var context = HTMLContext()
        #endif

        /// Reserves room for the literals.
        public init(literalCapacity: Int, interpolationCount: Int) {
            bytes.reserveCapacity(literalCapacity + 32 * interpolationCount)
        }

        /// Appends markup.
        public mutating func appendLiteral(_ markup: StaticString) {
            let start = bytes.count
            bytes.append(literal: markup)
            #if DEBUG
                for byte in bytes[start...] { context.read(byte) }
            #endif
        }

        /// Appends a text, escaped.
        public mutating func appendInterpolation(_ text: String) {
            check(\.takesText)
            bytes.append(escaping: text)
        }

        /// Appends a number.
        public mutating func appendInterpolation(_ number: Int) {
            check(\.takesText)
            bytes += String(number).utf8
        }

        /// Appends markup.
        public mutating func appendInterpolation(_ html: HTML) {
            check(\.takesMarkup)
            bytes += html.marked
        }

        /// Appends markup, or nothing.
        public mutating func appendInterpolation(_ html: HTML?) {
            if let html { appendInterpolation(html) }
        }

        /// Appends pieces of markup, one after the other.
        public mutating func appendInterpolation(_ pieces: [HTML]) {
            for piece in pieces { appendInterpolation(piece) }
        }

        /// Appends a path of this server as the value of an attribute.
        public mutating func appendInterpolation(_ path: PagePath) {
            check(\.takesPath)
            bytes.append(PagePath.mark)
            bytes.append(escaping: path.text)
        }

        /// Appends an address as the target of a link.
        public mutating func appendInterpolation(_ url: PageURL) {
            check(\.takesURL)
            if url.isPath { bytes.append(PagePath.mark) }
            bytes.append(escaping: url.text)
        }

        /// Appends an attribute with its value, or nothing: `<input\(attribute: "value", text)>`.
        public mutating func appendInterpolation(attribute name: StaticString, _ value: String?) {
            guard let value else { return }
            append(attribute: name)
            bytes += "=\"".utf8
            bytes.append(escaping: value)
            bytes.append(UInt8(ascii: "\""))
        }

        /// Appends an attribute without a value, or nothing: `<input\(attribute: "required", if: isRequired)>`.
        public mutating func appendInterpolation(attribute name: StaticString, if isThere: Bool) {
            if isThere { append(attribute: name) }
        }

        private mutating func append(attribute name: StaticString) {
            #if DEBUG
                precondition(context.takesAttribute, "an attribute stands in a tag")
                precondition(HTMLContext.isPlainAttribute("\(name)"), "the attribute \(name) takes no text")
            #endif
            bytes.append(UInt8(ascii: " "))
            bytes.append(literal: name)
        }

        @inline(__always)
        private func check(_ takes: KeyPath<HTMLContext, Bool>) {
            #if DEBUG
                precondition(context[keyPath: takes], "after: \(String(decoding: bytes.suffix(60), as: UTF8.self))")
            #endif
        }
    }
}
