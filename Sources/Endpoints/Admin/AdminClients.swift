internal import HTTP
internal import JOSE
internal import Sessions

extension Endpoints {
    /// `POST /admin/v1/clients`: creates a client.
    func createClient(_ call: Call) async throws -> Response {
        let members = try Members(call, known: ClientMembers.names + ["client_id"])
        let change = try ClientMembers(members)
        let (client, secret) = try await services.administration.createClient(
            id: try members.requiredString("client_id"), by: call.origin
        ) { client in
            change.apply(to: &client)
            // `/v1/login` does not authenticate clients.
            if !client.isPublic, !members.contains("grant_types") { client.grantTypes.removeAll { $0 == .login } }
            return nil
        }
        var response = try Response.json(ClientAnswer(client, secret: secret), .created)
        response.fields.append("Location", "/admin/v1/clients/\(PercentEncoding.encode(client.id))")
        return response
    }

    /// `GET /admin/v1/clients`: lists the clients.
    func listClients(_ call: Call) async throws -> Response {
        try .json(ListAnswer(try await services.administration.clients().map { ClientAnswer($0) }))
    }

    /// `GET /admin/v1/clients/{client_id}`: answers one client.
    func showClient(_ call: Call) async throws -> Response {
        try .json(ClientAnswer(try await services.administration.client(call.parameter)))
    }

    /// `PATCH /admin/v1/clients/{client_id}`: changes the members that the body names. Null makes the client inherit a value,
    /// or removes its name. `rotate_secret` gives a confidential client a new secret, and
    /// `secret_overlap` the old one some more time.
    func changeClient(_ call: Call) async throws -> Response {
        let members = try Members(call, known: ClientMembers.names + ["rotate_secret", "secret_overlap"])
        let change = try ClientMembers(members)
        let (client, secret) = try await services.administration.changeClient(
            call.parameter, newSecret: try members.bool("rotate_secret") ?? false,
            overlap: try members.seconds("secret_overlap"), by: call.origin
        ) { client in
            change.apply(to: &client)
            return nil
        }
        return try .json(ClientAnswer(client, secret: secret))
    }

    /// `DELETE /admin/v1/clients/{client_id}`: deletes the client and ends its sessions.
    func deleteClient(_ call: Call) async throws -> Response {
        try await services.administration.deleteClient(call.parameter, by: call.origin)
        return .noContent
    }
}

/// The members of a client in a body that creates or changes one. They have the names of RFC 7591 and of the settings.
struct ClientMembers: Sendable {
    static let names =
        [
            "client_name", "token_endpoint_auth_method", "jwks", "grant_types", "scope", "resources",
            "token_style", "offline_session_idle", "offline_session_max", "access_token_lifetime", "refresh_after",
            "dpop", "user_presence_max_age", "stay_logged_in", "app_data", "attestation", "anonymous_users", "sign_up",
            "token_endpoint_auth_method_pinned", "scope_claims", "second_factor_policy", "allowed_origins",
        ] + PageRegistrationMembers.names + BackchannelMembers.names + BrandingMembers.names

    private let name: String??
    private let authenticationMethod: Client.AuthenticationMethod?
    private let pinsAuthenticationMethod: Bool?
    private let keys: ClientKeys??
    private let grantTypes: [Client.GrantType]?
    private let scope: Scope?
    private let resources: [String]?
    private let tokenStyle: Client.TokenStyle?
    private let offlineSessionIdle: Duration??
    private let offlineSessionMax: Duration??
    private let accessTokenLifetime: Duration??
    private let refreshAfter: Duration??
    private let dpop: Client.ProofRequirement?
    private let userPresenceMaxAge: Duration??
    private let staysLoggedIn: Bool?
    private let appData: Client.AppDataRule?
    private let attestation: Client.AttestationRule?
    private let anonymousUsers: Bool?
    private let signUp: Bool?
    private let scopeClaims: ScopeClaims?
    private let secondFactorPolicy: SecondFactorPolicy??
    private let allowedOrigins: [WebOrigin]?
    private let page: PageRegistrationMembers
    private let backchannel: BackchannelMembers
    private let branding: BrandingMembers

    init(_ members: Members) throws {
        try members.refuseNull(
            "token_endpoint_auth_method", "grant_types", "scope", "resources", "token_style", "dpop", "stay_logged_in",
            "app_data", "attestation", "anonymous_users", "sign_up", "token_endpoint_auth_method_pinned",
            "scope_claims",
            "allowed_origins")
        name = try members.change("client_name", members.text)
        authenticationMethod = try members.word(
            "token_endpoint_auth_method", as: Client.AuthenticationMethod.self)
        pinsAuthenticationMethod = try members.bool("token_endpoint_auth_method_pinned")
        keys = try members.change("jwks", members.keys)
        grantTypes = try members.words("grant_types", as: Client.GrantType.self)
        scope = try members.registeredScope("scope")
        resources = try members.strings("resources")
        tokenStyle = try members.word("token_style", as: Client.TokenStyle.self)
        offlineSessionIdle = try members.change("offline_session_idle", members.seconds)
        offlineSessionMax = try members.change("offline_session_max", members.seconds)
        accessTokenLifetime = try members.change("access_token_lifetime", members.seconds)
        refreshAfter = try members.change("refresh_after", members.seconds)
        dpop = try members.word("dpop", as: Client.ProofRequirement.self)
        userPresenceMaxAge = try members.change("user_presence_max_age", members.seconds)
        staysLoggedIn = try members.bool("stay_logged_in")
        appData = try members.word("app_data", as: Client.AppDataRule.self)
        attestation = try members.word("attestation", as: Client.AttestationRule.self)
        anonymousUsers = try members.bool("anonymous_users")
        signUp = try members.bool("sign_up")
        scopeClaims = try members.scopeClaims("scope_claims")
        secondFactorPolicy = try members.change("second_factor_policy") { name in
            try members.word(name, as: SecondFactorPolicy.self)
        }
        allowedOrigins = try members.strings("allowed_origins").map { texts in
            do throws(WebOrigin.Problem) { return try WebOrigin.list(texts) } catch {
                throw members.refused("allowed_origins", error.detail)
            }
        }
        page = try PageRegistrationMembers(members)
        backchannel = try BackchannelMembers(members)
        branding = try BrandingMembers(members)
    }

    /// Sets the members that the body names; the domain validates them.
    func apply(to client: inout Client) {
        if let name { client.name = name }
        if let authenticationMethod { client.authenticationMethod = authenticationMethod }
        if let pinsAuthenticationMethod { client.isAuthenticationMethodPinned = pinsAuthenticationMethod }
        if let keys { client.keys = keys }
        if let grantTypes { client.grantTypes = grantTypes }
        if let scope { client.scope = scope }
        if let resources { client.resources = resources }
        if let tokenStyle { client.tokenStyle = tokenStyle }
        if let offlineSessionIdle { client.offlineSessionIdle = offlineSessionIdle }
        if let offlineSessionMax { client.offlineSessionMax = offlineSessionMax }
        if let accessTokenLifetime { client.accessTokenLifetime = accessTokenLifetime }
        if let refreshAfter { client.refreshAfter = refreshAfter }
        if let dpop { client.dpop = dpop }
        if let userPresenceMaxAge { client.userPresenceMaxAge = userPresenceMaxAge }
        if let staysLoggedIn { client.staysLoggedIn = staysLoggedIn }
        if let appData { client.appData = appData }
        if let attestation { client.attestation = attestation }
        if let anonymousUsers { client.anonymousUsers = anonymousUsers }
        if let signUp { client.signUp = signUp }
        if let scopeClaims { client.scopeClaims = scopeClaims }
        if let secondFactorPolicy { client.secondFactorPolicy = secondFactorPolicy }
        if let allowedOrigins { client.allowedOrigins = allowedOrigins }
        page.apply(to: &client.page)
        backchannel.apply(to: &client.backchannel)
        branding.apply(to: &client.branding)
    }
}

/// A client as JSON. The secret is present only in the answer to the call that made it.
struct ClientAnswer: Encodable {
    let clientID: String
    let clientSecret: String?
    let earlierSecretExpiresAt: Int64?
    let clientIDIssuedAt: Int64
    let clientName: String?
    let tokenEndpointAuthMethod: String
    let tokenEndpointAuthMethodPinned: Bool
    let jwks: JWKSet?
    let grantTypes: [String]
    let scope: String
    let resources: [String]
    let tokenStyle: String
    let offlineSessionIdle: Int64?
    let offlineSessionMax: Int64?
    let accessTokenLifetime: Int64?
    let refreshAfter: Int64?
    let dpop: String
    let userPresenceMaxAge: Int64?
    let stayLoggedIn: Bool
    let appData: String
    let attestation: String
    let anonymousUsers: Bool
    let signUp: Bool
    let scopeClaims: [String: [String]]
    let secondFactorPolicy: String?
    let allowedOrigins: [String]
    let redirectURIs: [String]
    let postLogoutRedirectURIs: [String]
    let redirectHops: [String]
    let requirePushedAuthorizationRequests: Bool
    let pkce: String
    let browserSession: String
    let loginMethods: [String]?
    let loginNames: String
    let backchannelLogoutURI: String?
    let initiateLoginURI: String?
    let remoteScope: String?
    let minimumBond: String
    let appleAppIDs: [String]
    let androidApps: [String]
    let backchannelLogoutSessionRequired: Bool
    let idTokenSignedResponseAlg: String?
    let backchannelTokenDeliveryMode: String
    let backchannelClientNotificationEndpoint: String?
    /// User codes are not supported.
    let backchannelUserCodeParameter = false
    let accent: String?
    let logo: String?
    let policyURI: String?
    let tosURI: String?
    let supportURI: String?
    let supportEmail: String?

    init(_ client: Client, secret: String? = nil) {
        clientID = client.id
        clientSecret = secret
        earlierSecretExpiresAt = client.earlierSecret?.endsAt.secondsSinceEpoch
        clientIDIssuedAt = client.createdAt.secondsSinceEpoch
        clientName = client.name
        tokenEndpointAuthMethod = client.authenticationMethod.rawValue
        tokenEndpointAuthMethodPinned = client.isAuthenticationMethodPinned
        jwks = client.keys?.set
        grantTypes = client.grantTypes.map(\.rawValue)
        scope = client.scope.description
        resources = client.resources
        tokenStyle = client.tokenStyle.rawValue
        offlineSessionIdle = client.offlineSessionIdle?.wholeSeconds
        offlineSessionMax = client.offlineSessionMax?.wholeSeconds
        accessTokenLifetime = client.accessTokenLifetime?.wholeSeconds
        refreshAfter = client.refreshAfter?.wholeSeconds
        dpop = client.dpop.rawValue
        userPresenceMaxAge = client.userPresenceMaxAge?.wholeSeconds
        stayLoggedIn = client.staysLoggedIn
        appData = client.appData.rawValue
        attestation = client.attestation.rawValue
        anonymousUsers = client.anonymousUsers
        signUp = client.signUp
        secondFactorPolicy = client.secondFactorPolicy?.rawValue
        scopeClaims = client.scopeClaims.names
        allowedOrigins = client.allowedOrigins.map(\.text)
        redirectURIs = client.page.redirectURIs
        postLogoutRedirectURIs = client.page.postLogoutRedirectURIs
        redirectHops = client.page.redirectHops
        requirePushedAuthorizationRequests = client.page.requiresPushedRequests
        pkce = client.page.pkce.rawValue
        browserSession = client.page.browserSession.rawValue
        loginMethods = client.page.loginMethods?.map(\.rawValue)
        loginNames = client.page.loginNames.rawValue
        backchannelLogoutURI = client.page.backchannelLogoutURI
        initiateLoginURI = client.page.initiateLoginURI
        remoteScope = client.page.remoteScope?.description
        minimumBond = client.page.minimumBond.rawValue
        appleAppIDs = client.page.appleAppIDs
        androidApps = client.page.androidApps.map(\.text)
        backchannelLogoutSessionRequired = client.page.requiresLogoutSession
        idTokenSignedResponseAlg = client.page.idTokenAlgorithm?.rawValue
        backchannelTokenDeliveryMode = client.backchannel.deliveryMode.rawValue
        backchannelClientNotificationEndpoint = client.backchannel.notificationEndpoint
        let branding = BrandingAnswer(client.branding)
        (accent, logo, policyURI, tosURI) = (branding.accent, branding.logo, branding.policyURI, branding.tosURI)
        (supportURI, supportEmail) = (branding.supportURI, branding.supportEmail)
    }

    enum CodingKeys: String, CodingKey {
        case clientID = "client_id"
        case clientSecret = "client_secret"
        case earlierSecretExpiresAt = "earlier_secret_expires_at"
        case clientIDIssuedAt = "client_id_issued_at"
        case clientName = "client_name"
        case tokenEndpointAuthMethod = "token_endpoint_auth_method"
        case tokenEndpointAuthMethodPinned = "token_endpoint_auth_method_pinned"
        case jwks
        case grantTypes = "grant_types"
        case scope, resources
        case tokenStyle = "token_style"
        case offlineSessionIdle = "offline_session_idle"
        case offlineSessionMax = "offline_session_max"
        case accessTokenLifetime = "access_token_lifetime"
        case refreshAfter = "refresh_after"
        case dpop
        case userPresenceMaxAge = "user_presence_max_age"
        case stayLoggedIn = "stay_logged_in"
        case appData = "app_data"
        case attestation
        case anonymousUsers = "anonymous_users"
        case signUp = "sign_up"
        case scopeClaims = "scope_claims"
        case secondFactorPolicy = "second_factor_policy"
        case allowedOrigins = "allowed_origins"
        case redirectURIs = "redirect_uris"
        case postLogoutRedirectURIs = "post_logout_redirect_uris"
        case redirectHops = "redirect_hops"
        case requirePushedAuthorizationRequests = "require_pushed_authorization_requests"
        case pkce
        case browserSession = "browser_session"
        case loginMethods = "login_methods"
        case loginNames = "login_names"
        case backchannelLogoutURI = "backchannel_logout_uri"
        case initiateLoginURI = "initiate_login_uri"
        case remoteScope = "remote_scope"
        case minimumBond = "minimum_bond"
        case appleAppIDs = "apple_app_ids"
        case androidApps = "android_apps"
        case backchannelTokenDeliveryMode = "backchannel_token_delivery_mode"
        case backchannelClientNotificationEndpoint = "backchannel_client_notification_endpoint"
        case backchannelUserCodeParameter = "backchannel_user_code_parameter"
        case backchannelLogoutSessionRequired = "backchannel_logout_session_required"
        case idTokenSignedResponseAlg = "id_token_signed_response_alg"
        case accent, logo
        case policyURI = "policy_uri"
        case tosURI = "tos_uri"
        case supportURI = "support_uri"
        case supportEmail = "support_email"
    }
}

extension Route {
    static let createClient = Route(
        .post, "/admin/v1/clients", on: .admin, .admin(.owner) { try await $0.createClient($1) },
        Operation(
            "create_client", .clients, "Make a client",
            "The secret of a confidential client is shown only in this answer.",
            takes: .json("NewClient"), answers: [.created("Client", "The client.")], errors: [.clientExists]))

    static let listClients = Route(
        .get, "/admin/v1/clients", on: .admin, .admin(.read) { try await $0.listClients($1) },
        Operation(
            "list_clients", .clients, "List clients",
            "All of them.",
            answers: [.json("Clients", "The clients.")]))

    static let showClient = Route(
        .get, "/admin/v1/clients/{client_id}", on: .admin, .admin(.read) { try await $0.showClient($1) },
        Operation(
            "show_client", .clients, "Show a client",
            answers: [.json("Client", "The client.")]))

    static let changeClient = Route(
        .patch, "/admin/v1/clients/{client_id}", on: .admin, .admin(.owner) { try await $0.changeClient($1) },
        Operation(
            "change_client", .clients, "Change a client",
            """
            Absent members keep their value; null inherits. A changed lifetime applies to active sessions at \
            once.
            """,
            takes: .json("ClientChange"), answers: [.json("Client", "The changed client.")]))

    static let deleteClient = Route(
        .delete, "/admin/v1/clients/{client_id}", on: .admin, .admin(.owner) { try await $0.deleteClient($1) },
        Operation(
            "delete_client", .clients, "Delete a client",
            "Its sessions end.",
            answers: [.empty("It is deleted.")]))
}
