internal import HTTP
internal import Sessions

/// The table of all routes.
extension Route {
    static let all =
        oauth + login + account + users + logins + eventStreams + health + adminUsers + adminSessions + adminServer
        + console

    /// The calls of OAuth (RFC 6749, 7009, 7662, 7517, 8414).
    private static let oauth = [
        Route(.post, Endpoints.tokenPath, errorFormat: .oauth, challenge: .basic, .open { try await $0.token($1) }),
        Route(
            .post, Endpoints.revocationPath, errorFormat: .oauth, challenge: .basic, .open { try await $0.revoke($1) }),
        Route(
            .post, Endpoints.introspectionPath, errorFormat: .oauth, challenge: .basic,
            .open { try await $0.introspect($1) }),
        Route(
            .post, Endpoints.deviceAuthorizationPath, errorFormat: .oauth, challenge: .basic,
            .open { try await $0.authorizeDevice($1) }),
        Route(
            .post, Endpoints.backchannelPath, errorFormat: .oauth, challenge: .basic,
            .open { try await $0.authorizeByBackchannel($1) }),
        Route(.get, Endpoints.jwksPath, .open { endpoints, _ in try await endpoints.jwks() }),
        Route(.get, Endpoints.metadataPath, .immediate { try $0.serverMetadata() }),
        Route(.get, Endpoints.openIDMetadataPath, .immediate { try $0.serverMetadata() }),
    ]

    /// The login on the server's page (OpenID Connect Core, RFC 9126).
    private static let login = [
        Route(.get, Endpoints.authorizationPath, errorFormat: .page, .open { try await $0.authorize($1) }),
        Route(.post, Endpoints.authorizationPath, errorFormat: .page, .open { try await $0.authorize($1) }),
        Route(
            .post, Endpoints.pushedRequestPath, errorFormat: .oauth, challenge: .basic,
            .open { try await $0.pushRequest($1) }),
        Route(.get, "/login", errorFormat: .page, .open { try await $0.showLogin($1) }),
        Route(.post, "/login/password", errorFormat: .page, .open { try await $0.logInOnPage($1) }),
        Route(.post, "/login/passkey", errorFormat: .page, .open { try await $0.logInByPasskeyOnPage($1) }),
        Route(.post, "/login/offer", errorFormat: .page, .open { try await $0.takePasskeyOffer($1) }),
        Route(.post, "/login/account", errorFormat: .page, .open { try await $0.continueOnPage($1) }),
        Route(.get, "/login/provider", errorFormat: .page, .open { try await $0.goToProvider($1) }),
        Route(
            .get, Endpoints.providerCallbackPath, errorFormat: .page, .open { try await $0.completeProviderLogin($1) }),
        Route(.post, "/login/phone", errorFormat: .page, .open { try await $0.startPhoneLogin($1) }),
        Route(.get, "/login/phone/{id}", errorFormat: .page, .open { try await $0.showPhonePage($1) }),
        Route(.get, "/login/phone/{id}/code.svg", errorFormat: .page, .open { try await $0.phoneCode($1) }),
        Route(
            .get, "/login/phone/{id}/events", errorFormat: .page, .openStreaming { try await $0.followPhoneLogin($1) }),
        Route(.post, "/login/phone/{id}/finish", errorFormat: .page, .open { try await $0.finishPhoneLogin($1) }),
        Route(.get, "/login/app", errorFormat: .page, .open { try await $0.showAppLogin($1) }),
        Route(.post, "/login/app", errorFormat: .page, .open { try await $0.signInByApp($1) }),
        Route(.get, "/login/return", errorFormat: .page, .open { try await $0.returnFromPhone($1) }),
        Route(.get, "/l/{code}", errorFormat: .page, .open { try $0.explainPhoneLink($1) }),
        Route(.get, "/L/{code}", errorFormat: .page, .open { try $0.explainPhoneLink($1) }),
        Route(.get, "/e/{code}", errorFormat: .page, .open { try $0.explainInvitation($1) }),
        Route(.get, "/E/{code}", errorFormat: .page, .open { try $0.explainInvitation($1) }),
        Route(.get, "/not-me", errorFormat: .page, .open { try await $0.showNotMe($1) }),
        Route(.post, "/not-me", errorFormat: .page, .open { try await $0.endNotMe($1) }),
        Route(.get, Endpoints.logoutPath, errorFormat: .page, .open { try await $0.logOutBrowser($1) }),
        Route(.post, Endpoints.logoutPath, errorFormat: .page, .open { try await $0.logOutBrowser($1) }),
        Route(.get, Endpoints.appleAppsPath, .open { endpoints, _ in try await endpoints.appleApps() }),
        Route(.get, Endpoints.androidAppsPath, .open { endpoints, _ in try await endpoints.androidApps() }),
        Route(.get, "/assets/{name}", on: .both, .open { try $0.asset($1) }),
        Route(.get, "/assets/accent/{name}", .open { try $0.asset($1) }),
        Route(.get, Endpoints.userInfoPath, .open { try await $0.userInfo($1) }),
        Route(.post, Endpoints.userInfoPath, .open { try await $0.userInfo($1) }),
    ]

    /// The pages of a user's account.
    private static let account = [
        Route(.get, "/account", errorFormat: .page, .open { try await $0.showAccountDevices($1) }),
        Route(.get, "/account/events", errorFormat: .page, .openStreaming { try await $0.followAccount($1) }),
        Route(.post, "/account/end", errorFormat: .page, .open { try await $0.endAccountDevices($1) }),
        Route(.get, "/account/security", errorFormat: .page, .open { try await $0.showAccountSecurity($1) }),
        Route(.post, "/account/password", errorFormat: .page, .open { try await $0.changeAccountPassword($1) }),
        Route(.post, "/account/logins", errorFormat: .page, .open { try await $0.switchAccountLogins($1) }),
        Route(.post, "/account/passkeys", errorFormat: .page, .open { try await $0.changeAccountPasskeys($1) }),
        Route(.get, "/account/activity", errorFormat: .page, .open { try await $0.showAccountActivity($1) }),
        Route(.get, "/device", errorFormat: .page, .open { try await $0.showDevice($1) }),
        Route(.post, "/device", errorFormat: .page, .open { try await $0.reviewDevice($1) }),
        Route(.post, "/device/decision", errorFormat: .page, .open { try await $0.decideOnDevice($1) }),
        Route(.get, "/reset", errorFormat: .page, .open { try await $0.showReset($1) }),
        Route(.post, "/reset", errorFormat: .page, .open { try await $0.resetOnPage($1) }),
        Route(.get, Endpoints.changePasswordPath, .immediate { $0.changePasswordPage() }),
    ]

    /// The scopes of calls that change a stream, and of calls that read it.
    private static let (manager, reader) = (["ssf.manage"], ["ssf.read", "ssf.manage"])

    /// The streams of security events of clients (OpenID Shared Signals Framework 1.0).
    private static let eventStreams = [
        Route(.get, Endpoints.eventStreamMetadataPath, .immediate { try $0.eventStreamMetadata() }),
        Route(.post, Endpoints.eventStreamPath, .client(manager) { try await $0.createEventStream($1, $2) }),
        Route(.get, Endpoints.eventStreamPath, .client(reader) { try await $0.eventStream($1, $2) }),
        Route(.patch, Endpoints.eventStreamPath, .client(manager) { try await $0.changeEventStream($1, $2) }),
        Route(.put, Endpoints.eventStreamPath, .client(manager) { try await $0.changeEventStream($1, $2) }),
        Route(.delete, Endpoints.eventStreamPath, .client(manager) { try await $0.deleteEventStream($1, $2) }),
        Route(.get, Endpoints.eventStreamStatusPath, .client(reader) { try await $0.eventStreamStatus($1, $2) }),
        Route(
            .post, Endpoints.eventStreamStatusPath, .client(manager) { try await $0.changeEventStreamStatus($1, $2) }),
        Route(
            .post, Endpoints.eventStreamVerificationPath, .client(manager) { try await $0.verifyEventStream($1, $2) }),
        Route(
            .post, Endpoints.eventStreamPollPath, mayWait: true,
            .client(manager) { try await $0.pollEventStream($1, $2) }),
    ]

    /// The calls of apps and proxies.
    private static let users = [
        Route(.post, "/v1/login", .open { try await $0.logIn($1) }),
        Route(.post, "/v1/passkeys/options", .open { try await $0.passkeyLoginOptions($1) }),
        Route(.post, "/v1/refresh", .open { try await $0.refreshSession($1) }),
        Route(.post, "/v1/logout", .open { try await $0.logOut($1) }),
        Route(.get, "/v1/me", .user(.presence) { try await $0.profile($1, $2) }),
        Route(.patch, "/v1/me", onProbation: false, .user { try await $0.changeProfile($1, $2) }),
        Route(.post, "/v1/me/account", onProbation: false, .user { try await $0.nameAccount($1, $2) }),
        Route(
            .get, "/v1/me/login-settings", challenge: .bearerOrBasic, onProbation: false,
            .owner { try await $0.loginSettings($1, $2) }),
        Route(
            .put, "/v1/me/login-settings", challenge: .bearerOrBasic, onProbation: false,
            .owner { try await $0.changeLoginSettings($1, $2) }),
        Route(.get, "/v1/me/devices", .user { try await $0.devices($1, $2) }),
        Route(.delete, "/v1/me/devices", onProbation: false, .user { try await $0.endDevices($1, $2) }),
        Route(.patch, "/v1/me/devices/{device_id}", .user { try await $0.renameDevice($1, $2) }),
        Route(.delete, "/v1/me/devices/{device_id}", onProbation: false, .user { try await $0.endDevice($1, $2) }),
        Route(.get, "/v1/me/passkeys", .user { try await $0.passkeys($1, $2) }),
        Route(.post, "/v1/me/passkeys", onProbation: false, .user { try await $0.addPasskey($1, $2) }),
        Route(
            .post, "/v1/me/passkeys/options", onProbation: false,
            .user { try await $0.passkeyRegistrationOptions($1, $2) }),
        Route(.patch, "/v1/me/passkeys/{passkey}", onProbation: false, .user { try await $0.renamePasskey($1, $2) }),
        Route(.delete, "/v1/me/passkeys/{passkey}", onProbation: false, .user { try await $0.removePasskey($1, $2) }),
        Route(
            .put, "/v1/me/authentication-mode", onProbation: false,
            .user([]) { try await $0.changeMode($1, $2) }),
        Route(
            .put, "/v1/me/encryption-key", onProbation: false,
            .user([]) { try await $0.setEncryptionKey($1, $2) }),
        Route(
            .delete, "/v1/me/encryption-key", onProbation: false,
            .user([]) { try await $0.removeEncryptionKey($1, $2) }),
        Route(.get, "/v1/me/pin", onProbation: false, .user { try await $0.showPIN($1, $2) }),
        Route(.put, "/v1/me/pin", onProbation: false, .user(.account) { try await $0.setPIN($1, $2) }),
        Route(.delete, "/v1/me/pin", onProbation: false, .user { try await $0.removePIN($1, $2) }),
        Route(.post, "/v1/me/presence/options", .user([]) { try await $0.presenceOptions($1, $2) }),
        Route(.post, "/v1/me/presence", .user([]) { try await $0.showPresence($1, $2) }),
        Route(.put, "/v1/me/password", onProbation: false, .user { try await $0.changePassword($1, $2) }),
        Route(.post, "/v1/password-reset", .open { try await $0.resetPassword($1) }),
        Route(.get, "/v1/verify", .open { try await $0.verify($1) }),
        Route(.get, "/v1/verify/*", .open { try await $0.verify($1) }),
    ]

    /// Logins with a phone: the calls of the phone, and of the device that it lets in.
    private static let logins = [
        Route(.post, "/v1/me/logins", .user(.account) { try await $0.claimLogin($1, $2) }),
        Route(.get, "/v1/me/logins", mayWait: true, .user(.account) { try await $0.listMyLogins($1, $2) }),
        Route(
            .get, "/v1/me/logins/{login_id}", mayWait: true, .user(.account) { try await $0.showMyLogin($1, $2) }),
        Route(.post, "/v1/me/logins/{login_id}/start", .user(.account) { try await $0.startLogin($1, $2) }),
        Route(.post, "/v1/me/logins/{login_id}/confirm", .user(.account) { try await $0.confirmLogin($1, $2) }),
        Route(
            .post, "/v1/me/logins/{login_id}/second-factor",
            .user(.account) { try await $0.proveLoginFactor($1, $2) }),
        Route(.post, "/v1/me/logins/{login_id}/stop", .user(.account) { try await $0.stopLogin($1, $2) }),
        Route(.post, "/v1/me/logins/{login_id}/adopt", .user(.account) { try await $0.adoptLogin($1, $2) }),
        Route(
            .post, "/v1/me/app-login", onProbation: false, .user(.account) { try await $0.logInInApp($1, $2) }),
        Route(.post, "/v1/me/logins/ping", .user(.account) { try await $0.pingLogins($1, $2) }),
        Route(.get, "/v1/logins/{login_id}", mayWait: true, .open { try await $0.showDeviceLogin($1) }),
        Route(.post, "/v1/enrolments", .open { try await $0.claimInvitation($1) }),
        Route(.get, "/v1/enrolments/{login_id}", mayWait: true, .open { try await $0.showEnrolment($1) }),
        Route(.post, "/v1/enrolments/{login_id}/start", .open { try await $0.startEnrolment($1) }),
        Route(.post, "/v1/enrolments/{login_id}/confirm", .open { try await $0.confirmEnrolment($1) }),
        Route(.post, "/v1/enrolments/{login_id}/second-factor", .open { try await $0.completeEnrolment($1) }),
        Route(.post, "/v1/enrolments/{login_id}/stop", .open { try await $0.stopEnrolment($1) }),
    ]

    private static let health = [
        Route(.get, "/", on: .both, .open { try $0.showRoot($1) }),
        Route(.get, "/healthz", on: .both, .immediate { try $0.health() }),
        Route(.get, "/readyz", on: .both, .open { try await $0.readiness($1) }),
        Route(.get, "/openapi.json", on: .both, .open { endpoints, call in try endpoints.document(call) }),
        Route(.get, "/metrics", on: .admin, .open { try $0.metricsText($1) }),
    ]

    private static let adminUsers = [
        Route(.post, "/admin/v1/users", on: .admin, .admin(.users) { try await $0.createUser($1) }),
        Route(.get, "/admin/v1/users", on: .admin, .admin(.read) { try await $0.listUsers($1) }),
        Route(.get, "/admin/v1/users/{user}", on: .admin, .admin(.read, or: .users) { try await $0.showUser($1) }),
        Route(.patch, "/admin/v1/users/{user}", on: .admin, .admin(.users) { try await $0.changeUser($1) }),
        Route(.delete, "/admin/v1/users/{user}", on: .admin, .admin(.owner) { try await $0.deleteUser($1) }),
        Route(.post, "/admin/v1/users/{user}/disable", on: .admin, .admin(.support) { try await $0.disableUser($1) }),
        Route(.post, "/admin/v1/users/{user}/enable", on: .admin, .admin(.support) { try await $0.enableUser($1) }),
        Route(.post, "/admin/v1/users/{user}/unlock", on: .admin, .admin(.support) { try await $0.unlockUser($1) }),
        Route(.put, "/admin/v1/users/{user}/password", on: .admin, .admin(.owner) { try await $0.setPassword($1) }),
        Route(
            .get, "/admin/v1/users/{user}/identities", on: .admin, .admin(.read) { try await $0.listIdentities($1) }),
        Route(
            .put, "/admin/v1/users/{user}/identities", on: .admin, .admin(.owner) { try await $0.linkIdentity($1) }),
        Route(
            .delete, "/admin/v1/users/{user}/identities", on: .admin,
            .admin(.owner) { try await $0.unlinkIdentity($1) }),
        Route(.get, "/admin/v1/users/{user}/passkeys", on: .admin, .admin(.read) { try await $0.listPasskeys($1) }),
        Route(
            .delete, "/admin/v1/users/{user}/passkeys", on: .admin, .admin(.owner) { try await $0.deletePasskey($1) }),
        Route(
            .post, "/admin/v1/users/{user}/password-reset", on: .admin,
            .admin(.users) { try await $0.requestPasswordReset($1) }),
    ]

    private static let adminSessions = [
        Route(.get, "/admin/v1/users/{user}/sessions", on: .admin, .admin(.read) { try await $0.listSessions($1) }),
        Route(.post, "/admin/v1/users/{user}/sessions", on: .admin, .admin(.owner) { try await $0.mintSession($1) }),
        Route(.post, "/admin/v1/users/{user}/revoke", on: .admin, .admin(.support) { try await $0.revokeSessions($1) }),
        Route(.get, "/admin/v1/sessions/{session_id}", on: .admin, .admin(.read) { try await $0.showSession($1) }),
        Route(.delete, "/admin/v1/sessions/{session_id}", on: .admin, .admin(.support) { try await $0.endSession($1) }),
        Route(
            .put, "/admin/v1/sessions/{session_id}/attestation", on: .admin,
            .admin(.owner) { try await $0.setAttestation($1) }),
        Route(
            .delete, "/admin/v1/sessions/{session_id}/pin", on: .admin,
            .admin(.support) { try await $0.removePINOfSession($1) }),
        Route(.get, "/admin/v1/logins", on: .admin, .admin(.read) { try await $0.listPhoneLogins($1) }),
        Route(
            .get, "/admin/v1/logins/{login_id}", on: .admin,
            .admin(.read, or: .users) { try await $0.showPhoneLogin($1) }),
        Route(.delete, "/admin/v1/logins/{login_id}", on: .admin, .admin(.support) { try await $0.endPhoneLogin($1) }),
        Route(.post, "/admin/v1/invitations", on: .admin, .admin(.users) { try await $0.invite($1) }),
        Route(.post, "/admin/v1/revoke-all", on: .admin, .admin(.owner) { try await $0.revokeAll($1) }),
        Route(.post, "/admin/v1/test/clock", on: .admin, .admin(.owner) { try await $0.moveTestClock($1) }),
        Route(.post, "/admin/v1/test/logins", on: .admin, .admin(.owner) { try await $0.makeTestLogin($1) }),
    ]

    private static let adminServer = [
        Route(.get, "/admin/v1/settings/sessions", on: .admin, .admin(.read) { try await $0.showSettings($1) }),
        Route(
            .post, "/admin/v1/settings/sessions/preview", on: .admin, .admin(.read) { try await $0.previewSettings($1) }
        ),
        Route(
            .post, "/admin/v1/clients/{client_id}/preview", on: .admin, .admin(.read) { try await $0.previewClient($1) }
        ),
        Route(.post, "/admin/v1/users/{user}/preview", on: .admin, .admin(.read) { try await $0.previewUser($1) }),
        Route(.put, "/admin/v1/settings/sessions", on: .admin, .admin(.owner) { try await $0.changeSettings($1) }),
        Route(.post, "/admin/v1/clients", on: .admin, .admin(.owner) { try await $0.createClient($1) }),
        Route(.get, "/admin/v1/clients", on: .admin, .admin(.read) { try await $0.listClients($1) }),
        Route(.get, "/admin/v1/clients/{client_id}", on: .admin, .admin(.read) { try await $0.showClient($1) }),
        Route(.patch, "/admin/v1/clients/{client_id}", on: .admin, .admin(.owner) { try await $0.changeClient($1) }),
        Route(.delete, "/admin/v1/clients/{client_id}", on: .admin, .admin(.owner) { try await $0.deleteClient($1) }),
        Route(.post, "/admin/v1/backup", on: .admin, .admin(.owner) { try await $0.startBackup($1) }),
        Route(.get, "/admin/v1/backup", on: .admin, .admin(.read) { try await $0.showBackup($1) }),
        Route(.get, "/admin/v1/events", on: .admin, .admin(.read) { try await $0.listEvents($1) }),
        Route(.get, "/admin/v1/revocations", on: .admin, .streaming(.feed) { try await $0.followRevocations($1) }),
        Route(
            .get, "/admin/v1/logout-receivers", on: .admin, .admin(.read) { try await $0.listLogoutReceivers($1) }),
        Route(
            .post, "/admin/v1/deliveries/retry", on: .admin, .admin(.support) { try await $0.retryDeliveries($1) }),
        Route(
            .post, "/admin/v1/webhooks/{name}/test", on: .admin, .admin(.support) { try await $0.testWebhook($1) }),
        Route(.get, "/admin/v1/event-streams", on: .admin, .admin(.read) { try await $0.listEventStreams($1) }),
        Route(
            .patch, "/admin/v1/event-streams/{client_id}", on: .admin,
            .admin(.owner) { try await $0.changeEventStreamOfClient($1) }),
        Route(
            .post, "/admin/v1/event-streams/{client_id}/verify", on: .admin,
            .admin(.support) { try await $0.verifyEventStreamOfClient($1) }),
        Route(
            .delete, "/admin/v1/event-streams/{client_id}", on: .admin,
            .admin(.owner) { try await $0.endEventStream($1) }),
        Route(.get, "/admin/v1/keys", on: .admin, .admin(.read) { try await $0.listSigningKeys($1) }),
        Route(.post, "/admin/v1/keys/rotate", on: .admin, .admin(.owner) { try await $0.rotateSigningKey($1) }),
        Route(.delete, "/admin/v1/keys/{kid}", on: .admin, .admin(.owner) { try await $0.withdrawSigningKey($1) }),
        Route(.get, "/admin/v1/admin-keys", on: .admin, .admin(.read) { try await $0.listAdminKeys($1) }),
        Route(.post, "/admin/v1/admin-keys", on: .admin, .admin(.owner) { try await $0.createAdminKey($1) }),
        Route(.delete, "/admin/v1/admin-keys/{id}", on: .admin, .admin(.owner) { try await $0.deleteAdminKey($1) }),
    ]
}
