import Doctor
import JSON
import Sessions

/// `sojourn doctor`
enum DoctorCommand {
    static let doctor = Command(
        path: ["doctor"], summary: "Examines configuration, keys, database and machine, and says what to do.",
        options: Command.Option.admin + [
            Command.Option(
                "--url", "URL", "asks the server there as a page of --origin does, through the proxies"),
            Command.Option("--origin", "ORIGIN", "the origin of the page, like https://shop.example"),
            Command.Option("--client", "CLIENT_ID", "the client that the page is"),
        ],
        discussion: """
            When no server runs, it reads the whole SQLite database under its lock, and changes nothing: it names missing
            migrations and does not run them. It examines a PostgreSQL database whether nodes serve it or not. The exit code is
            1 when a check fails; warnings alone give 0.

            With --url, --origin and --client it makes a preflight, a GET and a refused POST as a browser would, and judges the
            fields of CORS in the answers. It then needs no configuration, and runs on any machine.
            """,
        examples: [
            "sojourn doctor", "sojourn doctor --config /etc/sojourn/sojourn.json5 --json",
            "sojourn doctor --url https://login.shop.example --origin https://shop.example --client shop-web",
        ]
    ) { (arguments) async throws(Failure) in
        let findings: [Finding]
        if let check = try browserCheck(arguments) {
            findings = await check.run()
        } else {
            findings = await ownFindings(arguments)
        }
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

    /// The check of another machine's answers; nil unless the command line names it.
    private static func browserCheck(_ arguments: Arguments) throws(Failure) -> BrowserCheck? {
        let names = ["--url", "--origin", "--client"]
        let values = names.compactMap(arguments.value)
        if values.isEmpty { return nil }
        guard values.count == names.count else { throw arguments.usage("--url, --origin and --client go together") }
        do throws(WebOrigin.Problem) { _ = try WebOrigin(values[1]) } catch {
            throw arguments.usage("--origin \(error.detail)")
        }
        return BrowserCheck(url: values[0], origin: values[1], client: values[2])
    }

    /// The checks of this machine.
    private static func ownFindings(_ arguments: Arguments) async -> [Finding] {
        do throws(Failure) {
            let configuration = try Setup.configuration(arguments)
            return [Finding(.ok, "file", Setup.path(arguments) ?? "none: --config or SOJOURN_CONFIG names one")]
                + (await DoctorCheck(configuration, environment: Setup.environment).run())
        } catch { return error.lines.map { Finding(.fail, "configuration", $0) } }
    }
}
