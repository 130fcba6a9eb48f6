/// A field of a form of the console.
public enum ConsoleField: Sendable {
    /// A value that is not shown.
    case hidden(String, String)
    /// A line of text.
    case text(String, label: String, value: String = "", hint: String? = nil, isFocused: Bool = false)
    /// A secret.
    case secret(String, label: String)
    /// Some lines of text.
    case lines(String, label: String, value: String = "", hint: String? = nil)
    /// A box to tick.
    case check(String, label: String, isOn: Bool = false, word: String? = nil)
    /// One of several values.
    case choice(String, label: String, [(value: String, label: String)], chosen: String)

    var html: HTML {
        switch self {
        case .hidden(let name, let value): "<input type=\"hidden\" name=\"\(name)\" value=\"\(value)\">"
        case .text(let name, let label, let value, let hint, let isFocused):
            """
            <label class="field">\(label)<input name="\(name)" type="text" value="\(value)" autocomplete="off" \
            autocapitalize="none" spellcheck="false"\(attribute: "autofocus", if: isFocused)>\(Self.hint(hint))</label>

            """
        case .secret(let name, let label):
            """
            <label class="field">\(label)<input name="\(name)" type="password" autocomplete="off" required></label>

            """
        case .lines(let name, let label, let value, let hint):
            """
            <label class="field">\(label)<textarea name="\(name)" rows="4" autocomplete="off" autocapitalize="none" \
            spellcheck="false">
            \(value)</textarea>\(Self.hint(hint))</label>

            """
        case .check(let name, let label, let isOn, let word):
            """
            <label class="check"><input type="checkbox" name="\(name)" value="1"\(attribute: "checked", if: isOn)> \
            <span>\(label)\(word.map { " <code>\($0)</code>" as HTML })</span></label>

            """
        case .choice(let name, let label, let choices, let chosen):
            """
            <label class="field">\(label)<select name="\(name)">
            \(choices.map { Self.option($0.value, $0.label, chosen == $0.value) })</select></label>

            """
        }
    }

    private static func option(_ value: String, _ label: String, _ isChosen: Bool) -> HTML {
        "<option value=\"\(value)\"\(attribute: "selected", if: isChosen)>\(label)</option>\n"
    }

    private static func hint(_ text: String?) -> HTML? {
        text.map { "<span class=\"hint\">\($0)</span>" }
    }
}

/// A form of the console.
public struct ConsoleForm: Sendable {
    /// Where it goes.
    public var path: PagePath
    /// Whether it only asks: its fields are the query of the page.
    public var isQuery: Bool
    /// The fields.
    public var fields: [ConsoleField]
    /// The label of the button.
    public var button: String
    /// Whether the fields stand beside the button.
    public var isLine: Bool

    /// A form.
    public init(
        _ path: PagePath, isQuery: Bool = false, fields: [ConsoleField], button: String, isLine: Bool = false
    ) {
        self.path = path
        self.isQuery = isQuery
        self.fields = fields
        self.button = button
        self.isLine = isLine
    }

    func html(_ form: FormState?) -> HTML {
        let content: HTML = """
            <div class="\(isLine ? "line" : "stack")">\(fields.map(\.html))\
            <button class="\(isQuery ? "secondary" : "primary")">\(button)</button></div>
            """
        if isQuery { return "<form method=\"get\" action=\"\(path)\">\(content)</form>\n" }
        return form.map { Controls.form(path, $0, content) } ?? HTML()
    }
}

/// Something that an admin can do. It opens with a question that names its object, and says how to do the same with curl and
/// with `sojourn`.
public struct ConsoleAct: Sendable {
    /// Where the form goes.
    public var path: PagePath
    /// What is sent as `act`.
    public var act: String
    /// The label that opens it.
    public var label: String
    /// The question, or what the act does.
    public var question: ConsoleText
    /// What is sent beside.
    public var fields: [ConsoleField]
    /// The label of the button.
    public var button: String
    /// Whether something is lost by it.
    public var isDestructive: Bool
    /// The command of curl that does what the form does.
    public var curl: String
    /// The command of `sojourn` that does what the form does; nil: there is none.
    public var command: String?

    /// An act.
    public init(
        _ path: PagePath, _ act: String, label: String, question: ConsoleText, fields: [ConsoleField] = [],
        button: String, isDestructive: Bool = false, curl: String, command: String?
    ) {
        self.path = path
        self.act = act
        self.label = label
        self.question = question
        self.fields = fields
        self.button = button
        self.isDestructive = isDestructive
        self.curl = curl
        self.command = command
    }

    func html(_ form: FormState) -> HTML {
        let all = [.hidden("act", act)] + fields
        let content: HTML = """
            \(all.map(\.html))<button class="\(isDestructive ? "danger" : "primary")">\(button)</button>
            """
        return """
            <details class="act"><summary>\(label) …</summary>
            <p>\(question.html)</p>
            \(Controls.form(path, form, content))<p class="hint">The same by hand:</p>
            \(Self.command(curl))\(command.map(Self.command))</details>

            """
    }

    /// A command that can be copied. It is whole, because a part of one does something else.
    static func command(_ text: String) -> HTML {
        """
        <div class="command"><pre tabindex="0"><code>\(text)</code></pre>\
        <button type="button" class="link" hidden data-copy>Copy</button></div>

        """
    }
}

/// A long form with two buttons: one shows the call, the other makes it.
public struct ConsoleEditor: Sendable {
    /// Fields that belong together.
    public struct Group: Sendable {
        /// What they are about.
        public var title: String
        /// The fields.
        public var fields: [ConsoleField]

        /// A group.
        public init(_ title: String, _ fields: [ConsoleField]) {
            self.title = title
            self.fields = fields
        }
    }

    /// Where it goes.
    public var path: PagePath
    /// The fields.
    public var groups: [Group]
    /// The label of the button that makes the call.
    public var save: String
    /// The label of the button that shows it.
    public var preview: String

    /// A form.
    public init(_ path: PagePath, groups: [Group], save: String, preview: String) {
        self.path = path
        self.groups = groups
        self.save = save
        self.preview = preview
    }

    func html(_ form: FormState?) -> HTML {
        let content: HTML = """
            \(groups.map { Self.group($0) })<div class="line"><button class="primary" name="act" value="change">\(save)</button>\
            <button class="secondary" name="act" value="preview">\(preview)</button></div>
            """
        return form.map { Controls.form(path, $0, content) } ?? HTML()
    }

    private static func group(_ group: Group) -> HTML {
        """
        <fieldset><legend>\(group.title)</legend>
        <div class="editor">\(group.fields.map(\.html))</div>
        </fieldset>

        """
    }
}
