import Pages
import Testing

struct PageURLTests {
    private static let accepted: [(String, formSource: String)] = [
        ("https://app.example/cb?x=1#y", "https://app.example"),
        ("https://app.example:8443/cb", "https://app.example:8443"),
        ("HTTPS://APP.Example/", "https://app.example"), ("https://[2001:db8::1]/cb", "https:"),
        ("http://127.0.0.1:53123/cb", "http:"), ("http://127.1.2.3/", "http:"), ("http://[::1]:8080/cb", "http:"),
        ("http://localhost:3000", "http:"), ("com.example.app:/cb", "com.example.app:"),
        ("com.example.app://host/cb", "com.example.app:"), ("myapp:cb", "myapp:"), ("Com.Example:/x", "com.example:"),
    ]

    @Test("https, http to a loopback address and schemes of apps are links", arguments: accepted)
    func targetsOfRedirects(text: String, source: String) throws {
        let url = try #require(PageURL(absolute: text))
        #expect(url.text == text)
        #expect(url.formSource == source)
    }

    @Test(
        "nothing else is a link",
        arguments: [
            "javascript:alert(1)", "JavaScript:alert(1)", "java\nscript:alert(1)", "\u{1}javascript:alert(1)",
            "data:text/html,x", "vbscript:x", "blob:https://a/b", "file:///etc/passwd", "about:blank",
            "intent://x#Intent;end",
            "view-source:https://a", "http://example.com/", "http://127.0.0.1.evil.example/", "http://127.0.0.256/",
            "http://localhost.evil.example/", "http://evil.example#127.0.0.1", "http://127.0.0.1@evil.example/",
            "https://user@app.example/", "https://", "https:///cb", "https:app.example", "https://a b/",
            "https://a\"b/",
            "https://a'b/", "https://a<b/", "https://a\\b/", "https://exämple.com/", "https://app.example:80x/",
            "https://app.example;default-src/", "https://*/", "https://*.example/", "//evil.example/", "/path", "app",
            "",
            ":x", "1a:x", "a;b:x", "com.example.app:",
        ])
    func othersAreNot(text: String) { #expect(PageURL(absolute: text) == nil) }

    @Test(
        "a received path stays on this server",
        arguments: [
            ("/login", true), ("/login?r=a%20b", true), ("//evil.example", false), ("/\\evil.example", false),
            ("", false),
            ("login", false), ("https://evil.example", false), ("/a b", false), ("/\"", false),
            ("/\t/evil.example", false),
        ])
    func receivedPaths(text: String, isPath: Bool) { #expect((PagePath(checking: text) != nil) == isPath) }

    @Test("segments and values are percent-encoded, and no segment goes up") func builtPaths() {
        #expect(PagePath("/a").appending("b/../c?d").text == "/a/b%2F..%2Fc%3Fd")
        #expect(PagePath("/a").appending("..").appending(".").appending("").text == "/a/_/_/_")
        #expect(PagePath("/login", ["r": "a&b=\"", "s": "1"]).text == "/login?r=a%26b%3D%22&s=1")
    }
}
