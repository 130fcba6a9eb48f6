/// A text with `{{variable}}`, and `{{#variable}}…{{/variable}}` around what is left out where the variable is absent.
struct MailTemplate: Hashable, Sendable {
    private indirect enum Part: Hashable {
        case text(String)
        case variable(MailVariable)
        case section(MailVariable, [Part])
    }

    private let parts: [Part]
    /// The variables outside of sections of other variables.
    let always: Set<MailVariable>
    /// Every variable that is written.
    let all: Set<MailVariable>

    /// Parses a text; throws the reason for which it is none.
    init(_ text: String) throws(Invalid) {
        var reader = Reader(text: text[...])
        parts = try reader.parts(until: nil)
        (always, all) = (Self.variables(parts, always: true), Self.variables(parts, always: false))
    }

    struct Invalid: Error { let reason: String }

    /// The text with the values, each as `place` writes it. A value is one line, whatever it has.
    func filled(_ values: [MailVariable: String], _ place: Place) -> String { Self.filled(parts, values, place) }

    /// Where a value is written.
    enum Place {
        case text
        case html
    }

    private static func filled(_ parts: [Part], _ values: [MailVariable: String], _ place: Place) -> String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .variable(let name): values[name].map { place == .html ? HTMLText.escaped($0) : $0 } ?? ""
            case .section(let name, let parts): values[name] == nil ? "" : filled(parts, values, place)
            }
        }.joined()
    }

    private static func variables(_ parts: [Part], always: Bool) -> Set<MailVariable> {
        parts.reduce(into: []) { found, part in
            switch part {
            case .text: break
            case .variable(let name): found.insert(name)
            case .section(let name, let parts):
                let inner = variables(parts, always: always)
                found.formUnion(always ? inner.intersection([name]) : inner.union([name]))
            }
        }
    }

    private struct Reader {
        var text: Substring

        mutating func parts(until end: MailVariable?) throws(Invalid) -> [Part] {
            var parts: [Part] = []
            while let open = text.firstRange(of: "{{") {
                if open.lowerBound > text.startIndex { parts.append(.text(String(text[..<open.lowerBound]))) }
                text = text[open.upperBound...]
                guard let close = text.firstRange(of: "}}") else { throw Invalid(reason: "has {{ without }}") }
                let word = text[..<close.lowerBound]
                text = text[close.upperBound...]
                if word.hasPrefix("/") {
                    guard let end, word.dropFirst() == end.rawValue else {
                        throw Invalid(reason: "has {{\(word)}} at a wrong place")
                    }
                    return parts
                }
                let isSection = word.hasPrefix("#")
                let name = String(isSection ? word.dropFirst() : word)
                guard let variable = MailVariable(rawValue: name) else {
                    let known = MailVariable.allCases.map(\.rawValue).joined(separator: ", ")
                    throw Invalid(reason: "has the unknown variable {{\(name.prefix(40))}}; there are \(known)")
                }
                parts.append(isSection ? .section(variable, try self.parts(until: variable)) : .variable(variable))
            }
            if let end { throw Invalid(reason: "has {{#\(end.rawValue)}} without {{/\(end.rawValue)}}") }
            if !text.isEmpty { parts.append(.text(String(text))) }
            text = ""
            return parts
        }
    }
}

/// Text in HTML.
enum HTMLText {
    static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;").replacing("'", with: "&#39;")
    }
}
