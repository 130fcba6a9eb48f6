import Configuration
import FoundationEssentials
import JSON
import Repository
import Server
import Testing

/// The page of the configuration: the table of keys, with the comments of `config/sojourn.json5`.
enum ConfigurationPage {
    /// A key of the configuration.
    struct Row {
        let path: String
        let variable: String
        /// The default as a file spells it.
        let standard: String
        /// What the value is, as the first sentence of its comment says.
        let form: String
        /// The unit of a number; nil: it is none.
        let unit: String?
        /// The smallest and the largest number.
        let range: String?
        /// The rest of the comment.
        let reason: String

        var name: String { String(path.split(separator: ".").last ?? "") }
        /// A list of objects, which no variable holds.
        var isSection: Bool { !path.contains(".") }
        var section: String { String(path.prefix { $0 != "." }) }
    }

    /// The pages that say what an object in a list has.
    private static let pages = [
        "identity_providers": "[Identity providers](../APIs/IdentityProviders.md)",
        "webhooks": "[Webhooks](../APIs/Webhooks.md)",
    ]

    static func text() throws -> String {
        let file = try CommentedFile("config/sojourn.json5")
        var header = file.header
        var page = Markdown(
            title: "Configuration", abstract: header.removeFirst(),
            source: "the table of keys and the comments of `config/sojourn.json5`")
        for paragraph in header { page.paragraph(paragraph) }
        let rows = try rows()
        var sections: [String] = []
        for row in rows where !sections.contains(row.section) { sections.append(row.section) }
        for section in sections {
            page.heading(2, section)
            let members = rows.filter { $0.section == section }
            if let list = members.first, list.isSection {
                page.paragraph(list.form + " " + list.reason)
                if let link = pages[section] { page.paragraph("Members and examples: \(link).") }
                continue
            }
            page.table(
                ["Key", "Variable", "Default", "Value", "Why"],
                members.map { row in
                    [
                        Markdown.code(row.name), Markdown.code(row.variable), Markdown.code(row.standard),
                        row.form.dropLast() + (row.range.map { "; \($0)" } ?? ""), row.reason,
                    ]
                })
        }
        return page.text
    }

    /// A value as a file spells it.
    private static func spelling(of value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .string(let value): "\"\(value)\""
        case .array(let values): "[" + values.map(spelling).joined(separator: ", ") + "]"
        case .object: "an object"
        }
    }

    /// Every key, in the order of the file.
    static func rows() throws -> [Row] {
        let file = try CommentedFile("config/sojourn.json5")
        let standard = ServerConfiguration()
        return try ConfigurationKey.all.map { key in
            let comment = try #require(file.comments[key.path], "\(key.path) has no comment")
            let end = comment.firstRange(of: ". ")?.lowerBound ?? comment.endIndex
            let number = key.expectation.firstMatch(of: #/^a whole number of (.+) from (\d+) to (\d+)$/#)
            return Row(
                path: key.path, variable: key.variable, standard: spelling(of: key.get(standard)),
                form: end == comment.endIndex ? comment : comment[..<end] + ".",
                unit: number.map { String($0.1) }, range: number.map { "\($0.2) to \($0.3)" },
                reason: String(comment[end...].dropFirst(2)))
        }
    }
}

/// The comments of a JSON5 file of sections, by the keys that stand below them.
private struct CommentedFile {
    /// The comment before the file's object, a text for each paragraph.
    private(set) var header: [String] = []
    /// The comments of keys, by their paths.
    private(set) var comments: [String: String] = [:]

    init(_ path: String) throws {
        let bytes = try #require(FileManager.default.contents(atPath: Repository.path(path)))
        var comment: [String] = []
        var section = ""
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false) {
            let text = line.drop { $0 == " " }
            if text.hasPrefix("//") {
                comment.append(String(text.dropFirst(2).drop { $0 == " " }))
                continue
            }
            defer { comment = [] }
            if line == "{" {
                header = comment.split(separator: "").map { $0.joined(separator: " ") }
                continue
            }
            guard let colon = text.firstIndex(of: ":") else { continue }
            let name = String(text[..<colon])
            let isSection = line.hasPrefix("    ") && !line.hasPrefix("     ")
            if isSection { section = name }
            let key = isSection ? name : "\(section).\(name)"
            if !comment.isEmpty { comments[key] = comment.joined(separator: " ") }
        }
    }
}
