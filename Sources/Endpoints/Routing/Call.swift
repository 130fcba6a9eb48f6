internal import HTTP
internal import OAuth
internal import Sessions

/// One request on its way through an endpoint.
struct Call: Sendable {
    let request: Request
    let caller: Caller
    /// The `X-Request-Id`.
    let requestID: String
    let route: Route
    /// What stands in the place of the pattern's `{name}`.
    let parameter: String
    /// Who asks, for the audit trail: `user`, `admin:KEY`, `client:ID`.
    var actor = Origin.userActor
    /// Whether a client asks that has proved itself: for people whose addresses it alone knows.
    var isOfProvenClient = false
    /// The good proof of possession of a key that the request holds, once that was looked at.
    var proof: ProofOfPossession?

    init(request: Request, caller: Caller, requestID: String, route: Route, parameter: String) {
        self.request = request
        self.caller = caller
        self.requestID = requestID
        self.route = route
        self.parameter = parameter
    }

    /// Who asks, from where: what the audit trail says of every cause.
    var origin: Origin { Origin(actor: actor, remoteAddress: caller.remoteAddress, requestID: requestID) }

    /// The credentials in the only `Authorization` field; nil without one.
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

    /// The value of a field that may stand once.
    func onlyField(_ name: StaticString) throws -> String? {
        do { return try request.fields.only(name) } catch {
            throw RequestProblem.invalid(name.description, "must stand only once")
        }
    }

    /// Whether `Accept` names that media type itself, and `other` is not more welcome (RFC 9110 section 12.5.1).
    func accepts(_ type: String, ratherThan other: String) -> Bool {
        let ranges = AcceptedTypes(request.fields.values("Accept"))
        guard let weight = ranges.weight(named: type), weight > 0 else { return false }
        return weight >= ranges.weight(of: other)
    }

    /// Whether the content is of that media type; parameters such as `charset` may follow. Content in any coding is refused
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
    /// Without spaces and tabs at the end; a field value has none at its start.
    fileprivate var trimmingBlanks: String {
        var text = self
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return text
    }
}

/// What is wrong with a request before the domain is asked. Details are sentences without a subject: the member is it.
enum RequestProblem: Error, Hashable, Sendable {
    /// A member, parameter or field is missing or impossible.
    case invalid(_ member: String, _ detail: String)
    /// The request as a whole cannot be read.
    case unreadable(_ detail: String)
    /// A JSON call with content of another type.
    case unsupportedMediaType
    /// The content is compressed or otherwise coded.
    case unsupportedContentCoding
    /// A condition of the request (RFC 9110 section 13) does not hold.
    case preconditionFailed
    /// A cursor that this database has never given.
    case unknownCursor
    /// No credentials, or of a scheme that the call does not take.
    case unauthenticated
    /// Credentials that cannot be read.
    case malformedCredentials
    /// A wrong admin key, or one that has expired.
    case unknownAdminKey
    /// An admin key that may do less than this.
    case insufficientScope(AdminKey.Scope)
    /// `grant_type` names a grant that is not there (RFC 6749 section 5.2).
    case unsupportedGrantType
    /// The proof of possession in the field `DPoP` is not taken; whether it came with an access token.
    case unproven(DPoPError, withAccessToken: Bool)
    /// The user whom the subject token of an exchange means may not log in: as the token itself would be, an invalid request
    /// (RFC 8693 section 2.2.2).
    case subjectRefused(RefusalReason)
    /// A token of a type that cannot be revoked (RFC 7009 section 2.2.1).
    case unsupportedTokenType
}
