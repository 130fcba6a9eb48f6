/// The bounds of the rules, and what the sources still hold against them. A bound never rises, and a list only shrinks.
enum Remaining {
    /// Comment lines of `Sources` with a pronoun for persons, in a thousand.
    static let pronounsPerThousand = 10
    /// Lines of `Sources` on which a closure names the type of the errors that it throws.
    static let closuresThatNameTheirError = 607
    /// Comment lines of `Tests` with a pronoun for persons, in a thousand.
    static let pronounsPerThousandInTests = 3
    /// Docstrings that begin with "The same".
    static let sameDocstrings = 0
    /// Targets without a file of their name.
    static let unopenedTargets: Set<String> = []
    /// Folders that are named after no folder of `Sessions`, because they are no feature, or the domain has another word.
    static let otherFolders: Set = [
        "Endpoints/Account", "Endpoints/Admin", "Endpoints/Apps", "Endpoints/Console", "Endpoints/Document",
        "Endpoints/OAuth",
        "Endpoints/RateLimits", "Endpoints/Responses", "Endpoints/Routing",
        "Pages/Account", "Pages/Assets", "Pages/Console", "Pages/Devices", "Pages/Frame", "Pages/Languages",
        "Pages/Markup", "Pages/Words",
        "SojournClient/API", "SojournClient/Core", "SojournClient/Keys", "SojournClient/LoginPage",
        "SojournClient/Presence", "SojournClient/Pushes", "SojournClient/Stores", "SojournClient/Transport",
        "SojournClient/Wire",
    ]
    /// Types named like a module, each the one public type for which its module is imported.
    static let moduleNames: Set = ["HTTPClient", "HTTPServer", "SQLiteStore", "PostgresStore", "Endpoints"]
    /// Types with a coined name.
    static let coinages: Set<String> = []
    /// How often nouns that were coined here stand in code, as whole words: variables, parameters and labels.
    static let coinedNouns = [
        "abandonment": 9, "betrayal": 0, "contradiction": 23, "disguise": 0, "doors": 0, "entrance": 0,
        "examination": 0,
        "guesses": 0, "lane": 27, "lanes": 6, "patience": 125, "spelling": 6, "stay": 455, "surroundings": 0,
        "survey": 20, "taker": 0, "upkeep": 0, "wording": 0,
    ]
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
