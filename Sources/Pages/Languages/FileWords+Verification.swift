extension FileWords {
    func mailboxTitle(_ purpose: MailboxPurpose) -> String {
        switch purpose {
        case .signUp: text("mailbox_title_sign_up")
        case .signIn: text("mailbox_title_sign_in")
        case .reset: text("mailbox_title_reset")
        case .email: text("mailbox_title_email")
        }
    }
    func mailboxBody(_ purpose: MailboxPurpose) -> String {
        switch purpose {
        case .signUp: text("mailbox_body_sign_up")
        case .signIn: text("mailbox_body_sign_in")
        case .reset: text("mailbox_body_reset")
        case .email: text("mailbox_body_email")
        }
    }
    var sendCode: String { text("send_code") }
    var notAMailbox: String { text("not_a_mailbox") }
    var mailboxRefused: String { text("mailbox_refused") }
    var sameMailbox: String { text("same_mailbox") }
    var otherMailbox: String { text("other_mailbox") }
    var codeTitle: String { text("code_title") }
    func codeSent(_ purpose: MailboxPurpose, to mailbox: DisplayName) -> HTML {
        switch purpose {
        case .signUp, .email: html("code_sent", ["mailbox": mailbox])
        case .signIn, .reset: html("code_sent_if_known", ["mailbox": mailbox])
        }
    }
    var codeHint: String { text("code_hint") }
    var wrongCode: String { text("wrong_code") }
    func wrongCode(triesLeft: Int) -> String { text("wrong_code_tries", counting: triesLeft, "tries") }
    var codeOver: String { text("code_over") }
    var codeAgain: String { text("code_again") }
    var codeSentAgain: String { text("code_sent_again") }
    var newMail: String { text("new_mail") }
    var signUpTitle: String { text("sign_up_title") }
    func signUpBody(_ mailbox: DisplayName) -> HTML { html("sign_up_body", ["mailbox": mailbox]) }
    var signUpWithPasskey: String { text("sign_up_with_passkey") }
    var usernameHint: String { text("username_hint") }
    var usernameTaken: String { text("username_taken") }
    var accountExists: String { text("account_exists") }
    func accountExistsBody(_ mailbox: DisplayName) -> HTML { html("account_exists_body", ["mailbox": mailbox]) }
    func mailLinkTitle(_ link: MailLinkPage.Link) -> String {
        switch link {
        case .proof: text("mail_link_title_proof")
        case .cancel: text("mail_link_title_cancel")
        case .undo: text("mail_link_title_undo")
        }
    }
    func mailLinkBody(_ link: MailLinkPage.Link) -> String {
        switch link {
        case .proof: text("mail_link_body_proof")
        case .cancel: text("mail_link_body_cancel")
        case .undo: text("mail_link_body_undo")
        }
    }
    var linkOverBody: String { text("link_over_body") }
    var linkReplaced: String { text("link_replaced") }
    var linkReplacedBody: String { text("link_replaced_body") }
    var linkElsewhere: String { text("link_elsewhere") }
    var linkElsewhereBody: String { text("link_elsewhere_body") }
    var notAskedFor: String { text("not_asked_for") }
    func cancelBody(_ purpose: MailboxPurpose) -> String {
        switch purpose {
        case .signUp: text("cancel_body_sign_up")
        case .signIn: text("cancel_body_sign_in")
        case .reset: text("cancel_body_reset")
        case .email: text("cancel_body_email")
        }
    }
    var cancelBox: String { text("cancel_box") }
    var cancelIt: String { text("cancel_it") }
    var takeBackTitle: String { text("take_back_title") }
    var takeBackBody: String { text("take_back_body") }
    var takeBackWarning: String { text("take_back_warning") }
    var takeBackBox: String { text("take_back_box") }
    var takeBack: String { text("take_back") }
    var mailboxBefore: String { text("mailbox_before") }
    var mailboxNow: String { text("mailbox_now") }
    var keepAccountTitle: String { text("keep_account_title") }
    var keepAccountBody: String { text("keep_account_body") }
    var keepAccountBox: String { text("keep_account_box") }
    var keepAccount: String { text("keep_account") }
    func mailLinkDone(_ act: MailLinkDonePage.Act) -> String {
        switch act {
        case .cancelled: text("mail_link_done_cancelled")
        case .takenBack: text("mail_link_done_taken_back")
        case .accountKept: text("mail_link_done_account_kept")
        }
    }
    func mailLinkDoneBody(_ act: MailLinkDonePage.Act) -> String {
        switch act {
        case .cancelled: text("mail_link_done_body_cancelled")
        case .takenBack: text("mail_link_done_body_taken_back")
        case .accountKept: text("mail_link_done_body_account_kept")
        }
    }
}

extension FileWords {
    var profile: String { text("profile") }
    var userID: String { text("user_id") }
    func profileMember(_ member: ProfilePage.Member) -> String {
        switch member {
        case .username: text("profile_username")
        case .displayName: text("profile_display_name")
        case .givenName: text("profile_given_name")
        case .familyName: text("profile_family_name")
        case .email: text("profile_email")
        case .phoneNumber: text("profile_phone_number")
        case .country: text("profile_country")
        }
    }
    func profileRefused(_ member: ProfilePage.Member) -> String {
        switch member {
        case .username: text("profile_refused_username")
        case .displayName: text("profile_refused_display_name")
        case .givenName: text("profile_refused_given_name")
        case .familyName: text("profile_refused_family_name")
        case .email: text("profile_refused_email")
        case .phoneNumber: text("profile_refused_phone_number")
        case .country: text("profile_refused_country")
        }
    }
    var countryHint: String { text("country_hint") }
    var saveProfile: String { text("save_profile") }
    var profileSaved: String { text("profile_saved") }
    var notSet: String { text("not_set") }
    var newMailbox: String { text("new_mailbox") }
    var mailboxConfirmed: String { text("mailbox_confirmed") }
    var mailboxChanged: String { text("mailbox_changed") }
    var mailboxTaken: String { text("mailbox_taken") }
    func formerMailbox(_ mailbox: DisplayName) -> HTML { html("former_mailbox", ["mailbox": mailbox]) }
    var mailboxChangeBody: String { text("mailbox_change_body") }
    var deleteAccount: String { text("delete_account") }
    var deletionLead: String { text("deletion_lead") }
    func deletionBody(days: Int) -> String { text("deletion_body", counting: days, "days") }
    var deletionAtOnce: String { text("deletion_at_once") }
    var deletionBox: String { text("deletion_box") }
    var goBack: String { text("go_back") }
    var deletedAt: String { text("deleted_at") }
    var deletionRequested: String { text("deletion_requested") }
    var deletionRequestedBody: String { text("deletion_requested_body") }
    var accountDeleted: String { text("account_deleted") }
    var accountDeletedBody: String { text("account_deleted_body") }
}
