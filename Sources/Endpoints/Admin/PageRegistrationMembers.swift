internal import Sessions

/// The members of a client for logins on the server's page, in a body that creates or changes the client.
struct PageRegistrationMembers: Sendable {
    static let names = [
        "redirect_uris", "post_logout_redirect_uris", "require_pushed_authorization_requests", "browser_session",
        "login_methods", "backchannel_logout_uri", "initiate_login_uri", "apple_app_ids", "android_apps",
        "backchannel_logout_session_required", "id_token_signed_response_alg", "redirect_hops", "remote_scope",
        "minimum_bond", "pkce", "login_names",
    ]

    private let redirectURIs: [String]?
    private let postLogoutRedirectURIs: [String]?
    private let redirectHops: [String]?
    private let requiresPushedRequests: Bool?
    private let pkce: PageRegistration.PKCERequirement?
    private let browserSession: PageRegistration.BrowserSession?
    private let loginMethods: [Client.LoginMethod]??
    private let loginNames: PageRegistration.LoginNames?
    private let backchannelLogoutURI: String??
    private let initiateLoginURI: String??
    private let remoteScope: Scope??
    private let minimumBond: PhoneLogin.Bond.Minimum?
    private let appleAppIDs: [String]?
    private let androidApps: [AndroidApp]?
    private let requiresLogoutSession: Bool?
    private let idTokenAlgorithm: PageRegistration.IDTokenAlgorithm??

    init(_ members: Members) throws {
        try members.refuseNull(
            "redirect_uris", "post_logout_redirect_uris", "require_pushed_authorization_requests", "browser_session",
            "apple_app_ids", "android_apps", "backchannel_logout_session_required", "redirect_hops", "pkce",
            "login_names")
        redirectURIs = try members.strings("redirect_uris")
        postLogoutRedirectURIs = try members.strings("post_logout_redirect_uris")
        redirectHops = try members.strings("redirect_hops")
        requiresPushedRequests = try members.bool("require_pushed_authorization_requests")
        pkce = try members.word("pkce", as: PageRegistration.PKCERequirement.self)
        browserSession = try members.word("browser_session", as: PageRegistration.BrowserSession.self)
        loginNames = try members.word("login_names", as: PageRegistration.LoginNames.self)
        loginMethods = try members.change("login_methods") { name in
            try members.strings(name)?.map { word in
                guard let method = Client.LoginMethod(rawValue: word) else {
                    throw ServiceError.invalid(member: "client", detail: PageRegistration.loginMethodsProblem)
                }
                return method
            }
        }
        backchannelLogoutURI = try members.change("backchannel_logout_uri", members.string)
        initiateLoginURI = try members.change("initiate_login_uri", members.string)
        remoteScope = try members.change("remote_scope", members.registeredScope)
        minimumBond = try members.word("minimum_bond", as: PhoneLogin.Bond.Minimum.self)
        appleAppIDs = try members.strings("apple_app_ids")
        androidApps = try members.strings("android_apps")?.map { text in
            guard let app = AndroidApp(text) else {
                throw members.refused("android_apps", "must have the form PACKAGE/FINGERPRINT")
            }
            return app
        }
        requiresLogoutSession = try members.bool("backchannel_logout_session_required")
        idTokenAlgorithm = try members.change("id_token_signed_response_alg") { name in
            try members.word(name, as: PageRegistration.IDTokenAlgorithm.self)
        }
    }

    /// Sets the members that the body names; the domain validates them.
    func apply(to login: inout PageRegistration) {
        if let redirectURIs { login.redirectURIs = redirectURIs }
        if let postLogoutRedirectURIs { login.postLogoutRedirectURIs = postLogoutRedirectURIs }
        if let redirectHops { login.redirectHops = redirectHops }
        if let requiresPushedRequests { login.requiresPushedRequests = requiresPushedRequests }
        if let pkce { login.pkce = pkce }
        if let browserSession { login.browserSession = browserSession }
        if let loginMethods { login.loginMethods = loginMethods }
        if let loginNames { login.loginNames = loginNames }
        if let backchannelLogoutURI { login.backchannelLogoutURI = backchannelLogoutURI }
        if let initiateLoginURI { login.initiateLoginURI = initiateLoginURI }
        if let remoteScope { login.remoteScope = remoteScope }
        if let minimumBond { login.minimumBond = minimumBond }
        if let appleAppIDs { login.appleAppIDs = appleAppIDs }
        if let androidApps { login.androidApps = androidApps }
        if let requiresLogoutSession { login.requiresLogoutSession = requiresLogoutSession }
        if let idTokenAlgorithm { login.idTokenAlgorithm = idTokenAlgorithm }
    }
}
