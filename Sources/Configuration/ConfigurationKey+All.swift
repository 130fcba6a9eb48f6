internal import Endpoints
internal import HTTPClient
internal import JSON
internal import Sessions
internal import Sockets

// The table of keys, section by section. The ranges exclude absurd values: a time-out of zero, a limit that no request
// could meet, a lifetime of centuries.
extension ConfigurationKey {
    static let server = [
        listener("server.public_listen", \.server.publicListen, mayBeUnix: true),
        listener("server.admin_listen", \.server.adminListen),
        list(
            "server.admin_hosts", "a list of host names or addresses without port", \.server.adminHosts,
            parse: { isHost($0) ? $0 : nil }, print: { $0 }),
        text(
            "server.unix_socket_mode", "a mode like \"0660\"", \.server.unixSocketMode, parse: { mode($0) },
            print: { "0" + String($0, radix: 8) }),
        flag("server.reuse_port", \.server.reusesPort),
        list(
            "server.trusted_proxies", "a list of addresses, ranges like 10.0.0.0/8, or unix", \.server.trustedProxies,
            parse: { AddressRange($0) }, print: { "\($0)" }),
        list(
            "server.private_receivers", "a list of addresses or ranges like 10.0.0.0/8", \.server.privateReceivers,
            parse: { $0 == "unix" ? nil : AddressRange($0) }, print: { "\($0)" }),
        word("server.forwarded_field", \.server.forwardedField),
        word("server.proxy_protocol", \.server.proxyProtocol),
        optionalText(
            "server.issuer",
            "an http or https URL without query and final slash, whose path has letters, digits, - . _ ~ and single slashes",
            \.server.issuer
        ) {
            isBaseURL($0)
        },
        word("server.issuer_path", \.server.issuerPath),
        optionalText("server.audience", "1 to 256 visible ASCII characters", \.server.audience) { isVisible($0) },
        optionalText("server.scopes_supported", "scopes, parted by single spaces", \.server.scopesSupported) {
            !$0.isEmpty && Scope($0) != nil
        },
        optionalText("server.tls_certificate", "a path", \.server.tlsCertificate) { isPath($0) },
        optionalText("server.tls_key", "a path", \.server.tlsKey) { isPath($0) },
        optionalText("server.admin_tls_certificate", "a path", \.server.adminTLSCertificate) { isPath($0) },
        optionalText("server.admin_tls_key", "a path", \.server.adminTLSKey) { isPath($0) },
        optionalText("server.admin_client_ca", "a path", \.server.adminClientCA) { isPath($0) },
    ]

    static let database = [
        text(
            "database.url", "sqlite:PATH or postgres://USER@HOST/NAME", \.database,
            parse: { databaseLocation(url: $0).map { ServerConfiguration.Database(location: $0) } }, print: \.url)
    ]

    static let keys = [
        optionalText("keys.root_key_file", "a path", \.keys.rootKeyFile) { isPath($0) },
        word("keys.algorithm", \.keys.algorithm),
        // A key is published a day before it signs, so a rotation takes longer than that.
        count("keys.rotation_days", 2...3650, "days", \.keys.rotationDays),
    ]

    static let sessions = [
        seconds("sessions.absolute_max_lifetime", 60...315_360_000, \.sessions.absoluteMaximum)
    ]

    static let dpop = [
        word("dpop.nonce", \.dpop.nonce),
        seconds("dpop.proof_age_seconds", 1...3600, \.dpop.proofAge),
        seconds("dpop.proof_lead_seconds", 0...600, \.dpop.proofLead),
        count("dpop.proof_memory", 1000...100_000_000, "proofs", \.dpop.proofMemory),
    ]

    static let passkeys = [
        optionalText("passkeys.rp_id", "a domain in small letters", \.passkeys.rpID) {
            PasskeyPolicy.isOrigin("https://\($0)") && !$0.contains(":")
        },
        list(
            "passkeys.origins",
            "a list of https origins, android:apk-key-hash: origins and Apple app ids", \.passkeys.origins,
            parse: { PasskeyPolicy.isOrigin($0) ? $0 : nil }, print: { $0 }),
    ]

    static let accounts = [
        ConfigurationKey(
            path: "accounts.sign_up", expectation: "\"off\", \"open\" or a list of domains",
            set: { configuration, value in
                guard let rule = AccountRules.SignUp(value) else { return false }
                configuration.accounts.signUp = rule
                return true
            },
            get: { $0.accounts.signUp.value }),
        word("accounts.usernames", \.accounts.usernames),
        number(
            "accounts.deletion_days", 0...365, "days", \.accounts.deletionDelay,
            wrap: { .seconds($0 * 86_400) }, unwrap: { Int($0.components.seconds / 86_400) }),
        list(
            "accounts.editable", "a list of " + ProfileMember.allCases.map(\.rawValue).joined(separator: ", "),
            \.editable, parse: { ProfileMember(rawValue: $0) }, print: \.rawValue),
    ]

    static let limits = [
        count("limits.request_line_bytes", 256...65536, "bytes", \.limits.requestLineBytes),
        count("limits.field_count", 8...1000, "lines", \.limits.fieldCount),
        count("limits.field_bytes", 1024...1_048_576, "bytes", \.limits.fieldBytes),
        count("limits.body_bytes", 4096...16_777_216, "bytes", \.limits.bodyBytes),
        seconds("limits.header_timeout_seconds", 1...3600, \.limits.headerTimeout),
        seconds("limits.body_timeout_seconds", 1...3600, \.limits.bodyTimeout),
        count(
            "limits.body_minimum_bytes_per_second", 0...1_000_000_000, "bytes per second", \.limits.bodyMinimumRate),
        seconds("limits.idle_timeout_seconds", 1...86400, \.limits.idleTimeout),
        seconds("limits.write_timeout_seconds", 1...3600, \.limits.writeTimeout),
        count(
            "limits.write_minimum_bytes_per_second", 0...1_000_000_000, "bytes per second", \.limits.writeMinimumRate),
        // A refresh that the store could not decide within its 10 s is answered by the endpoint, not by the engine.
        seconds("limits.request_timeout_seconds", 11...3600, \.limits.requestTimeout),
        seconds("limits.stop_grace_seconds", 0...60, \.limits.stopGrace),
        seconds("limits.stop_timeout_seconds", 1...3600, \.limits.stopTimeout),
        count("limits.connections", 16...1_000_000, "connections", \.limits.connections),
        count(
            "limits.connections_per_address", 0...1_000_000, "connections", \.limits.connectionsPerAddress),
        count("limits.ipv6_prefix_bits", 16...128, "bits", \.limits.ipv6PrefixBits),
        count(
            "limits.requests_per_connection", 0...1_000_000_000, "requests", \.limits.requestsPerConnection),
        count("limits.pending_requests", 1...1_000_000, "requests", \.limits.pendingRequests),
        count("limits.subscribers", 1...1_000_000, "subscribers", \.limits.subscribers),
        count("limits.admin_subscribers", 1...1_000_000, "subscribers", \.limits.adminSubscribers),
        count("limits.subscribers_per_session", 1...1_000_000, "subscribers", \.limits.waiting.perSession),
        count("limits.subscribers_per_client", 1...1_000_000, "subscribers", \.limits.waiting.perClient),
        count("limits.subscribers_per_address", 1...1_000_000, "subscribers", \.limits.waiting.perAddress),
        word("limits.remote_login_same", \.limits.remoteLoginSame),
        count("limits.login_watchers", 1...1_000_000, "pages", \.limits.waiting.pages),
        count("limits.buffered_bytes", 1_048_576...1_099_511_627_776, "bytes", \.limits.bufferedBytes),
        count("limits.tls_handshake_width", 0...256, "handshakes", \.limits.tlsHandshakeWidth),
        count("limits.tls_handshakes_waiting", 1...1_000_000, "handshakes", \.limits.tlsHandshakesWaiting),
        count("limits.event_loops", 0...256, "event loops", \.limits.eventLoops),
        count("limits.password_hash_width", 1...64, "passwords", \.limits.passwordHashWidth),
        count("limits.password_hash_pending", 1...10_000, "passwords", \.limits.passwordHashPending),
    ]

    static let rateLimits = [
        count("limits.password_length_min", 8...64, "characters", \.limits.passwords.lengthMin),
        list(
            "limits.password_own_words", "a list of words of three characters or more", \.limits.passwords.ownWords,
            parse: { $0.count > 2 ? $0 : nil }, print: { $0 }),
        seconds("limits.reset_token_lifetime_seconds", 60...86_400, \.limits.resetTokenLifetime),
        count("limits.wrong_passwords_before_delay", 0...100, "passwords", \.limits.failedAttempts.triesBeforeDelay),
        count("limits.wrong_passwords_before_lock", 3...100, "passwords", \.limits.failedAttempts.triesBeforeLock),
        seconds("limits.lock_seconds", 1...86_400, \.limits.failedAttempts.lockDuration),
        count("limits.mails_per_mailbox_per_day", 1...1000, "mails", \.accounts.verifications.mailsPerDay),
        count(
            "limits.wrong_codes_per_mailbox_per_day", 5...1000, "codes", \.accounts.verifications.wrongCodesPerDay),
        count("limits.verifications_open", 100...10_000_000, "verifications", \.accounts.verifications.countMax),
        count("limits.passkeys_per_user", 1...1000, "passkeys", \.limits.passkeysPerUser),
        count("limits.factors_per_user", 1...20, "authenticators", \.limits.secondFactors.countMax),
        count("limits.wrong_factors_before_wait", 3...20, "codes", \.limits.secondFactors.wrongBeforeWait),
        count("limits.wrong_factors_before_block", 10...100, "codes", \.limits.secondFactors.wrongBeforeBlock),
        times(.wrongPasswordsPerAddress, \.limits.rateLimits.wrongPasswordsPerAddress),
        times(.loginsPerDevice, \.limits.rateLimits.loginsPerDevice),
        times(.loginsPerUser, \.limits.rateLimits.loginsPerUser),
        times(.anonymousLoginsPerAddress, \.limits.rateLimits.anonymousLoginsPerAddress),
        times(.loginRequestsPerAddress, \.limits.rateLimits.loginRequestsPerAddress),
        times(.wrongUserCodesPerAddress, \.limits.rateLimits.wrongUserCodesPerAddress),
        times(.wrongNumbersPerUser, \.limits.rateLimits.wrongNumbersPerUser),
        times(.verificationsPerAddress, \.limits.rateLimits.verificationsPerAddress),
        times(.signUpsPerAddress, \.limits.rateLimits.signUpsPerAddress),
        times(.failedResetsPerAddress, \.limits.rateLimits.failedResetsPerAddress),
        times(.failedResetsPerUser, \.limits.rateLimits.failedResetsPerUser),
        times(.resetTokensPerUser, \.limits.rateLimits.resetTokensPerUser),
        times(.refusedTokensPerAddress, \.limits.rateLimits.refusedTokensPerAddress),
        times(.refusedTokensPerClient, \.limits.rateLimits.refusedTokensPerClient),
        times(.clientTokensPerClient, \.limits.rateLimits.clientTokensPerClient),
        times(.refreshesPerSession, \.limits.rateLimits.refreshesPerSession),
        times(.refusedTokensPerSession, \.limits.rateLimits.refusedTokensPerSession),
        times(.refusedTokensPerUser, \.limits.rateLimits.refusedTokensPerUser),
    ]

    private static func times(
        _ limit: RateLimits.Name, _ member: any WritableKeyPath<ServerConfiguration, Int> & Sendable
    ) -> ConfigurationKey {
        count(limit.rawValue, 0...1_000_000, "times", member)
    }

    static let cleanUp = [
        count("cleanup.rows_per_second", 10...1_000_000, "rows per second", \.cleanUp.rowsPerSecond),
        count("cleanup.step_rows", 1...10_000, "rows", \.cleanUp.stepSize),
        count("audit.retention_days", 0...36_500, "days", \.cleanUp.auditRetentionDays),
    ]

    static let geo = [optionalText("geo.database", "a path", \.geo.database) { isPath($0) }]

    static let languages = optionalText("languages", "the path of a folder", \.languages) { isPath($0) }

    static let log = [
        word("log.level", \.log.level),
        word("log.format", \.log.format),
    ]

    private static func listener(
        _ path: String, _ member: any WritableKeyPath<ServerConfiguration, SocketAddress> & Sendable,
        mayBeUnix: Bool = false
    ) -> ConfigurationKey {
        let expectation = "an address like 127.0.0.1:8080, [::1]:8080 or *:8080 (port 0 takes a free one)"
        return text(
            path, expectation + (mayBeUnix ? ", or unix:PATH" : ""), member,
            parse: { text in
                guard let address = try? SocketAddress(text), mayBeUnix || address.port != nil else { return nil }
                return address
            },
            print: { "\($0)" })
    }

    /// Reads octal digits with a leading 0, as chmod(1) does; the owner may always connect.
    private static func mode(_ text: String) -> UInt32? {
        guard text.utf8.count == 4, text.hasPrefix("0"), let mode = UInt32(text, radix: 8), mode & 0o600 == 0o600,
            mode & 0o111 == 0
        else { return nil }
        return mode
    }

    /// Reads `sqlite:PATH`, or a URL of PostgreSQL, which libpq checks.
    static func databaseLocation(url: String) -> ServerConfiguration.Database.Location? {
        if ["postgres://", "postgresql://"].contains(where: url.hasPrefix) {
            return url.utf8.contains(0) ? nil : .postgres(url: url)
        }
        return databasePath(url: url).map { .sqlite(path: $0) }
    }

    /// The path of `sqlite:PATH`; nil for any other text, and for databases in memory, which lose their data.
    static func databasePath(url: String) -> String? {
        guard url.hasPrefix("sqlite:") else { return nil }
        var path = url.dropFirst("sqlite:".count)
        if path.hasPrefix("//") { path = path.dropFirst(2) }
        return isPath(String(path)) && path != ":memory:" && !path.hasSuffix("/") ? String(path) : nil
    }

    static func isPath(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count < 4096 && !text.utf8.contains(0)
    }

    private static func isVisible(_ text: String) -> Bool {
        (1...256).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// The host of a URL: a name, an IPv4 address, or an IPv6 address in brackets.
    static func isHost(_ text: String) -> Bool {
        let isAddress = text.hasPrefix("[") && text.hasSuffix("]")
        return (1...253).contains(text.utf8.count)
            && (isAddress ? text.dropFirst().dropLast() : text[...]).utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
                    true
                case UInt8(ascii: ":"): isAddress
                default: false
                }
            }
    }

    /// RFC 8414 section 2: a URL without query and fragment.
    private static func isBaseURL(_ text: String) -> Bool {
        guard isVisible(text), let scheme = ["https://", "http://"].first(where: text.hasPrefix) else { return false }
        let rest = text.dropFirst(scheme.count)
        let path = rest.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        return !rest.isEmpty && !rest.hasPrefix("/") && !rest.contains { "?#@\"\\".contains($0) }
            && path.allSatisfy(isPlainSegment)
    }

    /// A segment of a path that no proxy and no browser writes in another way (RFC 3986 section 6.2.2).
    private static func isPlainSegment(_ text: Substring) -> Bool {
        !["", ".", ".."].contains(text)
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || "-._~".utf8.contains($0)
            }
    }
}

extension AccountRules.SignUp {
    /// The rule of a file, or of a variable of the environment, where commas separate domains; nil for no rule.
    fileprivate init?(_ value: JSONValue) {
        switch value {
        case .string("off"), .null: self = .off
        case .string("open"): self = .open
        case .string(let text): self.init(domains: text.split(separator: ",").map(String.init))
        default:
            guard let domains = value.strings else { return nil }
            self.init(domains: domains)
        }
    }

    private init?(domains: [String]) {
        guard !domains.isEmpty, domains.allSatisfy({ Mailbox.deliverable("a@\($0)")?.key == "a@\($0)" }) else {
            return nil
        }
        self = .domains(domains)
    }

    /// The rule as a file has it.
    fileprivate var value: JSONValue {
        switch self {
        case .off: .string("off")
        case .open: .string("open")
        case .domains(let domains): .list(domains)
        }
    }
}
