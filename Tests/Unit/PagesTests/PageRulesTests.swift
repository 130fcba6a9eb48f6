import HTTP
import PageSamples
import Pages
import Testing

/// What holds for each page in each language.
struct PageRulesTests {
    private static func each(_ check: (String, Markup) throws -> Void) throws {
        for language in PageLanguage.builtIn {
            for sample in PageSamples.all() {
                try check("\(language.tag)/\(sample.name)", Markup(sample.page.html(in: language)))
            }
        }
    }

    @Test("no inline script, no inline style, no event handler, and every script is a module of ours")
    func nothingIsInline() throws {
        try Self.each { name, page in
            for element in page.elements {
                for attribute in element.attributes {
                    #expect(!attribute.name.hasPrefix("on") && attribute.name != "style", "\(name)")
                }
                #expect(!["style", "iframe", "object", "embed", "base", "template"].contains(element.name), "\(name)")
            }
            for script in page.all("script") {
                #expect(script["type"] == "module" && script["src"]?.hasPrefix("/assets/") == true, "\(name)")
            }
        }
    }

    @Test("nothing is loaded from another origin, and every form submits to ours by POST") func originsAreOurs() throws
    {
        try Self.each { name, page in
            for element in page.all("img", "script", "link", "source") {
                let address = element["src"] ?? element["href"] ?? ""
                #expect(
                    address == "data:," || address.hasPrefix("/") && !address.hasPrefix("//"), "\(name): \(address)")
            }
            for form in page.all("form") {
                #expect(form["method"] == "post" && form["action"]?.hasPrefix("/") == true, "\(name)")
            }
            // Each form begins with its token.
            let ends = page.elements.indices.filter { page.elements[$0].name == "form" }
            for index in ends { #expect(page.elements[index + 1]["name"] == "csrf", "\(name)") }
        }
    }

    @Test("below the path of an issuer, each address of the server begins with it, and nothing else has changed")
    func pathsAreBelowTheIssuer() throws {
        for sample in PageSamples.all() {
            let response = sample.page.response(.ok, in: .english)
            var (plain, placed) = (response.body, response.body)
            PagePath.place(&plain, below: "")
            PagePath.place(&placed, below: "/a/auth")
            let (before, after) = (String(decoding: plain, as: UTF8.self), String(decoding: placed, as: UTF8.self))
            #expect(plain == sample.page.html(in: .english).bytes && String(validating: placed, as: UTF8.self) != nil)
            let addresses = #/ (?:href|src|action|formaction|data-[a-z]+)="(\/[^"]*)"/#
            let (old, new) = (before.matches(of: addresses).map(\.1), after.matches(of: addresses).map(\.1))
            #expect(!old.isEmpty && new.map(String.init) == old.map { "/a/auth" + $0 }, "\(sample.name)")
            #expect(after.replacing("/a/auth/", with: "/") == before, "\(sample.name)")
        }
    }

    @Test("a page has one heading, one main part, its language and its direction") func outline() throws {
        try Self.each { name, page in
            #expect(page.all("main").count == 1 && page.all("h1").count == 1, "\(name)")
            #expect(page.elements.first?["lang"] == String(name.prefix(2)), "\(name)")
            #expect(page.elements.first?["dir"] == "ltr", "\(name)")
            #expect(page.all("title").count == 1, "\(name)")
        }
    }

    @Test("ids are unique, and whatever refers to one finds it") func references() throws {
        try Self.each { name, page in
            let ids = page.elements.compactMap { $0["id"] }
            #expect(Set(ids).count == ids.count, "\(name): \(ids)")
            let used =
                page.elements.compactMap { $0["for"] }
                + page.elements.compactMap { $0["aria-describedby"] }.flatMap {
                    $0.split(separator: " ").map(String.init)
                }
            #expect(Set(used).isSubset(of: ids), "\(name): \(used)")
        }
    }

    @Test("passwords are masked, and no field keeps a password manager away") func passwordsAreMasked() throws {
        var count = 0
        try Self.each { name, page in
            for input in page.all("input") {
                let isPassword = input["autocomplete"]?.hasSuffix("-password") == true
                #expect(isPassword == (input["type"] == "password"), "\(name): \(input.shape)")
                count += isPassword ? 1 : 0
            }
        }
        #expect(count > 5)
    }

    @Test("every field that is typed has a label and an autocomplete token") func fieldsAreLabelled() throws {
        try Self.each { name, page in
            for input in page.all("input") where ["text", "password", "email", "tel"].contains(input["type"] ?? "") {
                #expect(input["autocomplete"] != nil, "\(name)")
                guard input["hidden"] == nil else { continue }
                #expect(page.all("label").contains { $0["for"] == input["id"] }, "\(name): \(input.shape)")
            }
            for image in page.all("img") { #expect(image["alt"] != nil, "\(name)") }
        }
    }

    @Test(
        "an error comes before its field, has the role of an alert, and its field is described by it and has the focus")
    func errorsAreAnnounced() throws {
        try Self.each { name, page in
            guard let wrong = page.elements.firstIndex(where: { $0["aria-invalid"] == "true" }) else { return }
            let notice = try #require(page.elements.firstIndex { $0["id"] == "notice" }, "\(name)")
            #expect(notice < wrong && page.elements[notice]["role"] == "alert", "\(name)")
            #expect(
                page.elements[wrong]["aria-describedby"]?.split(separator: " ").contains("notice") == true, "\(name)")
            #expect(page.elements[wrong]["autofocus"] != nil, "\(name)")
            #expect(page.elements.count { $0["autofocus"] != nil } == 1, "\(name)")
        }
    }

    /// The pages of the account, and those to which the links of mails lead.
    private static let withoutApps = ["account-", "mail-", "deletion-"]

    @Test("every page has a way on, and the way back to its app") func waysOn() throws {
        let back: Set = ["com.example.harbor:/back", "com.example.harbor:/start", "https://example.com/"]
        let withoutApp: Set = [
            "login-account", "login-factor-wrong", "error-redirect", "error-not-found", "expired-without-way",
            "needs-tls", "reset",
            "reset-expired", "reset-cookies-blocked", "reset-refused", "reset-unavailable", "password-saved",
            "app-login-stale", "device-code", "device-unknown",
            "device-elsewhere", "phone-link", "phone-other-browser",
            "not-me-done", "not-me-over", "app-login", "app-login-too-late", "reset-proven", "reset-over",
            // Its buttons lead to the app.
            "login-offer", "login-offer-failed",
        ]
        try Self.each { name, page in
            let links = page.all("a").compactMap { $0["href"] }
            let sample = String(name.dropFirst(3))
            // There is no app and no address to lead to: the sentence says what to do.
            if sample != "expired-without-way" {
                #expect(!links.isEmpty || !page.all("form").isEmpty, "\(name)")
            }
            // These pages belong to no app.
            if withoutApp.contains(sample) || Self.withoutApps.contains(where: sample.hasPrefix) { return }
            #expect(links.contains(where: back.contains), "\(name): \(links)")
        }
    }

    @Test("no two ways of a page lead to one address of an app") func waysDiffer() throws {
        try Self.each { name, page in
            let links = page.all("a").compactMap { $0["href"] }.filter { !$0.hasPrefix("/") }
            #expect(Set(links).count == links.count, "\(name): \(links)")
        }
    }

    @Test(
        "a page with the name of an account, or with what a device wants of it, begins anew when the browser comes back"
    )
    func accountPagesBeginAnew() throws {
        let named = [
            "account-", "logout", "login-choice", "login-known", "login-everything", "device-review",
            "device-abroad", "app-login-question", "app-login-other",
        ]
        try Self.each { name, page in
            let isNamed = named.contains { name.dropFirst(3).hasPrefix($0) }
            let mark = page.all("body").first?["data-account"]
            #expect((mark != nil) == isNamed && mark?.hasPrefix("/") != false, "\(name): \(mark ?? "")")
        }
    }

    @Test("a page weighs at most 18 KiB, with its style sheet and its modules") func weights() throws {
        let sizes = Dictionary(uniqueKeysWithValues: PageAsset.all.map { ($0.path.text, $0.bytes.count) })
        for language in PageLanguage.builtIn {
            for sample in PageSamples.all() {
                let html = sample.page.html(in: language)
                let loaded = try Markup(html).all("link", "script").compactMap { $0["src"] ?? $0["href"] }
                let weight = html.bytes.count + loaded.compactMap { sizes[$0] }.reduce(0, +)
                #expect(weight <= 18 * 1024, "\(language.tag)/\(sample.name): \(weight)")
            }
        }
    }

    @Test("times are written for readers and, exactly, for programs") func timesAreExact() throws {
        let sample = try #require(PageSamples.all().first { $0.name == "account-devices" })
        let html = sample.page.html(in: .german).text
        #expect(html.contains(#"<time datetime="2026-11-18T11:06:40Z">18. November 2026, 11:06 Uhr UTC</time>"#))
        #expect(html.contains(#"<time datetime="2027-03-20T14:13:20Z" class="day">20. März 2027</time>"#))
        // An end within two days has its hour.
        #expect(html.contains(#"<time datetime="2026-11-18T11:36:40Z">18. November 2026, 11:36 Uhr UTC</time>"#))
    }
}
