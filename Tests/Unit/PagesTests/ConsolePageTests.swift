import Pages
import Testing

/// What holds for every page of the console, shown by one that has each kind of block.
struct ConsolePageTests {
    private static func page(_ text: String = "text") -> ConsolePage {
        let sentence: ConsoleText = """
            A \(text), a \(name: text), a \(code: text), a \(link: .console, text), at \(time: 1_800_000_000): \
            \(badge: text, .good), \(secret: text), \(link: .console, code: text)
            """
        let act = ActForm(
            .consoleFind, "end", label: text, question: sentence,
            fields: [.text("reason", label: text), .hidden("x", text)],
            button: text, isDestructive: true, commands: [text, text], isOpen: true)
        let fields: [ConsoleField] = [
            .text("a", label: text, value: text, hint: text), .secret("b", label: text),
            .lines("c", label: text, value: text), .check("d", label: text, isOn: true),
            .day("g", label: text, value: text),
            .boxes(label: text, [.check("h", label: text, word: text)], hint: text),
            .choice("e", label: text, [(value: text, label: text), (value: "other", label: text)], chosen: text),
            .hidden("f", text),
        ]
        let columns = (0..<5).map { ColumnChart.Column(text, total: $0, marked: $0 / 2) }
        return ConsolePage(
            header: ConsolePage.Header(keyName: text, scope: text), form: FormState(csrf: text), tab: .find,
            title: text,
            heading: sentence, lead: sentence, notice: (.bad, sentence),
            blocks: [
                .section(text, [.text(sentence), .explanation([sentence]), .list([sentence, sentence])]),
                .facts([(text, sentence)]),
                .table(ConsoleTable(text, columns: [text, text], rows: [[sentence, sentence]], empty: text)),
                .table(ConsoleTable(text, columns: [text], rows: [[sentence]], empty: text, isDense: true)),
                .items([ConsoleItem(sentence, lines: [sentence], acts: [act])], empty: text),
                .cards([(path: .console, title: text, text: text)]),
                .acts([act, act]), .form(ConsoleForm(.consoleFind, fields: fields, button: text)),
                .form(
                    ConsoleForm(
                        .consoleUsers, isQuery: true, fields: fields, button: text, isLine: true, more: fields)),
                .editor(
                    ConsoleEditor(
                        .consoleNewClient, groups: [ConsoleEditor.Group(text, fields, summary: text)], save: text,
                        preview: text)),
                .code(text),
                .lifetime(
                    LifetimeDrawing(start: 0, refreshed: 50, now: 60, idleEnd: 100, finalEnd: 200, ended: nil)),
                .rotation(RotationDrawing(parent: 7, child: 8, answered: 50, rotationDue: 70, isLiving: true)),
                .charts([ColumnChart(text, marked: text, columns: columns, ends: (text, text))]),
                .shares(ShareChart(text, parts: [(sentence, 3), (sentence, 1)], empty: text)),
                .pages(newer: .console, older: .consoleUsers),
            ])
    }

    @Test(
        "no text adds an element or an attribute to a page, or changes an address in it",
        // An empty text has no element of its own.
        arguments: HostileTextTests.texts.filter { !$0.isEmpty })
    func structureIsFixed(text: String) throws {
        let (plain, hostile) = (
            try Markup(Self.page().html(in: .english)), try Markup(Self.page(text).html(in: .english))
        )
        #expect(hostile.elements.map(\.shape) == plain.elements.map(\.shape))
        func addresses(_ markup: Markup) -> [String] {
            markup.elements.flatMap(\.attributes).filter { ["href", "src", "action"].contains($0.name) }.map(\.value)
        }
        #expect(addresses(hostile) == addresses(plain))
    }

    @Test("no inline script and no inline style, and every form of an act begins with its token") func pagesAreClean()
        throws
    {
        let page = try Markup(Self.page().html(in: .english))
        for element in page.elements {
            for attribute in element.attributes {
                #expect(!attribute.name.hasPrefix("on") && attribute.name != "style", "\(element.shape)")
            }
        }
        for script in page.all("script") { #expect(script["src"]?.hasPrefix("/assets/") == true) }
        for index in page.elements.indices where page.elements[index]["method"] == "post" {
            #expect(page.elements[index + 1]["name"] == "csrf")
        }
        #expect(page.all("form").contains { $0["method"] == "post" })
        let ids = page.elements.compactMap { $0["id"] }
        #expect(Set(ids).count == ids.count)
    }

    @Test("the files of the console weigh at most 25 KiB") func weights() throws {
        let sizes = Dictionary(uniqueKeysWithValues: PageAsset.all.map { ($0.path.text, $0.bytes.count) })
        let loaded = try Markup(Self.page().html(in: .english)).all("link", "script").compactMap {
            $0["src"] ?? $0["href"]
        }
        #expect(loaded.compactMap { sizes[$0] }.reduce(0, +) <= 25 * 1024)
    }

    @Test("the parts of the life of a session lie inside its drawing", arguments: [0, 1, 1_000_000_000_000] as [Int64])
    func drawingsStayInside(factor: Int64) throws {
        for (times, ended) in [
            ([0, 1, 2, 3, 4], nil), ([0, 0, 0, 0, 0], nil), ([5, 1, 9, 2, 3], 4), ([0, 3, 9, 20, 5], nil),
        ] as [([Int64], Int64?)] {
            let t = times.map { $0 * factor }
            let drawing = LifetimeDrawing(
                start: t[0], refreshed: t[1], now: t[2], idleEnd: t[3], finalEnd: t[4], ended: ended.map { $0 * factor }
            )
            let page = ConsolePage(header: nil, form: nil, tab: nil, title: "x", blocks: [.lifetime(drawing)])
            for rect in try Markup(page.html(in: .english)).all("rect") {
                let (x, width) = (Int(rect["x"] ?? "") ?? -1, Int(rect["width"] ?? "") ?? -1)
                #expect(x >= 0 && width > 0 && x + width <= 1000, "\(times) \(rect.attributes)")
            }
        }
    }

    private static func drawing(refreshed: Int64, now: Int64, finalEnd: Int64, ended: Int64?) throws -> Markup {
        let drawing = LifetimeDrawing(
            start: 0, refreshed: refreshed, now: now, idleEnd: 100, finalEnd: finalEnd, ended: ended)
        return try Markup(
            ConsolePage(header: nil, form: nil, tab: nil, title: "x", blocks: [.lifetime(drawing)]).html(in: .english))
    }

    /// The place of a mark.
    private static func mark(_ name: String, in page: Markup) -> [Int] {
        page.all("rect").filter { $0["class"] == "mark-\(name)" }.compactMap { $0["x"].flatMap { Int($0) } }
    }

    @Test("the bar of an ended session is as long as its life, and no mark of two things has one color")
    func endedSessionsFillTheirBar() throws {
        let early = try Self.drawing(refreshed: 0, now: 500, finalEnd: 18_000, ended: 100)
        #expect(Self.mark("ended", in: early).allSatisfy { $0 > 700 } && Self.mark("ended", in: early).count == 1)
        #expect(Self.mark("would", in: early).isEmpty && Self.mark("final", in: early).isEmpty)
        #expect(
            early.texts.joined().contains("would have ended in any case, to the right of the bar"), "\(early.texts)")
        #expect(
            !early.texts.joined().contains(": ends in any case")
                && !early.texts.joined().contains("ends unless refreshed"))
        let late = try Self.drawing(refreshed: 50, now: 500, finalEnd: 110, ended: 100)
        let (would, ended) = (Self.mark("would", in: late), Self.mark("ended", in: late))
        #expect(would.count == 1 && ended.count == 1 && would[0] > ended[0])
        #expect(!late.texts.joined().contains("to the right of the bar"))
        let whole = try Self.drawing(refreshed: 50, now: 500, finalEnd: 100, ended: 100)
        #expect(!whole.texts.joined().contains("would have ended"))
    }

    @Test("the last refresh is seen behind the present") func marksOfOneTimeAreSeen() throws {
        let page = try Self.drawing(refreshed: 50, now: 50, finalEnd: 200, ended: nil)
        let sizes = page.all("rect").filter { ["mark-refreshed", "mark-now"].contains($0["class"]) }.map {
            (Int($0["width"] ?? "") ?? 0, Int($0["height"] ?? "") ?? 0)
        }
        #expect(sizes.count == 2 && sizes[0].0 > sizes[1].0 && sizes[0].1 < sizes[1].1, "\(sizes)")
    }

    @Test("the title names the console once") func titlesAreNotDoubled() throws {
        for (title, wanted) in [("Find", "Find · Sojourn console"), (ConsolePage.ownTitle, "Sojourn console")] {
            let page = ConsolePage(header: nil, form: nil, tab: nil, title: title, blocks: []).html(in: .english)
            #expect(try Markup(page).texts.first == wanted)
        }
    }
}
