/// The account pages.
protocol AccountWords {
    var devices: String { get }
    var security: String { get }
    var activity: String { get }
    var accountNavigation: String { get }

    var devicesLead: String { get }
    var thisDevice: String { get }
    var lastSeen: String { get }
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
    var nothingToEnd: String { get }
    var noDevices: String { get }

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
    var pausedAtOnce: String { get }
    var pausedOnExpiry: String { get }
    var pausedByAdmin: String { get }
    var resume: String { get }
    var resumed: String { get }

    var activityLead: String { get }
    var older: String { get }
    var newest: String { get }
    var noActivity: String { get }
}

/// What has happened to an account, in sentences.
protocol ActivityWords {
    func activity(_ event: ActivityEvent) -> String
    func endReason(_ reason: ActivityEvent.EndReason) -> String
    func via(_ method: ActivityEvent.Method) -> String
}
