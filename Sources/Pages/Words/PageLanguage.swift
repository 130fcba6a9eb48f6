/// A language of the pages. The raw value is its tag (BCP 47).
public enum PageLanguage: String, CaseIterable, Sendable {
    case english = "en"
    case german = "de"

    /// The language of a request.
    ///
    /// - Parameters:
    ///   - uiLocales: `ui_locales` of the authorization request: tags in the order of preference, separated by spaces. It
    ///     comes first.
    ///   - acceptLanguage: the field of that name (RFC 9110 section 12.5.4).
    /// - Returns: English if neither names a language of the pages.
    public static func chosen(uiLocales: String?, acceptLanguage: String?) -> PageLanguage {
        let wanted = (uiLocales ?? "").prefix(500).split(separator: " ").lazy.compactMap(Self.init(tag:)).first
        return wanted ?? accepted(acceptLanguage ?? "") ?? .english
    }

    /// The language of a tag: of `de`, `de-AT`, `DE`.
    private init?(tag: some StringProtocol) {
        self.init(rawValue: tag.prefix { $0 != "-" }.lowercased())
    }

    /// The language of ours with the greatest weight, the first of equal ones.
    private static func accepted(_ field: String) -> PageLanguage? {
        var best: (language: PageLanguage, weight: Double)?
        for member in field.prefix(1000).split(separator: ",") {
            let parts = member.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            guard let tag = parts.first, let language = PageLanguage(tag: tag) else { continue }
            let quality = parts.dropFirst().first { $0.lowercased().hasPrefix("q=") }
            let weight = quality.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            if weight > best?.weight ?? 0 { best = (language, weight) }
        }
        return best?.language
    }

    /// The sentences.
    var words: any Words {
        switch self {
        case .english: EnglishWords()
        case .german: GermanWords()
        }
    }
}
