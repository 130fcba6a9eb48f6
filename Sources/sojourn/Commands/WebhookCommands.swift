import AdminActs
import Configuration
import Deliveries
import HTTP
import JSON
import Server

/// `sojourn webhook test · retry`
enum WebhookCommands {
    static let all = [test, retry]

    private static let retry = Command.admin(
        ["webhook", "retry"], "Tries again now what webhooks and other receivers have not taken.",
        discussion: """
            The server waits longer and longer between two tries. This ends the wait at the server's node, for webhooks, logout
            tokens and streams of security events alike.
            """,
        examples: ["sojourn webhook retry"],
        act: { _ throws(Failure) in RetryDeliveries() },
        show: { _, _ in "what waits is tried again now" })

    private static let test = Command(
        path: ["webhook", "test"], summary: "Sends a signed message to a webhook, and says what it answers.",
        operands: ["NAME"], options: Command.Option.admin,
        discussion: """
            This command sends the message itself, whether a server runs or not, and before all events that wait. NAME is the
            webhook's name in the configuration. The message has the type webhook_test. The exit code is 1 when the webhook does
            not accept it.
            """,
        examples: [
            "sojourn webhook test mails", "sojourn webhook test mails --config /etc/sojourn/sojourn.json5 --json",
        ]
    ) { (arguments) async throws(Failure) in
        let configuration = try Setup.configuration(arguments)
        let name = arguments.operands[0]
        guard let webhook = configuration.webhooks.first(where: { $0.name == name }) else {
            let known = configuration.webhooks.map(\.name).joined(separator: ", ")
            throw Failure(
                .notFound, "the configuration has no webhook '\(name)'" + (known.isEmpty ? "" : "; it has \(known)"))
        }
        let environment = Environment.system(configuration.log, environment: Setup.environment)
        let target: WebhookTarget
        do throws(StartError) { target = try webhook.target(environment) } catch {
            throw Failure(.failed, error.description)
        }
        let clock = Database.clock(configuration, environment)
        let probe = await WebhookProbe.send(to: target, clock: clock, random: environment.random)
        if arguments.isJSON {
            Terminal.write(String(decoding: json(probe, webhook).text(pretty: true), as: UTF8.self))
        } else if probe.outcome.isTaken {
            Terminal.write("\(name) took it: \(sentence(probe))")
        }
        if !probe.outcome.isTaken { throw Failure(.failed, "\(name) did not take it: \(sentence(probe))") }
    }

    private static func sentence(_ probe: WebhookProbe) -> String {
        let milliseconds = Int(probe.duration / .milliseconds(1))
        return switch probe.outcome {
        case .answered(let status, let content):
            "status \(status) after \(milliseconds) ms" + (content.isEmpty ? "" : ", \(Formatting.visible(content))")
        case .failed(let word): "\(word) after \(milliseconds) ms"
        }
    }

    private static func json(_ probe: WebhookProbe, _ webhook: ServerConfiguration.Webhook) -> JSONValue {
        var members: [String: JSONValue] = [
            "webhook": .string(webhook.name), "webhook_id": .string(probe.id), "taken": .bool(probe.outcome.isTaken),
            "milliseconds": .integer(Int64(probe.duration / .milliseconds(1))),
        ]
        switch probe.outcome {
        case .answered(let status, let content):
            (members["status"], members["content"]) = (.integer(Int64(status)), .string(content))
        case .failed(let word): members["failure"] = .string(word)
        }
        return .object(members)
    }
}
