import AdminActs
import FoundationEssentials
import HTTP
import JSON

/// What pages show: `sojourn settings brand`, `sojourn settings logo`, `sojourn client logo`.
enum BrandingCommands {
    /// The options that the service and clients have in common.
    static let options = [
        Command.Option("--accent", "COLOR", "the color of buttons and links, like #0a5fd1; '' for none"),
        Command.Option("--policy-uri", "URI", "the privacy policy; '' for none"),
        Command.Option("--tos-uri", "URI", "the terms of service; '' for none"),
        Command.Option("--support-uri", "URI", "a page with help; '' for none"),
        Command.Option("--support-email", "ADDRESS", "a mailbox for questions; '' for none"),
    ]

    static let brand = Command.admin(
        ["settings", "brand"], "Changes what pages and mails show of the service.", options: options,
        discussion: """
            A client has the same options ('sojourn client update'), and what it has goes first. Texts on the color, and links in
            it, are black, white, darker or lighter, so that they are readable.
            """,
        examples: [
            "sojourn settings brand --accent #0a5fd1 --policy-uri https://example.com/privacy",
            "sojourn settings brand --tos-uri ''",
        ],
        act: { arguments throws(Failure) in
            var members: [String: JSONValue] = [:]
            for name in ChangeBranding.texts {
                members[name] = arguments.value("--" + name.replacing("_", with: "-")).map {
                    $0.isEmpty ? .null : .string($0)
                }
            }
            if members.isEmpty { throw arguments.usage("nothing to change is named") }
            return ChangeBranding(members)
        },
        show: { branding, _ in facts(branding) })

    static let settingsLogo = logo(
        ["settings", "logo"], "Sets or removes the logo of the service.", examples: ["sojourn settings logo logo.png"]
    ) { SetServiceLogo($1) }

    static let clientLogo = logo(
        ["client", "logo"], "Sets or removes the logo of a client.", operands: ["CLIENT"],
        examples: ["sojourn client logo shop-ios logo.webp", "sojourn client logo shop-ios --remove"]
    ) { SetLogo($1, of: ActSubject($0[0])) }

    private static func logo(
        _ path: [String], _ summary: String, operands: [String] = [], examples: [String],
        _ make: @escaping @Sendable (_ operands: [String], _ picture: [UInt8]?) -> any AdminAct
    ) -> Command {
        Command.admin(
            path, summary, operands: operands + ["[FILE]"],
            options: [Command.Option("--remove", nil, "remove the logo")],
            discussion: """
                The file is PNG or WebP, not animated, 16 to 1024 pixels wide and high, and has at most 64 KiB. The server shows it
                from its own address and fetches nothing.
                """,
            examples: examples,
            act: { arguments throws(Failure) in
                let files = arguments.operands.dropFirst(operands.count)
                guard arguments.has("--remove") != !files.isEmpty else {
                    throw arguments.usage("name one file, or --remove")
                }
                return make(arguments.operands, try files.first.map(picture))
            },
            show: { answer, _ in answer == .null ? "the logo is removed" : facts(answer) })
    }

    @Sendable private static func picture(_ file: String) throws(Failure) -> [UInt8] {
        guard let content = FileManager.default.contents(atPath: file) else {
            throw Failure(.failed, "the file \(file) cannot be read")
        }
        return Array(content)
    }

    private static func facts(_ branding: JSONValue) -> String {
        Formatting.facts(
            (["accent", "logo"] + ChangeBranding.texts.dropFirst()).map { name in (name, branding[name]?.cell ?? "-") })
    }
}
