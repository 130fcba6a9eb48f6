import Pages

/// A document, read by a tokenizer that accepts only the syntax that the pages use and refuses the rest: attributes have
/// double quotes, every element is closed, `<` and `&` stand for nothing else.
struct Markup {
    struct Malformed: Error, CustomStringConvertible {
        let description: String
    }

    struct Element: Equatable {
        var name: String
        var attributes: [(name: String, value: String)] = []

        subscript(name: String) -> String? { attributes.first { $0.name == name }?.value }

        /// Name and names of attributes: what no text may change.
        var shape: String { ([name] + attributes.map(\.name)).joined(separator: " ") }

        static func == (left: Element, right: Element) -> Bool {
            left.shape == right.shape && left.attributes.map(\.value) == right.attributes.map(\.value)
        }
    }

    /// The opening tags in their order.
    private(set) var elements: [Element] = []
    /// The texts between tags, decoded, without those of white space.
    private(set) var texts: [String] = []

    private static let void: Set = ["meta", "link", "img", "input", "br"]
    private static let references = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "#39": "'"]

    init(_ html: HTML) throws {
        var rest = html.bytes[...]
        let doctype = Array("<!doctype html>\n".utf8)
        guard rest.starts(with: doctype) else { throw Malformed(description: "no doctype") }
        rest = rest.dropFirst(doctype.count)
        var open: [String] = []
        while let first = rest.first {
            if first != UInt8(ascii: "<") {
                let text = rest.prefix { $0 != UInt8(ascii: "<") }
                rest = rest[text.endIndex...]
                let decoded = try Self.decoded(text)
                if decoded.contains(where: { !$0.isWhitespace }) { texts.append(decoded) }
            } else if rest.dropFirst().first == UInt8(ascii: "/") {
                let name = rest.dropFirst(2).prefix { $0 != UInt8(ascii: ">") }
                let closed = String(decoding: name, as: UTF8.self)
                guard open.popLast() == closed else { throw Malformed(description: "</\(closed)> closes nothing") }
                rest = rest[name.endIndex...].dropFirst()
            } else {
                let element = try Self.tag(&rest)
                elements.append(element)
                if !Self.void.contains(element.name) { open.append(element.name) }
            }
        }
        guard open.isEmpty else { throw Malformed(description: "open at the end: \(open)") }
    }

    /// Every element of a name.
    func all(_ names: String...) -> [Element] { elements.filter { names.contains($0.name) } }

    private static func name(_ rest: inout ArraySlice<UInt8>, _ more: String) throws -> String {
        let letters = rest.prefix { (0x61...0x7A).contains($0 | 0x20) || more.utf8.contains($0) }
        rest = rest[letters.endIndex...]
        guard !letters.isEmpty else { throw Malformed(description: "no name: \(shown(rest))") }
        return String(decoding: letters, as: UTF8.self)
    }

    private static func tag(_ rest: inout ArraySlice<UInt8>) throws -> Element {
        rest = rest.dropFirst()
        var element = Element(name: try name(&rest, "12"))
        while rest.first != UInt8(ascii: ">") {
            guard rest.first == UInt8(ascii: " ") else { throw Malformed(description: "in a tag: \(shown(rest))") }
            rest = rest.dropFirst()
            let name = try name(&rest, "-")
            guard element[name] == nil else { throw Malformed(description: "\(name) comes twice") }
            var value = ""
            if rest.first == UInt8(ascii: "=") {
                rest = rest.dropFirst()
                guard rest.first == UInt8(ascii: "\"") else { throw Malformed(description: "\(name) has no quotes") }
                let quoted = rest.dropFirst().prefix { $0 != UInt8(ascii: "\"") }
                guard !quoted.contains(UInt8(ascii: "<")) else { throw Malformed(description: "\(name) has <") }
                value = try decoded(quoted)
                rest = rest[quoted.endIndex...].dropFirst()
            }
            element.attributes.append((name, value))
        }
        rest = rest.dropFirst()
        return element
    }

    private static func decoded(_ text: ArraySlice<UInt8>) throws -> String {
        var parts = text.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        var result = Array(parts.removeFirst())
        for part in parts {
            let name = String(decoding: part.prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
            guard part.count > name.utf8.count, let character = references[name] else {
                throw Malformed(description: "a reference: &\(shown(part))")
            }
            result += character.utf8
            result += part.dropFirst(name.utf8.count + 1)
        }
        guard result.allSatisfy({ $0 >= 0x20 || [9, 10, 13].contains($0) }) else {
            throw Malformed(description: "a control character")
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func shown(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes.prefix(30), as: UTF8.self)
    }
}
