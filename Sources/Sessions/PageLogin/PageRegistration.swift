/// What a client has registered for logins on the server's page (OpenID Connect, RFC 6749 section 4.1). The names on the wire
/// are those of RFC 7591 and of OpenID Connect Registration where these have one.
public struct PageRegistration: Hashable, Sendable {
    /// Which authorization requests the session of a browser answers without asking the user.
    public enum BrowserSession: String, CaseIterable, Sendable {
        /// None: a login leaves no session in the browser.
        case none
        /// Those of the client for which the user has logged in.
        case client
        /// Those of all clients that are `shared`.
        case shared
    }

    /// The requirement of PKCE (RFC 7636) in authorization requests of the client.
    public enum PKCERequirement: String, CaseIterable, Sendable {
        /// Each request has a challenge.
        case required
        /// A request without a challenge has a `nonce`, which its ID token repeats (RFC 9700 section 2.1.1).
        case optional
    }

    /// The names by which users log in with a password.
    public enum LoginNames: String, CaseIterable, Sendable {
        case username
        /// The verified e-mail address, if no other user has verified it.
        case email
        /// Either; a username wins over an address.
        case both
    }

    /// An algorithm that a client can demand for its ID tokens, because its library knows no other.
    public enum IDTokenAlgorithm: String, CaseIterable, Sendable {
        /// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518 section 3.3).
        case rs256 = "RS256"
    }

    /// The largest number of URIs in each list.
    public static let uriCountMax = 20

    /// The URIs to which codes are sent. They are compared byte for byte, except the port of a loopback address.
    public var redirectURIs: [String] = []
    /// The URIs to which a browser may be sent after a logout.
    public var postLogoutRedirectURIs: [String] = []
    /// Addresses to which a redirect URI leads on. Chromium and WebKit follow a form to them only if its page names them.
    public var redirectHops: [String] = []
    /// Whether the client has to push its authorization requests (RFC 9126 section 6).
    public var requiresPushedRequests = false
    /// The requirement of PKCE. It is optional for confidential clients alone.
    public var pkce = PKCERequirement.required
    /// Which authorization requests the session of a browser answers.
    public var browserSession = BrowserSession.none
    /// The ways in which users of the client may log in, on the page and everywhere else; nil: every way but a code by mail.
    public var loginMethods: [Client.LoginMethod]?
    /// The names by which users of the client log in with a password.
    public var loginNames = LoginNames.both
    /// The receiver of logout tokens (OpenID Connect Back-Channel Logout).
    public var backchannelLogoutURI: String?
    /// Whether each logout token must name the session. Each does.
    public var requiresLogoutSession = false
    /// The algorithm of the client's ID tokens and logout tokens; nil: that of access tokens.
    public var idTokenAlgorithm: IDTokenAlgorithm?
    /// The page of the client that starts a login (OpenID Connect Core section 4).
    public var initiateLoginURI: String?
    /// The largest scope of a login that a phone approves for another device; nil: that of the client.
    public var remoteScope: Scope?
    /// The weakest bond to the phone that a login may ask for.
    public var minimumBond = PhoneLogin.Bond.Minimum.session
    /// The client's apps on Apple platforms: application identifiers, `TEAMID.bundle.id`.
    public var appleAppIDs: [String] = []
    /// The client's apps on Android.
    public var androidApps: [AndroidApp] = []

    /// Whether a login by that method opens a session of the client, wherever it comes from.
    public func allows(_ method: Client.LoginMethod) -> Bool { loginMethods?.contains(method) ?? (method != .email) }

    /// Whether the login page offers the method, and takes it. Without `loginMethods` it has every way but the phone and the code by
    /// mail: a code that travels by eye can be relayed, so that an admin has to name it.
    public func offers(_ method: Client.LoginMethod) -> Bool {
        loginMethods?.contains(method) ?? (method != .phone && method != .email)
    }

    /// Whether the login page offers the method for that request.
    public func offers(_ method: Client.LoginMethod, for request: AuthorizationRequest) -> Bool {
        offers(method) && request.takes(method)
    }

    /// What the login page offers for the account pages of the server.
    public static let ofAccountPages: PageRegistration = {
        var login = PageRegistration()
        login.browserSession = .client
        login.loginMethods = [.password, .passkey]
        return login
    }()

    /// A registration without URIs.
    public init() {}

    /// Returns true if a code may be sent to `uri`.
    public func redirects(to uri: String) -> Bool { redirectURIs.contains { RedirectURI.matches(uri, registered: $0) } }

    /// Returns true if a browser may be sent to `uri` after a logout.
    public func redirectsAfterLogout(to uri: String) -> Bool {
        postLogoutRedirectURIs.contains { RedirectURI.matches(uri, registered: $0) }
    }

    /// The error in the registration, as one sentence that begins with the member; nil if it is valid.
    public func problem(with grantTypes: [Client.GrantType]) -> String? {
        for (name, list) in [
            ("redirect_uris", redirectURIs), ("post_logout_redirect_uris", postLogoutRedirectURIs),
            ("redirect_hops", redirectHops),
        ] {
            guard list.count <= Self.uriCountMax, list.allSatisfy(RedirectURI.isValid), Set(list).count == list.count
            else {
                return """
                    \(name) must be at most \(Self.uriCountMax) URIs, each once: https, http with a loopback host, or a scheme \
                    of the app's own with a dot, without user and fragment
                    """
            }
        }
        for (name, uri) in [("backchannel_logout_uri", backchannelLogoutURI), ("initiate_login_uri", initiateLoginURI)]
        {
            if let uri, !RedirectURI.isWebPage(uri) {
                return "\(name) must be an https URI, or http with a loopback host, without user and fragment"
            }
        }
        guard appleAppIDs.count <= Self.uriCountMax, appleAppIDs.allSatisfy(AppleApp.isValid(id:)),
            Set(appleAppIDs).count == appleAppIDs.count
        else {
            return "apple_app_ids must be at most \(Self.uriCountMax) of the form TEAMID.bundle.id, each once"
        }
        guard androidApps.count <= Self.uriCountMax, Set(androidApps).count == androidApps.count else {
            return "android_apps must be at most \(Self.uriCountMax), each once"
        }
        if let loginMethods, loginMethods.isEmpty || Set(loginMethods).count < loginMethods.count {
            return Self.loginMethodsProblem
        }
        guard grantTypes.contains(.authorizationCode) else { return nil }
        if redirectURIs.isEmpty { return "redirect_uris must have a URI for the grant authorization_code" }
        return nil
    }

    /// What `login_methods` must be, as one sentence.
    public static let loginMethodsProblem = """
        login_methods must be some of \(Client.LoginMethod.withoutProviders.map(\.rawValue).joined(separator: ", ")), \
        provider:NAME, each once, or null for every way but email
        """
}
