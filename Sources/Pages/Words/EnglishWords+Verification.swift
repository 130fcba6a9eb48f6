extension EnglishWords {
    func mailboxTitle(_ purpose: MailboxPurpose) -> String {
        switch purpose {
        case .signUp: "Create an account"
        case .signIn: "Get a code by e‑mail"
        case .reset: "Forgot password?"
        case .email: "Change your e‑mail address"
        }
    }
    func mailboxBody(_ purpose: MailboxPurpose) -> String {
        switch purpose {
        case .signUp: "First we send a code to your e‑mail address, to be sure that it is yours."
        case .signIn: "We send a code to the confirmed e‑mail address of your account. It signs you in here."
        case .reset:
            "We send a code and a link to the e‑mail address of your account. With either you choose a new password."
        case .email: "We send a code to the new address. Until you type it here, nothing changes."
        }
    }
    var sendCode: String { "Send code" }
    var notAMailbox: String {
        "Please type an e‑mail address such as anna@example.com. Letters beyond a to z are not possible in it."
    }
    var mailboxRefused: String { "Accounts here need an e‑mail address of another organization." }
    var sameMailbox: String { "This is the e‑mail address of your account already." }
    var otherMailbox: String { "Use another address" }

    var codeTitle: String { "Check your e‑mail" }
    func codeSent(_ purpose: MailboxPurpose, to mailbox: DisplayName) -> HTML {
        switch purpose {
        case .signUp, .email: "We have sent a code to \(mailbox)."
        case .signIn, .reset: "If \(mailbox) belongs to an account, a code is on its way there."
        }
    }
    var codeHint: String { "Eight digits. If no mail comes within a minute, look into your spam folder." }
    var wrongCode: String { "That is not the code of the mail. Please check it." }
    func wrongCode(triesLeft: Int) -> String {
        triesLeft == 1
            ? "That is not the code of the mail. Please check it: one try is left."
            : "That is not the code of the mail. Please check it: \(triesLeft) tries are left."
    }
    var codeOver: String { "That code is no longer good. Please have a new one sent." }
    var codeAgain: String { "Send the mail again" }
    var codeSentAgain: String { "The mail is on its way once more. The code in it is the same." }
    var newMail: String { "Send a new mail" }

    var signUpTitle: String { "One last step" }
    func signUpBody(_ mailbox: DisplayName) -> HTML { "\(mailbox) is confirmed. Choose how you want to sign in." }
    var signUpWithPasskey: String { "Create an account with a passkey" }
    var usernameHint: String { "Others may see it. It has no @." }
    var usernameTaken: String { "This username belongs to someone else. Please choose another." }
    var accountExists: String { "You already have an account" }
    func accountExistsBody(_ mailbox: DisplayName) -> HTML { "There is an account with \(mailbox). Just sign in." }

    func mailLinkTitle(_ link: MailLinkPage.Link) -> String {
        switch link {
        case .proof: "Confirm your e‑mail address"
        case .cancel: "Did you not ask for this?"
        case .undo: "Undo a change"
        }
    }
    func mailLinkBody(_ link: MailLinkPage.Link) -> String {
        switch link {
        case .proof: "Press the button to go on with what you began in this browser."
        case .cancel, .undo: "Press the button to see what it is about. Nothing is changed by that."
        }
    }
    var linkOverBody: String { "It has expired or was used before." }
    var linkReplaced: String { "There is a newer mail" }
    var linkReplacedBody: String { "This link no longer works. Use the code or the link of the newest mail." }
    var linkElsewhere: String { "Go back to where you began" }
    var linkElsewhereBody: String {
        "Type the code of this mail in the browser or app in which you began. For your safety the link works only there."
    }
    var notAskedFor: String { "I did not ask for this mail" }
    func cancelBody(_ purpose: MailboxPurpose) -> String {
        switch purpose {
        case .signUp: "An account is about to be created with your e‑mail address. You can stop it."
        case .signIn: "A sign-in with your e‑mail address is under way. You can stop it."
        case .reset: "A new password for the account with your e‑mail address is under way. You can stop it."
        case .email: "An account is about to get another e‑mail address. You can stop it."
        }
    }
    var cancelBox: String { "It was not me" }
    var cancelIt: String { "Stop it" }
    var takeBackTitle: String { "Take back your e‑mail address?" }
    var takeBackBody: String { "The e‑mail address of your account was changed." }
    var takeBackWarning: String {
        "The former address comes back, every device is signed out, and the password stops working. We send a mail to "
            + "the former address, with which you choose a new password."
    }
    var takeBackBox: String { "I did not want this change" }
    var takeBack: String { "Take it back" }
    var mailboxBefore: String { "Before" }
    var mailboxNow: String { "Now" }
    var keepAccountTitle: String { "Keep your account?" }
    var keepAccountBody: String { "Your account is going to be deleted. Until then you can keep it." }
    var keepAccountBox: String { "I want to keep it" }
    var keepAccount: String { "Keep my account" }
    func mailLinkDone(_ act: MailLinkDonePage.Act) -> String {
        switch act {
        case .cancelled: "It is stopped"
        case .takenBack: "The former address is back"
        case .accountKept: "Your account stays"
        }
    }
    func mailLinkDoneBody(_ act: MailLinkDonePage.Act) -> String {
        switch act {
        case .cancelled: "The code and the link of the mail no longer work. You can close this window."
        case .takenBack: "Every device is signed out. Choose a new password with the mail that you get now."
        case .accountKept: "You can sign in again."
        }
    }
}

extension EnglishWords {
    var profile: String { "Profile" }
    var userID: String { "User ID" }
    func profileMember(_ member: ProfilePage.Member) -> String {
        switch member {
        case .username: "Username"
        case .displayName: "Display name"
        case .givenName: "First name"
        case .familyName: "Last name"
        case .email: "E‑mail address"
        case .phoneNumber: "Phone number"
        case .country: "Country"
        }
    }
    func profileRefused(_ member: ProfilePage.Member) -> String {
        switch member {
        case .username: "A username has no @, no control characters, and at most 128 bytes."
        case .displayName: "This display name is too long, or has a sign that cannot be used."
        case .givenName: "This first name is too long, or has a sign that cannot be used."
        case .familyName: "This last name is too long, or has a sign that cannot be used."
        case .email: "Please type an e‑mail address such as anna@example.com."
        case .phoneNumber: "This phone number is too long, or has a sign that cannot be used."
        case .country: "Please type the two capital letters of a country, such as GB."
        }
    }
    var countryHint: String { "Two capital letters, such as GB." }
    var saveProfile: String { "Save" }
    var profileSaved: String { "Your profile is saved." }
    var notSet: String { "Not set" }

    var newMailbox: String { "New e‑mail address" }
    var mailboxConfirmed: String { "confirmed" }
    var mailboxChanged: String { "Your e‑mail address is changed." }
    var mailboxTaken: String { "This e‑mail address belongs to another account." }
    func formerMailbox(_ mailbox: DisplayName) -> HTML { "\(mailbox) can take the change back until:" }
    var mailboxChangeBody: String {
        "For a forgotten password and for news about the safety of your account. A new one is confirmed by a code."
    }

    var deleteAccount: String { "Delete your account" }
    var deletionLead: String { "You are signed out everywhere, and what we store about you is deleted." }
    func deletionBody(days: Int) -> String {
        days == 1
            ? "You are signed out everywhere, and the account is deleted after a day. Until then a link in a mail keeps it."
            : "You are signed out everywhere, and the account is deleted after \(days) days. Until then a link in a mail keeps it."
    }
    var deletionAtOnce: String { "The account is deleted at once, and nothing brings it back." }
    var deletionBox: String { "I want to delete my account" }
    var goBack: String { "Go back" }
    var deletedAt: String { "Deleted on" }
    var deletionRequested: String { "Your account will be deleted" }
    var deletionRequestedBody: String {
        "You are signed out everywhere. If you change your mind, use the link in the mail that we have sent you."
    }
    var accountDeleted: String { "Your account is deleted" }
    var accountDeletedBody: String { "You are signed out everywhere. You can close this window." }
}
