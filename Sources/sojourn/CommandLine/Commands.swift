/// Every command, in the order of the help.
enum Commands {
    static let all: [Command] =
        [
            ServeCommand.serve, MigrateCommand.migrate, BackupCommands.backup,
            BackupCommands.restore,
            DoctorCommand.doctor, ConsoleCommand.console, HealthCommand.health,
            HealthCommand.version,
        ]
        + TransferCommands.all + UserCommands.all + IdentityCommands.all + PasskeyCommands.all
        + SecondFactorCommands.all + SessionCommands.all
        + LoginCommands.all
        + ClientCommands.all
        + SettingsCommands.all + LanguageCommands.all + EventCommands.all + WebhookCommands.all + MailCommands.all
        + EventStreamCommands.all
        + KeyCommands.all

    /// The groups of commands with the same first word.
    static let groups = [
        CommandGroup(name: "user", summary: "Users: accounts and their logins."),
        CommandGroup(name: "session", summary: "Sessions: where users are logged in, and why a session ended."),
        CommandGroup(name: "login", summary: "Logins with a phone."),
        CommandGroup(name: "passkey", summary: "Passkeys of users."),
        CommandGroup(name: "client", summary: "Clients: the apps."),
        CommandGroup(name: "settings", summary: "Session settings: how long users stay signed in."),
        CommandGroup(name: "language", summary: "Languages of the pages."),
        CommandGroup(name: "event", summary: "Events: what has happened (the audit trail)."),
        CommandGroup(name: "webhook", summary: "Webhooks: messages about what has happened."),
        CommandGroup(name: "mail", summary: "Mails to users: codes, links and notices."),
        CommandGroup(name: "event-stream", summary: "Streams of security events to receivers."),
        CommandGroup(name: "admin-key", summary: "Keys for the admin API."),
        CommandGroup(name: "key", summary: "Keys that sign tokens."),
    ]
}
