internal import HTTP
internal import OAuth
internal import Pages

/// A flash in a URL has a token of the browser beside it, so that no link makes a page say it.
extension FlowSecret {
    /// The parameters that `path(_:saying:)` adds.
    static let flashParameters = ["done", "t"]

    /// The path of a page with what it shall say.
    func path(
        _ page: PagePath, saying flash: Flash<some RawRepresentable<String> & Hashable & Sendable>
    ) -> String {
        let query =
            "done=\(PercentEncoding.encode(flash.text))&t=\(formToken(Self.base(page.text), flash.text))"
        return page.text + (page.text.contains("?") ? "&" : "?") + query
    }

    /// What `path(_:saying:)` has put into the query of a page; nil: nothing.
    func flash<Word>(in query: AuthorizationParameters, on page: String) -> Flash<Word>? {
        guard let text = query["done"], isToken(query["t"], of: Self.base(page), text) else {
            return nil
        }
        return Flash(text: text)
    }

    private static func base(_ path: String) -> String { String(path.prefix { $0 != "?" }) }
}
