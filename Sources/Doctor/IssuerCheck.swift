internal import Configuration
internal import Endpoints
internal import HTTP
internal import HTTPClient
internal import JSON

/// The checks of the public URL of a running server, which go the way of browsers and clients: through the proxy.
struct IssuerCheck {
    private let issuer: String
    private let path: IssuerPath
    private let arrival: IssuerPath.Arrival
    private let client = HTTPClient(
        HTTPClient.Options(width: 1, deadline: .seconds(5), userAgent: "sojourn-doctor"))

    /// The checks of a configured issuer; nil without one.
    init?(_ configuration: ServerConfiguration) {
        guard let issuer = configuration.server.issuer else { return nil }
        self.issuer = issuer
        path = IssuerPath(of: issuer)
        arrival = configuration.server.issuerPath
    }

    /// What stands between a browser and this server; one finding if there is nothing.
    var findings: [Finding] {
        get async {
            let problems = await [metadata(Endpoints.openIDMetadataPath, below: issuer), pages, root, paths]
            let found = problems.compactMap { $0 }
            if !found.isEmpty { return found }
            return [Finding(.ok, Self.check, "\(issuer) leads to this server\(await secondForm)")]
        }
    }

    private static let check = "issuer"

    /// The host of the issuer without its path.
    private var host: String { String(issuer.dropLast(path.text.utf8.count)) }

    private func warn(_ detail: String) -> Finding { Finding(.warn, Self.check, detail) }

    /// Nil if the metadata at a path is that of the issuer.
    private func metadata(_ document: String, below base: String) async -> Finding? {
        let url = base + document
        switch await ask(url) {
        case .failure(let obstacle): return obstacle.finding
        case .success(let answer):
            guard answer.status == 200, let named = JSONValue(text: answer.body)?["issuer"]?.string else {
                return warn(
                    "\(url) answers \(answer.status) and no metadata: let the proxy pass it on to this server\(form)")
            }
            return named == issuer ? nil : warn("\(url) is that of another server, whose issuer is \(named)")
        }
    }

    /// What the proxy has to do with the path.
    private var form: String {
        if path.text.isEmpty { return "" }
        let rule =
            switch arrival {
            case .either: "with or without \(path.text)"
            case .removed: "without \(path.text), as server.issuer_path says"
            case .kept: "with \(path.text), as server.issuer_path says"
            }
        return ", \(rule), and the root of the host as well"
    }

    /// The advice against a second form of each path, behind a proxy that removes the path of the issuer; empty without it.
    private var secondForm: String {
        get async {
            guard !path.text.isEmpty, arrival == .either else { return "" }
            let doubled = issuer + path.text
            guard await metadata(Endpoints.openIDMetadataPath, below: doubled) == nil else { return "" }
            return ", and so does \(doubled): with server.issuer_path \"removed\" no path has a second form"
        }
    }

    /// Nil if a page of the account leads to the login page.
    private var pages: Finding? {
        get async {
            guard case .success(let answer) = await ask(issuer + "/account") else { return nil }
            if answer.status == 421 {
                return warn(
                    "pages are refused, because requests seem to come over http: name the proxy in server.trusted_proxies, and let "
                        + "it send X-Forwarded-Proto")
            }
            guard answer.status == 303, answer.fields.first("Location")?.hasPrefix(issuer + "/login?") == true else {
                return warn("\(issuer)/account answers \(answer.status) and does not lead to \(issuer)/login")
            }
            return nil
        }
    }

    /// Nil if the documents at the root of the host are this server's. Phones, password managers and clients ask for them there.
    private var root: Finding? {
        get async {
            guard !path.text.isEmpty else { return nil }
            for document in path.metadataPaths {
                if let finding = await metadata(document, below: host) { return finding }
            }
            for document in Endpoints.rootDocuments {
                guard case .success(let own) = await ask(issuer + document),
                    case .success(let shown) = await ask(host + document)
                else { continue }
                if namesNoApp(own) { continue }
                if own.status != shown.status || own.body != shown.body
                    || own.fields.first("Location") != shown.fields.first("Location")
                {
                    return warn("\(host)\(document) is not this server's: let the proxy pass it on")
                }
            }
            return nil
        }
    }

    /// Nil if each path below that of the issuer belongs to one call.
    private var paths: Finding? {
        guard arrival == .either, let example = path.ambiguousPaths.first else { return nil }
        return warn(
            "\(path.text)\(example) is another call's path as well: choose another path than \(path.text), or say by "
                + "server.issuer_path whether the proxy removes it")
    }

    /// Whether it is one of the documents of apps, and no client has apps: the host may have a document of its own.
    private func namesNoApp(_ answer: OutboundResponse) -> Bool {
        guard let json = JSONValue(text: answer.body) else { return false }
        return (json["webcredentials"]?["apps"] ?? json).elements.isEmpty
    }

    /// The way to the server is barred.
    private struct Obstacle: Error { let finding: Finding }

    private func ask(_ text: String) async -> Result<OutboundResponse, Obstacle> {
        guard let url = OutboundURL(text, plainLoopback: true) else {
            return .failure(
                Obstacle(finding: warn("\(text) cannot be asked: https, or http to this machine, is needed")))
        }
        do throws(OutboundError) { return .success(try await client.send(OutboundRequest(.get, url))) } catch {
            return .failure(Obstacle(finding: warn("\(text) cannot be reached from here: \(error.word)")))
        }
    }
}
