import Testing

/// The app around the Swift SDK with one rule broken, for what no client in TypeScript has: an option of `sojourn-phone`.
struct BrokenApp: Sendable, CustomTestStringConvertible {
    let rule: Int
    /// What it does wrong.
    let what: String
    /// The scenarios in which it fails.
    let red: [String]
    /// The value of `--break`.
    let word: String

    var testDescription: String { "\(rule): \(what)" }

    static let all = [
        BrokenApp(
            rule: 4, what: "each act about another device's login has a random key", red: ["4-lost-approval"],
            word: "act-keys"),
        BrokenApp(
            rule: 16, what: "a renewal after a prompt does not show the presence", red: ["16-biometry"],
            word: "unsigned-presence"),
        BrokenApp(
            rule: 17, what: "a copy of the access token stands beside the record", red: ["17-sealed", "17-mode"],
            word: "token-copy"),
        BrokenApp(
            rule: 17, what: "other biometry logs the user out", red: ["17-enrollment"], word: "enrollment-logout"),
        BrokenApp(
            rule: 18, what: "prompts are shown in the background", red: ["18-background"], word: "background-prompts"),
        BrokenApp(
            rule: 18, what: "a prompt that fails is shown again at once", red: ["18-canceled"],
            word: "repeated-prompts"),
        BrokenApp(
            rule: 18, what: "a demand prompts when the app comes to the foreground", red: ["18-renewal"],
            word: "start-prompts"),
    ]
}
