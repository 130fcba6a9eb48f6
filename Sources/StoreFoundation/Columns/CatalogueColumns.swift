public import Sessions

/// The settings as a row.
public enum SettingsColumns {
    /// The columns, in the order of `read`.
    public static let all = Columns(
        "offline_session_idle_seconds", "offline_session_max_limited", "offline_session_max_seconds",
        "refresh_after_seconds", "rotation_interval_seconds", "epoch", "revoked_before_epoch", "revoked_before_at",
        "earlier_tokens_end_at", "served_max_seconds", "restores", "second_factor_policy", "branding")

    /// Reads the columns of the settings.
    public static func read(_ row: inout some StoredRow) throws(CorruptRow) -> Settings {
        let sessions = SessionSettings(
            offlineSessionIdle: row.duration(), offlineSessionMaxLimited: row.bool(),
            offlineSessionMax: row.duration(), refreshAfter: row.duration(), rotationInterval: row.duration())
        let epoch = row.integer()
        let cutEpoch = row.optional { row in row.integer() }
        let cutAt = row.optionalInstant()
        var revokedBefore: Settings.RevokedBefore?
        if let cutEpoch, let cutAt { revokedBefore = Settings.RevokedBefore(epoch: cutEpoch, at: cutAt) }
        var settings = Settings(sessions: sessions, epoch: epoch, revokedBefore: revokedBefore)
        settings.earlierTokensEnd = row.optionalInstant()
        settings.servedMaximum = row.optional { row in row.duration() }
        let restores = row.optionalText() ?? ""
        guard let all = [Settings.Restore](text: restores) else {
            throw CorruptRow("the settings have the restores '\(restores)', which cannot be read")
        }
        settings.restores = all
        settings.secondFactorPolicy = try row.word(as: SecondFactorPolicy.self)
        settings.branding = try branding(row.optionalText(), of: "the settings") ?? Branding()
        return settings
    }

    /// Writes all columns of the settings.
    public static func write(_ settings: Settings, to row: inout some WrittenRow) {
        row.add(settings.sessions.offlineSessionIdle)
        row.add(settings.sessions.offlineSessionMaxLimited)
        row.add(settings.sessions.offlineSessionMax)
        row.add(settings.sessions.refreshAfter)
        row.add(settings.sessions.rotationInterval)
        row.add(settings.epoch)
        row.add(settings.revokedBefore?.epoch)
        row.add(settings.revokedBefore?.at)
        row.add(settings.earlierTokensEnd)
        row.add(settings.servedMaximum)
        row.add(settings.restores.text)
        row.add(settings.secondFactorPolicy)
        row.add(settings.branding.text)
    }
}

/// The branding of a column.
private func branding(_ text: String?, of owner: String) throws(CorruptRow) -> Branding? {
    guard let text else { return nil }
    guard let branding = Branding(text: text) else { throw CorruptRow("\(owner) has a branding that cannot be read") }
    return branding
}

/// A client as a row.
public enum ClientColumns {
    /// The columns, in the order of `read`.
    public static let all = Columns(
        "id", "name", "authentication_method", "secret_hash", "grant_types", "scope", "token_style",
        "offline_session_idle_seconds", "offline_session_max_seconds", "access_token_lifetime_seconds",
        "refresh_after_seconds", "created_at", "epoch", "dpop", "jwks",
        "user_presence_max_age_seconds", "resources", "stays_logged_in",
        "app_data", "attestation", "anonymous_users", "redirect_uris", "post_logout_redirect_uris", "redirect_hops",
        "require_pushed_authorization_requests", "browser_session", "login_methods", "login_names",
        "backchannel_logout_uri",
        "initiate_login_uri", "remote_scope", "minimum_bond", "apple_app_ids", "android_apps",
        "backchannel_logout_session_required",
        "id_token_signed_response_alg", "event_stream", "backchannel_token_delivery_mode",
        "backchannel_client_notification_endpoint", "token_epoch", "authentication_method_pinned", "pkce",
        "scope_claims", "earlier_secret_hash", "earlier_secret_ends_at", "sign_up", "second_factor_policy", "branding",
        "allowed_origins")

    /// Reads the columns of a client.
    public static func read(_ row: inout some StoredRow) throws(CorruptRow) -> Client {
        let id = row.text()
        let name = row.optionalText()
        let method = try row.word(as: Client.AuthenticationMethod.self)
        let secretHash = row.optional { row in row.bytes() }
        var grantTypes: [Client.GrantType] = []
        for word in row.list() {
            guard let grantType = Client.GrantType(rawValue: word) else {
                throw CorruptRow("client \(id) has the unknown grant type '\(word)'")
            }
            grantTypes.append(grantType)
        }
        let scope = try row.scope()
        let tokenStyle = try row.word(as: Client.TokenStyle.self)
        var client = Client(
            id: id, name: name, authenticationMethod: method, secretHash: secretHash, grantTypes: grantTypes,
            scope: scope, tokenStyle: tokenStyle, offlineSessionIdle: row.optional { row in row.duration() },
            offlineSessionMax: row.optional { row in row.duration() },
            accessTokenLifetime: row.optional { row in row.duration() },
            refreshAfter: row.optional { row in row.duration() }, createdAt: row.instant(), epoch: row.integer(),
            dpop: try row.word(as: Client.ProofRequirement.self))
        client.keys = try keys(row.optionalText(), of: id)
        client.userPresenceMaxAge = row.optional { row in row.duration() }
        client.resources = row.list()
        client.staysLoggedIn = row.bool()
        client.appData = try row.word(as: Client.AppDataRule.self)
        client.attestation = try row.word(as: Client.AttestationRule.self)
        client.anonymousUsers = row.bool()
        client.page.redirectURIs = row.list()
        client.page.postLogoutRedirectURIs = row.list()
        client.page.redirectHops = row.list()
        client.page.requiresPushedRequests = row.bool()
        client.page.browserSession = try row.word(as: PageRegistration.BrowserSession.self)
        client.page.loginMethods = try loginMethods(row.optional { row in row.list() }, of: id)
        client.page.loginNames = try row.word(as: PageRegistration.LoginNames.self)
        client.page.backchannelLogoutURI = row.optionalText()
        client.page.initiateLoginURI = row.optionalText()
        client.page.remoteScope = try row.optional { (row) throws(CorruptRow) in try row.scope() }
        client.page.minimumBond = try row.word(as: PhoneLogin.Bond.Minimum.self)
        client.page.appleAppIDs = row.list()
        for text in row.list() {
            guard let app = AndroidApp(text) else {
                throw CorruptRow("client \(id) has an Android app that cannot be read")
            }
            client.page.androidApps.append(app)
        }
        client.page.requiresLogoutSession = row.bool()
        client.page.idTokenAlgorithm = try row.optionalWord(as: PageRegistration.IDTokenAlgorithm.self)
        if let text = row.optionalText() {
            guard let stream = EventStream(text: text) else {
                throw CorruptRow("client \(id) has an event stream that cannot be read")
            }
            client.eventStream = stream
        }
        client.backchannel.deliveryMode = try row.word(as: BackchannelRegistration.DeliveryMode.self)
        client.backchannel.notificationEndpoint = row.optionalText()
        client.tokenEpoch = row.integer()
        client.isAuthenticationMethodPinned = row.bool()
        client.page.pkce = try row.word(as: PageRegistration.PKCERequirement.self)
        guard let scopeClaims = ScopeClaims(text: row.text()) else {
            throw CorruptRow("client \(id) has claims of scopes that cannot be read")
        }
        client.scopeClaims = scopeClaims
        let (hash, end) = (row.optional { row in row.bytes() }, row.optionalInstant())
        if let hash, let end { client.earlierSecret = EarlierSecret(hash: hash, endsAt: end) }
        client.signUp = row.bool()
        client.secondFactorPolicy = try row.optionalWord(as: SecondFactorPolicy.self)
        client.branding = try branding(row.optionalText(), of: "client \(id)") ?? Branding()
        client.allowedOrigins = try origins(row.list(), of: id)
        return client
    }

    private static func origins(_ texts: [String], of id: String) throws(CorruptRow) -> [WebOrigin] {
        do throws(WebOrigin.Problem) { return try WebOrigin.list(texts) } catch {
            throw CorruptRow("client \(id) has an origin that cannot be read")
        }
    }

    private static func keys(_ text: String?, of id: String) throws(CorruptRow) -> ClientKeys? {
        guard let text else { return nil }
        do throws(ClientKeys.Problem) { return try ClientKeys(text: Array(text.utf8)) } catch {
            throw CorruptRow("client \(id) has keys that cannot be read")
        }
    }

    private static func loginMethods(
        _ words: [String]?, of id: String
    ) throws(CorruptRow) -> [Client.LoginMethod]? {
        guard let words else { return nil }
        let methods = words.compactMap { Client.LoginMethod(rawValue: $0) }
        guard methods.count == words.count else { throw CorruptRow("client \(id) has an unknown login method") }
        return methods
    }

    /// Writes all columns of a client.
    public static func write(_ client: Client, to row: inout some WrittenRow) {
        row.add(client.id)
        row.add(client.name)
        row.add(client.authenticationMethod)
        row.add(client.secretHash)
        row.add(list: client.grantTypes.map(\.rawValue))
        row.add(client.scope)
        row.add(client.tokenStyle)
        row.add(client.offlineSessionIdle)
        row.add(client.offlineSessionMax)
        row.add(client.accessTokenLifetime)
        row.add(client.refreshAfter)
        row.add(client.createdAt)
        row.add(client.epoch)
        row.add(client.dpop)
        row.add(client.keys?.text)
        row.add(client.userPresenceMaxAge)
        row.add(list: client.resources)
        row.add(client.staysLoggedIn)
        row.add(client.appData)
        row.add(client.attestation)
        row.add(client.anonymousUsers)
        row.add(list: client.page.redirectURIs)
        row.add(list: client.page.postLogoutRedirectURIs)
        row.add(list: client.page.redirectHops)
        row.add(client.page.requiresPushedRequests)
        row.add(client.page.browserSession)
        row.add(client.page.loginMethods.map { $0.map(\.rawValue).joined(separator: " ") })
        row.add(client.page.loginNames)
        row.add(client.page.backchannelLogoutURI)
        row.add(client.page.initiateLoginURI)
        row.add(client.page.remoteScope)
        row.add(client.page.minimumBond)
        row.add(list: client.page.appleAppIDs)
        row.add(list: client.page.androidApps.map(\.text))
        row.add(client.page.requiresLogoutSession)
        row.add(client.page.idTokenAlgorithm?.rawValue)
        row.add(client.eventStream?.text)
        row.add(client.backchannel.deliveryMode)
        row.add(client.backchannel.notificationEndpoint)
        row.add(client.tokenEpoch)
        row.add(client.isAuthenticationMethodPinned)
        row.add(client.page.pkce)
        row.add(client.scopeClaims.text)
        row.add(client.earlierSecret?.hash)
        row.add(client.earlierSecret?.endsAt)
        row.add(client.signUp)
        row.add(client.secondFactorPolicy)
        row.add(client.branding.text)
        row.add(list: client.allowedOrigins.map(\.text))
    }
}
