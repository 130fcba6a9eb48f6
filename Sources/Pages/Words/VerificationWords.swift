/// The pages on which a mailbox is proven: a new account, a forgotten password, a login by e-mail, and the links of mails.
protocol VerificationWords {
    func mailboxTitle(_ purpose: MailboxPurpose) -> String
    func mailboxBody(_ purpose: MailboxPurpose) -> String
    var sendCode: String { get }
    var notAMailbox: String { get }
    var mailboxRefused: String { get }
    var sameMailbox: String { get }
    var otherMailbox: String { get }

    var codeTitle: String { get }
    func codeSent(_ purpose: MailboxPurpose, to mailbox: DisplayName) -> HTML
    var codeHint: String { get }
    var wrongCode: String { get }
    func wrongCode(triesLeft: Int) -> String
    var codeOver: String { get }
    var codeAgain: String { get }
    var codeSentAgain: String { get }
    var newMail: String { get }

    var signUpTitle: String { get }
    func signUpBody(_ mailbox: DisplayName) -> HTML
    var signUpWithPasskey: String { get }
    var usernameHint: String { get }
    var usernameTaken: String { get }
    var accountExists: String { get }
    func accountExistsBody(_ mailbox: DisplayName) -> HTML

    func mailLinkTitle(_ link: MailLinkPage.Link) -> String
    func mailLinkBody(_ link: MailLinkPage.Link) -> String
    var linkOverBody: String { get }
    var linkReplaced: String { get }
    var linkReplacedBody: String { get }
    var linkElsewhere: String { get }
    var linkElsewhereBody: String { get }
    var notAskedFor: String { get }
    func cancelBody(_ purpose: MailboxPurpose) -> String
    var cancelBox: String { get }
    var cancelIt: String { get }
    var takeBackTitle: String { get }
    var takeBackBody: String { get }
    var takeBackWarning: String { get }
    var takeBackBox: String { get }
    var takeBack: String { get }
    var mailboxBefore: String { get }
    var mailboxNow: String { get }
    var keepAccountTitle: String { get }
    var keepAccountBody: String { get }
    var keepAccountBox: String { get }
    var keepAccount: String { get }
    func mailLinkDone(_ act: MailLinkDonePage.Act) -> String
    func mailLinkDoneBody(_ act: MailLinkDonePage.Act) -> String
}

/// The profile of an account, the change of its mailbox, and its deletion.
protocol ProfileWords {
    var profile: String { get }
    var userID: String { get }
    func profileMember(_ member: ProfilePage.Member) -> String
    func profileRefused(_ member: ProfilePage.Member) -> String
    var countryHint: String { get }
    var saveProfile: String { get }
    var profileSaved: String { get }
    var notSet: String { get }

    var newMailbox: String { get }
    var mailboxConfirmed: String { get }
    var mailboxChanged: String { get }
    var mailboxTaken: String { get }
    func formerMailbox(_ mailbox: DisplayName) -> HTML
    var mailboxChangeBody: String { get }

    var deleteAccount: String { get }
    var deletionLead: String { get }
    func deletionBody(days: Int) -> String
    var deletionAtOnce: String { get }
    var deletionBox: String { get }
    var goBack: String { get }
    var deletedAt: String { get }
    var deletionRequested: String { get }
    var deletionRequestedBody: String { get }
    var accountDeleted: String { get }
    var accountDeletedBody: String { get }
}
