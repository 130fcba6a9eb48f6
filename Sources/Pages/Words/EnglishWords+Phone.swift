extension EnglishWords {
    var linkTitle: String { "This code is for the app" }
    var linkBody: String {
        "Open the app on your phone and scan the code with it. Opening this page has not signed anyone in."
    }
    var linkWarning: String {
        "Were you sent this code or link? Then close this page: its sender wants to get into your account."
    }
    var invitationTitle: String { "This invitation is for the app" }
    var invitationBody: String {
        "Open the app on your phone and scan the code with it. This page neither creates an account nor signs you in."
    }
    var invitationWarning: String {
        "An invitation works once, for one phone. Do not share the code or the link."
    }
    var appLoginTitle: String { "Continue in this browser" }
    var appLoginBody: String { "Your app has opened this page to sign you in here." }
    var appLoginCode: String { "Code from the app" }
    var appLoginCodeHint: String { "What follows the # in the link that the app has opened." }
    var appLoginContinue: String { "Continue" }
    var appLoginTooLate: String {
        "The link has expired or was used before. Go back to the app and open the page again."
    }
    func appLoginQuestion(_ account: DisplayName) -> HTML { "The app will sign this browser in as \(account)." }
    var appLoginWarning: String {
        "Were you sent this link? Then close this page, or you will be using its sender’s account."
    }
    func appLoginOther(_ account: DisplayName) -> HTML {
        """
        This browser is signed in as \(account), but the app to another account. Sign out here first, then open the page \
        from the app again.
        """
    }

    var otherBrowserTitle: String { "Go back to where you began" }
    var otherBrowserBody: String {
        "This sign-in began in another browser, or is over, so you are not signed in here. Start again in this browser."
    }

    var notMeTitle: String { "Was this you?" }
    func notMeBody(_ app: DisplayName) -> HTML { "Your phone has signed in this device to \(app)." }
    func notMeLogin(_ app: DisplayName) -> HTML { "This device was signed in to \(app) with your account." }
    var notMeElse: String { "If it was you, there is nothing to do: just close this page." }
    var notMeEverywhere: String { "Sign out everywhere else too, including my phones" }
    var notMeEnd: String { "It was not me: sign it out" }
    var notMeDone: String { "That device is signed out" }
    var notMeDoneBody: String {
        "It no longer has access to your account. If you do not know how it got in, change your password too."
    }
    var notMeWasOver: String { "It was signed out already." }
    var notMeEnded: String { "These were signed out:" }
    var notMeEndedAll: String { "You were signed out everywhere else too." }
    var notMeBrowser: HTML { "The sign-in of the browser itself" }
}
