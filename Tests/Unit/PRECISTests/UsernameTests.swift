import PRECIS
import Testing

/// The examples of RFC 8265 section 3.6 and of RFC 8264, and each rule of the class at its edges.
struct UsernameTests {
    @Test(
        "the legal examples of the RFC have the keys that it lists",
        arguments: [
            ("juliet@example.com", "juliet@example.com"),
            ("fussball", "fussball"),
            ("fu\u{DF}ball", "fu\u{DF}ball"),
            ("\u{3C0}", "\u{3C0}"),
            ("\u{3A3}", "\u{3C3}"),
            ("\u{3C3}", "\u{3C3}"),
            ("\u{3C2}", "\u{3C2}"),
        ])
    func legalExamples(name: String, key: String) throws {
        #expect(try Username(name).key == key)
    }

    @Test(
        "the illegal examples of the RFC are refused",
        arguments: [
            ("foo bar", UsernameProblem.blank(" ")),
            ("", .empty),
            ("henry\u{2163}", .disallowed("\u{2163}")),
            ("\u{265A}", .disallowed("\u{265A}")),
        ])
    func illegalExamples(name: String, problem: UsernameProblem) {
        #expect(throws: problem) { try Username(name) }
    }

    @Test(
        "names that differ in case, width or composition alone are one name",
        arguments: [
            ("Anna", "aNNA"),
            ("\u{FF21}nna", "anna"),
            ("Z\u{FC}rich", "zu\u{308}rich"),
            ("\u{FF76}\u{FF9E}", "\u{30AC}"),
            ("\u{39F}\u{394}\u{39F}\u{3A3}", "\u{3BF}\u{3B4}\u{3BF}\u{3C2}"),
        ])
    func equalNames(one: String, other: String) throws {
        #expect(try Username(one).key == Username(other).key)
    }

    @Test(
        "sharp s and both small sigmas are names of their own",
        arguments: [
            ("fu\u{DF}ball", "fussball"), ("\u{3BF}\u{3C3}", "\u{3BF}\u{3C2}"), ("anna", "ann\u{430}"),
        ])
    func differentNames(one: String, other: String) throws {
        #expect(try Username(one).key != Username(other).key)
    }

    @Test("a name is shown in its own case, with widths mapped and in form C")
    func shownName() throws {
        #expect(try Username("\u{FF21}nna").text == "Anna")
        #expect(try Username("Zu\u{308}rich").text.unicodeScalars.count == 6)
    }

    @Test(
        "an invisible character, or one that turns the line, is refused",
        arguments: [
            "anna\u{0}", "an\u{7}na", "anna\u{200B}", "anna\u{AD}", "anna\u{202E}", "anna\u{2066}", "anna\u{FEFF}",
            "anna\u{E0020}", "anna\u{FFFF}", "anna\u{E000}", "anna\u{1100}", "anna\u{640}", "anna\u{115F}",
        ])
    func invisibleNames(name: String) {
        #expect(throws: UsernameProblem.self) { try Username(name) }
    }

    @Test(
        "every blank is refused as a blank",
        arguments: [
            "\u{20}", "\u{A0}", "\u{1680}", "\u{2003}", "\u{2028}", "\u{202F}", "\u{205F}", "\u{3000}",
        ])
    func blanks(blank: String) {
        #expect { try Username("an\(blank)na") } throws: { error in
            guard case UsernameProblem.blank = error else { return false }
            return true
        }
    }

    @Test("a code point of no version of Unicode is told as unassigned")
    func unassigned() {
        #expect(throws: UsernameProblem.unassigned("\u{378}")) { try Username("anna\u{378}") }
    }

    @Test(
        "a contextual code point is allowed beside what its rule wants alone",
        arguments: [
            ("l\u{B7}l", true), ("a\u{B7}l", false), ("\u{375}\u{3B1}", true), ("\u{375}a", false),
            ("\u{5D0}\u{5F3}\u{5D0}", true), ("\u{30FB}\u{30A2}", true), ("a\u{30FB}b", false),
            ("\u{628}\u{661}", true), ("\u{628}\u{661}\u{6F1}", false),
            ("\u{915}\u{94D}\u{200D}\u{937}", true), ("\u{915}\u{200D}\u{937}", false),
            ("\u{646}\u{627}\u{645}\u{647}\u{200C}\u{627}\u{6CC}", true), ("a\u{200C}b", false),
        ])
    func contexts(name: String, isAllowed: Bool) {
        #expect(((try? Username(name)) != nil) == isAllowed)
    }

    @Test(
        "a name from right to left keeps the six conditions",
        arguments: [
            ("\u{5D0}\u{5D1}", true), ("\u{627}\u{628}1", true), ("a\u{5D0}", false), ("1\u{5D0}", false),
            ("\u{5D0}a", false), ("\u{5D0}-", false), ("\u{627}1\u{661}", false), ("\u{5D0}\u{5B0}", true),
        ])
    func directions(name: String, isAllowed: Bool) {
        #expect(((try? Username(name)) != nil) == isAllowed)
    }

    @Test(
        "preparing a prepared name changes nothing",
        arguments: [
            "Anna", "\u{130}stanbul", "\u{1E9E}", "\u{39F}\u{394}\u{39F}\u{3A3}", "\u{FF21}\u{FF9E}", "\u{1F88}",
        ])
    func idempotence(name: String) {
        guard let first = try? Username(name) else { return }
        #expect((try? Username(first.key))?.key == first.key)
        #expect((try? Username(first.text))?.text == first.text)
    }
}
