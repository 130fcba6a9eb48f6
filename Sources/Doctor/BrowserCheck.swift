internal import Endpoints
internal import HTTP
internal import HTTPClient
internal import JSON

/// The checks of `sojourn doctor --url`: what a page of another origin gets from a server, through every proxy in between. They
/// need no configuration, and can run on any machine.
public struct BrowserCheck {
    private let url: String
    private let origin: String
    private let clientID: String
    private let client = HTTPClient(
        HTTPClient.Options(width: 1, deadline: .seconds(5), userAgent: "sojourn-doctor"))

    /// The checks of the server at `url`, for pages of `origin` that are the client `clientID`.
    public init(url: String, origin: String, client clientID: String) {
        self.url = url.hasSuffix("/") ? String(url.dropLast()) : url
        (self.origin, self.clientID) = (origin, clientID)
    }

    private static let tokenPath = "/oauth/token"
    /// An origin that no page has (RFC 2606).
    static let foreignOrigin = "https://origin.invalid"

    /// Runs every check. The later ones need a server that can be reached.
    public func run() async -> [Finding] {
        let metadata = await metadata()
        guard metadata.allSatisfy({ $0.result != .fail }) else { return metadata }
        return metadata + (await preflight()) + (await refusal()) + (await foreignPage())
    }

    /// The metadata, which pages of every origin may read.
    private func metadata() async -> [Finding] {
        let address = url + Endpoints.openIDMetadataPath
        return await judged("metadata", .get, address) { answer in
            guard answer.status == 200, let issuer = JSONValue(text: answer.body)?["issuer"]?.string else {
                return ["\(address) answers \(answer.status) and no metadata: is this the URL that apps call?"]
            }
            let fields = CORSFields(answer.fields)
            if issuer != url { return ["the issuer is \(issuer): let the app call that URL"] }
            if fields.isAbsent {
                return ["Access-Control-Allow-Origin is missing, which this server sends: does the proxy remove it?"]
            }
            return fields.allowsEveryOrigin ? [] : fields.faults(for: origin, isPreflight: true)
        }
    }

    /// The question of a browser before a request with the field `DPoP`.
    private func preflight() async -> [Finding] {
        let fields: Fields = [
            "Origin": origin, "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "content-type,dpop,idempotency-key",
        ]
        return await judged("preflight", .options, url + Self.tokenPath, fields) { answer in
            switch answer.status {
            case 200...299: break
            case 300...399:
                return ["it is answered by a redirect (\(answer.status)), which browsers refuse: serve the URL itself"]
            case 401, 403:
                return ["it is answered \(answer.status): a preflight has no credentials, so let the proxy pass it on"]
            default: return ["it is answered \(answer.status): let the proxy pass OPTIONS on to this server"]
            }
            let cors = CORSFields(answer.fields)
            if cors.isAbsent {
                return [
                    "Access-Control-Allow-Origin is missing: run sojourn client update \(clientID) --origins '\(origin)', "
                        + "and let the proxy pass OPTIONS and Origin on"
                ]
            }
            return cors.faults(for: origin, isPreflight: true) + cors.faultsOfPermission
        }
    }

    /// The refusal of a code that does not exist, with the fields that every answer needs, also one with an error.
    private func refusal() async -> [Finding] {
        await judged("refused POST", .post, url + Self.tokenPath, ["Origin": origin], form) { answer in
            let error = JSONValue(text: answer.body)?["error"]?.string
            switch (answer.status, error) {
            case (400, "invalid_grant"?): break
            case (400, "unauthorized_client"?):
                return ["the client \(clientID) lacks the grant authorization_code: sojourn client show \(clientID)"]
            case (401, _): return ["there is no public client \(clientID): sojourn client list"]
            case (403, _) where CORSFields(answer.fields).isOf(origin) || error != nil:
                return [
                    "the client \(clientID) has other origins: run sojourn client update \(clientID) --origins '\(origin)'"
                ]
            default: return ["it is answered \(answer.status), and not by this server: look at the proxy's log"]
            }
            let cors = CORSFields(answer.fields)
            if cors.isAbsent {
                return [
                    "Access-Control-Allow-Origin is missing, so that the page sees no error: does the client \(clientID) have "
                        + "origins (sojourn client show \(clientID)), or does the proxy remove the field?"
                ]
            }
            return cors.faults(for: origin, isPreflight: false)
        }
    }

    /// Sends that request for a page that has no right to read the answer.
    private func foreignPage() async -> [Finding] {
        await judged(
            "other origins", .post, url + Self.tokenPath, ["Origin": Self.foreignOrigin], form
        ) { answer in
            let cors = CORSFields(answer.fields)
            guard cors.allowsEveryOrigin || cors.isOf(Self.foreignOrigin) else { return [] }
            return [
                "a page of every origin may read answers with tokens: remove Access-Control-Allow-Origin from the proxy"
            ]
        }
    }

    private var form: String {
        "grant_type=authorization_code&code=sojourn-doctor&redirect_uri=\(PercentEncoding.encode(origin))"
            + "&code_verifier=\(String(repeating: "a", count: 43))&client_id=\(PercentEncoding.encode(clientID))"
    }

    /// The findings of one request: each fault that `judge` names, or that there is none.
    private func judged(
        _ check: String, _ method: Method, _ address: String, _ fields: Fields? = nil, _ form: String? = nil,
        _ judge: (OutboundResponse) -> [String]
    ) async -> [Finding] {
        guard let target = OutboundURL(address, plainLoopback: true) else {
            return [Finding(.fail, check, "\(address) cannot be asked: https, or http to this machine, is needed")]
        }
        var fields = fields ?? ["Origin": origin]
        if form != nil { fields.append("Content-Type", "application/x-www-form-urlencoded") }
        do throws(OutboundError) {
            let request = OutboundRequest(method, target, fields: fields, body: Array((form ?? "").utf8))
            let faults = judge(try await client.send(request))
            if faults.isEmpty { return [Finding(.ok, check, Self.praise[check] ?? "")] }
            return faults.map { Finding(.fail, check, $0) }
        } catch { return [Finding(.fail, check, "\(address) cannot be reached from here: \(error.word)")] }
    }

    private static let praise = [
        "metadata": "every page may read it", "preflight": "is answered as browsers need it",
        "refused POST": "the page can read the error and the fields beside it",
        "other origins": "may not read the answer",
    ]
}

/// The fields of the CORS protocol in an answer (Fetch Standard, section "HTTP responses").
struct CORSFields {
    private let allowed: [String]
    private let credentials: [String]
    private let exposed: Set<String>
    private let methods: Set<String>
    private let headers: Set<String>
    private let vary: Set<String>

    init(_ fields: Fields) {
        func list(_ name: StaticString) -> [String] {
            fields.values(name).flatMap { $0.split(separator: ",") }.map { $0.filter { $0 != " " && $0 != "\t" } }
        }
        allowed = list("Access-Control-Allow-Origin")
        credentials = list("Access-Control-Allow-Credentials")
        exposed = Set(list("Access-Control-Expose-Headers").map { $0.lowercased() })
        methods = Set(list("Access-Control-Allow-Methods"))
        headers = Set(list("Access-Control-Allow-Headers").map { $0.lowercased() })
        vary = Set(list("Vary").map { $0.lowercased() })
    }

    /// Whether no page of another origin may read the answer.
    var isAbsent: Bool { allowed.isEmpty }
    /// Whether pages of every origin may read the answer.
    var allowsEveryOrigin: Bool { allowed == ["*"] && credentials.isEmpty }

    /// Whether a page of that origin may read the answer.
    func isOf(_ origin: String) -> Bool { allowed == [origin] }

    /// What a client needs to see beside the content.
    static let needed = ["DPoP-Nonce", "WWW-Authenticate", "Retry-After", "Date", "Age"]

    /// What keeps a page of `origin` from the answer, or lets others read it.
    func faults(for origin: String, isPreflight: Bool) -> [String] {
        var faults: [String] = []
        if allowed.count > 1 {
            faults.append(
                "Access-Control-Allow-Origin has \(allowed.count) values (\(allowed.joined(separator: ", "))), which browsers "
                    + "refuse: this server sets the field, so remove it from the proxy")
        } else if allowed == ["*"] {
            faults.append("Access-Control-Allow-Origin is *, and must be \(origin): remove the field from the proxy")
        } else if let other = allowed.first, other != origin {
            faults.append("Access-Control-Allow-Origin is \(other), and must be \(origin): remove it from the proxy")
        }
        if !credentials.isEmpty {
            faults.append(
                "Access-Control-Allow-Credentials is there, which this server never sends: remove it from the proxy")
        }
        let hidden = Self.needed.filter { !exposed.contains($0.lowercased()) }
        if !isPreflight, !hidden.isEmpty {
            faults.append(
                "Access-Control-Expose-Headers lacks \(hidden.joined(separator: ", ")): let the proxy pass the field on"
            )
        }
        if !vary.contains("origin"), !vary.contains("*") {
            faults.append("Vary lacks Origin, so that a cache gives the answer for one origin to another")
        }
        return faults
    }

    /// What an answer to a preflight does not permit.
    var faultsOfPermission: [String] {
        let methods = ["PUT", "PATCH", "DELETE"].filter { !self.methods.contains($0) }
        // `*` does not stand for Authorization.
        let headers = ["Authorization", "Content-Type", "DPoP", "Idempotency-Key"].filter {
            !self.headers.contains($0.lowercased()) && ($0 == "Authorization" || !self.headers.contains("*"))
        }
        return [("Methods", methods), ("Headers", headers)].compactMap { name, missing in
            let names = missing.joined(separator: ", ")
            return missing.isEmpty
                ? nil : "Access-Control-Allow-\(name) lacks \(names): let the proxy pass it on as it is"
        }
    }
}
