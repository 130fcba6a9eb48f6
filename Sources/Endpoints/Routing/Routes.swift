/// The table of all routes. Each row stands in the file of its handler, those of the console in `Console/ConsoleRoutes.swift`.
extension Route {
    static let all: [Route] =
        oauthCalls + loginPages + proofPages + accountPageCalls + appCalls + phoneLoginCalls + eventStreamCalls
        + healthCalls
        + adminUserCalls + adminSessionCalls + adminServerCalls + console

    /// The calls of OAuth (RFC 6749, 7009, 7662, 7517, 8414).
    private static let oauthCalls: [Route] = [
        .token, .revoke, .introspect, .authorizeDevice, .authorizeByBackchannel, .jwks, .metadata,
        .openidConfiguration,
    ]

    /// The login on the server's page (OpenID Connect Core, RFC 9126).
    private static let loginPages: [Route] = [
        .authorize, .authorizeByForm, .pushRequest, .showLogin, .logInOnPage, .logInByPasskeyOnPage,
        .takePasskeyOffer, .takeFactorOnPage, .continueOnPage, .goToProvider, .completeProviderLogin, .startPhoneLogin,
        .showPhonePage,
        .phoneCode, .followPhoneLogin, .finishPhoneLogin, .showAppLogin, .signInByApp, .returnFromPhone,
        .explainPhoneLink, .explainPhoneCode, .explainInvitation, .explainInvitationInCapitals, .showNotMe, .endNotMe,
        .logOutBrowser, .logOutBrowserByForm, .appleApps, .androidApps, .asset, .accentStyle, .showLogo, .userInfo,
        .userInfoByForm,
    ]

    /// The pages on which a mailbox is proven, and those to which the links of mails lead.
    private static let proofPages: [Route] = [
        .showSignUp, .beginSignUp, .showSignUpCode, .takeSignUpCode, .showSignUpFinish, .finishSignUp, .showForgot,
        .beginReset, .showResetCode, .takeResetCode, .showEmailLogin, .beginEmailLogin, .showLoginCode,
        .takeLoginCode, .showProofLink, .proveByLink, .showCancelLink, .cancelByLink, .showUndoLink, .undoByLink,
    ]

    /// The pages of a user's account.
    private static let accountPageCalls: [Route] = [
        .showAccountDevices, .followAccount, .endAccountDevices, .showAccountProfile, .changeAccountProfile,
        .showAccountSecurity, .changeAccountPassword, .switchAccountLogins, .changeAccountPasskeys,
        .showAccountFactors, .changeAccountFactors, .showAccountActivity, .showDevice, .reviewDevice,
        .decideOnDevice, .showReset, .resetOnPage, .changePasswordPage, .showAccountEmail, .changeAccountEmail,
        .confirmAccountEmail, .showAccountDeletion, .deleteAccountOnPage,
    ]

    /// The calls of apps and proxies.
    private static let appCalls: [Route] = [
        .logIn, .passkeyLoginOptions, .refreshSession, .logOut, .profile, .changeProfile, .requestEmailChange,
        .confirmEmailChange, .nameAccount,
        .loginSettings, .changeLoginSettings, .devices, .endDevices, .renameDevice, .endDevice, .passkeys,
        .addPasskey, .passkeyRegistrationOptions, .renamePasskey, .removePasskey, .secondFactors, .addFactor,
        .confirmFactor, .removeFactor, .makeRecoveryCodes, .addFactorAtLogin, .changeMode, .setEncryptionKey,
        .removeEncryptionKey, .showPIN, .setPIN, .removePIN, .presenceOptions, .showPresence, .changePassword,
        .resetPassword, .requestVerification, .resendVerification, .proveVerification, .showVerification, .signUp,
        .signUpPasskeyOptions, .verify, .verifyPath, .deleteMe,
    ]

    /// Logins with a phone: the calls of the phone, and of the device that looks at its login. A device opens and collects its
    /// login under `oauth`, a browser under `login`.
    private static let phoneLoginCalls: [Route] = [
        .claimLogin, .listMyLogins, .showMyLogin, .startLogin, .confirmLogin, .proveLoginFactor, .stopLogin,
        .adoptLogin, .logInInApp, .pingLogins, .showDeviceLogin, .claimInvitation, .showEnrolment, .startEnrolment,
        .confirmEnrolment, .completeEnrolment, .stopEnrolment,
    ]

    /// The streams of security events of clients (OpenID Shared Signals Framework 1.0).
    private static let eventStreamCalls: [Route] = [
        .eventStreamMetadata, .createEventStream, .eventStream, .changeEventStream, .replaceEventStream,
        .deleteEventStream, .eventStreamStatus, .changeEventStreamStatus, .verifyEventStream, .pollEventStream,
    ]

    /// Health, metrics and this document.
    private static let healthCalls: [Route] = [
        .showRoot, .health, .readiness, .document, .metricsText,
    ]

    /// Admin: accounts.
    private static let adminUserCalls: [Route] = [
        .createUser, .listUsers, .showUser, .changeUser, .deleteUser, .disableUser, .enableUser, .unlockUser,
        .setPassword, .listIdentities, .linkIdentity, .unlinkIdentity, .listPasskeys, .deletePasskey,
        .listSecondFactors, .deleteSecondFactors, .requireSecondFactor, .showSecondFactorPolicy,
        .setSecondFactorPolicy,
        .requestPasswordReset,
    ]

    /// Admin: sessions and logins.
    private static let adminSessionCalls: [Route] = [
        .listSessions, .mintSession, .revokeSessions, .showSession, .endSession, .setAttestation, .removePINOfSession,
        .listPhoneLogins, .showPhoneLogin, .endPhoneLogin, .invite, .revokeAll, .moveTestClock, .makeTestLogin,
    ]

    /// Admin: settings, clients, keys, deliveries.
    private static let adminServerCalls: [Route] = [
        .showBranding, .changeBranding, .setLogo, .removeLogo, .setClientLogo, .removeClientLogo,
        .showSettings, .previewSettings, .previewClient, .previewUser, .changeSettings, .createClient, .listClients,
        .showClient, .changeClient, .deleteClient, .startBackup, .showBackup, .listEvents, .followRevocations,
        .listLogoutReceivers, .retryDeliveries, .testWebhook, .listMails, .retryMail, .noteMailRefusal,
        .listEventStreams, .changeEventStreamOfClient, .verifyEventStreamOfClient, .endEventStream, .listSigningKeys,
        .rotateSigningKey, .withdrawSigningKey,
        .listAdminKeys, .createAdminKey, .deleteAdminKey,
    ]
}
