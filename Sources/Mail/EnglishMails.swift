/// The English texts of mails.
enum EnglishMails {
    static let texts = codes.merging(notices) { first, _ in first }.merging(changes) { first, _ in first }

    /// When and where something was asked for, or happened.
    private static let place =
        "{{#at}} on {{at}}{{/at}}{{#place}}, from {{place}}{{/place}}{{#browser}}, with {{browser}}{{/browser}}"
        + "{{#device}}, on {{device}}{{/device}}"
    private static let valid = "It is valid for {{minutes}} min."
    private static let ignore = "If that was not you, ignore this mail: without the code nothing happens."
    private static let never = "Pass on no code and no link. We never call or write to ask for one."
    private static let notMe = "{{#link}}\n\nThis was not me:\n{{link}}{{/link}}"
    private static let help = "{{#support}}\n\nQuestions: {{support}}{{/support}}"

    private static let codes = [
        "sign_up.subject": "Your code for a new account at {{app}}{{#code}}: {{code}}{{/code}}",
        "sign_up.text": """
        {{code}}

        This is your code for a new account at {{app}}. Enter it where you signed up. \(valid)

        Or go on in the same browser:
        {{link}}

        The code was asked for\(place). \(ignore) \(never)
        """,
        "sign_in.subject": "Your code for signing in to {{app}}{{#code}}: {{code}}{{/code}}",
        "sign_in.text": """
        {{code}}

        This is your code for signing in to {{app}}. Enter it where you are signing in. \(valid)

        Or go on in the same browser:
        {{link}}

        The code was asked for\(place). \(ignore) \(never)
        """,
        "reset.subject": "Choose a new password for {{app}}{{#code}}: {{code}}{{/code}}",
        "reset.text": """
        {{#code}}{{code}}

        With this code you choose a new password for {{app}}. Enter it where you asked for it. \(valid)

        {{/code}}Choose the new password for {{app}} here:
        {{link}}

        It was asked for\(place). If that was not you, ignore this mail: nothing has changed. \(never)\(help)
        """,
        "email_new.subject": "Confirm your e-mail address for {{app}}{{#code}}: {{code}}{{/code}}",
        "email_new.text": """
        {{code}}

        This code makes this address that of your account at {{app}}. Enter it where you changed the address. \(valid)

        Or go on in the same browser:
        {{link}}

        The change was asked for\(place). \(ignore) \(never)
        """,
    ]

    private static let changes = [
        "have_account.subject": "You have an account at {{app}}",
        "have_account.text": """
        A new account at {{app}} was asked for with this e-mail address, which already has one\(place).

        Sign in, or choose a new password there{{#link}}:
        {{link}}{{/link}}

        If that was not you, there is nothing that you need to do.\(help)
        """,
        "reset_by_support.subject": "Your password for {{app}}",
        "reset_by_support.text": """
        A new password for {{app}} was asked for with this e-mail address\(place).

        The address is not confirmed for an account whose password could be changed by mail. The support can help you.\(help)

        If that was not you, ignore this mail: nothing has changed.
        """,
        "email_old.subject": "A new e-mail address for your account at {{app}}",
        "email_old.text": """
        A new e-mail address was asked for, for your account at {{app}}\(place).{{#new}} It is {{new}}.{{/new}}

        Until it is confirmed, this address stays. If that was not you, stop it:

        Stop the change:
        {{link}}\(help)
        """,
        "email_changed_new.subject": "This is now the e-mail address of your account at {{app}}",
        "email_changed_new.text": """
        This is now the e-mail address of your account at {{app}}. It was confirmed\(place).\(help)
        """,
        "email_changed_old.subject": "The e-mail address of your account at {{app}} has changed",
        "email_changed_old.text": """
        The e-mail address of your account at {{app}} has changed\(place).{{#new}} It is now {{new}}.{{/new}}

        If that was not you, take it back{{#until}} before {{until}}{{/until}}. All sessions end, and you choose a new \
        password.

        Take the change back:
        {{link}}\(help)
        """,
        "deletion.subject": "Your account at {{app}} will be deleted",
        "deletion.text": """
        Your account at {{app}} will be deleted{{#until}} on {{until}}{{/until}}. That was asked for\(place).

        Until then you can keep it:

        Keep the account:
        {{link}}\(help)
        """,
    ]

    private static let notices = [
        "password_changed.subject": "Your password for {{app}} has changed",
        "password_changed.text": "The password of your account at {{app}} has changed\(place).\(notMe)\(help)",
        "factor_added.subject": "A second factor was added to your account at {{app}}",
        "factor_added.text": """
        An authenticator app was added to your account at {{app}}\(place). It is asked for when you sign in.\(notMe)\(help)
        """,
        "factor_removed.subject": "A second factor was removed from your account at {{app}}",
        "factor_removed.text": "An authenticator app was removed from your account at {{app}}\(place).\(notMe)\(help)",
        "factor_blocked.subject": "Too many wrong codes for your account at {{app}}",
        "factor_blocked.text": """
        After the right password, too many wrong codes were entered for your account at {{app}}\(place). Codes of the \
        authenticator app are refused until you sign in with a recovery code or a passkey.

        If that was not you, change your password: it is known to another person.\(notMe)\(help)
        """,
        "recovery_codes_made.subject": "New recovery codes for your account at {{app}}",
        "recovery_codes_made.text": """
        New recovery codes were made for your account at {{app}}\(place). Earlier ones do not work any more.\(notMe)\(help)
        """,
        "recovery_code_used.subject": "A recovery code of your account at {{app}} was used",
        "recovery_code_used.text": """
        A recovery code of your account at {{app}} was used\(place).{{#count}} Codes that are left: {{count}}.{{/count}}\
        \(notMe)\(help)
        """,
        "passkey_added.subject": "A passkey was added to your account at {{app}}",
        "passkey_added.text": "A passkey was added to your account at {{app}}\(place).\(notMe)\(help)",
        "new_device.subject": "A login to your account at {{app}} on a new device",
        "new_device.text": "There was a login to your account at {{app}}\(place). The device is new.\(notMe)\(help)",
        "logins_paused.subject": "Signing in to your account at {{app}} is paused",
        "logins_paused.text": """
        Signing in to your account at {{app}} is paused\(place), until you choose a new password.{{#link}}

        Choose a new password:
        {{link}}{{/link}}\(help)
        """,
        "test.subject": "Test mail of {{app}}",
        "test.text": "This is a test mail of {{app}}. It was sent{{#at}} on {{at}}{{/at}}, and it has arrived.",
    ]
}
