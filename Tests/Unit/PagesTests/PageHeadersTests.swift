import HTTP
import PageSamples
import Pages
import Testing

struct PageHeadersTests {
    private static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
        connect-src 'self'; manifest-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'; \
        require-trusted-types-for 'script'; trusted-types 'none'
        """

    @Test("every page has these fields and no other") func fields() {
        let response = NeedsTLSPage().response(.misdirectedRequest, in: .german)
        #expect(response.status == .misdirectedRequest)
        #expect(
            response.fields == [
                "Content-Type": "text/html; charset=utf-8", "Content-Language": "de",
                "Content-Security-Policy": Self.policy, "Cross-Origin-Opener-Policy": "same-origin",
                "Cross-Origin-Resource-Policy": "same-origin", "Referrer-Policy": "no-referrer",
                "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
                "Permissions-Policy": """
                publickey-credentials-get=(self), publickey-credentials-create=(self), camera=(), microphone=(), \
                geolocation=(), payment=(), usb=(), display-capture=()
                """,
                "Vary": "Accept-Language, Cookie",
            ])
        var body = response.body
        PagePath.place(&body, below: "")
        #expect(body == NeedsTLSPage().html(in: .german).bytes)
    }

    @Test("the policy names where a form of this page may lead to, and only that")
    func formAction() throws {
        let targets = try [
            "https://app.example:8443/cb?a=b", "com.example.app:/cb", "http://[::1]:9999/cb", "http://127.0.0.1:1/cb",
            "https://app.example:8443/other",
        ].map { try #require(PageURL(absolute: $0)) }
        let fields = PageHeaders.fields(in: .english, submittingTo: targets + [PageURL(.login)])
        let expected = "form-action 'self' https://app.example:8443 com.example.app: http:;"
        #expect(fields.first("Content-Security-Policy") == Self.policy.replacing("form-action 'self';", with: expected))
    }
}
