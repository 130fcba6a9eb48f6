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
    /// The fields that are folded while they are empty.
    public var more: [ConsoleField]

    /// A form.
    public init(
        _ path: PagePath, isQuery: Bool = false, fields: [ConsoleField], button: String, isLine: Bool = false,
        more: [ConsoleField] = []
    ) {
        self.path = path
        self.isQuery = isQuery
        self.fields = fields
        self.more = more
        self.button = button
        self.isLine = isLine
    }

    func html(_ form: FormState?) -> HTML {
        let content: HTML = """
            <div class="\(isLine ? "line" : "stack")">\(fields.map(\.html))\
            <button class="\(isQuery ? "secondary" : "primary")">\(button)</button></div>\(folded)
            """
        if isQuery { return "<form method=\"get\" action=\"\(path)\">\(content)</form>\n" }
        return form.map { Controls.form(path, $0, content) } ?? HTML()
    }

    private var folded: HTML {
        if more.isEmpty { return HTML() }
        let isOpen = more.flatMap(\.values).contains { !$0.value.isEmpty }
        return """
            <details class="more"\(attribute: "open", if: isOpen)><summary>More fields</summary>
            <div class="line">\(more.map(\.html))</div></details>
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
        /// What the group opens with; nil: it is always open.
        public var summary: String?
        /// Whether it is open at first.
        public var isOpen: Bool

        /// A group.
        public init(_ title: String, _ fields: [ConsoleField], summary: String? = nil, isOpen: Bool = false) {
            self.isOpen = isOpen
            self.title = title
            self.fields = fields
            self.summary = summary
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
        guard let summary = group.summary else {
            return """
                <fieldset><legend>\(group.title)</legend>
                <div class="editor">\(group.fields.map(\.html))</div>
                </fieldset>

                """
        }
        return """
            <details class="group"\(attribute: "open", if: group.isOpen)><summary><strong>\(group.title)</strong> <span class="hint">\(summary)</span></summary>
            <div class="editor" role="group" aria-label="\(group.title)">\(group.fields.map(\.html))</div></details>

            """
    }
}
