extension EnglishWords {
    var linkTitle: String { "This code is for the app" }
    var linkBody: String {
        "Open the app on your phone and scan the code with it. Opening this page has signed nobody in."
    }
    var linkWarning: String {
        "Did somebody send you this code or link? Then close this page: it is for letting that person into your account."
    }
    var invitationTitle: String { "This invitation is for the app" }
    var invitationBody: String {
        "Open the app on your phone and scan the code with it. This page makes no account and signs nobody in."
    }
    var invitationWarning: String {
        "An invitation works once and for one phone. Do not pass the code or the link on."
    }
    var appLoginTitle: String { "Continue in this browser" }
    var appLoginBody: String { "Your app has opened this page to sign you in here." }
    var appLoginCode: String { "Code from the app" }
    var appLoginCodeHint: String { "What comes after the # in the link that the app has opened." }
    var appLoginContinue: String { "Continue" }
    var appLoginTooLate: String {
        "The link is too old, or was used before. Go back to the app, and open the page again."
    }
    func appLoginQuestion(_ account: DisplayName) -> HTML { "The app signs this browser in as \(account)." }
    var appLoginWarning: String {
        "Did somebody send you this link? Then close this page, or you will use that person’s account."
    }
    func appLoginOther(_ account: DisplayName) -> HTML {
        """
        This browser is signed in as \(account), and the app to another account. Sign out here first, and open the page \
        from the app again.
        """
    }

    var otherBrowserTitle: String { "Go back to where you began" }
    var otherBrowserBody: String {
        "This sign-in began in another browser, or is over, so nothing was signed in here. Begin again in this browser."
    }

    var notMeTitle: String { "Was this you?" }
    func notMeBody(_ app: DisplayName) -> HTML { "Your phone has signed in this device to \(app)." }
    var notMeElse: String { "If it was you, there is nothing to do. Just close this page." }
    var notMeEverywhere: String { "End every other session too, those of my phones included" }
    var notMeEnd: String { "It was not me: end this session" }
    var notMeDone: String { "That device is signed out" }
    var notMeDoneBody: String {
        "It has no access to your account any more. If you do not know how it came in, change your password too."
    }
    var notMeWasOver: String { "That session was over already." }
    var notMeEnded: String { "These sessions have ended:" }
    var notMeEndedAll: String { "All your other sessions have ended too." }
    var notMeBrowser: HTML { "The sign-in of the browser itself" }
}
