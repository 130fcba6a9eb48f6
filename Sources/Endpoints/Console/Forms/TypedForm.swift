internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// A form of the console that came when its page, or the stay of the browser, was over. It is kept in the page of the answer, and can
/// be sent again, so that nothing typed is lost.
struct TypedForm: Sendable {
    /// The fields in which the page of the entry has the form.
    static let (pathField, bodyField) = ("typed_path", "typed")

    /// Where it goes.
    let path: PagePath
    /// What was sent, as it was.
    let body: String
    private let pairs: [FormPair]

    /// What no page shows: what was looked for may be a token, and the entry takes a key.
    private static let unkept = [PagePath.consoleFind, .consoleLeave, .consoleEnter].map(\.text)

    /// The form that a request has; nil if it has none that is kept.
    init?(_ call: Call) {
        let path = call.request.target.path
        guard call.request.method == .post, !Self.unkept.contains(path) else { return nil }
        self.init(path: path, body: String(decoding: call.request.body, as: UTF8.self))
    }

    /// The form that the page of the entry has kept.
    init?(_ form: FormParameters) {
        guard let path = form[Self.pathField], let body = form[Self.bodyField] else { return nil }
        self.init(path: path, body: body)
    }

    private init?(path: String, body: String) {
        guard let path = PagePath(checking: path), path.text.hasPrefix("/console/"),
            let pairs = try? FormDecoder.decode(Array(body.utf8))
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
    static func typed(
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
