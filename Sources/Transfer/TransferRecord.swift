internal import Cryptography
public import Sessions

/// The record of one line.
enum TransferRecord {
    /// The words of the member `type`.
    enum Kind: String, CaseIterable {
        case header
        case signingKey = "signing_key"
        case adminKey = "admin_key"
        case logo, settings, client, user, identity, passkey, session, login
        case userDetails = "user_details"
        case totp
        case recoveryCodes = "recovery_codes"
        case phoneLogin = "phone_login"
        case providerCheck = "provider_check"
        case pin
        case foreignToken = "foreign_token"
        case usedToken = "used_token"
        case revocation, end

        /// The kinds that are counted, in the order of an export.
        static let counted: [Kind] = [
            .signingKey, .adminKey, .logo, .settings, .client, .user, .userDetails, .identity, .passkey, .totp,
            .recoveryCodes, .session, .login,
            .phoneLogin, .providerCheck, .pin, .foreignToken, .usedToken, .revocation,
        ]

        /// True for settings and clients.
        var isOfCatalogue: Bool { self == .settings || self == .client }

        /// The plural for the operator.
        var plural: String {
            switch self {
            case .header: "headers"
            case .signingKey: "signing keys"
            case .adminKey: "admin keys"
            case .logo: "logos"
            case .settings: "settings"
            case .client: "clients"
            case .user: "users"
            case .identity: "identities"
            case .passkey: "passkeys"
            case .userDetails: "details of users"
            case .totp: "authenticators"
            case .recoveryCodes: "sets of recovery codes"
            case .session: "sessions"
            case .login: "logins"
            case .phoneLogin: "logins with a phone"
            case .providerCheck: "provider checks"
            case .pin: "PINs"
            case .foreignToken: "foreign tokens"
            case .usedToken: "used tokens"
            case .revocation: "revocations"
            case .end: "ends"
            }
        }
    }

    case header
    case signingKey(StoredSigningKey)
    case adminKey(AdminKey)
    case logo(Logo)
    case settings(Settings)
    case client(Client)
    case user(User, UserSources?)
    case identity(Identity)
    case passkey(Passkey)
    case userDetails(UserDetails)
    case totp(TOTPFactor)
    case recoveryCodes(RecoveryCodeSet)
    case session(Session)
    case login(PageLogin)
    case phoneLogin(PhoneLogin)
    case providerCheck(ProviderCheckLine)
    case pin(PIN)
    case foreignToken(ForeignTokenLine)
    case usedToken(OneTimeToken)
    case revocation(Revocation)
    case end([Kind: Int64])

    var kind: Kind {
        switch self {
        case .header: .header
        case .signingKey: .signingKey
        case .adminKey: .adminKey
        case .logo: .logo
        case .settings: .settings
        case .client: .client
        case .user: .user
        case .identity: .identity
        case .passkey: .passkey
        case .userDetails: .userDetails
        case .totp: .totp
        case .recoveryCodes: .recoveryCodes
        case .session: .session
        case .login: .login
        case .phoneLogin: .phoneLogin
        case .providerCheck: .providerCheck
        case .pin: .pin
        case .foreignToken: .foreignToken
        case .usedToken: .usedToken
        case .revocation: .revocation
        case .end: .end
        }
    }

    /// The version of the format that this program writes, and the newest version that it reads.
    static let version: Int64 = 1
    private static let format = "sojourn-export"

    /// Reads a line. `now` replaces a missing `created_at` of a user.
    init(_ line: TransferLine, now: Instant) throws(LineProblem) {
        var line = line
        guard let kind: Kind = try line.optionalWord("type") else { throw LineProblem("'type' is missing") }
        switch kind {
        case .header:
            try Self.checkHeader(&line)
            self = .header
        case .signingKey: self = .signingKey(try StoredSigningKey(&line))
        case .adminKey: self = .adminKey(try AdminKey(&line))
        case .logo: self = .logo(try Logo(&line))
        case .settings: self = .settings(try Settings(&line))
        case .client: self = .client(try Client(&line))
        case .user:
            let user = try User(&line, now: now)
            self = .user(user, try UserSources(&line, of: user))
        case .identity: self = .identity(try Identity(&line))
        case .passkey: self = .passkey(try Passkey(&line))
        case .userDetails: self = .userDetails(try UserDetails(&line))
        case .totp: self = .totp(try TOTPFactor(&line))
        case .recoveryCodes: self = .recoveryCodes(try RecoveryCodeSet(&line))
        case .session: self = .session(try Session(&line))
        case .login: self = .login(try PageLogin(&line))
        case .phoneLogin: self = .phoneLogin(try PhoneLogin(&line))
        case .providerCheck: self = .providerCheck(try ProviderCheckLine(&line))
        case .pin: self = .pin(try PIN(&line))
        case .foreignToken: self = .foreignToken(try ForeignTokenLine(&line))
        case .usedToken: self = .usedToken(try OneTimeToken(&line, now: now))
        case .revocation: self = .revocation(try Revocation(&line))
        case .end:
            var counts: [Kind: Int64] = [:]
            for kind in Kind.counted { counts[kind] = try line.optionalInteger(kind.rawValue) ?? 0 }
            self = .end(counts)
        }
        try line.finish()
    }

    private static func checkHeader(_ line: inout TransferLine) throws(LineProblem) {
        let (format, version) = (try line.text("format"), try line.integer("version"))
        _ = (try line.optionalInteger("exported_at"), try line.optionalText("program"))
        guard format == Self.format else {
            throw LineProblem("'\(format)' is not a format of this program", isFatal: true)
        }
        guard (1...Self.version).contains(version) else {
            throw LineProblem(
                "the file has version \(version), this program reads up to \(Self.version)", isFatal: true)
        }
    }

    /// The first line of an export.
    static func header(program: String, at now: Instant) -> TransferMembers {
        var members = TransferMembers(.header)
        members.add("format", format)
        members.add("version", version)
        members.add("program", program)
        members.add("exported_at", now)
        return members
    }

    /// The last line of an export, with the number of records of each kind.
    static func end(_ counts: [Kind: Int64]) -> TransferMembers {
        var members = TransferMembers(.end)
        for kind in Kind.counted { members.add(kind.rawValue, counts[kind] ?? 0) }
        return members
    }
}

/// A foreign token. Its user may be given by username, because the table of the other system may have only that.
struct ForeignTokenLine {
    /// The token; its user is valid only if `username` is nil.
    var token: ForeignToken
    /// The username of its user.
    var username: String?

    private static let unknownUser = Identifier<User>(bytes: [UInt8](repeating: 0, count: 16))

    init(_ line: inout TransferLine) throws(LineProblem) {
        let text = try line.text("sha256")
        guard let digest = Hex.decode(text.lowercased()) ?? Base64URL.decode(text),
            digest.count == ForeignToken.digestCount
        else { throw LineProblem("'sha256' must be 64 hexadecimal digits, or 43 characters of base64url") }
        username = try line.optionalText("username")
        let userID: Identifier<User>? = try line.optionalIdentifier("user_id")
        guard let id = userID ?? (username == nil ? nil : Self.unknownUser) else {
            throw LineProblem("'username' or 'user_id' is missing")
        }
        if userID != nil { username = nil }
        var exchange: ForeignToken.Exchange?
        let sessionID: Identifier<Session>? = try line.optionalIdentifier("session_id")
        if let sessionID {
            exchange = ForeignToken.Exchange(sessionID: sessionID, at: try line.instant("exchanged_at"))
        }
        token = ForeignToken(
            digest: digest, userID: id, clientID: try line.optionalText("client_id") ?? Client.mobileID,
            device: try Device(&line), scope: try line.scope("scope"), startedAt: try line.instant("started_at"),
            expiresAt: try line.optionalInstant("expires_at"), epoch: try line.optionalInteger("epoch") ?? .max,
            exchange: exchange)
    }

    /// The line of a token in a store.
    static func members(_ token: ForeignToken) -> TransferMembers {
        var members = TransferMembers(.foreignToken)
        members.add("sha256", Hex.encode(token.digest))
        members.add("user_id", token.userID.description)
        members.add("client_id", token.clientID)
        token.device.add(to: &members)
        members.add("scope", token.scope?.description)
        members.add("started_at", token.startedAt)
        members.add("expires_at", token.expiresAt)
        members.add("epoch", token.epoch)
        members.add("session_id", token.exchange?.sessionID.description)
        members.add("exchanged_at", token.exchange?.at)
        return members
    }
}

/// The first lines of a file, which show before an import whether it is an export, and of which root key.
public struct TransferHead {
    /// The first signing key; nil if the export begins with another record.
    public let signingKey: StoredSigningKey?

    /// The head of an export; nil for lines of another system.
    public init?(_ firstLines: [ArraySlice<UInt8>]) {
        var records: [TransferRecord] = []
        for line in firstLines {
            let record = Result { () throws(LineProblem) in
                try TransferRecord(TransferLine(text: line), now: Instant(secondsSinceEpoch: 0))
            }
            if case .success(let record) = record { records.append(record) }
        }
        guard case .header? = records.first else { return nil }
        signingKey = if case .signingKey(let key)? = records.last { key } else { nil }
    }

    /// The sentence about a signing key that the root key of this server does not open.
    public static func wrongRootKey(_ key: StoredSigningKey) -> String { Importer.wrongRootKey(key).detail }
}
