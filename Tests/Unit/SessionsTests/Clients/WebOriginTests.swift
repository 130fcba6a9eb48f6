import Sessions
import Testing

/// The text of an origin, in the form in which browsers send it.
@Suite struct WebOriginTests {
    @Test(
        "An origin is taken as browsers write it",
        arguments: [
            "https://shop.example", "https://shop.example:8443", "https://a", "https://xn--bcher-kva.example",
            "https://a_b.example", "https://192.0.2.1", "https://[2001:db8::1]", "https://[::1]:8443", "https://[1::]",
            "https://[::]", "https://[1:2:3:4:5:6:7:8]", "https://[1:0:3:0:5:6:7:8]", "https://[1:0:0:4::8]",
            "http://localhost", "http://localhost:5173", "http://127.0.0.1:3000", "http://[::1]:3000",
            "capacitor://localhost", "ionic://localhost", "tauri://localhost", "app://obsidian.md",
            "chrome-extension://aapocclcgogkmnckokdopfmhonfmgoek", "com.example.app://web:81",
        ])
    func taken(_ text: String) throws {
        #expect(try WebOrigin(text).text == text)
    }

    @Test(
        "Any other text is refused with its reason",
        arguments: [
            ("", "1 to 255 bytes"), (String(repeating: "a", count: 256), "1 to 255 bytes"), ("null", "sandboxed"),
            ("*", "patterns"), ("https://*.shop.example", "patterns"), ("https://bücher.example", "xn--"),
            ("https://a b", "xn--"), ("https://a\n", "xn--"), ("https://Shop.example", "lower case"),
            ("HTTPS://shop.example", "lower case"), ("shop.example", "SCHEME://HOST"), ("https:shop", "SCHEME://HOST"),
            ("file://", "the scheme"), ("data://x", "the scheme"), ("blob://x", "the scheme"), ("://x", "the scheme"),
            ("wss://shop.example", "the scheme"), ("javascript://x", "the scheme"), ("1a://x", "the scheme"),
            ("https://shop.example/", "without a path"), ("https://shop.example/a", "without a path"),
            ("https://shop.example?a", "without a path"), ("https://shop.example#a", "without a path"),
            ("https://anna@shop.example", "a user"), ("https://shop.example:443", "leave out the port 443"),
            ("http://localhost:80", "leave out the port 80"), ("https://shop.example:", "the port"),
            ("https://shop.example:0", "the port"), ("https://shop.example:08443", "the port"),
            ("https://shop.example:65536", "the port"), ("https://shop.example:a", "the port"),
            ("https://", "the host"), ("https://.example", "the host"), ("https://shop.example.", "the host"),
            ("https://a..b", "the host"), ("https://192.0.2.01", "the host"), ("https://192.0.2", "the host"),
            ("https://192.0.2.256", "the host"), ("https://1", "the host"), ("https://a%41", "the host"),
            ("https://[::1", "the host"), ("https://[0:0:0:0:0:0:0:1]", "the host"), ("https://[::0001]", "the host"),
            ("https://[1:0:0:4:0:0:0:8]", "the host"), ("https://[1::2::3]", "the host"), ("https://[1:2]", "the host"),
            ("https://[::ffff:192.0.2.1]", "the host"), ("https://[:::]", "the host"), ("app://", "the host"),
            ("http://shop.example", "http is for"), ("http://10.0.2.2:3000", "http is for"),
        ])
    func refused(_ text: String, _ reason: String) throws {
        let problem = #expect(throws: WebOrigin.Problem.self) { try WebOrigin(text) }
        #expect(problem?.detail.contains(reason) == true, "\(problem?.detail ?? "")")
        #expect(problem?.detail.unicodeScalars.allSatisfy { (0x20..<0x7F).contains($0.value) } == true)
    }

    @Test("The origin of a page has neither its path nor the usual port")
    func ofPages() {
        #expect(WebOrigin(ofPage: "https://Shop.Example:443/a?b#c")?.text == "https://shop.example")
        #expect(WebOrigin(ofPage: "http://localhost:5173")?.text == "http://localhost:5173")
        #expect(WebOrigin(ofPage: "http://shop.example/") == nil)
        #expect(WebOrigin(ofPage: "shop.example") == nil)
        #expect(WebOrigin.text(ofPage: "http://10.0.0.1:80/x") == "http://10.0.0.1")
    }
}
