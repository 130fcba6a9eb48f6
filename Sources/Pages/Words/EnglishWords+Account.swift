extension EnglishWords {
    var devices: String { "Devices" }
    var security: String { "Security" }
    var activity: String { "Activity" }
    var accountNavigation: String { "Account" }

    var devicesLead: String { "Where you are signed in. Sign out any device that you do not recognize." }
    var thisDevice: String { "This device" }
    var activeNow: String { "Active now" }
    var lastSeen: String { "Last active" }
    var moreOfDevice: String { "Details" }
    var signedInSince: String { "Signed in" }
    var endsUnused: String { "Signs out if unused" }
    var endsAnyway: String { "Signs out at the latest" }
    var unknownPlace: String { "Unknown place" }
    var unnamedDevice: String { "Unnamed device" }
    func letInBy(_ device: DisplayName) -> HTML { "Signed in with \(device), and signs out with it" }
    var endOne: String { "Sign out" }
    func endOne(_ device: DisplayName) -> String { "Sign out \(device.text)" }
    var endOthers: String { "Sign out all other devices" }
    var endOthersBody: String { "Every device but this one will have to sign in again." }
    var endAll: String { "Sign out everywhere" }
    var endAllBody: String { "Every device will have to sign in again, this one too." }
    func ended(_ count: Int) -> String {
        count == 1 ? "One device was signed out." : "\(count) devices were signed out."
    }
    func moreDevices(_ count: Int) -> String { count == 1 ? "One more device" : "\(count) more devices" }
    var latestDevices: String { "Most recent devices" }
    var nothingToEnd: String { "It was signed out already." }

    var changePassword: String { "Password" }
    var changePasswordBody: String { "A new password signs out all your other devices." }
    var currentPassword: String { "Current password" }
    var wrongCurrentPassword: String { "The current password is wrong." }
    var noPassword: String { "This account has no password: you sign in with another service." }
    var pauseTitle: String { "Pause all sign-ins" }
    var pauseBody: String {
        "For when a device is lost, or you will be away for a while. Nobody can sign in until you resume."
    }
    var pauseAtOnce: String { "Right away: apps stop working now" }
    var pauseOnExpiry: String { "Gradually: open apps keep working until their access expires, which can take days" }
    var pauseEndSessions: String { "Sign out every device as well" }
    var pause: String { "Pause sign-ins" }
    var paused: String { "Done: nobody can sign in now." }
    var pausedAtOnce: String { "Sign-ins are paused. Apps do not work until you resume them." }
    var pausedOnExpiry: String { "Sign-ins are paused. Open apps keep working until their access expires." }
    var pausedByAdmin: String { "The people who run this service have disabled this account. Please contact them." }
    var resume: String { "Resume sign-ins" }
    var resumed: String { "Sign-ins are possible again." }
    var pauseNeedsPassword: String {
        "Without a password or a passkey you could not resume sign-ins. Get one of the two first."
    }

    var passkeys: String { "Passkeys" }
    var passkeysBody: String { "Keys on your devices that sign you in without a password." }
    var noPasskeys: String { "This account has no passkeys." }
    var passkeyName: String { "Name" }
    func passkeyName(_ passkey: DisplayName) -> String { "Name of \(passkey.text)" }
    var passkeySince: String { "Added" }
    var passkeyUsed: String { "Last used" }
    var passkeyRenameTitle: String { "Rename" }
    var passkeyRename: String { "Save name" }
    func passkeyRename(_ passkey: DisplayName) -> String { "Save the name of \(passkey.text)" }
    var passkeyRemove: String { "Remove" }
    func passkeyRemove(_ passkey: DisplayName) -> String { "Remove \(passkey.text)" }
    var passkeyRemoveBody: String {
        "Nobody can sign in with it any more. Devices that are signed in stay signed in."
    }
    var passkeyRemoveLast: String {
        "This account has no password and no other passkey: you may not be able to sign in again."
    }
    var passkeyRenamed: String { "The passkey has its new name." }
    var factors: String { "Second step" }
    var factorLink: String { "A code from an authenticator app, in addition to your password." }
    var factorManage: String { "Authenticator apps and recovery codes" }
    var factorNone: String { "You have no authenticator app yet. With one, your password alone opens nothing." }
    var factorBody: String { "Signing in with your password asks for a code from one of these apps." }
    var factorAdd: String { "Add an authenticator app" }
    var factorScan: String {
        "Scan the picture with an authenticator app on your phone, and type the code that it shows."
    }
    var factorRemove: String { "Remove" }
    var factorRemoveBody: String {
        "Its codes then no longer count. Without another one your password alone opens the account."
    }
    var factorAdded: String { "The authenticator app is added. Signing in asks for its code from now on." }
    var factorRemoved: String { "The authenticator app is removed." }
    var factorGone: String { "That authenticator app is no longer there, or was not confirmed in time." }
    var factorUnverified: String { "Confirm your e-mail address first: without it you could be locked out." }
    var factorFull: String { "You have as many authenticator apps as possible. Remove one first." }
    var factorLast: String { "This service demands a second step, and this is your last one." }
    var recoveryCodes: String { "Recovery codes" }
    var recoveryCodesShown: String {
        "Keep these codes in a safe place: they are shown this once. Each opens the account once if the app is lost."
    }
    var recoveryCodesMake: String { "Make new recovery codes" }
    func recoveryCodesLeft(_ count: Int) -> String {
        count == 1 ? "One recovery code is left." : "\(count) recovery codes are left."
    }
    var passkeyRemoved: String { "The passkey is removed. Delete it from your device or password manager as well." }
    var passkeyGone: String { "The passkey had already been removed." }
    var passkeyNameRefused: String { "The name needs 1 to 128 characters, on one line." }
    var passkeyAdd: String { "Add a passkey" }
    var passkeyAddNow: String { "Thank you. You can add the passkey now." }
    var passkeyAdded: String { "The passkey is added. You can sign in with it from now on." }
    var passkeyNotAdded: String { "The passkey could not be added. Please try again." }
    var passkeyTaken: String { "This passkey already belongs to an account." }
    var passkeyHere: String { "This device or password manager already has a passkey for this account." }
    var offerTitle: String { "Sign in faster next time" }
    var offerBody: String {
        """
        With a passkey you sign in the way you unlock this device: with your fingerprint, your face or a PIN. No fake page can \
        steal it.
        """
    }
    var notNow: String { "Not now" }

    var activityLead: String { "What happened to your account, newest first." }
    var older: String { "Older" }
    var newest: String { "Newest" }
    var noActivity: String { "Nothing has happened yet." }
}

extension EnglishWords {
    func wrongPIN(on device: DisplayName) -> HTML { "Wrong PIN on \(device)" }

    func activity(_ event: ActivityEvent) -> String {
        switch event {
        case .signedIn(let method): "Signed in\(via(method))"
        case .ended(let reason): endReason(reason)
        case .signInFailed: "Failed sign-in: the password was wrong"
        case .signInRefused: "A sign-in was refused"
        case .signInAborted: "A sign-in was declined or took too long"
        case .tokenMisused: "A copy of your sign-in was used. If that was not you, change your password"
        case .passwordChanged: "The password was changed"
        case .resetRequested: "A link for a new password was requested"
        case .emailChanged: "The e-mail address was changed"
        case .loginsPaused: "Sign-ins were paused"
        case .loginsResumed: "Sign-ins were resumed"
        case .providerLinked: "Another service was linked for signing in"
        case .providerUnlinked: "Another service was unlinked from signing in"
        case .created: "The account was created"
        case .passkeyAdded: "A passkey was added"
        case .passkeyRemoved: "A passkey was removed"
        case .factorAdded: "An authenticator app was added"
        case .factorRemoved: "An authenticator app was removed"
        case .factorFailed: "The password was right, and the code of the authenticator app wrong"
        case .factorBlocked: "After too many wrong codes the authenticator app was blocked"
        case .recoveryCodesMade: "New recovery codes were made"
        case .recoveryCodeUsed: "A recovery code was used"
        case .pinFailed: "Wrong PIN in an app"
        case .pinChanged: "The PIN of an app was set, changed or removed"
        case .pinLocked: "The PIN of an app was entered wrongly three times and is locked"
        }
    }

    func endReason(_ reason: ActivityEvent.EndReason) -> String {
        switch reason {
        case .loggedOut: "Signed out"
        case .replaced: "Signed out, because the same app signed in again"
        case .revokedByUser: "Signed out from another of your devices"
        case .revokedByAdmin: "Signed out by the people who run this service"
        case .passwordChanged: "Signed out, because the password was changed"
        case .idleExpired: "Signed out after a long time without use"
        case .maxLifetimeReached: "Signed out, because the sign-in had lasted as long as it may"
        case .refreshTokenReused: "Signed out to protect you: a copy of this sign-in was used"
        case .userDeleted: "Signed out, because the account was deleted"
        case .revokedByProvider: "Signed out, because the linked service no longer confirms the account"
        case .recheckLost: "Signed out, because the linked service could not be reached for too long"
        case .parentEnded: "Signed out together with the phone that had signed it in"
        case .presenceLost: "Signed out, because the phone that had signed it in was out of reach for too long"
        case .codeReused: "Signed out to protect you: a sign-in code was used twice"
        case .notMe: "Signed out, because you said that it was not you"
        case .other: "Signed out"
        }
    }

    func via(_ method: ActivityEvent.Method) -> String {
        switch method {
        case .password: " with the password"
        case .passkey: " with a passkey"
        case .provider: " with another service"
        case .phone: " with the phone"
        case .device: " with a code"
        case .app: " from the app"
        case .unknown: ""
        }
    }
}
