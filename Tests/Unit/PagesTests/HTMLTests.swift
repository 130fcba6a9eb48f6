import Testing

@testable import Pages

struct HTMLTests {
    @Test("a text is escaped as content and in quotes") func texts() {
        let text = "<a href='x'>&\"\u{0}\u{202E}\t"
        let escaped = "&lt;a href=&#39;x&#39;&gt;&amp;&quot;\u{FFFD}\u{FFFD}\t"
        #expect(("<p title=\"\(text)\">\(text)</p>" as HTML).text == "<p title=\"\(escaped)\">\(escaped)</p>")
    }

    @Test("markup is not escaped again, and nil renders nothing") func pieces() {
        let piece: HTML = "<b>\("&")</b>"
        let absent: HTML? = nil
        #expect(
            ("<p>\(piece)\([piece, piece])\(absent)\(7)</p>" as HTML).text
                == "<p>\(String(repeating: "<b>&amp;</b>", count: 3))7</p>")
    }

    @Test("attributes come with their values, escaped, or not at all") func attributes() {
        let html: HTML =
            "<input\(attribute: "value", "\"<")\(attribute: "class", nil)\(attribute: "checked", if: true)>"
        #expect(html.text == "<input value=\"&quot;&lt;\" checked>")
    }

    @Test("a cut name keeps whole characters and few scalars") func names() {
        #expect(DisplayName("Ada").text == "Ada")
        #expect(DisplayName(String(repeating: "é", count: 61)).text == String(repeating: "é", count: 59) + "…")
        #expect(DisplayName("e" + String(repeating: "\u{301}", count: 500)).text.unicodeScalars.count <= 121)
        #expect(["", "!", "ada", "ßa", "4x"].map { DisplayName($0).initial } == ["?", "?", "A", "SS", "4"])
    }

    @Test("a value in the wrong place stops the program, in a debug build") func wrongPlaces() async {
        await #expect(processExitsWith: .failure) { _ = "<p class=\("x")></p>" as HTML }
        await #expect(processExitsWith: .failure) { _ = "<a href=\"\("javascript:alert(1)")\"></a>" as HTML }
        await #expect(processExitsWith: .failure) { _ = "<p \("onclick")></p>" as HTML }
        await #expect(processExitsWith: .failure) { _ = "<p title=\"\("<b></b>" as HTML)\"></p>" as HTML }
        await #expect(processExitsWith: .failure) { _ = "<form action=\"\(PageURL(.login))\"></form>" as HTML }
        await #expect(processExitsWith: .failure) { _ = "<p title=\"\(PagePath.login)\"></p>" as HTML }
    }

    @Test("markup that the policy refuses stops the program, in a debug build") func refusedMarkup() async {
        await #expect(processExitsWith: .failure) { _ = "<p onclick=\"a()\">\(1)</p>" as HTML }
        await #expect(processExitsWith: .failure) { _ = "<p style=\"color:red\">\(1)</p>" as HTML }
        await #expect(processExitsWith: .failure) { _ = "<p id=x>\(1)</p>" as HTML }
        await #expect(processExitsWith: .failure) { _ = "<p id=\"x\"class=\"y\">\(1)</p>" as HTML }
        await #expect(processExitsWith: .failure) { _ = "\(1)<p id=\"x\"" as HTML }
        await #expect(processExitsWith: .failure) { _ = "<input\(attribute: "onfocus", "a()")>" as HTML }
    }
}
