internal import Calendar

/// The sentences of the pages in one language. A protocol with one requirement for each sentence, so that a language in
/// which one is missing does not compile.
///
/// A sentence with a name in it is markup, because the name is isolated in it (`DisplayName`). The others are texts, which
/// are escaped where they are interpolated.
protocol Words: CommonWords, LoginWords, PhoneWords, PhoneLinkWords, DeviceWords, ErrorWords, AccountWords,
    ActivityWords, VerificationWords, ProfileWords
{}

/// What several pages say.
protocol CommonWords: Sendable {
    func month(_ number: Int) -> String
    /// `31 January 2026`.
    func date(_ date: CivilDate) -> String
    /// `31 January 2026, 23:59 UTC`.
    func dateAndTime(_ time: UTCTime) -> String
    func errorInTitle(_ title: String) -> String
    func back(to app: DisplayName) -> HTML
    var or: String { get }
    var goOn: String { get }
    var privacyPolicy: String { get }
    var termsOfService: String { get }
    var help: String { get }
    var startOver: String { get }
    var signIn: String { get }
    var signOut: String { get }
    var yourAccount: String { get }
    var showPassword: String { get }
    var pressAgain: String { get }
    var cookiesBlocked: String { get }
}

/// The login page and its neighbors: expired, signed out, password reset.
protocol LoginWords {
    func signIn(to app: DisplayName) -> HTML
    var username: String { get }
    var usernameAlone: String { get }
    var emailAddress: String { get }
    var password: String { get }
    var keepMeSignedIn: String { get }
    var signInWithPasskey: String { get }
    func signIn(with provider: DisplayName) -> HTML
    var useYourPhone: String { get }
    var notYou: String { get }
    var withoutTLS: String { get }

    var wrongCredentials: String { get }
    var loginsPaused: String { get }
    var loginsBlocked: String { get }
    func tooManyAttempts(seconds: Int) -> String
    func providerFailed(_ provider: DisplayName) -> HTML
    /// The page of a client that takes nothing but passkeys, in a browser that has none, or without script.
    var needsPasskeys: String { get }
    var passkeyFailed: String { get }
    var factorNeeded: String { get }
    var factorTitle: String { get }
    var factorCode: String { get }
    var factorHint: String { get }
    var factorWrong: String { get }
    var factorClock: String { get }
    var factorBlocked: String { get }
    /// A user without an authenticator adds one.
    var factorAddTitle: String { get }
    var factorAddBody: String { get }
    var factorPicture: String { get }
    var factorSecret: String { get }
    var factorNewCode: String { get }
    var signInAgain: String { get }
    var signInToFinish: String { get }
    var unavailable: String { get }

    var tookAWhile: String { get }
    var tookAWhileBody: String { get }
    var closeThisWindow: String { get }

    var signOutQuestion: String { get }
    func signOutBody(_ account: DisplayName) -> HTML
    var staySignedIn: String { get }
    var signedOut: String { get }
    var signedOutBody: String { get }
    var notSignedIn: String { get }
    var notSignedInBody: String { get }
    var signedOutWithPhone: String { get }
    var noWayBackToApp: String { get }

    var newPasswordTitle: String { get }
    var newPasswordBody: String { get }
    var newPassword: String { get }
    func newPasswordHint(min: Int) -> String
    var resetLink: String { get }
    var resetLinkHint: String { get }
    var resetOverTitle: String { get }
    var resetOtherLink: String { get }
    var savePassword: String { get }
    var resetTokenRefused: String { get }
    var passwordSaved: String { get }
    var passwordSavedBody: String { get }
    func passwordTooShort(min: Int) -> String
    var passwordTooCommon: String { get }
    var passwordIsName: String { get }
    var passwordTooLong: String { get }
    var passwordUnusable: String { get }
}

/// The page with the QR code.
protocol PhoneWords {
    var phoneTitle: String { get }
    var phoneScan: String { get }
    var phoneImage: String { get }
    var phoneOpenApp: String { get }
    var phoneWaiting: String { get }
    var phoneScanned: String { get }
    var phoneNumber: String { get }
    var phoneConfirmed: String { get }
    var phoneOpened: String { get }
    var phoneApproved: String { get }
    var phoneFinished: String { get }
    var phoneDenied: String { get }
    var phoneTimedOut: String { get }
    var phoneWrongNumber: String { get }
    var phoneContested: String { get }
    var phoneFailed: String { get }
    var phoneNewCode: String { get }
    var phoneCheckAgain: String { get }
    var otherWays: String { get }
    var phoneOnlyHere: String { get }
}

/// The pages to which the links of a login with the phone lead.
protocol PhoneLinkWords {
    var appLoginTitle: String { get }
    var appLoginBody: String { get }
    var appLoginCode: String { get }
    var appLoginCodeHint: String { get }
    var appLoginContinue: String { get }
    var appLoginTooLate: String { get }
    func appLoginQuestion(_ account: DisplayName) -> HTML
    var appLoginWarning: String { get }
    func appLoginOther(_ account: DisplayName) -> HTML

    var linkTitle: String { get }
    var linkBody: String { get }
    var linkWarning: String { get }
    var invitationTitle: String { get }
    var invitationBody: String { get }
    var invitationWarning: String { get }
    /// The page after the app has sent the browser back, where the login did not begin in this browser.
    var otherBrowserTitle: String { get }
    var otherBrowserBody: String { get }

    var notMeTitle: String { get }
    func notMeBody(_ app: DisplayName) -> HTML
    func notMeLogin(_ app: DisplayName) -> HTML
    var notMeElse: String { get }
    var notMeEverywhere: String { get }
    var notMeEnd: String { get }
    var notMeDone: String { get }
    var notMeDoneBody: String { get }
    var notMeWasOver: String { get }
    var notMeEnded: String { get }
    var notMeEndedAll: String { get }
    var notMeBrowser: HTML { get }
}

/// The pages of the device grant (RFC 8628).
protocol DeviceWords {
    var deviceTitle: String { get }
    var deviceBody: String { get }
    var deviceCode: String { get }
    var deviceCodeHint: String { get }
    var deviceCodeUnknown: String { get }
    var deviceReviewTitle: String { get }
    func deviceReviewBody(_ app: DisplayName) -> HTML
    var deviceReviewWarning: String { get }
    var deviceAbroadTitle: String { get }
    var deviceAbroadWarning: String { get }
    var deviceElsewhere: String { get }
    var ownPlace: String { get }
    var code: String { get }
    var device: String { get }
    var place: String { get }
    var askedAt: String { get }
    var access: String { get }
    /// What a scope of this server gives access to; nil for a scope of the operator's own.
    func scope(_ name: String) -> String?
    var decline: String { get }
    var approve: String { get }
    var deviceApproved: String { get }
    func deviceApprovedBody(_ app: DisplayName) -> HTML
    var deviceDeclined: String { get }
    var deviceDeclinedBody: String { get }
}

/// What an error page says.
protocol ErrorWords {
    var errorTitle: String { get }
    var unknownClient: String { get }
    var unregisteredRedirect: String { get }
    var invalidRequest: String { get }
    var otherSite: String { get }
    var notFound: String { get }
    var serverFailed: String { get }
    var serverBusy: String { get }
    var tooManyRequests: String { get }
    var yourPart: String { get }
    var forDevelopers: String { get }
    var requestID: String { get }
    var needsTLSTitle: String { get }
    var needsTLSBody: String { get }
    var needsTLSForOperators: String { get }
}
