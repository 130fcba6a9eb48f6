import Sessions

/// The decision on second factors for each method, policy and standing, as the manual prints it.
enum FactorPolicyTable {
    /// The users of the table.
    enum Standing: String, CaseIterable {
        case nothing = "nothing"
        case authenticator = "authenticator"
        case passkey = "passkey only"
        case exempt = "exempt, nothing"
        case required = "required, nothing"

        var value: SecondFactorDecision.Standing {
            SecondFactorDecision.Standing(
                hasAuthenticator: self == .authenticator, hasPasskey: self == .passkey,
                requirement: self == .exempt ? .exempt : self == .required ? .required : nil)
        }
    }

    /// One cell: what becomes of a login without a code, and what it becomes with one.
    static func cell(
        _ method: SecondFactorDecision.Method, _ policy: SecondFactorPolicy, _ standing: Standing
    ) -> String {
        words(decide(method, .nothing, policy, standing))
    }

    static func decide(
        _ method: SecondFactorDecision.Method, _ second: SecondFactorDecision.Second, _ policy: SecondFactorPolicy,
        _ standing: Standing
    ) -> SecondFactorDecision {
        SecondFactorDecision.decide(method, beside: second, policy: policy, of: standing.value)
    }

    private static func words(_ decision: SecondFactorDecision) -> String {
        switch decision {
        case .start(nil): "starts"
        case .start(.multiFactor?): "starts, `mfa`"
        case .start(.recoveryCode?): "starts, recovery"
        case .start(.exempt?): "starts, exempt"
        case .ask: "asks"
        case .enrol: "adds first"
        case .refuse: "refused"
        }
    }

    /// The table in Markdown: a row for each method and standing, a column for each policy. Rows that are equal for all standings
    /// are one row.
    static var markdown: String {
        let policies = SecondFactorPolicy.allCases
        var lines = [
            "| way | user has | " + policies.map { "`\($0.rawValue)`" }.joined(separator: " | ") + " |",
            "| --- | --- | " + policies.map { _ in "---" }.joined(separator: " | ") + " |",
        ]
        for method in SecondFactorDecision.Method.allCases {
            let rows = Standing.allCases.map { standing in
                (standing.rawValue, policies.map { cell(method, $0, standing) }.joined(separator: " | "))
            }
            if Set(rows.map(\.1)).count == 1 {
                lines.append("| \(method.rawValue) | any | \(rows[0].1) |")
            } else {
                lines += rows.map { "| \(method.rawValue) | \($0.0) | \($0.1) |" }
            }
        }
        return lines.joined(separator: "\n")
    }
}
