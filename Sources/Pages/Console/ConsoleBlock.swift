/// A part of a page of the console.
public indirect enum ConsoleBlock: Sendable {
    /// A heading with what stands below it.
    case section(String, [ConsoleBlock])
    /// A paragraph.
    case text(ConsoleText)
    /// Paragraphs that explain, set apart from the rest.
    case explanation([ConsoleText])
    /// Names with their values.
    case facts([(name: String, value: ConsoleText)])
    case table(ConsoleTable)
    /// A list of sentences.
    case list([ConsoleText])
    /// Things with what can be done with each.
    case items([ConsoleItem], empty: String)
    /// Ways to go on, each with a sentence.
    case cards([(path: PagePath, title: String, text: String)])
    /// Acts side by side.
    case acts([ActForm])
    /// A form that is there at once.
    case form(ConsoleForm)
    /// A long form with two buttons.
    case editor(ConsoleEditor)
    /// Text as it is typed: a command, a configuration.
    case code(String)
    /// The life of a session.
    case lifetime(LifetimeDrawing)
    /// The refresh tokens of a session.
    case rotation(RotationDrawing)
    /// What pages show of a client or of the service.
    case brand(BrandDrawing)
    /// Numbers over time, side by side.
    case charts([ColumnChart])
    /// Shares of a whole.
    case shares(ShareChart)
    /// The ways to the neighboring pages of a list.
    case pages(newer: PagePath?, older: PagePath?)

    /// The markup; `form` has the hidden fields.
    func html(_ form: FormState?) -> HTML {
        switch self {
        case .section(let title, let blocks):
            """
            <section><h2>\(DisplayName(title).text)</h2>
            \(blocks.map { $0.html(form) })</section>

            """
        case .text(let text): "<p>\(text.html)</p>\n"
        case .explanation(let texts):
            "<div class=\"explanation\">\(texts.map { "<p>\($0.html)</p>\n" as HTML })</div>\n"
        case .facts(let facts): Self.facts(facts)
        case .table(let table): table.html(form)
        case .list(let texts): "<ul class=\"plain\">\(texts.map { "<li>\($0.html)</li>\n" as HTML })</ul>\n"
        case .items(let items, let empty):
            items.isEmpty
                ? "<p class=\"hint\">\(empty)</p>\n" : "<ul class=\"items\">\(items.map { $0.html(form) })</ul>\n"
        case .cards(let cards): Self.cards(cards)
        case .acts(let acts): "<div class=\"acts\">\(acts.compactMap { act in form.map { act.html($0) } })</div>\n"
        case .form(let content): content.html(form)
        case .editor(let editor): editor.html(form)
        case .code(let text): ActForm.command(text)
        case .lifetime(let drawing): drawing.html
        case .rotation(let drawing): drawing.html
        case .brand(let drawing): drawing.html
        case .charts(let charts): "<div class=\"charts\">\(charts.map(\.html))</div>\n"
        case .shares(let chart): chart.html
        case .pages(let newer, let older): Self.pages(newer, older)
        }
    }

    private static func cards(_ cards: [(path: PagePath, title: String, text: String)]) -> HTML {
        let cards = cards.map { card -> HTML in
            "<li><a href=\"\(card.path)\"><strong>\(card.title)</strong> <span>\(card.text)</span></a></li>\n"
        }
        return "<ul class=\"cards\">\(cards)</ul>\n"
    }

    private static func facts(_ facts: [(name: String, value: ConsoleText)]) -> HTML {
        let rows = facts.filter { !$0.value.isEmpty }.map { fact -> HTML in
            "<div><dt>\(DisplayName(fact.name).text)</dt><dd>\(fact.value.html)</dd></div>\n"
        }
        return rows.isEmpty ? HTML() : "<dl class=\"facts wide\">\n\(rows)</dl>\n"
    }

    private static func pages(_ newer: PagePath?, _ older: PagePath?) -> HTML {
        if newer == nil, older == nil { return HTML() }
        return """
            <p class="pages">\(newer.map { "<a href=\"\($0)\">← First page</a>" as HTML })\
            \(older.map { "<a href=\"\($0)\">Next page →</a>" as HTML })</p>

            """
    }
}

/// A table of the console. The first cell of a row names the row.
public struct ConsoleTable: Sendable {
    /// What the table lists, for screen readers.
    public var caption: String
    /// The headings.
    public var columns: [String]
    /// The rows, each with as many cells as there are columns.
    public var rows: [[ConsoleText]]
    /// The sentence without rows.
    public var empty: String
    /// Whether each row is one line where the window is wide enough.
    public var isDense: Bool

    /// A table.
    public init(
        _ caption: String, columns: [String], rows: [[ConsoleText]], empty: String, isDense: Bool = false
    ) {
        self.isDense = isDense
        self.caption = caption
        self.columns = columns
        self.rows = rows
        self.empty = empty
    }

    func html(_ form: FormState?) -> HTML {
        if rows.isEmpty { return "<p class=\"hint\">\(empty)</p>\n" }
        let names = columns.map { "<th scope=\"col\">\(DisplayName($0).text)</th>" as HTML }
        return """
            <table\(attribute: "class", isDense ? "dense" : nil)><caption>\(DisplayName(caption).text)</caption>
            <thead><tr>\(names)</tr></thead>
            <tbody>
            \(rows.map(row))</tbody></table>

            """
    }

    private func row(_ cells: [ConsoleText]) -> HTML {
        if isDense {
            let cells = cells.enumerated().map {
                $0 == 0 ? "<th scope=\"row\">\($1.html)</th>" : "<td>\($1.html)</td>" as HTML
            }
            return "<tr>\(cells)</tr>\n"
        }
        let cells = zip(columns, cells).enumerated().map { index, pair -> HTML in
            index == 0
                ? "<th scope=\"row\" data-label=\"\(DisplayName(pair.0).text)\">\(pair.1.html)</th>"
                : "<td data-label=\"\(DisplayName(pair.0).text)\">\(pair.1.html)</td>"
        }
        return "<tr>\(cells)</tr>\n"
    }
}

/// A thing in a list, with what can be done with it.
public struct ConsoleItem: Sendable {
    /// Its name.
    public var title: ConsoleText
    /// What is known of it, a line each.
    public var lines: [ConsoleText]
    /// What can be done with it.
    public var acts: [ActForm]

    /// A thing.
    public init(_ title: ConsoleText, lines: [ConsoleText], acts: [ActForm] = []) {
        self.title = title
        self.lines = lines
        self.acts = acts
    }

    func html(_ form: FormState?) -> HTML {
        let lines = lines.filter { !$0.isEmpty }.map { "<p class=\"sub\">\($0.html)</p>\n" as HTML }
        return """
            <li><div><p class="name"><strong>\(title.html)</strong></p>
            \(lines)</div>\(acts.compactMap { act in form.map { act.html($0) } })</li>

            """
    }
}
