public import Configuration
internal import Endpoints
internal import FoundationEssentials
internal import Geolocation
internal import Glibc
internal import HTTP
internal import JSON
internal import QRCode
internal import Server
internal import Sessions
internal import Sockets
internal import SQLiteStore
internal import TLS
internal import Telemetry

/// The checks of `sojourn doctor`.
public struct DoctorCheck {
    private let configuration: ServerConfiguration
    private let environment: [String: String]
    private let now = Int64(time(nil))

    /// The checks of a configuration, with the environment variables of the process.
    public init(_ configuration: ServerConfiguration, environment: [String: String]) {
        (self.configuration, self.environment) = (configuration, environment)
    }

    /// Runs every check, in an order in which each explains the next.
    public func run() async -> [Finding] {
        var findings = [listeners] + certificates
        findings += [rootKeys, clock]
        findings += await database()
        let inputs = Environment.system(configuration.log, environment: environment)
        if let mail = await MailCheck.finding(configuration, inputs) { findings.append(mail) }
        return findings + [geoDatabase, pictures, disk, descriptors].compactMap { $0 }
    }

    private var listeners: Finding {
        let server = configuration.server
        if server.issuer == nil, !server.publicListen.isLoopback {
            return Finding(
                .warn, "configuration",
                "server.issuer is not set, and public_listen is \(server.publicListen): set the URL that apps call")
        }
        if !server.adminListen.isLoopback {
            return Finding(
                .warn, "configuration",
                "admin_listen is \(server.adminListen): make sure that only admins can reach it")
        }
        return Finding(.ok, "configuration", "public \(server.publicListen), admin \(server.adminListen)")
    }

    /// The validity of each certificate.
    private var certificates: [Finding] {
        [configuration.server.publicCertificate, configuration.server.adminCertificate].compactMap { $0 }.map { files in
            let check = "\(files.listener) TLS"
            do throws(CertificateProblem) {
                let certificate = try files.examine(now: now)
                let days = certificate.daysLeft(at: now)
                let detail = "\(certificate.subject) lasts \(days) days more, until \(certificate.notAfterText)"
                if days <= MachineState.certificateDays { return Finding(.warn, check, detail + ": renew it") }
                var status = stat()
                if stat(files.path(of: .key), &status) == 0, status.st_mode & 0o007 != 0 {
                    return Finding(.warn, check, "every user may read \(files.path(of: .key)): remove that right")
                }
                return Finding(.ok, check, detail)
            } catch { return Finding(.fail, check, error.description) }
        }
    }

    private var rootKeys: Finding {
        let check = "root key"
        let variable = ServerConfiguration.SpecialVariable.rootKey.rawValue
        do throws(RootKeyFile.Problem) {
            if let text = environment[variable], !text.isEmpty {
                return Finding(.ok, check, "\(try RootKeyFile.keys(fromVariable: text).all.count) from \(variable)")
            }
            let path = configuration.rootKeyFile
            if let keys = try RootKeyFile(path: path).load() {
                return Finding(.ok, check, "\(keys.all.count) in \(path); have you a backup, apart from the database?")
            }
            if FileManager.default.fileExists(atPath: configuration.database.path) {
                return Finding(.fail, check, RootKeyFile.Problem.missing(path: path).description)
            }
            return Finding(.ok, check, "the first start will make \(path)")
        } catch { return Finding(.fail, check, error.description) }
    }

    /// The clock, because one that is far off ends all sessions, or none.
    private var clock: Finding {
        let year = Finding.time(now).prefix(4)
        if now < 1_735_689_600 { return Finding(.fail, "clock", "the year is \(year): set the clock") }
        let path = configuration.database.path
        let newest = [path, path + "-wal"].compactMap { file -> Int64? in
            let attributes = try? FileManager.default.attributesOfItem(atPath: file)
            return (attributes?[.modificationDate] as? Date).map { Int64($0.timeIntervalSince1970) }
        }.max()
        if let newest, newest > now + 60 {
            return Finding(
                .warn, "clock",
                "the database was written at \(Finding.time(newest)), but it is \(Finding.time(now)): was the clock set back?"
            )
        }
        return Finding(.ok, "clock", Finding.time(now))
    }

    private var contents: ContentsCheck {
        ContentsCheck(configuration: configuration, environment: environment, now: now)
    }

    private func database() async -> [Finding] {
        let path = configuration.database.path
        guard !configuration.database.isFile || FileManager.default.fileExists(atPath: path) else {
            let folder = configuration.database.folder
            // A missing folder is reported by the check of the disk.
            if access(folder, F_OK) == 0, access(folder, W_OK | X_OK) != 0 {
                return [
                    Finding(
                        .fail, "database",
                        "you may not make \(path): let the folder \(folder) belong to the server's user")
                ]
            }
            return [Finding(.ok, "database", "the first start will make \(path)")]
        }
        var findings = configuration.database.isFile ? [permissions(path)] : []
        let socket = SocketAddress.unix(path: configuration.database.socketPath)
        do throws(SocketError) {
            findings += running(try HTTPExchange.send(Request(.get, "/readyz"), to: socket))
            findings += IdentityProviderCheck.findings(configuration, of: socket)
            findings += MailCheck.findings(configuration, of: socket)
            findings += await IssuerCheck(configuration)?.findings ?? []
            if configuration.database.isFile { return findings + runningWebhooks(socket) }
        } catch {
            findings.append(Finding(.ok, "server", "does not run"))
        }
        if case .postgres(let url) = configuration.database.location {
            return findings + PostgresCheck(contents: contents, url: url).findings
        }
        return findings + ClosedDatabaseCheck(contents: contents).findings
    }

    /// The state of a running server, by its answer to `/readyz`.
    private func running(_ response: Response) -> [Finding] {
        let inUse =
            configuration.database.isFile
            ? [Finding(.ok, "database", "in use by the server; stop it for a full check")] : []
        if response.status.isSuccess { return [Finding(.ok, "server", "runs and can commit")] + inUse }
        let server = Finding(.fail, "server", "runs, but answers \(response.status.code): see its log")
        if JSONValue(text: response.body)?["store"]?.string == "damaged" {
            return [server, Finding(.fail, "database", damaged)]
        }
        return [server] + inUse
    }

    /// The webhooks and the logout tokens of a running server, by its metrics.
    private func runningWebhooks(_ socket: SocketAddress) -> [Finding] {
        guard let answer = try? HTTPExchange.send(Request(.get, "/metrics"), to: socket) else { return [] }
        let lines = String(decoding: answer.body, as: UTF8.self).split(separator: "\n")
        func seconds(_ name: String) -> Int64? {
            let line = lines.first { $0.hasPrefix(name + " ") }
            return line.flatMap { Double($0.dropFirst(name.utf8.count + 1)) }.map { Int64($0) }
        }
        let webhooks = configuration.webhooks.compactMap { webhook in
            seconds("sojourn_webhook_failing_seconds{webhook=\"\(webhook.name)\"}").map {
                ContentsCheck.webhook(webhook.name, failingSeconds: $0)
            }
        }
        // Most servers have no client that gets logout tokens or security events.
        let logouts = seconds("sojourn_logout_tokens_failing_seconds").flatMap { failing in
            failing > 0 ? ContentsCheck.logouts(of: nil, failingSeconds: failing) : nil
        }
        let streams = seconds("sojourn_security_events_failing_seconds").flatMap { failing in
            failing > 0 ? ContentsCheck.stream(nil, failingSeconds: failing) : nil
        }
        return webhooks + [logouts, streams].compactMap { $0 }
    }

    private var damaged: String {
        configuration.database.isFile
            ? OpenError.damaged(path: configuration.database.path, reason: "the server's log says where").description
            : PostgresCheck.damaged
    }

    private func permissions(_ path: String) -> Finding {
        var status = stat()
        guard stat(path, &status) == 0 else { return Finding(.fail, "permissions", "\(path) cannot be examined") }
        if status.st_mode & 0o077 != 0 {
            return Finding(.warn, "permissions", "others may use \(path); run: chmod 600 \(path)")
        }
        if status.st_uid != geteuid(), geteuid() != 0 {
            return Finding(.warn, "permissions", "\(path) belongs to another user: run this as the server's user")
        }
        return Finding(.ok, "permissions", "\(path) is its owner's alone")
    }

    /// The age of the geo database, which its publisher renews every week.
    private var geoDatabase: Finding? {
        guard let path = configuration.geo.database else { return nil }
        do throws(GeoDatabaseError) {
            let database = try GeoDatabase(path: path, copyingTo: configuration.database.folder)
            let days = (now - database.builtAt) / 86_400
            let detail = "\(database.kind), made \(days) days ago"
            return days > MachineState.geoDatabaseDays
                ? Finding(.warn, "geo database", detail + ": get a new one, and put it at \(path)")
                : Finding(.ok, "geo database", detail)
        } catch { return Finding(.fail, "geo database", "geo.database: \(path) \(error)") }
    }

    /// The library of QR codes.
    private var pictures: Finding {
        let problem = QRLibrary.problem.map { $0 + "; the page of logins by phone shows a link and no picture" }
        return Finding(problem == nil ? .ok : .warn, "QR codes", problem ?? "libqrencode draws them")
    }

    private var disk: Finding? {
        let folder = configuration.database.folder
        guard let free = DiskRoom.freeMebibytes(in: folder) else {
            return Finding(.fail, "disk", "the folder \(folder) does not exist or cannot be read: create it")
        }
        if free < 100 { return Finding(.fail, "disk", "\(free) MiB free in \(folder): make room now") }
        if free < MachineState.scarceMebibytes {
            return Finding(.warn, "disk", "\(free) MiB free in \(folder): make room")
        }
        return Finding(.ok, "disk", "\(free / 1024) GiB free in \(folder)")
    }

    private var descriptors: Finding? {
        let wanted = configuration.limits.connections + 128
        DescriptorLimit.raise(to: wanted)
        let limit = DescriptorLimit.current
        return limit >= wanted
            ? Finding(.ok, "descriptors", "\(limit), enough for limits.connections")
            : Finding(
                .warn, "descriptors",
                "\(limit), fewer than limits.connections wants (\(wanted)): raise ulimit -n, or LimitNOFILE= in systemd"
            )
    }
}
