import HTTPClient
import Testing

@Suite struct OutboundURLTests {
    @Test(arguments: [
        ("https://login.example/a?b=c", "https://login.example:443"),
        ("HTTPS://Login.Example:8443", "https://login.example:8443"),
        ("https://[2001:db8::1]/", "https://[2001:db8::1]:443"),
    ])
    func url_HasAnOrigin(_ text: String, _ origin: String) throws {
        let url = try #require(OutboundURL(text))
        #expect(url.origin == origin)
        #expect(url.description == text)
    }

    @Test(arguments: [
        "", "login.example", "//login.example", "http://login.example", "http://127.0.0.1/", "ftp://login.example",
        "file:///etc/passwd", "gopher://127.0.0.1/", "https://user@login.example", "https://user:pw@login.example",
        "https://@login.example", "https://login.example/#a", "https://login.example/ a",
        "https://login.example/\r\nX: y",
        "https://login.example/\0", "https:///a", "https:/login.example", "https:login.example",
        "https://login.example:99999", "https://exämple.org", "data:,a",
        "https://login.example/" + String(repeating: "a", count: 2048),
    ])
    func url_IsRefused(_ text: String) { #expect(OutboundURL(text) == nil) }

    @Test(arguments: ["http://127.0.0.1:8080/a", "http://localhost/", "http://[::1]:1/"])
    func plainHTTP_IsForThisMachine_WhereAllowed(_ text: String) {
        #expect(OutboundURL(text) == nil)
        #expect(OutboundURL(text, plainLoopback: true) != nil)
    }

    @Test(arguments: [
        "http://login.example/", "http://127.0.0.1.example/", "http://localhost.example", "http://10.0.0.1/",
    ])
    func plainHTTP_IsForNoOtherHost(_ text: String) { #expect(OutboundURL(text, plainLoopback: true) == nil) }
}
