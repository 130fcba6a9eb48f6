public import Pages
public import Sessions

/// What the views have of the server, beside an overview.
public struct ConsoleSetting: Sendable {
    /// The moment of the page.
    public let now: Instant
    /// The lifetimes and the decision on refreshes.
    public let policy: RefreshPolicy
    /// The URL of the server for apps.
    public let issuer: String
    /// City and country of a network address; nil if they are not known.
    public let placeName: @Sendable (String) -> String?
    /// The names of the configured identity providers to which the login page leads.
    public let providers: [String]
    /// The last failure of the delivery of that name at this node.
    public let failure: @Sendable (String) -> DeliveryState.Failure?
    /// The form of a new client, as the defaults are.
    public let newClient: ClientForm

    /// What a server has.
    public init(
        now: Instant, policy: RefreshPolicy, issuer: String,
        placeName: @escaping @Sendable (String) -> String?,
        providers: [String], failure: @escaping @Sendable (String) -> DeliveryState.Failure?,
        newClient: ClientForm
    ) {
        (self.now, self.policy, self.issuer, self.placeName) = (now, policy, issuer, placeName)
        (self.providers, self.failure, self.newClient) = (providers, failure, newClient)
    }
}

/// The admin before a page.
public struct ConsoleAdmin: Sendable {
    /// The admin key that has let the browser in.
    public let key: AdminKey
    /// The names of all admin keys, by id.
    public let keyNames: [String: String]
    /// The URL by which the browser reaches the admin listener, for commands.
    public let baseURL: String
    /// The hidden fields of forms.
    public let form: FormState
    /// The form that was sent, while nothing has come of it.
    public let sent: FormValues?
    /// What was done, as the URL of the page says.
    public let flash: ConsoleFlash?

    /// An admin in a browser.
    public init(
        key: AdminKey, keyNames: [String: String], baseURL: String, form: FormState, sent: FormValues?,
        flash: ConsoleFlash?
    ) {
        (self.key, self.keyNames, self.baseURL) = (key, keyNames, baseURL)
        (self.form, self.sent, self.flash) = (form, sent, flash)
    }

    /// Whether the key may do what needs `scope`.
    func may(_ scope: AdminKey.Scope) -> Bool { key.scope.includes(scope) }
}

extension ConsolePage.Header {
    /// The header for an admin key.
    public init(_ key: AdminKey) { self.init(keyName: key.name, scope: key.scope.rawValue) }
}
