/// The bounds of the rules, and what the sources still hold against them. A bound never rises, and a list only shrinks.
enum Remaining {
    /// Comment lines of `Sources` with a pronoun for persons, in a thousand.
    static let pronounsPerThousand = 10
    /// Lines of `Sources` on which a closure names the type of the errors that it throws.
    static let closuresThatNameTheirError = 721
    /// Docstrings that begin with "The same".
    static let sameDocstrings = 0
    /// Targets without a file of their name.
    static let unopenedTargets: Set<String> = []
    /// Types named like a module, each the one public type for which its module is imported.
    static let moduleNames: Set = ["HTTPClient", "HTTPServer", "SQLiteStore", "PostgresStore", "Endpoints"]
    /// Types with a coined name.
    static let coinages: Set<String> = []
    /// Names of declarations that stand nowhere else, each with its caller outside of the repository.
    static let lonelyNames: Set = [
        "underestimatedCount"  // `Sequence`
    ]
    /// Types of the server with `Login` in their name that do not begin with a feature.
    static let loginNames: Set = [
        "AppLoginAnswer", "AppLoginPage", "CarriedProviderLogin", "DevicePhoneLoginAnswer", "IdentityLogin",
        "LivingPhoneLoginsAnswer", "LoginCommands", "LoginDisabling", "LoginFilter", "LoginKey", "LoginMethod",
        "LoginNames",
        "LoginPage", "LoginReference", "LoginSettingsAnswer", "LoginWithPhone", "LoginWords", "Logins", "PasskeyLogin",
        "TestLoginAnswer",
    ]
}
