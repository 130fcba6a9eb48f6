internal import HTTP
internal import Sessions

extension Route {
    /// The errors that several calls share: the answers of `config/openapi/answers.json`.
    enum Refusal: String, CaseIterable, Sendable {
        case badRequest = "BadRequest"
        case verificationRefused = "VerificationRefused"
        case signUpClosed = "SignUpClosed"
        case accountExists = "AccountExists"
        case oauthBadRequest = "OAuthBadRequest"
        case adminUnauthorized = "AdminUnauthorized"
        case oauthUnauthorized = "OAuthUnauthorized"
        case unauthorized = "Unauthorized"
        case wrongPassword = "WrongPassword"
        case wrongPasswordOrToken = "WrongPasswordOrToken"
        case loginSettingsUnauthorized = "LoginSettingsUnauthorized"
        case passwordOrTokenUnauthorized = "PasswordOrTokenUnauthorized"
        case accountUnauthorized = "AccountUnauthorized"
        case adminForbidden = "AdminForbidden"
        case localOnly = "LocalOnly"
        case loginRefused = "LoginRefused"
        case mintForbidden = "MintForbidden"
        case oauthForbidden = "OAuthForbidden"
        case oauthOriginNotAllowed = "OAuthOriginNotAllowed"
        case originNotAllowed = "OriginNotAllowed"
        case loginForbidden = "LoginForbidden"
        case pinForbidden = "PINForbidden"
        case scopeMissing = "ScopeMissing"
        case accountForbidden = "AccountForbidden"
        case accountScopeMissing = "AccountScopeMissing"
        case onProbation = "OnProbation"
        case loginSettingsForbidden = "LoginSettingsForbidden"
        case notFound = "NotFound"
        case backupConflict = "BackupConflict"
        case clientExists = "ClientExists"
        case identityTaken = "IdentityTaken"
        case usernameTaken = "UsernameTaken"
        case profileConflict = "ProfileConflict"
        case activationPending = "ActivationPending"
        case passwordMissing = "PasswordMissing"
        case sessionEnded = "SessionEnded"
        case idempotencyKeyUsed = "IdempotencyKeyUsed"
        case notNamed = "NotNamed"
        case passkeyRefused = "PasskeyRefused"
        case secondFactorConflict = "SecondFactorConflict"
        case loginConflict = "LoginConflict"
        case mailExpired = "MailExpired"
        case eventStreamConflict = "EventStreamConflict"
        case unknownCursor = "UnknownCursor"
        case preconditionFailed = "PreconditionFailed"
        case uriTooLong = "URITooLong"
        case oauthUnsupportedMediaType = "OAuthUnsupportedMediaType"
        case unsupportedMediaType = "UnsupportedMediaType"
        case oauthTooManyRequests = "OAuthTooManyRequests"
        case tooManyRequests = "TooManyRequests"
        case internalError = "InternalError"
        case oauthInternalError = "OAuthInternalError"
        case oauthUnavailable = "OAuthUnavailable"
        case unavailable = "Unavailable"

        var status: Int {
            switch self {
            case .badRequest, .oauthBadRequest, .verificationRefused: 400
            case .adminUnauthorized, .oauthUnauthorized, .unauthorized, .wrongPassword, .wrongPasswordOrToken,
                .loginSettingsUnauthorized, .passwordOrTokenUnauthorized, .accountUnauthorized:
                401
            case .adminForbidden, .localOnly, .loginRefused, .mintForbidden, .oauthForbidden, .loginForbidden,
                .pinForbidden, .scopeMissing, .accountForbidden, .accountScopeMissing, .onProbation,
                .loginSettingsForbidden, .signUpClosed, .oauthOriginNotAllowed, .originNotAllowed:
                403
            case .notFound: 404
            case .accountExists, .backupConflict, .clientExists, .identityTaken, .usernameTaken, .profileConflict,
                .activationPending, .passwordMissing, .sessionEnded, .idempotencyKeyUsed, .notNamed, .passkeyRefused,
                .secondFactorConflict, .loginConflict, .mailExpired, .eventStreamConflict:
                409
            case .unknownCursor: 410
            case .preconditionFailed: 412
            case .uriTooLong: 414
            case .oauthUnsupportedMediaType, .unsupportedMediaType: 415
            case .oauthTooManyRequests, .tooManyRequests: 429
            case .internalError, .oauthInternalError: 500
            case .oauthUnavailable, .unavailable: 503
            }
        }
    }
}

// What follows from a row.
extension Route {
    /// The errors that every call of this kind can give, beside those of its own.
    func sharedErrors(_ operation: Operation, isGuarded: Bool, hasQuery: Bool) -> [Refusal] {
        switch errorFormat {
        case .oauth:
            (cors == .client ? [.oauthOriginNotAllowed] : []) + [
                .oauthBadRequest, .oauthUnauthorized, .oauthUnsupportedMediaType, .oauthTooManyRequests,
                .oauthInternalError, .oauthUnavailable,
            ]
        case .page: listeners == .admin || method == .get && hasQuery ? [.uriTooLong] : []
        case .problem: problems(operation, isGuarded: isGuarded, hasQuery: hasQuery)
        }
    }

    private func problems(_ operation: Operation, isGuarded: Bool, hasQuery: Bool) -> [Refusal] {
        var errors: [Refusal] = [.internalError, .unavailable]
        // Other errors with its status come later, replace it, and name it.
        if cors == .client { errors.append(.originNotAllowed) }
        if isGuarded || operation.takes != nil || hasQuery { errors.append(.badRequest) }
        if operation.takes != nil { errors.append(.unsupportedMediaType) }
        if countsRefusals { errors.append(.tooManyRequests) }
        if isGuarded { errors.append(scopes.isEmpty ? .unauthorized : .adminUnauthorized) }
        switch handler {
        case .user, .owner:
            if demandsAccount {
                errors.append(isBarredOnProbation ? .accountForbidden : .accountScopeMissing)
            } else if isBarredOnProbation {
                errors.append(.onProbation)
            }
        case .client: errors.append(.scopeMissing)
        case .admin, .streaming: errors.append(.adminForbidden)
        case .immediate, .open, .openStreaming:
            return errors + (answersConditions(operation) ? [.preconditionFailed] : [])
        }
        if pattern.contains("{") { errors.append(.notFound) }
        if answersConditions(operation) || checksConditions { errors.append(.preconditionFailed) }
        return errors
    }

    /// Whether a GET with a condition can be answered 304 or 412, which is so for an answer 200 of a representation.
    func answersConditions(_ operation: Operation) -> Bool {
        errorFormat == .problem && isRepresentation && operation.answers.contains { $0.status == 200 }
    }

    /// Whether its guard refuses a change for a condition, `Preconditions.check`.
    private var checksConditions: Bool {
        guard [.put, .patch, .delete].contains(method) else { return false }
        return switch handler {
        case .user(let demands, _): demands.contains(.presence)
        case .owner, .client, .admin: true
        case .immediate, .open, .streaming, .openStreaming: false
        }
    }

    /// Whether a user's access token needs the scope `account`.
    var demandsAccount: Bool {
        switch handler {
        case .user(let demands, _): demands.contains(.account)
        case .owner: true
        case .immediate, .open, .client, .admin, .streaming, .openStreaming: false
        }
    }

    /// The scopes of the admin keys that may make the call; empty: it takes none.
    var scopes: [AdminKey.Scope] {
        switch handler {
        case .admin(let scope, let other, _): [scope] + (other.map { [$0] } ?? [])
        case .streaming(let scope, _): [scope]
        case .immediate, .open, .user, .owner, .client, .openStreaming: []
        }
    }

    /// The answers that every page of the listener can give, beside those of its own.
    func sharedPages(_ operation: Operation) -> [Answer] {
        guard errorFormat == .page else { return [] }
        let isAdmin = listeners == .admin
        let insecure = "lain http: the page needs https, except on a loopback address."
        let scope = "The scope of the admin key does not suffice"
        var pages: [Answer] = [
            .page(500, "An unexpected error."), .page(503, "Try again."),
            .page(
                421,
                isAdmin ? "The name of the host is not one of `server.admin_hosts`, or p\(insecure)" : "P\(insecure)"),
        ]
        if operation.takes != nil {
            let origin =
                isAdmin ? "\(scope), or the form comes from another site." : "The form comes from another site."
            pages += [
                .page(400, "The form cannot be read."), .page(415, "The content is not a form."), .page(403, origin),
            ]
            if isAdmin {
                let old =
                    "The page was too old, so that nothing has happened. The page of the answer has what was typed."
                pages.append(.page(409, old))
            }
        } else if isAdmin, method == .get {
            pages += [.page(400, "The query cannot be read."), .page(403, "\(scope).")]
        }
        if isAdmin, pattern.contains("{") { pages.append(.page(404, "There is no such thing.")) }
        return pages
    }
}
