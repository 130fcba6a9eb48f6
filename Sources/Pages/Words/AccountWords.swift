/// The account pages.
protocol AccountWords {
    var devices: String { get }
    var security: String { get }
    var activity: String { get }
    var accountNavigation: String { get }

    var devicesLead: String { get }
    var thisDevice: String { get }
    var activeNow: String { get }
    var lastSeen: String { get }
    var moreOfDevice: String { get }
    var signedInSince: String { get }
    var endsUnused: String { get }
    var endsAnyway: String { get }
    var unknownPlace: String { get }
    var unnamedDevice: String { get }
    func letInBy(_ device: DisplayName) -> HTML
    var endOne: String { get }
    func endOne(_ device: DisplayName) -> String
    var endOthers: String { get }
    var endOthersBody: String { get }
    var endAll: String { get }
    var endAllBody: String { get }
    func ended(_ count: Int) -> String
    func moreDevices(_ count: Int) -> String
    var latestDevices: String { get }
    var nothingToEnd: String { get }

    var changePassword: String { get }
    var changePasswordBody: String { get }
    var currentPassword: String { get }
    var wrongCurrentPassword: String { get }
    var noPassword: String { get }
    var pauseTitle: String { get }
    var pauseBody: String { get }
    var pauseAtOnce: String { get }
    var pauseOnExpiry: String { get }
    var pauseEndSessions: String { get }
    var pause: String { get }
    var paused: String { get }
    var pausedAtOnce: String { get }
    var pausedOnExpiry: String { get }
    var pausedByAdmin: String { get }
    var resume: String { get }
    var resumed: String { get }
    var pauseNeedsPassword: String { get }

    var passkeys: String { get }
    var passkeysBody: String { get }
    var noPasskeys: String { get }
    var passkeyName: String { get }
    func passkeyName(_ passkey: DisplayName) -> String
    var passkeySince: String { get }
    var passkeyUsed: String { get }
    var passkeyRenameTitle: String { get }
    var passkeyRename: String { get }
    func passkeyRename(_ passkey: DisplayName) -> String
    var passkeyRemove: String { get }
    func passkeyRemove(_ passkey: DisplayName) -> String
    var passkeyRemoveBody: String { get }
    var passkeyRemoveLast: String { get }
    var passkeyRenamed: String { get }
    var factors: String { get }
    var factorLink: String { get }
    var factorManage: String { get }
    var factorNone: String { get }
    var factorBody: String { get }
    var factorAdd: String { get }
    var factorScan: String { get }
    var factorRemove: String { get }
    var factorRemoveBody: String { get }
    var factorAdded: String { get }
    var factorRemoved: String { get }
    var factorGone: String { get }
    var factorUnverified: String { get }
    var factorFull: String { get }
    var factorLast: String { get }
    var recoveryCodes: String { get }
    var recoveryCodesShown: String { get }
    var recoveryCodesMake: String { get }
    func recoveryCodesLeft(_ count: Int) -> String
    var passkeyRemoved: String { get }
    var passkeyGone: String { get }
    var passkeyNameRefused: String { get }
    var passkeyAdd: String { get }
    var passkeyAddNow: String { get }
    var passkeyAdded: String { get }
    var passkeyNotAdded: String { get }
    var passkeyTaken: String { get }
    var passkeyHere: String { get }
    var offerTitle: String { get }
    var offerBody: String { get }
    var notNow: String { get }

    var activityLead: String { get }
    var older: String { get }
    var newest: String { get }
    var noActivity: String { get }
}

/// What has happened to an account, in sentences.
protocol ActivityWords {
    func activity(_ event: ActivityEvent) -> String
    func wrongPIN(on device: DisplayName) -> HTML
}
