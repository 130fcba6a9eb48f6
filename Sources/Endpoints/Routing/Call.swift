internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// One request with its route and its caller.
struct Call: Sendable {
    let request: Request
    let caller: Caller
    /// The value of `X-Request-Id`.
    let requestID: String
    let route: Route
    /// The decoded path segment that matches `{name}` of the pattern; empty without one.
    let parameter: String
    /// The path below which the caller sees this server.
    let issuerPath: IssuerPath
    /// The languages of pages and mails.
    let languages: PageLanguages
    /// The actor in the audit trail: `user`, `admin:KEY`, `client:ID`; `unknown` before the proof that a call of admins or clients
    /// needs.
    var actor: String
    /// The scope of the admin key; nil: no admin makes the call.
    var adminScope: AdminKey.Scope?
    /// Whether an authenticated client sends the request. The network addresses of its users are then unknown to this server.
    var isOfProvenClient = false
    /// The valid proof of possession of a key that the request has, once it was verified.
    var proof: ProofOfPossession?
    /// The authentication of the caller, for repetition; nil unless the call may wait.
    var admission: Admission?
    /// The page that sends the request, which a verified client has to allow; nil without one.
    let page: CallingPage?

    init(
        request: Request, caller: Caller, requestID: String, route: Route, parameter: String,
        issuerPath: IssuerPath = .root, languages: PageLanguages = .builtIn, page: CallingPage? = nil
    ) {
        self.request = request
        self.caller = caller
        self.requestID = requestID
        self.route = route
        self.parameter = parameter
        self.issuerPath = issuerPath
        self.languages = languages
        self.page = page
        actor = route.unprovenActor
    }

    /// The actor and address for the audit trail.
    var origin: Origin { Origin(actor: actor, remoteAddress: caller.remoteAddress, requestID: requestID) }

    /// The credentials in the `Authorization` field; nil without one. Throws if there are several, or if they are unreadable.
    func authorization() throws -> Authorization? {
        guard let value = try onlyField("Authorization") else { return nil }
        do throws(Authorization.Problem) {
            return try Authorization(value)
        } catch {
            switch error {
            case .unknownScheme: throw RequestProblem.unauthenticated
            case .malformed: throw RequestProblem.malformedCredentials
            }
        }
    }

    /// The `Idempotency-Key`: 1 to 255 visible ASCII characters.
    func idempotencyKey() throws -> String? {
        guard let key = try onlyField("Idempotency-Key") else { return nil }
        guard RequestID.isVisible(key.utf8, lengthMax: 255) else {
            throw RequestProblem.invalid("Idempotency-Key", "must have 1 to 255 visible ASCII characters")
        }
        return key
    }

    /// The value of a field that may occur once. Throws if it occurs twice.
    func onlyField(_ name: StaticString) throws -> String? {
        do { return try request.fields.only(name) } catch {
            throw RequestProblem.invalid(name.description, "must stand only once")
        }
    }

    /// Returns true if `Accept` names exactly `type`, and `other` has no greater weight (RFC 9110 section 12.5.1).
    func accepts(_ type: String, ratherThan other: String) -> Bool {
        let ranges = AcceptedTypes(request.fields.values("Accept"))
        guard let weight = ranges.weight(named: type), weight > 0 else { return false }
        return weight >= ranges.weight(of: other)
    }

    /// Returns true if the content has this media type, with or without parameters such as `charset`. Throws for coded content
    /// (RFC 9110 section 8.4).
    func hasContentType(_ type: String) throws -> Bool {
        if let coding = try onlyField("Content-Encoding"), coding.lowercased() != "identity" {
            throw RequestProblem.unsupportedContentCoding
        }
        guard let value = try onlyField("Content-Type") else { return false }
        if value == type { return true }
        let essence = value.prefix { $0 != ";" }
        return essence.lowercased().trimmingBlanks == type
    }
}

extension String {
    /// The text without spaces and tabs at its end. A field value has none at its start.
    fileprivate var trimmingBlanks: String {
        var text = self
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return text
    }
}

/// An error in a request that the endpoint finds before it calls the domain. `detail` of `invalid` is a sentence without its
/// subject, because the name of the member precedes it.
enum RequestProblem: Error, Hashable, Sendable {
    /// A member, parameter or field is missing or invalid.
    case invalid(_ member: String, _ detail: String)
    /// The request as a whole is unreadable.
    case unreadable(_ detail: String)
    /// The content of the call has a media type that the call does not accept.
    case unsupportedMediaType
    /// The content is compressed or otherwise coded.
    case unsupportedContentCoding
    /// A condition of the request (RFC 9110 section 13) does not hold.
    case preconditionFailed
    /// This database has never issued the cursor.
    case unknownCursor
    /// The request has no credentials, or those of a scheme that the call does not accept.
    case unauthenticated
    /// The credentials are unreadable.
    case malformedCredentials
    /// The admin key is unknown or has expired.
    case unknownAdminKey
    /// The admin key has none of the scopes of which the call, or that member of its body, needs one.
    case insufficientScope([AdminKey.Scope], actor: String, member: String? = nil)
    /// `grant_type` names an unknown grant (RFC 6749 section 5.2).
    case unsupportedGrantType
    /// The proof of possession in the field `DPoP` is refused. `withAccessToken` is true if an access token came with it.
    case unproven(DPoPError, withAccessToken: Bool)
    /// The user of an exchange's subject token may not log in: an invalid request, like an invalid subject token (RFC 8693
    /// section 2.2.2).
    case subjectRefused(RefusalReason)
    /// An authorization request is refused (RFC 6749 section 4.1.2.1).
    case authorization(ErrorCode, _ detail: String)
    /// An authorization request of a client is refused for that reason; what the client sent and what was expected are for the log.
    indirect case refused(ClientRefusal, RequestProblem)
    /// The page that sent the form is not one of this server.
    case crossSite
    /// The page needs https.
    case needsTLS
    /// The console is not reached by this name.
    case unknownHost
}

extension RequestProblem {
    /// The problem without what the client sent.
    var plain: RequestProblem { if case .refused(_, let problem) = self { problem.plain } else { self } }
}
