import JOSE
import Testing

/// Target URIs as RFC 9449 section 4.3 compares them.
@Suite struct DPoPTargetTests {
    @Test(arguments: [
        ("https://a.example", "https://a.example/"), ("https://a.example/x?y=1", "https://a.example/x"),
        ("https://a.example/x#y", "https://a.example/x"), ("https://a.example?y", "https://a.example/"),
        ("HTTPS://A.Example/X", "https://a.example/X"), ("https://a.example:443/", "https://a.example/"),
        ("http://a.example:80/x", "http://a.example/x"), ("https://a.example:/x", "https://a.example/x"),
        ("https://a.example/%7Ex%2d", "https://a.example/~x-"), ("https://a.example/%2f", "https://a.example/%2F"),
        ("https://[::1]:443/x", "https://[::1]/x"), ("https://a.example:8443/x", "https://A.example:8443/x"),
    ])
    func theSame(_ one: String, _ other: String) {
        let first: DPoPTarget? = DPoPTarget(one)
        #expect(first != nil)
        #expect(first == DPoPTarget(other))
    }

    @Test(arguments: [
        ("https://a.example/x", "https://a.example/X"), ("https://a.example/x", "https://a.example/x/"),
        ("https://a.example/x", "http://a.example/x"), ("https://a.example:80/x", "https://a.example/x"),
        ("https://a.example/%2F", "https://a.example//"), ("https://a.example/x", "https://a.example.org/x"),
        ("https://a.example:8443/", "https://a.example:844/"),
    ])
    func notTheSame(_ one: String, _ other: String) {
        let first: DPoPTarget? = DPoPTarget(one)
        #expect(first != nil)
        #expect(first != DPoPTarget(other))
    }

    @Test(arguments: [
        "", "/x", "a.example/x", "ftp://a.example/x", "https://", "https:///x", "https://u@a.example/x",
        "https://a.example/%", "https://a.example/%4", "https://a.example/%zz", "https://a.example/%+4",
        "https://a.example/ x", "https://ä.example/", "javascript://a.example",
    ])
    func none(_ text: String) {
        #expect(DPoPTarget(text) == nil)
    }
}
