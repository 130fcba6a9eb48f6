import AdminActs
import Configuration
import Endpoints
import FoundationEssentials
import HTTP
import JSON
import SQLiteStore
import Server
import Sockets
import Telemetry

/// The receiver of the requests of admin commands: the server that has the database open, over its admin socket, or, when no
/// server runs, the same endpoints in this process. Each call is one request and one answer of the admin API.
struct AdminConnection {
    private enum Place {
        case server(SocketAddress)
        case here(Application, Endpoints)
    }

    /// The advice after a failure for which no server or database was found.
    private static let advice =
        "start 'sojourn serve', or name the server's database with --config, --database or SOJOURN_DATABASE_URL"

    private let place: Place

    /// Connects to the server, or opens the database.
    static func open(_ arguments: Arguments) async throws(Failure) -> AdminConnection {
        let configuration = try Setup.configuration(arguments)
        if let server = try server(configuration) { return server }
        let application = try await application(configuration, mustExist: true)
        return AdminConnection(place: .here(application, application.endpoints()))
    }

    /// The server that has the database open; nil if none runs.
    static func server(_ configuration: ServerConfiguration) throws(Failure) -> AdminConnection? {
        let path = configuration.database.socketPath
        let address = SocketAddress.unix(path: path)
        do throws(SocketError) {
            _ = try ClientSocket(to: address, timeout: .seconds(5))
            return AdminConnection(place: .server(address))
        } catch {
            switch error {
            case .connectionRefused: return nil
            case .permissionDenied:
                throw Failure(
                    .failed, "the admin socket \(path) belongs to another user: run this as the server's user")
            default: throw Failure(.unavailable, error.description)
            }
        }
    }

    /// The failure of a command that needs a running server. The socket of a server with PostgreSQL has a relative path.
    static func noServer(_ configuration: ServerConfiguration) -> Failure {
        let socket = configuration.database.socketPath
        return Failure(
            .unavailable,
            configuration.database.isFile
                ? "no server runs on the database \(configuration.database.path); \(advice)"
                : "no server answers on the admin socket \(socket); run this on a server's machine, in its working directory"
        )
    }

    /// Opens the database in this process, which runs missing migrations; a notice on standard error reports that.
    static func application(_ configuration: ServerConfiguration, mustExist: Bool) async throws(Failure) -> Application
    {
        let database = configuration.database.path
        guard !mustExist || !configuration.database.isFile || FileManager.default.fileExists(atPath: database) else {
            throw Failure(
                .unavailable,
                "no server runs here and there is no database \(database); \(advice)")
        }
        // Only warnings are logged, because the answer of the command contains everything else.
        let log = ServerConfiguration.Log(level: .warning, format: .text)
        let environment = Environment.system(log, environment: Setup.environment)
        let notice = upgradeNotice(configuration.database)
        do throws(StartError) {
            let application = try await Application.open(configuration, environment)
            if let notice { Terminal.writeError(notice) }
            return application
        } catch {
            if case .database(.alreadyOpen(path: _)) = error { throw silentServer(configuration) }
            throw Failure(.failed, error.description)
        }
    }

    /// The notice for a file that will be migrated when it is opened, because the operator may still need it for an earlier
    /// version of the program; nil if no migration is missing, or if the file cannot be examined.
    static func upgradeNotice(
        _ place: ServerConfiguration.Database,
        examining open: (String) throws(OpenError) -> ClosedDatabase = { (path) throws(OpenError) in
            try ClosedDatabase(path: path)
        }
    ) -> String? {
        guard place.isFile, FileManager.default.fileExists(atPath: place.path), let closed = try? open(place.path)
        else { return nil }
        defer { closed.close() }
        guard let missing = try? closed.missingCount(), missing > 0 else { return nil }
        return
            "\(place.path) was brought up to date by \(Formatting.count(Int64(missing), "migration")): an earlier program says at "
            + "its start whether it can still use it"
    }

    /// The failure when the database is locked, but no server accepts connections on the admin socket.
    static func silentServer(_ configuration: ServerConfiguration) -> Failure {
        Failure(
            .unavailable,
            "a server has the database \(configuration.database.path) open and does not answer on its admin socket "
                + "\(configuration.database.socketPath): it is starting, stopping or stuck; try again")
    }

    /// Closes the database, if this process has it open.
    func close() async {
        if case .here(let application, _) = place { await application.close() }
    }

    /// Sends one request; an answer that is an error is thrown.
    func send(
        _ method: Method, _ path: [String], query: [(String, String?)] = [], _ body: JSONValue? = nil
    ) async throws(Failure) -> JSONValue {
        try await send(method, Self.target(path, query), body)
    }

    /// Sends the call of an act.
    func send(_ call: AdminCall) async throws(Failure) -> JSONValue {
        guard let picture = call.picture else {
            return try await send(call.method, call.target, call.body.map { .object($0) })
        }
        var request = Request(call.method, call.target)
        request.fields.append("Content-Type", "image/*")
        request.body = picture
        return try await send(request)
    }

    private func send(_ method: Method, _ target: String, _ body: JSONValue?) async throws(Failure)
        -> JSONValue
    {
        var request = Request(method, target)
        if let body {
            request.fields.append("Content-Type", "application/json")
            request.body = body.text()
        }
        return try await send(request)
    }

    private func send(_ request: Request) async throws(Failure) -> JSONValue {
        let response: Response
        switch place {
        case .here(_, let endpoints):
            let caller = Caller(remoteAddress: nil, listener: .adminSocket)
            response = await endpoints.reply(to: request, from: caller).response()
        case .server(let address):
            do throws(SocketError) {
                response = try HTTPExchange.send(request, to: address)
            } catch { throw Failure(.unavailable, error.description) }
        }
        let answer = JSONValue(text: response.body) ?? .null
        if !response.status.isSuccess { throw Self.failure(response.status.code, answer) }
        return answer
    }

    private static func failure(_ status: Int, _ problem: JSONValue) -> Failure {
        let detail = problem["detail"]?.string ?? "the server answered \(status)"
        let line = problem["code"]?.string.map { "\(detail) (\($0))" } ?? detail
        return switch status {
        case 404 where detail == "There is no such user.":
            Failure(.notFound, [line, "'sojourn user list TEXT' finds users by a part of name, address or number"])
        case 404: Failure(.notFound, line)
        case 429, 503: Failure(.unavailable, line)
        case 400..<500: Failure(.refused, line)
        default: Failure(.failed, line)
        }
    }

    /// A path of segments and a query, each part percent-encoded.
    static func target(_ path: [String], _ query: [(String, String?)]) -> String {
        let pairs = query.compactMap { name, value in value.map { "\(name)=\(PercentEncoding.encode($0))" } }
        return "/admin/v1/" + path.map(PercentEncoding.encode).joined(separator: "/")
            + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&"))
    }
}

extension Command {
    /// A command that sends requests of the admin API and shows an answer: `show` for people, the answer itself with
    /// `--json`.
    static func admin(
        _ path: [String], _ summary: String, operands: [String] = [], options: [Option] = [], discussion: String = "",
        examples: [String], send: @escaping @Sendable (AdminConnection, Arguments) async throws(Failure) -> JSONValue,
        show: @escaping @Sendable (JSONValue, Arguments) -> String
    ) -> Command {
        Command(
            path: path, summary: summary, operands: operands, options: options + Option.admin, discussion: discussion,
            examples: examples
        ) { (arguments) async throws(Failure) in
            let connection = try await AdminConnection.open(arguments)
            let answer: JSONValue
            do throws(Failure) {
                answer = try await send(connection, arguments)
            } catch {
                await connection.close()
                throw error
            }
            await connection.close()
            if arguments.isJSON {
                if answer != .null { Terminal.write(String(decoding: answer.text(pretty: true), as: UTF8.self)) }
            } else {
                Terminal.write(show(answer, arguments))
            }
        }
    }

    /// A command that makes the call of an act.
    ///
    /// - Parameter confirm: asks before the call, where sessions can end by it.
    static func admin(
        _ path: [String], _ summary: String, operands: [String] = [], options: [Option] = [],
        discussion: String = "",
        examples: [String], act: @escaping Making,
        after confirm:
            @escaping @Sendable (AdminConnection, Arguments, AdminCall) async throws(Failure) -> Void = {
                (_, _, _) async throws(Failure) in
            },
        show: @escaping @Sendable (JSONValue, Arguments) -> String
    ) -> Command {
        var command = admin(
            path, summary, operands: operands, options: options, discussion: discussion,
            examples: examples,
            send: { connection, arguments async throws(Failure) in
                let call = try act(arguments).call
                try await confirm(connection, arguments, call)
                return try await connection.send(call)
            }, show: show)
        command.act = act
        return command
    }
}
