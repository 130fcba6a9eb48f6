internal import FoundationEssentials
internal import JSON
public import Mail
public import Pages
internal import Texts

/// A language file: an object in JSON5 with one text for each key, which is named after the tag of its language.
public struct LanguageFile {
    /// Every problem of a file, one line each, with the name of the file and the line in it.
    public struct Problems: Error, Hashable, Sendable {
        /// The lines.
        public let lines: [String]
    }

    /// The ending of the name of a language file.
    public static let ending = ".json5"
    /// The most bytes of a file.
    public static let sizeMax = 1_048_576

    /// The name, for errors.
    let name: String
    /// The lines of the keys.
    private let lines: [(key: String, line: Int)]
    /// The sentences of the pages.
    public let pages: PageLanguage
    /// The texts of mails; nil: the file has none.
    public let mails: MailTexts?
    /// The beginning of the keys of mails: `mail.reset.subject`.
    static let mailPrefix = "mail."

    /// Reads the file at `path` with the content `text`.
    public init(path: String, _ text: [UInt8]) throws(Problems) {
        name = path
        let file = path.split(separator: "/").last ?? ""
        let tag = String(file.dropLast(Self.ending.count))
        guard file.hasSuffix(Self.ending), PageLanguage.isTag(tag) else {
            throw Problems(lines: ["\(path): must be named after its language, as pt-BR.json5 is"])
        }
        guard text.count <= Self.sizeMax else {
            throw Problems(lines: ["\(path): has more than \(Self.sizeMax) bytes"])
        }
        let members = try Self.members(path, text)
        lines = SyntaxPosition.keys(in: text)
        let all = lines
        var problems = Set(all.map(\.key)).sorted().compactMap { key -> (Int, String)? in
            let lines = all.filter { $0.key == key }.map(\.line)
            guard lines.count > 1 else { return nil }
            return (lines[1], "\(key) stands in line \(lines[0]) already")
        }
        let texts = members.compactMapValues(\.string)
        problems += members.keys.filter { texts[$0] == nil }.map { key in
            (Self.line(of: key, in: all), "\(key) must be a text, not \(members[key]?.configurationText ?? "")")
        }
        do { mails = try Self.mails(tag, texts) } catch {
            mails = nil
            let key = Self.mailPrefix + error.key
            problems.append((Self.line(of: key, in: all), "\(key) \(error.reason)"))
        }
        do throws(TextProblems) {
            pages = try PageLanguage(tag: tag, texts: texts.filter { !$0.key.hasPrefix(Self.mailPrefix) })
            if !problems.isEmpty { throw TextProblems([]) }
        } catch {
            let known = PageLanguage.english.sections.flatMap { $0.texts.map(\.key) }
            problems += error.all.filter { members[$0.key] == nil || texts[$0.key] != nil }.map { problem in
                let hint = problem.reason == .unknownKey ? Suggestions.nearest(to: problem.key, among: known) : nil
                return (
                    Self.line(of: problem.key, in: all),
                    "\(problem.key) \(problem.reason)" + (hint.map { "; did you mean \($0)?" } ?? "")
                )
            }
            throw Problems(lines: problems.sorted { $0.0 < $1.0 }.map { "\(path):\($0.0): \($0.1)" })
        }
    }

    /// The texts of mails among those of a file. A language that is not built in has each of them, or none.
    private static func mails(_ tag: String, _ texts: [String: String]) throws(Mail.TextProblem) -> MailTexts? {
        let own = texts.filter { $0.key.hasPrefix(mailPrefix) }
        guard !own.isEmpty else { return nil }
        let keyed = own.map { (String($0.key.dropFirst(mailPrefix.count)), $0.value) }
        return try MailTexts(
            texts: Dictionary(uniqueKeysWithValues: keyed), base: MailTexts.builtIn[tag.lowercased()])
    }

    private static func members(_ path: String, _ text: [UInt8]) throws(Problems) -> [String: JSONValue] {
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        do { return try decoder.decode([String: JSONValue].self, from: Data(text)) } catch {
            switch error {
            case DecodingError.dataCorrupted: throw Problems(lines: ["\(path): \(SyntaxPosition.problem(in: text))"])
            default: throw Problems(lines: ["\(path): must hold one object of texts: { sign_in: \"…\", … }"])
            }
        }
    }

    /// The line of a key; the first one for a key that the file lacks.
    private static func line(of key: String, in keys: [(key: String, line: Int)]) -> Int {
        keys.last { $0.key == key }?.line ?? 1
    }
}

extension PageLanguage {
    /// A language file with every text of the pages and of mails, for a translator.
    public func languageFile(mails: MailTexts?) -> String {
        var sections = sections
        if let mails {
            let texts = mails.texts.sorted { $0.key < $1.key }
            sections.append(("Mails", texts.map { ("\"\(LanguageFile.mailPrefix)\($0.key)\"", $0.value) }))
        }
        let parts = sections.map { section in
            let texts = section.texts.map { key, text in
                "  \(key): \(String(decoding: JSONText.compact(text) ?? [], as: UTF8.self)),\n"
            }
            return "  // \(section.title)\n" + texts.joined()
        }
        return "{\n" + parts.joined(separator: "\n") + "}\n"
    }
}
