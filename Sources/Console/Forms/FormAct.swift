public import AdminActs
public import JSON
public import Pages

/// A sentence at the top of a page.
public typealias ConsoleNotice = (look: ConsoleLook, text: ConsoleText)

/// The pages with forms of acts.
public enum ActPage: Sendable {
    case user, newUser, session, login, client, keys, deliveries, settings
}

/// An act with a form on a page of the console. The act is made from the values of the fields, and both its call and its printed
/// commands from the act, so that a command does what the form does.
public protocol FormAct: AdminAct {
    /// Where its forms stand.
    static var page: ActPage { get }
    /// The words by which forms name the act.
    static var names: [String] { get }
    /// The act that a form asks for.
    ///
    /// - Parameter subject: what the page is about.
    init(_ values: FormValues, on subject: ActSubject) throws(CallRefusal)
    /// What the page says when it is done.
    func flash(_ answer: [String: JSONValue]) -> ConsoleFlash
    /// The sentence that stands on the page of the answer alone, because no URL has room for it.
    func notice(_ answer: [String: JSONValue]) -> ConsoleNotice?
    /// The page to which the act leads; nil: that of the form.
    func landing(_ answer: [String: JSONValue]) -> PagePath?
}

extension FormAct {
    /// Most acts show nothing but a flash.
    public func notice(_ answer: [String: JSONValue]) -> ConsoleNotice? { nil }

    /// Most acts lead back to their page.
    public func landing(_ answer: [String: JSONValue]) -> PagePath? { nil }
}

extension ActPage {
    /// The acts that have forms on the page.
    public var acts: [any FormAct.Type] {
        Acts.all.compactMap { $0 as? any FormAct.Type }.filter { $0.page == self }
    }

    /// The act of a form of this page; nil: there is none of that name.
    public func act(named name: String?) -> (any FormAct.Type)? {
        acts.first { type in type.names.contains { $0 == name } }
    }
}

extension ConsoleView {
    /// The form of an act with its commands; nil if the key may not make its call. It is open, and filled with what was typed, if it
    /// was just sent and nothing came of it.
    ///
    /// - Parameter name: one of the names of the act; nil: its only one.
    func form<Act: FormAct>(
        _ type: Act.Type, _ name: String? = nil, on subject: ActSubject, _ path: PagePath, label: String,
        question: ConsoleText, fields: [ConsoleField] = [],
        button: String, isDestructive: Bool = false
    ) -> ActForm? {
        let name = name ?? type.names[0]
        let shown = FormValues([.hidden("act", name)] + fields)
        guard admin.may(type.scope), let untouched = try? type.init(shown, on: subject) else { return nil }
        var form = ActForm(
            path, name, label: label, question: question, fields: fields, button: button, isDestructive: isDestructive,
            commands: [])
        var made = fields.contains(where: \.isShown) ? nil : untouched
        if let sent = admin.sent, sent["act"] == name, isSame(fields, sent) {
            form.fields = fields.map { $0.filled { sent[$0] } }
            form.isOpen = true
            if Self.showsCommands(sent) { made = try? type.init(sent, on: subject) }
        }
        form.commands = made?.commands(at: admin.baseURL) ?? []
        return form
    }

    /// Whether a form only asks for its commands.
    public static func showsCommands(_ form: FormValues) -> Bool {
        form[ActForm.showsCommands.name] == ActForm.showsCommands.value
    }

    /// Whether a form that was sent is about the same object.
    private func isSame(_ fields: [ConsoleField], _ sent: FormValues) -> Bool {
        fields.allSatisfy { field in
            guard case .hidden(let name, let value) = field, !name.hasPrefix(FormMark.name) else { return true }
            return (sent[name] ?? "") == value
        }
    }
}
