internal import Sessions

extension Settings {
    init(_ line: inout TransferLine) throws(LineProblem) {
        var revokedBefore: RevokedBefore?
        if let epoch = try line.optionalInteger("revoked_before_epoch") {
            revokedBefore = RevokedBefore(epoch: epoch, at: try line.instant("revoked_before_at"))
        }
        self.init(
            sessions: SessionSettings(
                offlineSessionIdle: try line.duration("offline_session_idle"),
                offlineSessionMaxLimited: try line.required(
                    "offline_session_max_limited", line.value("offline_session_max_limited", "true or false")),
                offlineSessionMax: try line.duration("offline_session_max"),
                refreshAfter: try line.duration("refresh_after"),
                rotationInterval: try line.duration("rotation_interval")),
            epoch: try line.integer("epoch"), revokedBefore: revokedBefore)
        earlierTokensEnd = try line.optionalInstant("earlier_tokens_end_at")
        secondFactorPolicy = try line.optionalWord("second_factor_policy") ?? .ifEnrolled
        branding = try Branding(&line)
    }

    /// The line of the settings.
    var members: TransferMembers {
        var members = TransferMembers(.settings)
        members.add("offline_session_idle", sessions.offlineSessionIdle)
        members.add("offline_session_max_limited", sessions.offlineSessionMaxLimited)
        members.add("offline_session_max", sessions.offlineSessionMax)
        members.add("refresh_after", sessions.refreshAfter)
        members.add("rotation_interval", sessions.rotationInterval)
        members.add("epoch", epoch)
        members.add("revoked_before_epoch", revokedBefore?.epoch)
        members.add("revoked_before_at", revokedBefore?.at)
        members.add("earlier_tokens_end_at", earlierTokensEnd)
        members.add("second_factor_policy", secondFactorPolicy.rawValue)
        branding.add(to: &members)
        return members
    }
}

extension Client {
    init(_ line: inout TransferLine) throws(LineProblem) {
        let id = try line.text("client_id")
        guard Device.isValid(id: id) else { throw LineProblem("'client_id' must be visible ASCII characters") }
        var grantTypes: [GrantType] = []
        for word in try line.value("grant_types", "a list of strings", as: [String].self) ?? [] {
            guard let grantType = GrantType(rawValue: word) else {
                throw LineProblem("'\(word)' in 'grant_types' is not known")
            }
            grantTypes.append(grantType)
        }
        self.init(
            id: id, name: try line.optionalText("client_name"),
            authenticationMethod: try line.optionalWord("token_endpoint_auth_method") ?? .none,
            secretHash: try line.optionalBytes("secret_hash"), grantTypes: grantTypes,
            scope: try line.scope("scope") ?? .empty, tokenStyle: try line.optionalWord("token_style") ?? .separate,
            offlineSessionIdle: try line.optionalDuration("offline_session_idle"),
            offlineSessionMax: try line.optionalDuration("offline_session_max"),
            accessTokenLifetime: try line.optionalDuration("access_token_lifetime"),
            refreshAfter: try line.optionalDuration("refresh_after"), createdAt: try line.instant("created_at"),
            epoch: try line.integer("epoch"), dpop: try line.optionalWord("dpop") ?? .optional,
            userPresenceMaxAge: try line.optionalDuration("user_presence_max_age"))
        tokenEpoch = try line.optionalInteger("token_epoch") ?? epoch
        guard authenticationMethod.hasSecret == (secretHash != nil) else {
            throw LineProblem("'secret_hash' and 'token_endpoint_auth_method' contradict each other")
        }
        if let hash = try line.optionalBytes("earlier_secret_hash") {
            guard secretHash != nil else { throw LineProblem("'earlier_secret_hash' is for a client with a secret") }
            earlierSecret = EarlierSecret(hash: hash, endsAt: try line.instant("earlier_secret_ends_at"))
        }
        isAuthenticationMethodPinned =
            try line.value("token_endpoint_auth_method_pinned", "true or false", as: Bool.self) ?? false
        staysLoggedIn = try line.value("stay_logged_in", "true or false", as: Bool.self) ?? true
        anonymousUsers = try line.value("anonymous_users", "true or false", as: Bool.self) ?? false
        signUp = try line.value("sign_up", "true or false", as: Bool.self) ?? false
        secondFactorPolicy = try line.optionalWord("second_factor_policy")
        appData = try line.optionalWord("app_data") ?? .ignore
        attestation = try line.optionalWord("attestation") ?? .ignore
        resources = try line.value("resources", "a list of strings", as: [String].self) ?? []
        if let problem = Resource.problem(with: resources) { throw LineProblem(problem) }
        let origins = try line.value("allowed_origins", "a list of strings", as: [String].self) ?? []
        do throws(WebOrigin.Problem) { allowedOrigins = try WebOrigin.list(origins) } catch {
            throw LineProblem("'allowed_origins' \(error.detail)")
        }
        if let names = try line.value("scope_claims", "an object of lists of strings", as: [String: [String]].self) {
            do throws(ScopeClaims.Problem) { scopeClaims = try ScopeClaims(names) } catch {
                throw LineProblem("'scope_claims' \(error.detail)")
            }
        }
        try readPageRegistration(&line)
        branding = try Branding(&line)
        if let text = try line.optionalText("event_stream") {
            guard let stream = EventStream(text: text) else { throw LineProblem("'event_stream' cannot be read") }
            eventStream = stream
        }
        if let text = try line.optionalText("jwks") {
            do throws(ClientKeys.Problem) { keys = try ClientKeys(text: Array(text.utf8)) } catch {
                throw LineProblem("'jwks' \(error.detail)")
            }
        }
        guard (authenticationMethod == .privateKeyJWT) == (keys != nil) else {
            throw LineProblem("'jwks' and 'token_endpoint_auth_method' contradict each other")
        }
    }

    /// The line of a client.
    var members: TransferMembers {
        var members = TransferMembers(.client)
        members.add("client_id", id)
        members.add("client_name", name)
        members.add("token_endpoint_auth_method", authenticationMethod.rawValue)
        members.add("secret_hash", bytes: secretHash)
        members.add("grant_types", grantTypes.map(\.rawValue))
        members.add("scope", scope.description)
        members.add("resources", resources)
        members.add("jwks", keys?.text)
        members.add("token_style", tokenStyle.rawValue)
        members.add("offline_session_idle", offlineSessionIdle)
        members.add("offline_session_max", offlineSessionMax)
        members.add("access_token_lifetime", accessTokenLifetime)
        members.add("refresh_after", refreshAfter)
        members.add("created_at", createdAt)
        members.add("epoch", epoch)
        members.add("token_epoch", tokenEpoch)
        members.add("dpop", dpop.rawValue)
        members.add("user_presence_max_age", userPresenceMaxAge)
        members.add("earlier_secret_hash", bytes: earlierSecret?.hash)
        members.add("earlier_secret_ends_at", earlierSecret?.endsAt)
        if isAuthenticationMethodPinned { members.add("token_endpoint_auth_method_pinned", true) }
        if appData != .ignore { members.add("app_data", appData.rawValue) }
        if attestation != .ignore { members.add("attestation", attestation.rawValue) }
        if !staysLoggedIn { members.add("stay_logged_in", staysLoggedIn) }
        if anonymousUsers { members.add("anonymous_users", anonymousUsers) }
        if signUp { members.add("sign_up", signUp) }
        members.add("second_factor_policy", secondFactorPolicy?.rawValue)
        if scopeClaims != .preset { members.add("scope_claims", scopeClaims.names) }
        if !allowedOrigins.isEmpty { members.add("allowed_origins", allowedOrigins.map(\.text)) }
        addPageRegistration(to: &members)
        branding.add(to: &members)
        members.add("event_stream", eventStream?.text)
        return members
    }

    private mutating func readPageRegistration(_ line: inout TransferLine) throws(LineProblem) {
        var login = PageRegistration()
        login.redirectURIs = try line.value("redirect_uris", "a list of strings", as: [String].self) ?? []
        login.postLogoutRedirectURIs =
            try line.value("post_logout_redirect_uris", "a list of strings", as: [String].self) ?? []
        login.redirectHops = try line.value("redirect_hops", "a list of strings", as: [String].self) ?? []
        login.requiresPushedRequests =
            try line.value("require_pushed_authorization_requests", "true or false", as: Bool.self) ?? false
        login.pkce = try line.optionalWord("pkce") ?? .required
        login.browserSession = try line.optionalWord("browser_session") ?? .none
        login.loginNames = try line.optionalWord("login_names") ?? .both
        login.loginMethods = try line.value("login_methods", "a list of strings", as: [String].self)
            .map { words throws(LineProblem) in
                let methods = words.compactMap { LoginMethod(rawValue: $0) }
                guard methods.count == words.count else { throw LineProblem(PageRegistration.loginMethodsProblem) }
                return methods
            }
        login.backchannelLogoutURI = try line.optionalText("backchannel_logout_uri")
        login.initiateLoginURI = try line.optionalText("initiate_login_uri")
        login.remoteScope = try line.scope("remote_scope")
        login.minimumBond = try line.optionalWord("minimum_bond") ?? .session
        login.appleAppIDs = try line.value("apple_app_ids", "a list of strings", as: [String].self) ?? []
        for text in try line.value("android_apps", "a list of strings", as: [String].self) ?? [] {
            guard let app = AndroidApp(text) else { throw LineProblem("'android_apps' must be PACKAGE/FINGERPRINT") }
            login.androidApps.append(app)
        }
        login.requiresLogoutSession =
            try line.value("backchannel_logout_session_required", "true or false", as: Bool.self) ?? false
        login.idTokenAlgorithm = try line.optionalWord("id_token_signed_response_alg")
        if let problem = login.problem(with: grantTypes) { throw LineProblem(problem) }
        page = login
        backchannel.deliveryMode = try line.optionalWord("backchannel_token_delivery_mode") ?? .poll
        backchannel.notificationEndpoint = try line.optionalText("backchannel_client_notification_endpoint")
        if let problem = backchannel.problem { throw LineProblem(problem) }
    }

    /// Adds the members that differ from those of a client without logins on the server's page.
    private func addPageRegistration(to members: inout TransferMembers) {
        let login = page
        if !login.redirectURIs.isEmpty { members.add("redirect_uris", login.redirectURIs) }
        if !login.postLogoutRedirectURIs.isEmpty {
            members.add("post_logout_redirect_uris", login.postLogoutRedirectURIs)
        }
        if !login.redirectHops.isEmpty { members.add("redirect_hops", login.redirectHops) }
        if login.requiresPushedRequests { members.add("require_pushed_authorization_requests", true) }
        if login.pkce != .required { members.add("pkce", login.pkce.rawValue) }
        if login.browserSession != .none { members.add("browser_session", login.browserSession.rawValue) }
        if login.loginNames != .both { members.add("login_names", login.loginNames.rawValue) }
        if let methods = login.loginMethods { members.add("login_methods", methods.map(\.rawValue)) }
        members.add("backchannel_logout_uri", login.backchannelLogoutURI)
        members.add("initiate_login_uri", login.initiateLoginURI)
        members.add("remote_scope", login.remoteScope?.description)
        if login.minimumBond != .session { members.add("minimum_bond", login.minimumBond.rawValue) }
        if !login.appleAppIDs.isEmpty { members.add("apple_app_ids", login.appleAppIDs) }
        if !login.androidApps.isEmpty { members.add("android_apps", login.androidApps.map(\.text)) }
        if login.requiresLogoutSession { members.add("backchannel_logout_session_required", true) }
        members.add("id_token_signed_response_alg", login.idTokenAlgorithm?.rawValue)
        if backchannel.deliveryMode != .poll {
            members.add("backchannel_token_delivery_mode", backchannel.deliveryMode.rawValue)
        }
        members.add("backchannel_client_notification_endpoint", backchannel.notificationEndpoint)
    }
}

extension StoredSigningKey {
    init(_ line: inout TransferLine) throws(LineProblem) {
        self.init(
            id: try line.text("key_id"), algorithm: try line.text("algorithm"),
            sealedPrivateKey: try line.bytes("sealed_private_key"), createdAt: try line.instant("created_at"),
            activeFrom: try line.instant("active_at"), retiredAt: try line.optionalInstant("retired_at"))
    }

    /// The line of a signing key, which stays sealed.
    var members: TransferMembers {
        var members = TransferMembers(.signingKey)
        members.add("key_id", id)
        members.add("algorithm", algorithm)
        members.add("sealed_private_key", bytes: sealedPrivateKey)
        members.add("created_at", createdAt)
        members.add("active_at", activeFrom)
        members.add("retired_at", retiredAt)
        return members
    }
}

extension AdminKey {
    init(_ line: inout TransferLine) throws(LineProblem) {
        self.init(
            id: try line.text("key_id"), name: try line.text("name"), hash: try line.bytes("hash"),
            createdAt: try line.instant("created_at"),
            scope: try line.optionalWord("scope", as: AdminKey.Scope.self) ?? .owner,
            expiresAt: try line.optionalInstant("expires_at"), lastUsedAt: try line.optionalInstant("last_used_at"))
    }

    /// The line of an admin key: its hash.
    var members: TransferMembers {
        var members = TransferMembers(.adminKey)
        members.add("key_id", id)
        members.add("name", name)
        members.add("hash", bytes: hash)
        members.add("created_at", createdAt)
        members.add("scope", scope.rawValue)
        members.add("expires_at", expiresAt)
        members.add("last_used_at", lastUsedAt)
        return members
    }
}

extension Branding {
    init(_ line: inout TransferLine) throws(LineProblem) {
        self.init(
            accent: try line.optionalText("accent"), logo: try line.optionalText("logo"),
            policyURL: try line.optionalText("policy_uri"), termsURL: try line.optionalText("tos_uri"),
            supportURL: try line.optionalText("support_uri"), supportEmail: try line.optionalText("support_email"))
        if let problem { throw LineProblem(problem) }
        if let logo, Logo.digest(named: logo) == nil { throw LineProblem("'logo' must be 64 hexadecimal digits") }
    }

    /// Adds the members that are set.
    func add(to members: inout TransferMembers) {
        members.add("accent", accent)
        members.add("logo", logo)
        members.add("policy_uri", policyURL)
        members.add("tos_uri", termsURL)
        members.add("support_uri", supportURL)
        members.add("support_email", supportEmail)
    }
}

extension Logo {
    init(_ line: inout TransferLine) throws(LineProblem) {
        let picture = try line.bytes("picture")
        do throws(LogoProblem) { try self.init(checking: picture) } catch {
            throw LineProblem("'picture' \(error.description)")
        }
    }

    /// The line of a logo.
    var members: TransferMembers {
        var members = TransferMembers(.logo)
        members.add("picture", bytes: bytes)
        return members
    }
}
