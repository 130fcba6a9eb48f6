internal import FoundationEssentials
internal import JSON

/// A valid authorization request (RFC 6749 section 4.1.1, OpenID Connect Core section 3.1.2.1) of a known client.
public struct AuthorizationRequest: Codable, Hashable, Sendable {
    /// What a request demands of the page (OpenID Connect Core section 3.1.2.1).
    public enum Prompt: String, CaseIterable, Codable, Sendable {
        case none
        case login
        case consent
        case selectAccount = "select_account"
        /// The page for a new account comes first (Initiating User Registration via OpenID Connect 1.0).
        case create
    }

    /// 16 random bytes in hexadecimal digits, which name the request until it is answered.
    public var id: String
    /// The client.
    public var clientID: String
    /// The URI that gets the answer: one of the client's.
    public var redirectURI: String
    /// The scope; nil: all that the client can be granted.
    public var scope: String?
    /// The APIs of the tokens (RFC 8707).
    public var resources: [String] = []
    /// The client's own text, which the answer repeats.
    public var state: String?
    /// The text that the ID token repeats.
    public var nonce: String?
    /// The PKCE challenge of the method `S256` (RFC 7636): 43 characters of base64url; nil for a request with a nonce of a
    /// client with optional PKCE.
    public var codeChallenge: String?
    /// The thumbprint of the key to which the code is bound (RFC 9449 section 10).
    public var keyThumbprint: String?
    /// What the request demands of the page.
    public var prompts: [Prompt] = []
    /// The longest time since the authentication, in seconds.
    public var maxAge: Int64?
    /// How the user has to authenticate, the preferred way first; nil: in any way that the client offers.
    public var contexts: [AuthenticationContext]?
    /// The languages of the page, by preference.
    public var uiLocales: String?
    /// The username to begin with.
    public var loginHint: String?
    /// The id of the user of `id_token_hint`; the login has to be that user's.
    public var hintedUser: String?
    /// The form of the account pages that is taken after the login; only their own requests have it.
    public var pending: PendingForm?
    /// Whether the client pushed the request (RFC 9126). It is then accepted once.
    public var isPushed: Bool?
    /// How the user has authenticated. Only the request of a completed login has it.
    public var loginMethod: Client.LoginMethod?

    /// When the session counts as started, in Unix seconds; nil: when the user authenticated. Only a completed login by a provider
    /// has it, because the provider may have authenticated the user long before.
    public var sessionStart: Int64?

    /// The session to which the tokens of the code belong, in hexadecimal digits; nil: the code starts one. Only a completed
    /// request has it.
    public var joinedSession: String?

    /// A request with the required members.
    public init(id: String, clientID: String, redirectURI: String, codeChallenge: String?) {
        self.id = id
        self.clientID = clientID
        self.redirectURI = redirectURI
        self.codeChallenge = codeChallenge
    }

    enum CodingKeys: String, CodingKey {
        case id
        case clientID = "client_id"
        case redirectURI = "redirect_uri"
        case scope
        case resources = "resource"
        case state, nonce
        case codeChallenge = "code_challenge"
        case keyThumbprint = "dpop_jkt"
        case prompts = "prompt"
        case maxAge = "max_age"
        case contexts = "acr_values"
        case uiLocales = "ui_locales"
        case loginHint = "login_hint"
        case hintedUser = "sub"
        case pending
        case isPushed = "pushed"
        case loginMethod = "login_method"
        case sessionStart = "session_start"
        case joinedSession = "joined_session"
    }
}

/// A form of the account pages that came from its user's browser and needs a login first.
public struct PendingForm: Codable, Hashable, Sendable {
    /// The path to which it was sent.
    public var path: String
    /// Its fields.
    public var fields: [String: String]
    /// The user of the form. A login of another user discards it.
    public var userID: String

    /// A form.
    public init(path: String, fields: [String: String], userID: Identifier<User>) {
        (self.path, self.fields, self.userID) = (path, fields, userID.description)
    }
}

extension AuthorizationRequest {
    /// The request as JSON.
    public var json: [UInt8] { JSONText.compact(self) ?? [] }

    /// The request that `json` wrote; nil for anything else.
    public init?(json: [UInt8]) {
        guard let request = try? JSONDecoder().decode(Self.self, from: Data(json)) else { return nil }
        self = request
    }

    /// Whether the user has to authenticate, even if the browser has a session.
    public var demandsLogin: Bool { !Set(prompts).isDisjoint(with: [.login, .consent, .create]) || maxAge == 0 }
    /// Whether the page for a new account comes first.
    public var wantsAccount: Bool { prompts.contains(.create) }
    /// Whether the user has to say which account it shall be, even if the browser has a session.
    public var demandsChoice: Bool { prompts.contains(.selectAccount) }
    /// The request once the user has chosen the account of the browser's session.
    public var chosen: Self {
        var chosen = self
        chosen.prompts.removeAll { $0 == .selectAccount }
        return chosen
    }
    /// Whether the session of a browser answers the request whatever else has happened in it since the login.
    public var isAnsweredBySession: Bool { prompts.isEmpty && maxAge == nil && contexts == nil }
    /// Whether no page may be shown.
    public var isSilent: Bool { prompts.contains(.none) }

    /// The request as the server keeps it until the code is exchanged, without what only the page needed.
    var kept: Self {
        var kept = self
        (kept.prompts, kept.uiLocales, kept.loginHint, kept.hintedUser, kept.state) = ([], nil, nil, nil, nil)
        return kept
    }
}
