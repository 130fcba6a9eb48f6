internal import Calendar

/// A sentence of the console: text with times, links and names in it. Whatever is interpolated is escaped, isolated from the
/// direction of the text around it, and cut to `lengthMax` characters.
public struct ConsoleText: Sendable, ExpressibleByStringInterpolation {
    /// The largest number of characters of an interpolated text.
    public static let lengthMax = 200

    /// The sentence as markup.
    let html: HTML

    private init(html: HTML) { self.html = html }

    /// A text from outside.
    public init(_ text: String) { html = "\(DisplayName(text, max: Self.lengthMax))" }

    /// A sentence of the source.
    public init(stringLiteral text: String) { html = "\(text)" }

    /// A sentence of the source with values.
    public init(stringInterpolation: StringInterpolation) { html = HTML(stringInterpolation.pieces) }

    /// No text.
    public static let empty: ConsoleText = ""

    /// Whether there is nothing.
    public var isEmpty: Bool { html.isEmpty }

    /// The texts with something between them.
    public static func joined(_ texts: [ConsoleText], by separator: ConsoleText = ", ") -> ConsoleText {
        ConsoleText(html: HTML(texts.enumerated().flatMap { $0 == 0 ? [$1.html] : [separator.html, $1.html] }))
    }

    /// Collects literals and values.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var pieces: [HTML] = []

        /// Reserves room.
        public init(literalCapacity: Int, interpolationCount: Int) {
            pieces.reserveCapacity(2 * interpolationCount + 1)
        }

        /// Appends words of the source.
        public mutating func appendLiteral(_ literal: String) { pieces.append("\(literal)") }

        /// Appends a text from outside.
        public mutating func appendInterpolation(_ text: String) {
            if !text.isEmpty { pieces.append(ConsoleText(text).html) }
        }

        /// Appends a text from outside that stands out.
        public mutating func appendInterpolation(name text: String) {
            pieces.append("<strong>\(ConsoleText(text).html)</strong>")
        }

        /// Appends a network address. One of IPv4 stands on one line, however narrow its column is.
        public mutating func appendInterpolation(address text: String) {
            let html = ConsoleText(text).html
            pieces.append(text.utf8.count <= 15 ? "<span class=\"address\">\(html)</span>" : html)
        }

        /// Appends a sentence of this program, whole.
        public mutating func appendInterpolation(sentence text: String) { pieces.append("\(text)") }

        /// Appends a number.
        public mutating func appendInterpolation(_ number: Int) { pieces.append("\(number)") }

        /// Appends a sentence.
        public mutating func appendInterpolation(_ text: ConsoleText) { pieces.append(text.html) }

        /// Appends an id, a word of the wire or a command.
        public mutating func appendInterpolation(code text: String) {
            pieces.append("<code>\(DisplayName(text, max: ConsoleText.lengthMax).text)</code>")
        }

        /// Appends a secret whole, with a button that copies it.
        public mutating func appendInterpolation(secret text: String) {
            pieces.append(
                """
                <span class="secret"><code>\(text)</code> \
                <button type="button" class="link" hidden data-copy>Copy</button></span>
                """)
        }

        /// Appends a link to a page, with a word of the wire or an id as its text.
        public mutating func appendInterpolation(link path: PagePath, code text: String) {
            pieces.append("<a href=\"\(path)\"><code>\(DisplayName(text).text)</code></a>")
        }

        /// Appends a time, in seconds since 1970. `console.js` adds how far it is from now.
        public mutating func appendInterpolation(time seconds: Int64) {
            let time = UTCTime(secondsSinceEpoch: seconds)
            pieces.append(
                "<time datetime=\"\(time.rfc3339)\">\(time.date.text) \(time.timeText) UTC</time>")
        }

        /// Appends a link.
        public mutating func appendInterpolation(link path: PagePath, _ text: String) {
            pieces.append("<a href=\"\(path)\">\(DisplayName(text.isEmpty ? "–" : text))</a>")
        }

        /// Appends a state that is seen at a glance.
        public mutating func appendInterpolation(badge text: String, _ look: ConsoleLook) {
            pieces.append("<span class=\"badge \(look.rawValue)\">\(DisplayName(text).text)</span>")
        }
    }
}

/// How good or bad a state is.
public enum ConsoleLook: String, Sendable {
    /// As it should be.
    case good
    /// Neither.
    case plain
    /// An admin should look at it.
    case bad
}
