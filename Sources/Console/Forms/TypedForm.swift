internal import HTTP
public import Pages
internal import Sessions

/// A form of the console that came when its page, or the stay of the browser, was over. It is kept in the page of the answer, and can
/// be sent again, so that nothing typed is lost.
public struct TypedForm: Sendable {
    /// The fields in which the page of the entry has the form.
    public static let (pathField, bodyField) = ("typed_path", "typed")

    /// Where it goes.
    public let path: PagePath
    /// What was sent, as it was.
    public let body: String
    private let pairs: [(name: String, value: String)]

    /// A form that goes to a path of the console, with its names and values; nil for another path.
    public init?(path: String, body: String, pairs: [(name: String, value: String)]) {
        guard let path = PagePath(checking: path), path.text.hasPrefix("/console/")
        else { return nil }
        self.path = path
        self.body = body
        self.pairs = pairs.filter { $0.name != "csrf" }
    }

    /// The fields that carry the form through the entry.
    var fields: [ConsoleField] { [.hidden(Self.pathField, path.text), .hidden(Self.bodyField, body)] }

    /// What was typed.
    var shown: ConsoleBlock {
        let typed = pairs.filter { pair in
            !pair.value.isEmpty && !pair.name.hasPrefix(FormMark.name)
        }
        return .facts([("page", "\(path.text)")] + typed.map { ($0.name, "\($0.value)") })
    }

    /// The form with what was typed, to be sent again.
    var blocks: [ConsoleBlock] {
        [
            shown,
            .form(ConsoleForm(path, fields: pairs.map { .hidden($0.name, $0.value) }, button: "Send it")),
            .text("\(link: path, "Leave it, and go to the page")"),
        ]
    }
}

extension ConsoleView {
    /// The page that has a form once more. Nothing has come of it.
    public static func typed(
        _ typed: TypedForm, _ header: ConsolePage.Header, _ form: FormState, isBack: Bool
    ) -> ConsolePage {
        ConsolePage(
            header: header, form: form, tab: nil, title: "Once more",
            notice: (
                .plain,
                isBack
                    ? "You are in again. The form has done nothing yet: press once more."
                    : "The page was too old, so nothing has happened: press once more."
            ), blocks: typed.blocks)
    }
}
