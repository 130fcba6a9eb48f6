internal import Calendar

extension FileWords {
    func month(_ number: Int) -> String { text(Self.months[number - 1]) }
    func date(_ date: CivilDate) -> String {
        text("date", ["day": "\(date.day)", "month": month(date.month), "year": "\(date.year)"])
    }
    func dateAndTime(_ time: UTCTime) -> String {
        text("date_and_time", ["date": date(time.date), "time": String(time.timeText.prefix(5))])
    }
    func errorInTitle(_ title: String) -> String { text("error_in_title", ["title": title]) }
    func back(to app: DisplayName) -> HTML { html("back_to", ["app": app]) }
    var or: String { text("or") }
    var goOn: String { text("go_on") }
    var privacyPolicy: String { text("privacy_policy") }
    var termsOfService: String { text("terms_of_service") }
    var help: String { text("help") }
    var startOver: String { text("start_over") }
    var signIn: String { text("sign_in") }
    var signOut: String { text("sign_out") }
    var yourAccount: String { text("your_account") }
    var showPassword: String { text("show_password") }
    var pressAgain: String { text("press_again") }
    var cookiesBlocked: String { text("cookies_blocked") }
}

extension FileWords {
    func signIn(to app: DisplayName) -> HTML { html("sign_in_to", ["app": app]) }
    var username: String { text("username") }
    var usernameAlone: String { text("username_alone") }
    var emailAddress: String { text("email_address") }
    var password: String { text("password") }
    var keepMeSignedIn: String { text("keep_me_signed_in") }
    var signInWithPasskey: String { text("sign_in_with_passkey") }
    func signIn(with provider: DisplayName) -> HTML { html("sign_in_with", ["provider": provider]) }
    var useYourPhone: String { text("use_your_phone") }
    var notYou: String { text("not_you") }
    var withoutTLS: String { text("without_tls") }
    var wrongCredentials: String { text("wrong_credentials") }
    var loginsPaused: String { text("logins_paused") }
    var loginsBlocked: String { text("logins_blocked") }
    func tooManyAttempts(seconds: Int) -> String { text("too_many_attempts", counting: seconds, "seconds") }
    func providerFailed(_ provider: DisplayName) -> HTML { html("provider_failed", ["provider": provider]) }
    var needsPasskeys: String { text("needs_passkeys") }
    var passkeyFailed: String { text("passkey_failed") }
    var signInAgain: String { text("sign_in_again") }
    var signInToFinish: String { text("sign_in_to_finish") }
    var unavailable: String { text("unavailable") }
    var tookAWhile: String { text("took_a_while") }
    var tookAWhileBody: String { text("took_a_while_body") }
    var closeThisWindow: String { text("close_this_window") }
    var signOutQuestion: String { text("sign_out_question") }
    func signOutBody(_ account: DisplayName) -> HTML { html("sign_out_body", ["account": account]) }
    var staySignedIn: String { text("stay_signed_in") }
    var signedOut: String { text("signed_out") }
    var signedOutBody: String { text("signed_out_body") }
    var notSignedIn: String { text("not_signed_in") }
    var notSignedInBody: String { text("not_signed_in_body") }
    var signedOutWithPhone: String { text("signed_out_with_phone") }
    var noWayBackToApp: String { text("no_way_back_to_app") }
    var newPasswordTitle: String { text("new_password_title") }
    var newPasswordBody: String { text("new_password_body") }
    var newPassword: String { text("new_password") }
    func newPasswordHint(min: Int) -> String { text("new_password_hint", ["min": "\(min)"]) }
    var resetLink: String { text("reset_link") }
    var resetLinkHint: String { text("reset_link_hint") }
    var resetOverTitle: String { text("reset_over_title") }
    var resetOtherLink: String { text("reset_other_link") }
    var savePassword: String { text("save_password") }
    var resetTokenRefused: String { text("reset_token_refused") }
    var passwordSaved: String { text("password_saved") }
    var passwordSavedBody: String { text("password_saved_body") }
    func passwordTooShort(min: Int) -> String { text("password_too_short", ["min": "\(min)"]) }
    var passwordTooCommon: String { text("password_too_common") }
    var passwordIsName: String { text("password_is_name") }
    var passwordTooLong: String { text("password_too_long") }
    var passwordUnusable: String { text("password_unusable") }
}

extension FileWords {
    var errorTitle: String { text("error_title") }
    var unknownClient: String { text("unknown_client") }
    var unregisteredRedirect: String { text("unregistered_redirect") }
    var invalidRequest: String { text("invalid_request") }
    var otherSite: String { text("other_site") }
    var notFound: String { text("not_found") }
    var serverFailed: String { text("server_failed") }
    var serverBusy: String { text("server_busy") }
    var tooManyRequests: String { text("too_many_requests") }
    var yourPart: String { text("your_part") }
    var forDevelopers: String { text("for_developers") }
    var requestID: String { text("request_id") }
    var needsTLSTitle: String { text("needs_tls_title") }
    var needsTLSBody: String { text("needs_tls_body") }
    var needsTLSForOperators: String { text("needs_tls_for_operators") }
}
