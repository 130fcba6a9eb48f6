internal import Cryptography
public import HTTP

/// A file that the pages load: the style sheet or a module of script. Its name is the digest of its bytes, so that it never
/// changes and browsers keep it.
public struct PageAsset: Sendable {
    /// `/assets/` with 16 hexadecimal digits of the SHA-256 digest and the extension.
    public let path: PagePath
    /// The media type.
    public let type: String
    /// The content.
    public let bytes: [UInt8]

    private init(_ bytes: [UInt8], _ fileExtension: String, _ type: String) {
        let digest = Hex.encode(Array(sha256(bytes).prefix(8)))
        path = PagePath("/assets").appending("\(digest).\(fileExtension)")
        self.type = type
        self.bytes = bytes
    }

    /// A module without its indentation and its lines of comment, which no browser reads.
    private static func script(_ bytes: [UInt8]) -> PageAsset {
        let lines = bytes.split(separator: UInt8(ascii: "\n")).map { $0.drop { $0 == UInt8(ascii: " ") } }
        let code = lines.filter { !$0.starts(with: Array("//".utf8)) }.joined(separator: Array("\n".utf8))
        return PageAsset(Array(code), "js", "text/javascript; charset=utf-8")
    }

    static let style = PageAsset(PackageResources.pages_css, "css", "text/css; charset=utf-8")
    /// Local times, the token in the fragment, showing the password, no double submit.
    static let page = script(PackageResources.page_js)
    /// The events of a login with the phone.
    static let live = script(PackageResources.live_js)
    /// The end of the session of an account page.
    static let account = script(PackageResources.account_js)
    /// The passkey button.
    static let passkey = script(PackageResources.passkey_js)
    /// The registration of a passkey on the page of the account.
    static let passkeys = script(PackageResources.passkeys_js)
    /// What the console has beside `style`.
    static let consoleStyle = PageAsset(PackageResources.console_css, "css", "text/css; charset=utf-8")
    /// How far times are from now, and buttons that copy commands.
    static let console = script(PackageResources.console_js)

    /// Every file.
    public static let all = [style, page, live, account, passkey, passkeys, consoleStyle, console]

    private static let byPath = Dictionary(uniqueKeysWithValues: all.map { ($0.path.text, $0) })

    /// The answer to `GET` of a path below `/assets/`; nil: there is none. The style sheet of each `AccentColor` is below
    /// `/assets/accent/`.
    public static func response(at path: String) -> Response? {
        if let asset = byPath[path] { return response(asset.type, asset.bytes) }
        return AccentColor(path: path).map { response(style.type, Array($0.styleSheet.utf8)) }
    }

    private static func response(_ type: String, _ bytes: [UInt8]) -> Response {
        Response(
            status: .ok,
            fields: [
                "Content-Type": type, "Cache-Control": "public, max-age=31536000, immutable",
                "X-Content-Type-Options": "nosniff", "Cross-Origin-Resource-Policy": "same-origin",
            ], body: bytes)
    }
}
