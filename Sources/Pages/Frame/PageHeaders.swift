public import HTTP

/// The header fields of every page.
public enum PageHeaders {
    /// The fields: a policy that allows nothing but what this server sends, no storing, no embedding, no referrer.
    ///
    /// `form-action` names the targets as well, because Chromium and WebKit check the whole chain of redirects that a
    /// submitted form leads to.
    public static func fields(in language: PageLanguage, submittingTo targets: [PageURL] = []) -> Fields {
        var fields = Fields()
        fields.append("Content-Type", constant: "text/html; charset=utf-8")
        fields.append("Content-Language", language.tag)
        fields.append("Content-Security-Policy", policy(submittingTo: targets))
        fields.append(constant)
        return fields
    }

    /// The Content Security Policy of a page.
    static func policy(submittingTo targets: [PageURL]) -> String {
        var sources = ["'self'"]
        for target in targets where !sources.contains(target.formSource) { sources.append(target.formSource) }
        return """
            default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
            connect-src 'self'; manifest-src 'self'; base-uri 'none'; frame-ancestors 'none'; \
            form-action \(sources.joined(separator: " ")); require-trusted-types-for 'script'; trusted-types 'none'
            """
    }

    private static let permissions = """
        publickey-credentials-get=(self), publickey-credentials-create=(self), camera=(), microphone=(), \
        geolocation=(), payment=(), usb=(), display-capture=()
        """
    private static let constant: Fields = [
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
        "Permissions-Policy": permissions,
        "Vary": "Accept-Language, Cookie",
    ]
}
