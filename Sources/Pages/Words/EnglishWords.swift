internal import Calendar

struct EnglishWords: Words {
    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]

    func month(_ number: Int) -> String { Self.months[number - 1] }
    func date(_ date: CivilDate) -> String { "\(date.day) \(month(date.month)) \(date.year)" }
    func dateAndTime(_ time: UTCTime) -> String { "\(date(time.date)), \(time.timeText.prefix(5)) UTC" }
    func errorInTitle(_ title: String) -> String { "Error: \(title)" }
    func back(to app: DisplayName) -> HTML { "Back to \(app)" }
    var or: String { "or" }
    var goOn: String { "Continue" }
    var privacyPolicy: String { "Privacy policy" }
    var termsOfService: String { "Terms of service" }
    var help: String { "Help" }
    var startOver: String { "Start over" }
    var signIn: String { "Sign in" }
    var signOut: String { "Sign out" }
    var yourAccount: String { "Your account" }
    var showPassword: String { "Show password" }
    var pressAgain: String { "Please press once more: the page had been open for a while." }
    var cookiesBlocked: String {
        "Your browser blocks the cookies of this site, and this page does not work without them. Allow them, "
            + "then try again."
    }
}

extension EnglishWords {
    func signIn(to app: DisplayName) -> HTML { "Sign in to \(app)" }
    var username: String { "Username or confirmed e-mail address" }
    var usernameAlone: String { "Username" }
    var emailAddress: String { "Confirmed e-mail address" }
    var password: String { "Password" }
    var keepMeSignedIn: String { "Keep me signed in" }
    var signInWithPasskey: String { "Sign in with a passkey" }
    func signIn(with provider: DisplayName) -> HTML { "Continue with \(provider)" }
    var useYourPhone: String { "Use your phone" }
    var notYou: String { "Not you?" }
    var withoutTLS: String { "This connection is not encrypted. It is for development on this computer only." }

    var wrongCredentials: String { "Username and password do not match. Please try again." }
    var loginsPaused: String { "Sign-ins to this account are paused. Resume them in the app or in your account." }
    var loginsBlocked: String { "This account is disabled. Please contact the people who run this service." }
    func tooManyAttempts(seconds: Int) -> String {
        "Too many attempts. Please wait \(seconds == 1 ? "a second" : "\(seconds) seconds") and try again."
    }
    func providerFailed(_ provider: DisplayName) -> HTML { "\(provider) did not sign you in. Please try again." }
    var needsPasskeys: String { "You sign in here with a passkey. This needs a browser with passkeys, and JavaScript." }
    var passkeyFailed: String { "That passkey was not accepted. Try again, or use another way." }
    var factorNeeded: String {
        "This way of signing in is not enough here. Use a passkey, or your password with an authenticator app."
    }
    var factorTitle: String { "Confirm your sign-in" }
    var factorCode: String { "Code" }
    var factorHint: String { "The code that your authenticator app shows now, or one of your recovery codes." }
    var factorWrong: String { "That code is wrong or was used before. Wait for the next one." }
    var factorClock: String {
        "That code belongs to another time. Check the clock of your phone: it should be set automatically."
    }
    var factorBlocked: String {
        "There were too many wrong codes. Use a recovery code or a passkey, or ask the people who run this service."
    }
    var factorAddTitle: String { "Add an authenticator app" }
    var factorAddBody: String {
        "This service asks for a second step at each sign-in. Scan the picture with an authenticator app on your phone."
    }
    var factorPicture: String { "Picture for the authenticator app" }
    var factorSecret: String { "If you cannot scan it, type this key into the app:" }
    var factorNewCode: String { "Code that the app shows" }
    var signInAgain: String { "Please confirm that it’s you: this page needs a recent sign-in." }
    var signInToFinish: String { "Please confirm that it’s you. What you asked for happens right after." }
    var unavailable: String { "We cannot sign you in at the moment. Please try again shortly." }

    var tookAWhile: String { "This page has expired" }
    var tookAWhileBody: String { "The sign-in was open for too long. Nothing is lost: just start again." }
    var closeThisWindow: String { "Close this window, and sign in again from the app." }

    var signOutQuestion: String { "Sign out?" }
    func signOutBody(_ account: DisplayName) -> HTML { "You are signed in as \(account) in this browser." }
    var staySignedIn: String { "Stay signed in" }
    var signedOut: String { "You are signed out" }
    var signedOutBody: String { "This browser no longer has access to your account." }
    var notSignedIn: String { "This browser is not signed in" }
    var notSignedInBody: String { "Your apps stay signed in until you sign out in each of them." }
    var noWayBackToApp: String { "The app that sent you here made a mistake, so this page cannot lead back to it." }
    var signedOutWithPhone: String {
        "This browser was signed in with your phone. The phone has signed out, and so has this browser."
    }

    var newPasswordTitle: String { "Choose a new password" }
    var newPasswordBody: String {
        "It replaces the old one. Every device that is signed in will have to sign in again."
    }
    var newPassword: String { "New password" }
    func newPasswordHint(min: Int) -> String {
        "At least \(min) characters. A few words in a row are easy to remember."
    }
    var resetLink: String { "Link from the message" }
    var resetLinkHint: String { "Paste the whole link that you were sent." }
    var resetOverTitle: String { "This link no longer works" }
    var resetOtherLink: String { "I have another link" }
    var savePassword: String { "Save password" }
    var resetTokenRefused: String { "It has expired or was used before. Please ask for a new one." }
    var passwordSaved: String { "Your password is changed" }
    var passwordSavedBody: String { "Use the new one from now on." }
    func passwordTooShort(min: Int) -> String { "The new password needs at least \(min) characters." }
    var passwordTooCommon: String { "This password is among those that are guessed first. Please choose another." }
    var passwordIsName: String { "The new password must not be your username or the name of the service." }
    var passwordTooLong: String { "The new password is too long." }
    var passwordUnusable: String { "The new password has a character that cannot be used." }
}

extension EnglishWords {
    var phoneTitle: String { "Sign in with your phone" }
    var phoneScan: String { "Open the app on your phone and scan this code with it." }
    var phoneImage: String { "QR code to scan with the app" }
    var phoneOpenApp: String { "Open the app on this device" }
    var phoneWaiting: String { "Waiting for your phone …" }
    var phoneScanned: String { "The code was scanned. Continue on your phone." }
    var phoneNumber: String { "Type this number on your phone." }
    var phoneConfirmed: String { "That was the right number. Now confirm on your phone." }
    var phoneOpened: String { "The app is open. Continue there: it brings you back here." }
    var phoneApproved: String { "Approved. Signing you in …" }
    var phoneFinished: String { "You are signed in. You can close this window." }
    var phoneDenied: String { "The sign-in was declined on the phone." }
    var phoneTimedOut: String { "That took too long. Get a new code to try again." }
    var phoneWrongNumber: String { "The number did not match, so nobody was signed in." }
    var phoneContested: String { "Two phones have scanned this code, so nobody was signed in." }
    var phoneFailed: String { "Something went wrong on our side. Get a new code to try again." }
    var phoneNewCode: String { "Get a new code" }
    var phoneCheckAgain: String { "Check again" }
    var otherWays: String { "Other ways to sign in" }
    var phoneOnlyHere: String { "Only scan a code that you asked for yourself, on this page." }
}

extension EnglishWords {
    var deviceTitle: String { "Connect a device" }
    var deviceBody: String { "Type the code that the device shows you." }
    var deviceCode: String { "Code" }
    var deviceCodeHint: String { "Eight letters, like BCDF-GHJK." }
    var deviceCodeUnknown: String { "This code is not valid. Check it, or let the device show a new one." }
    var deviceReviewTitle: String { "Is this your device?" }
    func deviceReviewBody(_ app: DisplayName) -> HTML { "A device wants to sign in to \(app) with your account." }
    var deviceReviewWarning: String {
        "Decline if you did not start this yourself just now, or if somebody sent you the code."
    }
    var deviceAbroadTitle: String { "This device is in another country" }
    var deviceAbroadWarning: String {
        "Approve only if the device is in front of you; a VPN can make it seem far away. If you were sent "
            + "the code, its "
            + "sender wants to sign in as you."
    }
    var deviceElsewhere: String {
        "The device is too far away. Use a phone or computer in the same country or network as the device."
    }
    var ownPlace: String { "You" }
    var code: String { "Code" }
    var device: String { "Device" }
    var place: String { "Place" }
    var askedAt: String { "Requested" }
    var access: String { "Access to" }
    func scope(_ name: String) -> String? {
        switch name {
        case "openid": "Your identity"
        case "profile": "Your name"
        case "email": "Your e-mail address"
        case "phone": "Your phone number"
        case "groups": "Your groups"
        case "roles": "Your roles"
        case "account": "Your account settings"
        default: nil
        }
    }
    var decline: String { "Decline" }
    var approve: String { "Approve" }
    var deviceApproved: String { "Your device is connected" }
    func deviceApprovedBody(_ app: DisplayName) -> HTML { "Continue there with \(app). You can close this window." }
    var deviceDeclined: String { "The device was declined" }
    var deviceDeclinedBody: String { "It has no access to your account." }
}

extension EnglishWords {
    var errorTitle: String { "This did not work" }
    var unknownClient: String { "The app that sent you here is not known to us." }
    var unregisteredRedirect: String { "We cannot send you back, because the app gave an address that is not its own." }
    var invalidRequest: String { "The app or the link that sent you here made a mistake." }
    var otherSite: String { "That form came from another site, so we did not accept it." }
    var notFound: String { "There is nothing at this address." }
    var serverFailed: String { "Something went wrong on our side. Please try again." }
    var serverBusy: String { "We are very busy at the moment. Please try again shortly." }
    var tooManyRequests: String { "Too many requests in a short time. Please wait a moment." }
    var yourPart: String { "You can close this window and go back to the app." }
    var forDevelopers: String { "For the people who run this service" }
    var requestID: String { "Request" }
    var needsTLSTitle: String { "This page needs TLS" }
    var needsTLSBody: String { "Passwords are not sent over a connection that is not encrypted." }
    var needsTLSForOperators: String { "Set a certificate, or let your proxy send the field:" }
}
