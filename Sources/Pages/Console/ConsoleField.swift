/// A field of a form of the console.
public enum ConsoleField: Sendable {
    /// A value that is not shown.
    case hidden(String, String)
    /// A line of text.
    case text(String, label: String, value: String = "", hint: String? = nil, isFocused: Bool = false)
    case day(String, label: String, value: String)
    case secret(String, label: String)
    /// A file in PNG or WebP.
    case picture(String, label: String, hint: String)
    /// Some lines of text.
    case lines(String, label: String, value: String = "", hint: String? = nil)
    /// A box to tick.
    case check(String, label: String, isOn: Bool = false, word: String? = nil)
    /// One of several values.
    case choice(String, label: String, [(value: String, label: String)], chosen: String)
    /// Boxes with one question.
    indirect case boxes(label: String, [ConsoleField], hint: String)
    /// A field with a note below it, such as another value.
    indirect case noted(ConsoleField, String)

    /// The name of each value that the field sends, with the value that it has when it is shown.
    public var values: [(name: String, value: String)] {
        switch self {
        case .hidden(let name, let value), .text(let name, _, let value, _, _), .day(let name, _, let value),
            .lines(let name, _, let value, _), .choice(let name, _, _, let value):
            [(name, value)]
        case .secret(let name, _), .picture(let name, _, _): [(name, "")]
        case .check(let name, _, let isOn, _): [(name, isOn ? "1" : "")]
        case .boxes(_, let boxes, _): boxes.flatMap(\.values)
        case .noted(let field, _): field.values
        }
    }

    /// Whether an admin sees the field.
    public var isShown: Bool { if case .hidden = self { false } else { true } }

    /// The field with a note below it; the same without one, and if it is not shown.
    public func noted(_ note: String?) -> ConsoleField { isShown ? note.map { .noted(self, $0) } ?? self : self }

    /// The field with what was typed into it.
    public func filled(with sent: (String) -> String?) -> ConsoleField {
        switch self {
        // A hidden value may say what the form was filled with, so that what is there now must not take its place.
        case .hidden(let name, _): .hidden(name, sent(name) ?? "")
        case .text(let name, let label, _, let hint, let isFocused):
            .text(name, label: label, value: sent(name) ?? "", hint: hint, isFocused: isFocused)
        case .day(let name, let label, _): .day(name, label: label, value: sent(name) ?? "")
        case .secret, .picture: self
        case .lines(let name, let label, _, let hint):
            .lines(name, label: label, value: sent(name) ?? "", hint: hint)
        case .check(let name, let label, _, let word):
            .check(name, label: label, isOn: sent(name) == "1", word: word)
        case .choice(let name, let label, let choices, let chosen):
            .choice(name, label: label, choices, chosen: sent(name) ?? chosen)
        case .boxes(let label, let boxes, let hint):
            .boxes(label: label, boxes.map { $0.filled(with: sent) }, hint: hint)
        case .noted(let field, let note): .noted(field.filled(with: sent), note)
        }
    }

    var html: HTML {
        switch self {
        case .hidden(let name, let value): "<input type=\"hidden\" name=\"\(name)\" value=\"\(value)\">"
        case .text(let name, let label, let value, let hint, let isFocused):
            """
            <label class="field">\(label)<input name="\(name)" type="text" value="\(value)" autocomplete="off" \
            autocapitalize="none" spellcheck="false"\(attribute: "autofocus", if: isFocused)>\(Self.hint(hint))</label>

            """
        case .day(let name, let label, let value):
            "<label class=\"field day\">\(label)<input name=\"\(name)\" type=\"date\" value=\"\(value)\"></label>\n"
        case .picture(let name, let label, let hint):
            """
            <label class="field">\(label)<input name="\(name)" type="file" accept="image/png,image/webp" required>\
            \(Self.hint(hint))</label>

            """
        case .secret(let name, let label):
            """
            <label class="field">\(label)<input name="\(name)" type="password" autocomplete="off" required></label>

            """
        case .lines(let name, let label, let value, let hint):
            """
            <label class="field">\(label)<textarea name="\(name)" rows="\(Self.rows(value))" autocomplete="off" \
            autocapitalize="none" spellcheck="false">
            \(value)</textarea>\(Self.hint(hint))</label>

            """
        case .check(let name, let label, let isOn, let word):
            """
            <label class="check"><input type="checkbox" name="\(name)" value="1"\(attribute: "checked", if: isOn)> \
            <span>\(label)\(word.map { " <code>\($0)</code>" as HTML })</span></label>

            """
        case .choice(let name, let label, let choices, let chosen):
            """
            <label class="field">\(label)<select name="\(name)">
            \(choices.map { Self.option($0.value, $0.label, chosen == $0.value) })</select></label>

            """
        case .boxes(let label, let boxes, let hint):
            """
            <fieldset class="boxes"><legend>\(label)</legend><div>\(boxes.map(\.html))</div>\
            <span class="hint">\(hint)</span></fieldset>

            """
        case .noted(let field, let note):
            "<div class=\"noted\">\(field.html)<p>\(ConsoleText(note).html)</p></div>\n"
        }
    }

    /// As many lines as the text has, so that none scrolls.
    private static func rows(_ text: String) -> Int {
        min(12, max(2, text.utf8.count { $0 == UInt8(ascii: "\n") } + 1))
    }

    private static func option(_ value: String, _ label: String, _ isChosen: Bool) -> HTML {
        "<option value=\"\(value)\"\(attribute: "selected", if: isChosen)>\(label)</option>\n"
    }

    private static func hint(_ text: String?) -> HTML? {
        text.map { "<span class=\"hint\">\($0)</span>" }
    }
}
