import Configuration
import Endpoints
import HTTP
import JSON
import Sessions

/// `sojourn console`
enum ConsoleCommand {
    static let console = Command(
        path: ["console"], summary: "Prints a link that opens the console in a browser, once, within a minute.",
        options: [
            Command.Option(
                "--scope", "SCOPE", "what the browser may do: read, support or owner (default owner)",
                choices: ["read", "support", "owner"]),
            Command.Option("--name", "NAME", "the name of the admin key that the link makes (default: the user's)"),
            Command.Option(
                "--base", "URL", "where the browser reaches the admin listener, if not at its own address"),
        ] + Command.Option.admin,
        discussion: """
            The link makes an admin key that ends in eight hours, or when the browser leaves. It needs a running server. From
            another machine, forward the port of the admin listener: ssh -L 8081:127.0.0.1:8081 HOST
            """,
        examples: ["sojourn console", "sojourn console --scope read --base https://sojourn-admin.example.com"]
    ) { (arguments) async throws(Failure) in
        let configuration = try Setup.configuration(arguments)
        guard let connection = try AdminConnection.server(configuration) else {
            throw AdminConnection.noServer(configuration)
        }
        let name = arguments.value("--name") ?? Setup.environment["USER"].map { "console of \($0)" }
        var body: [String: JSONValue] = [:]
        if let name { body["name"] = .string(name) }
        if let scope = arguments.value("--scope") { body["scope"] = .string(scope) }
        let answer = try await connection.send(.post, ["console-links"], .object(body))
        guard var url = answer["url"]?.string else { throw Failure(.failed, "the server has answered no link") }
        if let base = arguments.value("--base"), let path = url.firstRange(of: "/console/") {
            url = (base.hasSuffix("/") ? String(base.dropLast()) : base) + url[path.lowerBound...]
        }
        if arguments.isJSON {
            let text = JSONValue.object(["url": .string(url), "expires_at": answer["expires_at"] ?? .null])
            Terminal.write(String(decoding: text.text(pretty: true), as: UTF8.self))
        } else {
            Terminal.write(url)
        }
    }
}
