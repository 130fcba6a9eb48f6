public import AdminActs
internal import Cryptography
public import JSON
public import Pages
internal import Sessions

// The forms of what pages show of a client and of the service.

extension ChangeBranding: FormAct {
    /// See `FormAct`.
    public static let page = ActPage.settings
    /// See `FormAct`.
    public static let names = ["brand"]

    /// A field that was left as it was shown does not undo what another admin has stored since.
    public init(_ values: FormValues, on subject: ActSubject) throws(CallRefusal) {
        let changed = Self.texts.filter { values[$0] != values[Self.before($0)] }
        self.init(
            Dictionary(uniqueKeysWithValues: changed.map { ($0, values[$0].map { .string($0) } ?? .null) }))
    }

    /// The name of the hidden field with what another field was filled with.
    static func before(_ name: String) -> String { "\(FormMark.name).\(name)" }

    /// See `FormAct`.
    public func flash(_ answer: [String: JSONValue]) -> ConsoleFlash { ConsoleFlash(.changed) }
}

extension SetLogo: FormAct {
    /// See `FormAct`.
    public static let page = ActPage.client
    /// See `FormAct`.
    public static let names = LogoForm.names

    /// See `FormAct`.
    public init(_ values: FormValues, on subject: ActSubject) throws(CallRefusal) {
        self.init(LogoForm.picture(values), of: subject)
    }

    /// See `FormAct`.
    public func flash(_ answer: [String: JSONValue]) -> ConsoleFlash { ConsoleFlash(.changed) }
}

extension SetServiceLogo: FormAct {
    /// See `FormAct`.
    public static let page = ActPage.settings
    /// See `FormAct`.
    public static let names = LogoForm.names

    /// See `FormAct`.
    public init(_ values: FormValues, on subject: ActSubject) throws(CallRefusal) {
        self.init(LogoForm.picture(values))
    }

    /// See `FormAct`.
    public func flash(_ answer: [String: JSONValue]) -> ConsoleFlash { ConsoleFlash(.changed) }
}

/// The forms that set and remove a logo.
enum LogoForm {
    static let names = ["logo", "remove-logo"]

    /// The picture that was sent, which is empty without one; nil: the logo is removed.
    static func picture(_ values: FormValues) -> [UInt8]? {
        if values["act"] == names[1] { return nil }
        return values["picture"].flatMap { Base64URL.decode($0) } ?? []
    }
}

extension ConsoleView {
    /// The forms of a logo, on the page of a client or of the settings.
    func logoForms<Act: FormAct>(
        _ type: Act.Type, on subject: ActSubject, _ path: PagePath, of owner: ConsoleText, hasLogo: Bool
    ) -> [ActForm] {
        let set = form(
            type, LogoForm.names[0], on: subject, path, label: hasLogo ? "Another logo" : "Logo",
            question: "Which picture shall be the logo of \(owner)?",
            fields: [
                .picture(
                    "picture", label: "Picture",
                    hint: "PNG or WebP, not animated, 16 to 1024 pixels wide and high, at most 64 KiB.")
            ],
            button: "Set the logo")
        let remove = form(
            type, LogoForm.names[1], on: subject, path, label: "Remove the logo",
            question: "Remove the logo of \(owner)?", button: "Remove the logo", isDestructive: true)
        return [set, hasLogo ? remove : nil].compactMap(\.self)
    }

    /// The brand of the service: how pages look, and the forms that change it.
    func brand(_ branding: Branding) -> ConsoleBlock {
        let values = BrandField.all.map { ($0, $0.value(branding) ?? "") }
        let change = form(
            ChangeBranding.self, on: ActSubject(""), .consoleSettings, label: "Change the brand",
            question: "What pages and mails show of the service. What a client has of its own goes first.",
            fields: values.map { .text($0.name, label: $0.label, value: $1) }
                + values.map { .hidden(ChangeBranding.before($0.name), $1) },
            button: "Change the brand")
        let logo = logoForms(
            SetServiceLogo.self, on: ActSubject(""), .consoleSettings, of: "the service", hasLogo: branding.logo != nil)
        return .section(
            "Brand", [.brand(BrandDrawing(branding.drawn("Your app")))] + [.acts([change].compactMap(\.self) + logo)])
    }
}

/// A text of a brand that an admin types.
struct BrandField: Sendable {
    let name: String
    let label: String
    let value: @Sendable (Branding) -> String?

    static let all = [
        BrandField(name: "accent", label: "Color, like #0a5fd1") { $0.accent },
        BrandField(name: "policy_uri", label: "Privacy policy") { $0.policyURL },
        BrandField(name: "tos_uri", label: "Terms of service") { $0.termsURL },
        BrandField(name: "support_uri", label: "Page with help") { $0.supportURL },
        BrandField(name: "support_email", label: "Mailbox for questions") { $0.supportEmail },
    ]
}

extension Branding {
    /// The top of a page with this brand.
    func drawn(_ name: String) -> PageApp {
        PageApp(
            name: name, logo: logo.map { .logo($0) }, accent: accent.flatMap { AccentColor($0) },
            policy: policyURL.flatMap { PageURL(absolute: $0) }, terms: termsURL.flatMap { PageURL(absolute: $0) },
            support: supportURL.flatMap { PageURL(absolute: $0) })
    }
}
