internal import HTTP
internal import OAuth
internal import Sessions
internal import Telemetry

/// The log entries of refused and failed calls. They never hold a token, a password, a key or the value of an `Authorization`
/// field.
extension Endpoints {
    /// Logs the error of a call with a level by its severity.
    func log(_ error: any Error, _ status: Status, _ call: Call) {
        let (level, cause) = Self.severity(error)
        var fields: LogFields = [
            "request_id": .string(call.requestID), "route": .string(call.route.name),
            "status": .int(status.code),
            "actor": .string(Self.refusedAdmin(error) ?? call.actor),
            "remote_address": .string(call.caller.remoteAddress ?? "local"),
        ]
        if let refusal = Self.clientRefusal(error) {
            if let id = refusal.clientID { fields.append("client_id", .string(id)) }
            fields.append("sent", .string(refusal.sent))
            fields.append("expected", .string(refusal.expected))
        }
        // An outage fails all requests for one cause. A fault of the server is written each time, because each may be another.
        if status == .serviceUnavailable {
            return failures.write(level, "request failed", cause: cause, route: call.route.name, fields)
        }
        fields.append("cause", .string(cause))
        logger.log(level, status.code >= 500 ? "request failed" : "request refused", fields)
    }

    /// What a refused client sent and what was expected.
    private static func clientRefusal(_ error: any Error) -> ClientRefusal? {
        switch error {
        case let error as ServiceError: error.clientRefusal
        case RequestProblem.refused(let refusal, _): refusal
        default: nil
        }
    }

    /// The actor of an admin key without the scope for the call.
    private static func refusedAdmin(_ error: any Error) -> String? {
        if case RequestProblem.insufficientScope(_, let actor, _) = error { actor } else { nil }
    }

    private static func severity(_ error: any Error) -> (LogLevel, cause: String) {
        switch error {
        case let error as ServiceError: severity(error)
        case let problem as RequestProblem:
            switch problem {
            case .refused(_, let problem): (.info, severity(problem).cause)
            case .unknownAdminKey: (.notice, "unknown_admin_key")
            case .insufficientScope: (.notice, "insufficient_scope")
            case .unauthenticated: (.info, "unauthenticated")
            case .malformedCredentials: (.info, "malformed_credentials")
            case .invalid(let member, _): (.debug, "invalid \(member)")
            case .unreadable(let detail): (.debug, detail)
            case .unsupportedMediaType, .unsupportedContentCoding, .unsupportedGrantType:
                (.debug, "unsupported")
            case .subjectRefused(let reason): (.info, reason.rawValue)
            case .authorization(let code, let detail): (.debug, "\(code.rawValue) \(detail)")
            case .crossSite: (.notice, "cross_site")
            case .needsTLS: (.info, "needs_tls")
            case .unknownHost: (.notice, "unknown_host")
            case .unproven(let problem, _): (.info, "proof \(problem.rawValue)")
            case .preconditionFailed: (.debug, "precondition_failed")
            case .unknownCursor: (.debug, "unknown_cursor")
            }
        default: (.error, "\(error)")
        }
    }

    private static func severity(_ error: ServiceError) -> (LogLevel, cause: String) {
        switch error {
        case .store(.unavailable(let text)): (.error, "store unavailable: \(text)")
        case .store(.corrupted(let text)): (.error, "store corrupted: \(text)")
        case .overloaded: (.warning, "overloaded")
        // Phones that slept send such requests in ordinary operation.
        case .staleRequest: (.debug, "stale_request")
        // Rate-limited calls are logged at debug level, because a flood of calls must not flood the log; a metric counts them.
        case .tooManyRequests: (.debug, "too_many_requests")
        case .passwordQueueFull: (.debug, "password_queue_full")
        case .refused(.ended(.refreshTokenReused)): (.notice, "refresh_token_reused")
        case .refused(let reason), .loginRefused(let reason): (.info, reason.rawValue)
        case .insufficientUserAuthentication: (.debug, "insufficient_user_authentication")
        case .invalidCredentials, .wrongPassword: (.info, "invalid_credentials")
        case .invalidToken(let reason): (.info, reason?.rawValue ?? "invalid_token")
        case .scopeMissing(let scope): (.info, "no scope \(scope)")
        case .identityRefused(let reason): (.info, "id_token \(reason.rawValue)")
        case .passkeyRefused(let reason): (.info, "passkey \(reason)")
        // The level is info, because the failed fetch has already logged its cause.
        case .identityProviderUnavailable: (.info, "identity_provider_unavailable")
        case .invalidGrant: (.info, "invalid_grant")
        case .login(.pending): (.debug, "login authorization_pending")
        case .login(let refusal): (.info, "login \(refusal.word)")
        case .loginOver(let cause): (.info, "login \(cause.rawValue)")
        case .requestSpent: (.info, "request_spent")
        case .emailNotSupported: (.debug, "email_not_supported")
        case .invalidCode: (.info, "invalid_code")
        case .verificationOver: (.info, "verification_over")
        case .signUpClosed: (.info, "sign_up_closed")
        case .proofMissing: (.info, "proof missing")
        case .unproven(let problem): (.info, "proof \(problem.rawValue)")
        case .invalidClient: (.info, "invalid_client")
        case .clientRefused(let refusal):
            (.info, refusal.code == .invalidGrant ? "invalid_grant" : "invalid_client")
        case .loginMethodRefused(let method): (.info, "login_method_not_allowed \(method.rawValue)")
        case .originNotAllowed: (.info, "origin_not_allowed")
        case .unauthorizedClient, .grantMissing, .grantClosed: (.info, "unauthorized_client")
        case .invalidScope: (.info, "invalid_scope")
        case .invalidTarget: (.info, "invalid_target")
        case .invalid(let member, _): (.debug, "invalid \(member)")
        case .secondFactor(.required): (.debug, "second_factor_required")
        case .secondFactor(.wrongCode): (.info, "wrong_second_factor")
        case .secondFactor(.blocked): (.info, "second_factor_blocked")
        case .secondFactor(.noWay): (.info, "second_factor_required")
        case .notFound(let thing): (.debug, "no \(thing)")
        case .conflict(let code, _): (.debug, code)
        }
    }
}
