/// Builds the Markdown of a page: paragraphs, tables and lists of code.
struct Markdown {
    private var blocks: [String] = []

    /// The text of the page.
    var text: String { blocks.joined(separator: "\n\n") + "\n" }

    /// Adds a page's title, its abstract, and the sentence that says where it comes from.
    init(title: String, abstract: String, source: String) {
        heading(1, title)
        paragraph(abstract)
        paragraph("`ReferencePageTests` generates this page from \(source).")
    }

    mutating func heading(_ level: Int, _ text: String) {
        blocks.append(String(repeating: "#", count: level) + " " + text)
    }

    /// Adds a paragraph, in lines of at most 120 columns.
    mutating func paragraph(_ text: String) {
        if !text.isEmpty { blocks.append(Self.wrapped(text)) }
    }

    /// Adds lines of code.
    mutating func code(_ lines: [String], language: String = "text") {
        blocks.append((["```\(language)"] + lines + ["```"]).joined(separator: "\n"))
    }

    /// Adds a list with one line for each item.
    mutating func list(_ items: [String]) {
        if !items.isEmpty { blocks.append(items.map { Self.wrapped("- " + $0, indent: "  ") }.joined(separator: "\n")) }
    }

    /// Adds a table, unless it has no rows.
    mutating func table(_ columns: [String], _ rows: [[String]]) {
        if rows.isEmpty { return }
        let lines = [columns, columns.map { _ in "---" }] + rows.map { $0.map(Self.cell) }
        blocks.append(lines.map { "| \($0.joined(separator: " | ")) |" }.joined(separator: "\n"))
    }

    /// Text as code.
    static func code(_ text: String) -> String { "`\(text)`" }

    /// Texts as code, parted by commas.
    static func codes(_ texts: [String]) -> String { texts.map { code($0) }.joined(separator: ", ") }

    /// A text on one line, in which no bar ends the cell.
    private static func cell(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).joined(separator: " ").replacing("|", with: "\\|")
    }

    /// A text in lines of at most 120 columns; `indent` stands before all lines but the first. No line ends inside of code.
    private static func wrapped(_ text: String, indent: String = "") -> String {
        var lines: [String] = []
        var words: [String] = []
        var isCode = false
        for word in text.split(whereSeparator: \.isWhitespace) {
            if isCode { words[words.count - 1] += " " + word } else { words.append(String(word)) }
            if word.count(where: { $0 == "`" }) % 2 == 1 { isCode.toggle() }
        }
        for word in words {
            if let last = lines.last, last.count + 1 + word.count <= 120 {
                lines[lines.count - 1] = last + " " + word
            } else {
                lines.append((lines.isEmpty ? "" : indent) + word)
            }
        }
        return lines.joined(separator: "\n")
    }
}
