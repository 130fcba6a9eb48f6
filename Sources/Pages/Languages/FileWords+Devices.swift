extension FileWords {
    var phoneTitle: String { text("phone_title") }
    var phoneScan: String { text("phone_scan") }
    var phoneImage: String { text("phone_image") }
    var phoneOpenApp: String { text("phone_open_app") }
    var phoneWaiting: String { text("phone_waiting") }
    var phoneScanned: String { text("phone_scanned") }
    var phoneNumber: String { text("phone_number") }
    var phoneConfirmed: String { text("phone_confirmed") }
    var phoneOpened: String { text("phone_opened") }
    var phoneApproved: String { text("phone_approved") }
    var phoneFinished: String { text("phone_finished") }
    var phoneDenied: String { text("phone_denied") }
    var phoneTimedOut: String { text("phone_timed_out") }
    var phoneWrongNumber: String { text("phone_wrong_number") }
    var phoneContested: String { text("phone_contested") }
    var phoneFailed: String { text("phone_failed") }
    var phoneNewCode: String { text("phone_new_code") }
    var phoneCheckAgain: String { text("phone_check_again") }
    var otherWays: String { text("other_ways") }
    var phoneOnlyHere: String { text("phone_only_here") }
}

extension FileWords {
    var appLoginTitle: String { text("app_login_title") }
    var appLoginBody: String { text("app_login_body") }
    var appLoginCode: String { text("app_login_code") }
    var appLoginCodeHint: String { text("app_login_code_hint") }
    var appLoginContinue: String { text("app_login_continue") }
    var appLoginTooLate: String { text("app_login_too_late") }
    func appLoginQuestion(_ account: DisplayName) -> HTML { html("app_login_question", ["account": account]) }
    var appLoginWarning: String { text("app_login_warning") }
    func appLoginOther(_ account: DisplayName) -> HTML { html("app_login_other", ["account": account]) }
    var linkTitle: String { text("link_title") }
    var linkBody: String { text("link_body") }
    var linkWarning: String { text("link_warning") }
    var invitationTitle: String { text("invitation_title") }
    var invitationBody: String { text("invitation_body") }
    var invitationWarning: String { text("invitation_warning") }
    var otherBrowserTitle: String { text("other_browser_title") }
    var otherBrowserBody: String { text("other_browser_body") }
    var notMeTitle: String { text("not_me_title") }
    func notMeBody(_ app: DisplayName) -> HTML { html("not_me_body", ["app": app]) }
    func notMeLogin(_ app: DisplayName) -> HTML { html("not_me_login", ["app": app]) }
    var notMeElse: String { text("not_me_else") }
    var notMeEverywhere: String { text("not_me_everywhere") }
    var notMeEnd: String { text("not_me_end") }
    var notMeDone: String { text("not_me_done") }
    var notMeDoneBody: String { text("not_me_done_body") }
    var notMeWasOver: String { text("not_me_was_over") }
    var notMeEnded: String { text("not_me_ended") }
    var notMeEndedAll: String { text("not_me_ended_all") }
    var notMeBrowser: HTML { html("not_me_browser") }
}

extension FileWords {
    var deviceTitle: String { text("device_title") }
    var deviceBody: String { text("device_body") }
    var deviceCode: String { text("device_code") }
    var deviceCodeHint: String { text("device_code_hint") }
    var deviceCodeUnknown: String { text("device_code_unknown") }
    var deviceReviewTitle: String { text("device_review_title") }
    func deviceReviewBody(_ app: DisplayName) -> HTML { html("device_review_body", ["app": app]) }
    var deviceReviewWarning: String { text("device_review_warning") }
    var deviceAbroadTitle: String { text("device_abroad_title") }
    var deviceAbroadWarning: String { text("device_abroad_warning") }
    var deviceElsewhere: String { text("device_elsewhere") }
    var ownPlace: String { text("own_place") }
    var code: String { text("code") }
    var device: String { text("device") }
    var place: String { text("place") }
    var askedAt: String { text("asked_at") }
    var access: String { text("access") }
    func scope(_ name: String) -> String? {
        switch name {
        case "openid": text("scope_openid")
        case "profile": text("scope_profile")
        case "email": text("scope_email")
        case "phone": text("scope_phone")
        case "groups": text("scope_groups")
        case "roles": text("scope_roles")
        case "account": text("scope_account")
        default: nil
        }
    }
    var decline: String { text("decline") }
    var approve: String { text("approve") }
    var deviceApproved: String { text("device_approved") }
    func deviceApprovedBody(_ app: DisplayName) -> HTML { html("device_approved_body", ["app": app]) }
    var deviceDeclined: String { text("device_declined") }
    var deviceDeclinedBody: String { text("device_declined_body") }
}
