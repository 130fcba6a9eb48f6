extension FileWords {
    var devices: String { text("devices") }
    var security: String { text("security") }
    var activity: String { text("activity") }
    var accountNavigation: String { text("account_navigation") }
    var devicesLead: String { text("devices_lead") }
    var thisDevice: String { text("this_device") }
    var activeNow: String { text("active_now") }
    var lastSeen: String { text("last_seen") }
    var moreOfDevice: String { text("more_of_device") }
    var signedInSince: String { text("signed_in_since") }
    var endsUnused: String { text("ends_unused") }
    var endsAnyway: String { text("ends_anyway") }
    var unknownPlace: String { text("unknown_place") }
    var unnamedDevice: String { text("unnamed_device") }
    func letInBy(_ device: DisplayName) -> HTML { html("let_in_by", ["device": device]) }
    var endOne: String { text("end_one") }
    func endOne(_ device: DisplayName) -> String { text("end_one_named", ["device": device.text]) }
    var endOthers: String { text("end_others") }
    var endOthersBody: String { text("end_others_body") }
    var endAll: String { text("end_all") }
    var endAllBody: String { text("end_all_body") }
    func ended(_ count: Int) -> String { text("ended", counting: count, "count") }
    func moreDevices(_ count: Int) -> String { text("more_devices", counting: count, "count") }
    var latestDevices: String { text("latest_devices") }
    var nothingToEnd: String { text("nothing_to_end") }
    var changePassword: String { text("change_password") }
    var changePasswordBody: String { text("change_password_body") }
    var currentPassword: String { text("current_password") }
    var wrongCurrentPassword: String { text("wrong_current_password") }
    var noPassword: String { text("no_password") }
    var pauseTitle: String { text("pause_title") }
    var pauseBody: String { text("pause_body") }
    var pauseAtOnce: String { text("pause_at_once") }
    var pauseOnExpiry: String { text("pause_on_expiry") }
    var pauseEndSessions: String { text("pause_end_sessions") }
    var pause: String { text("pause") }
    var paused: String { text("paused") }
    var pausedAtOnce: String { text("paused_at_once") }
    var pausedOnExpiry: String { text("paused_on_expiry") }
    var pausedByAdmin: String { text("paused_by_admin") }
    var resume: String { text("resume") }
    var resumed: String { text("resumed") }
    var pauseNeedsPassword: String { text("pause_needs_password") }
    var passkeys: String { text("passkeys") }
    var passkeysBody: String { text("passkeys_body") }
    var noPasskeys: String { text("no_passkeys") }
    var passkeyName: String { text("passkey_name") }
    func passkeyName(_ passkey: DisplayName) -> String { text("passkey_name_named", ["passkey": passkey.text]) }
    var passkeySince: String { text("passkey_since") }
    var passkeyUsed: String { text("passkey_used") }
    var passkeyRenameTitle: String { text("passkey_rename_title") }
    var passkeyRename: String { text("passkey_rename") }
    func passkeyRename(_ passkey: DisplayName) -> String { text("passkey_rename_named", ["passkey": passkey.text]) }
    var passkeyRemove: String { text("passkey_remove") }
    func passkeyRemove(_ passkey: DisplayName) -> String { text("passkey_remove_named", ["passkey": passkey.text]) }
    var passkeyRemoveBody: String { text("passkey_remove_body") }
    var passkeyRemoveLast: String { text("passkey_remove_last") }
    var passkeyRenamed: String { text("passkey_renamed") }
    var passkeyRemoved: String { text("passkey_removed") }
    var passkeyGone: String { text("passkey_gone") }
    var passkeyNameRefused: String { text("passkey_name_refused") }
    var passkeyAdd: String { text("passkey_add") }
    var passkeyAddNow: String { text("passkey_add_now") }
    var passkeyAdded: String { text("passkey_added") }
    var passkeyNotAdded: String { text("passkey_not_added") }
    var passkeyTaken: String { text("passkey_taken") }
    var passkeyHere: String { text("passkey_here") }
    var offerTitle: String { text("offer_title") }
    var offerBody: String { text("offer_body") }
    var notNow: String { text("not_now") }
    var activityLead: String { text("activity_lead") }
    var older: String { text("older") }
    var newest: String { text("newest") }
    var noActivity: String { text("no_activity") }
}

extension FileWords {
    func activity(_ event: ActivityEvent) -> String {
        switch event {
        case .signedIn(let method): signedIn(method)
        case .ended(let reason): ended(reason)
        case .signInFailed: text("activity_sign_in_failed")
        case .signInRefused: text("activity_sign_in_refused")
        case .signInAborted: text("activity_sign_in_aborted")
        case .tokenMisused: text("activity_token_misused")
        case .passwordChanged: text("activity_password_changed")
        case .resetRequested: text("activity_reset_requested")
        case .emailChanged: text("activity_email_changed")
        case .loginsPaused: text("activity_logins_paused")
        case .loginsResumed: text("activity_logins_resumed")
        case .providerLinked: text("activity_provider_linked")
        case .providerUnlinked: text("activity_provider_unlinked")
        case .created: text("activity_created")
        case .passkeyAdded: text("activity_passkey_added")
        case .passkeyRemoved: text("activity_passkey_removed")
        case .factorAdded: text("activity_factor_added")
        case .factorRemoved: text("activity_factor_removed")
        case .factorFailed: text("activity_factor_failed")
        case .factorBlocked: text("activity_factor_blocked")
        case .recoveryCodesMade: text("activity_recovery_codes_made")
        case .recoveryCodeUsed: text("activity_recovery_code_used")
        case .pinFailed: text("activity_pin_failed")
        case .pinChanged: text("activity_pin_changed")
        case .pinLocked: text("activity_pin_locked")
        }
    }

    private func signedIn(_ method: ActivityEvent.Method) -> String {
        switch method {
        case .unknown: text("activity_signed_in")
        case .password: text("activity_signed_in_password")
        case .passkey: text("activity_signed_in_passkey")
        case .provider: text("activity_signed_in_provider")
        case .phone: text("activity_signed_in_phone")
        case .device: text("activity_signed_in_device")
        case .app: text("activity_signed_in_app")
        }
    }

    private func ended(_ reason: ActivityEvent.EndReason) -> String {
        switch reason {
        case .loggedOut: text("ended_logged_out")
        case .replaced: text("ended_replaced")
        case .revokedByUser: text("ended_revoked_by_user")
        case .revokedByAdmin: text("ended_revoked_by_admin")
        case .passwordChanged: text("ended_password_changed")
        case .idleExpired: text("ended_idle_expired")
        case .maxLifetimeReached: text("ended_max_lifetime_reached")
        case .refreshTokenReused: text("ended_refresh_token_reused")
        case .userDeleted: text("ended_user_deleted")
        case .revokedByProvider: text("ended_revoked_by_provider")
        case .recheckLost: text("ended_recheck_lost")
        case .parentEnded: text("ended_parent_ended")
        case .presenceLost: text("ended_presence_lost")
        case .codeReused: text("ended_code_reused")
        case .notMe: text("ended_not_me")
        case .other: text("ended_otherwise")
        }
    }
    func wrongPIN(on device: DisplayName) -> HTML { html("wrong_pin_on", ["device": device]) }
}
