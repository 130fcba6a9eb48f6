/// The languages of a server: English, German, and those of its language files.
public struct PageLanguages: Sendable {
    /// English and German, as they are built in.
    public static let builtIn = PageLanguages()

    /// The languages, English first.
    public private(set) var all = PageLanguage.builtIn

    /// The languages that are built in, and `others`. One of them replaces the language of its tag.
    public init(_ others: [PageLanguage] = []) {
        for language in others {
            if let place = all.firstIndex(of: language) { all[place] = language } else { all.append(language) }
        }
    }

    /// English, which has every sentence.
    public var english: PageLanguage { all[0] }

    /// The language of a tag, of `de-AT` German if there is no Austrian one (RFC 4647 section 3.4); nil if there is none.
    public subscript(tag: String) -> PageLanguage? { language(tag.prefix(100)) }

    /// The language of a request.
    ///
    /// - Parameters:
    ///   - uiLocales: `ui_locales` of the authorization request: tags in the order of preference, separated by spaces. It
    ///     comes first.
    ///   - acceptLanguage: the field of that name (RFC 9110 section 12.5.4).
    /// - Returns: English if neither names a language of the pages.
    public func chosen(uiLocales: String?, acceptLanguage: String?) -> PageLanguage {
        let wanted = (uiLocales ?? "").prefix(500).split(separator: " ").lazy.compactMap { language($0) }.first
        return wanted ?? accepted(acceptLanguage ?? "") ?? english
    }

    private func language(_ tag: some StringProtocol) -> PageLanguage? {
        var range = tag.lowercased()[...]
        while true {
            if let found = all.first(where: { $0.range == range }) { return found }
            guard let hyphen = range.lastIndex(of: "-") else { break }
            range = range[..<hyphen]
        }
        // Brazilian is better than English for readers of Portuguese.
        return all.first { $0.range.prefix { $0 != "-" } == range }
    }

    /// The language of ours with the greatest weight, the first of equal ones.
    private func accepted(_ field: String) -> PageLanguage? {
        var best: (language: PageLanguage, weight: Double)?
        for member in field.prefix(1000).split(separator: ",") {
            let parts = member.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            guard let tag = parts.first, let language = language(tag) else { continue }
            let quality = parts.dropFirst().first { $0.lowercased().hasPrefix("q=") }
            let weight = quality.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            if weight > best?.weight ?? 0 { best = (language, weight) }
        }
        return best?.language
    }
}
