/// The markup of a form of an act, which opens with a question that names its object. `FormAct` of `Console` reads it.
public struct ActForm: Sendable {
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
    /// The commands of a shell that do what the form does as it stands, each by itself. Without any, the form has a button that
    /// asks for them.
    public var commands: [String]
    /// Whether the question is open at first.
    public var isOpen: Bool

    /// An act.
    public init(
        _ path: PagePath, _ act: String, label: String, question: ConsoleText, fields: [ConsoleField] = [],
        button: String, isDestructive: Bool = false, commands: [String], isOpen: Bool = false
    ) {
        self.path = path
        self.act = act
        self.label = label
        self.question = question
        self.fields = fields
        self.button = button
        self.isDestructive = isDestructive
        self.commands = commands
        self.isOpen = isOpen
    }

    /// The act with its question open.
    public var opened: ActForm {
        var act = self
        act.isOpen = true
        return act
    }

    /// What a form sends to see its commands, and not to run them.
    public static let showsCommands = (name: "show", value: "commands")

    func html(_ form: FormState) -> HTML {
        let all = [.hidden("act", act)] + fields
        let shows = Self.showsCommands
        let more: HTML =
            fields.contains(where: \.isShown)
            ? "<button class=\"secondary\" name=\"\(shows.name)\" value=\"\(shows.value)\">Show the commands</button>"
            : ""
        let content: HTML = """
            <div class="\(fields.filter(\.isShown).count > 4 ? "editor" : "stack")">\(all.map(\.html))</div><div class="line"><button class="\(isDestructive ? "danger" : "primary")">\(button)</button>\
            \(more)</div>
            """
        return """
            <details class="act"\(attribute: "open", if: isOpen)><summary>\(label) …</summary>
            <p>\(question.html)</p>
            \(Controls.form(path, form, content, hasFile: hasFile))\(Self.byHand(commands))</details>

            """
    }

    private var hasFile: Bool {
        fields.contains { if case .picture = $0 { true } else { false } }
    }

    private static func byHand(_ commands: [String]) -> HTML {
        if commands.isEmpty { return HTML() }
        return """
            <div data-by-hand><p class="hint">The same by hand, with either command:</p>
            \(commands.map(command))</div>
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
