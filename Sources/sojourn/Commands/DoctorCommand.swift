import Doctor
import JSON

/// `sojourn doctor`
enum DoctorCommand {
    static let doctor = Command(
        path: ["doctor"], summary: "Examines configuration, keys, database and machine, and says what to do.",
        options: Command.Option.admin,
        discussion: """
            When no server runs, it reads the whole SQLite database under its lock, and changes nothing: it names missing
            migrations and does not run them. It examines a PostgreSQL database whether nodes serve it or not. The exit code is
            1 when a check fails; warnings alone give 0.
            """,
        examples: ["sojourn doctor", "sojourn doctor --config /etc/sojourn/sojourn.json5 --json"]
    ) { (arguments) async throws(Failure) in
        let findings: [Finding]
        do throws(Failure) {
            let configuration = try Setup.configuration(arguments)
            findings =
                [Finding(.ok, "file", Setup.path(arguments) ?? "none: --config or SOJOURN_CONFIG names one")]
                + (await DoctorCheck(configuration, environment: Setup.environment).run())
        } catch { findings = error.lines.map { Finding(.fail, "configuration", $0) } }
        if arguments.isJSON {
            let list = findings.map { finding in
                JSONValue.object([
                    "check": .string(finding.check), "result": .string(finding.result.rawValue),
                    "detail": .string(finding.detail),
                ])
            }
            Terminal.write(
                String(decoding: JSONValue.object(["items": .array(list)]).text(pretty: true), as: UTF8.self))
        } else {
            Terminal.write(
                findings.map { "\($0.result.rawValue.padded(to: 4))  \($0.check.padded(to: 15))  \($0.detail)" }
                    .joined(separator: "\n"))
        }
        let failures = findings.count { $0.result == .fail }
        if failures > 0 { throw Failure(.failed, "\(failures) of \(findings.count) checks fail") }
    }
}
