internal import Cryptography
internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// How the browser reached a page.
struct PageTransport: Sendable {
    /// Whether it came over https. Otherwise it came over plain http to this machine, in development.
    let isSecure: Bool
    /// The path in the issuer's URL.
    let issuerPath: IssuerPath
}

extension Call {
    /// How the browser reached the server; nil for plain http from elsewhere, over which no password may travel.
    var transport: PageTransport? {
        if caller.isSecure { return PageTransport(isSecure: true, issuerPath: issuerPath) }
        guard let authority = request.authority else { return nil }
        let host = authority.hasPrefix("[") ? authority.prefix { $0 != "]" } + "]" : authority.prefix { $0 != ":" }
        return ["localhost", "127.0.0.1", "[::1]"].contains(host.lowercased())
            ? PageTransport(isSecure: false, issuerPath: issuerPath) : nil
    }

    /// The values of the cookies with that name, in the order of the request. A browser sends several if they have different
    /// paths.
    func cookies(_ name: String) -> [String] {
        request.fields.values("Cookie").flatMap { $0.split(separator: ";") }.compactMap { pair in
            let text = pair.drop { $0 == " " }
            return text.hasPrefix(name + "=") ? String(text.dropFirst(name.count + 1)) : nil
        }
    }
}

/// The name and the attributes of a cookie. Only the pages of the server set and read cookies.
struct PageCookie: Sendable {
    private let base: String
    /// Whether the browser sends it with a link of another site.
    private let sameSite: String

    private init(base: String, sameSite: String = "Lax") {
        self.base = base
        self.sameSite = sameSite
    }

    /// Shows that the same browser went on: 32 random bytes, which open nothing.
    static let flow = PageCookie(base: "sojourn-flow")
    /// The handle of the browser's session.
    static let session = PageCookie(base: "sojourn-session")
    /// Shows that the browser was offered a passkey within the last 30 days. It names no user.
    static let offered = PageCookie(base: "sojourn-offered")
    /// Shows that phones have let the browser in before, and opens nothing.
    static let known = PageCookie(base: "sojourn-known")
    /// How long a browser keeps `known`: the longest time that browsers allow.
    static let knownLifetime = Duration.seconds(400 * 86_400)
    /// What a browser carries for a verification, sealed, so that the link of a mail goes on with it.
    static let verification = PageCookie(base: "sojourn-verification")
    /// The handle of a browser in the admins' console.
    static let console = PageCookie(base: "sojourn-console", sameSite: "Strict")
    /// Shows that the same browser went on into the console. Ports share cookies: under the name of `flow`, a strict one would
    /// be missing when a provider sends the browser back to the login page on the same host.
    static let consoleFlow = PageCookie(base: "sojourn-console-flow", sameSite: "Strict")

    /// The name. A browser accepts `__Host-` from this very host over https only, so that no other host can plant the cookie.
    func name(_ transport: PageTransport) -> String {
        (transport.isSecure ? "__Host-" : "") + base + transport.issuerPath.cookieSuffix
    }

    /// Sets the cookie.
    ///
    /// - Parameter lifetime: how long the browser keeps it; nil: until it is closed.
    func set(_ value: String, lifetime: Duration? = nil, _ transport: PageTransport, on response: inout Response) {
        let age = lifetime.map { "; Max-Age=\($0.wholeSeconds)" } ?? ""
        let secure = transport.isSecure ? "; Secure" : ""
        response.fields.append(
            "Set-Cookie", "\(name(transport))=\(value); Path=/; HttpOnly; SameSite=\(sameSite)\(secure)\(age)")
    }

    func delete(_ transport: PageTransport, from response: inout Response) {
        set("", lifetime: .zero, transport, on: &response)
    }
}

/// The secret of a browser, by which its forms are recognized.
struct FlowSecret: Hashable, Sendable {
    /// 32 bytes in base64url, the value of the cookie.
    let text: String
    private let bytes: [UInt8]

    init?(_ text: String) {
        guard text.utf8.count == 43, let bytes = Base64URL.decode(text), bytes.count == 32 else { return nil }
        (self.text, self.bytes) = (text, bytes)
    }

    init(random: RandomSource) {
        bytes = random.bytes(32)
        text = Base64URL.encode(bytes)
    }

    /// The name of the browser in a login with the phone.
    var hash: [UInt8] { sha256(bytes) }
    /// The name of the browser in a sealed request.
    var browser: String { Base64URL.encode(hash) }

    /// A name of the browser for limits, which cannot be guessed for another browser.
    var deviceID: String { "browser-" + Hex.encode(Array(sha256(Array("device".utf8) + bytes).prefix(16))) }

    /// The token of the form that is sent to `path` for that sealed request.
    func formToken(_ path: String, _ sealed: String) -> String {
        Base64URL.encode(HMACSHA256Key(bytes).authenticate(Array("\(path)\0\(sealed)".utf8)))
    }

    /// Returns true if `token` is that of the form.
    func isToken(_ token: String?, of path: String, _ sealed: String) -> Bool {
        constantTimeEqual(Array((token ?? "").utf8), Array(formToken(path, sealed).utf8))
    }
}

/// The secret of a browser, for a page with a form.
struct BrowserFlow: Sendable {
    let secret: FlowSecret
    /// Whether the browser has shown none, so that the page has to set it.
    fileprivate let isNew: Bool

    /// Sets the cookie of a new secret.
    func set(_ transport: PageTransport, on response: inout Response) {
        if isNew { PageCookie.flow.set(secret.text, transport, on: &response) }
    }
}

extension Endpoints {
    /// The secret that the browser has shown, or a new one.
    func flow(_ call: Call, _ transport: PageTransport) -> BrowserFlow {
        let shown = call.flowSecrets(transport).first
        return BrowserFlow(secret: shown ?? FlowSecret(random: context.random), isNew: shown == nil)
    }

    /// Sends the cookie of the browser's session. It lasts as long as the session if its user stays logged in.
    func setSession(
        _ handle: BrowserHandle, idle: Duration, _ transport: PageTransport, on response: inout Response
    ) {
        PageCookie.session.set(
            services.pageLogin.cookie(handle), lifetime: handle.isKept ? idle : nil, transport, on: &response)
    }
}

extension Call {
    /// Why a form with a stale token counts for nothing. A browser that shows no cookie with the second form keeps none.
    func staleness(of form: FormParameters, _ transport: PageTransport) -> StaleForm {
        form[.again] == "1" && flowSecrets(transport).isEmpty ? .cookiesBlocked : .pressAgain
    }
}

extension StaleForm {
    /// The status of the page that shows the form again.
    var status: Status { self == .pressAgain ? .ok : .unprocessable }
}

extension Endpoints {
    /// Throws `crossSite` if a form comes from a page of another origin: by `Sec-Fetch-Site`, or else by `Origin`. A browser that
    /// sends neither is left to the cookie and the token of the form.
    func checkOrigin(_ call: Call) throws {
        if let site = try call.onlyField("Sec-Fetch-Site") {
            guard site == "same-origin" else { throw RequestProblem.crossSite }
            return
        }
        guard let origin = try call.onlyField("Origin") else { return }
        guard origin.lowercased() == Self.origin(of: context.issuer) else { throw RequestProblem.crossSite }
    }

    /// The origin of a URL (RFC 6454): scheme, host and port.
    static func origin(of url: String) -> String {
        guard let scheme = url.firstRange(of: "://") else { return url }
        let authority = url[scheme.upperBound...].prefix { $0 != "/" }
        return (url[..<scheme.upperBound] + authority).lowercased()
    }
}
