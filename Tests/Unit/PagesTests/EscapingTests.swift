import Pages
import Testing

struct HTMLEscapingTests {
    @Test("a text is escaped") func texts() {
        let text = "<&>\"'"
        #expect(("<p>\(text)</p>" as HTML).text == "<p>&lt;&amp;&gt;&quot;&#39;</p>")
    }
}
