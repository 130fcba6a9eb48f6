internal import HTTP
internal import HTTPClient
public import Sessions
public import Telemetry

/// The logout tokens for the receiver of one client (OpenID Connect Back-Channel Logout section 2.5): one for each recorded end
/// of a session of which the client has an ID token.
///
/// The ends are read from the audit trail, to which each is written in the transaction that ends the session.
struct LogoutTokenSource: DeliverySource {
    /// How long before the first look at a client its ends are sent. A session may end in the moment after the client was made.
    private static let lead = Duration.seconds(60)

    let client: Client
    let context: ServiceContext

    /// Nil for a client without a receiver.
    init?(_ client: Client, _ context: ServiceContext) {
        if client.page.backchannelLogoutURI == nil { return nil }
        (self.client, self.context) = (client, context)
    }

    var name: String { DeliveryProgress.name(ofLogoutsTo: client.id) }

    var receiver: OutboundURL? {
        client.page.backchannelLogoutURI.flatMap { OutboundURL($0, plainLoopback: true) }
    }

    func beginning(at now: Instant) -> Instant { now + (.zero - Self.lead) }

    func events(after cursor: Int64) async throws(StoreError) -> [RecordedEvent] {
        try await context.store.sessionEnds(ofClient: client.id, after: cursor, limit: 20)
    }

    /// Whether the client can have an ID token of the session: by a login on the page, or with a phone for a device or a backend,
    /// or by the scope of the session, which brings one with each refresh.
    func wants(_ end: RecordedEvent, since: Instant) async throws(StoreError) -> Bool {
        guard end.event.at >= since, let id = end.event.sessionID, end.event.userID != nil else { return false }
        if try await !context.store.logins(ofSession: id).isEmpty { return true }
        if try await context.store.phoneLogin(.id(id))?.kind.bringsIDToken == true { return true }
        return try await context.store.session(id)?.session.scope.contains("openid") == true
    }

    func request(_ end: RecordedEvent, to receiver: OutboundURL) async throws(DeliveryProblem) -> OutboundRequest {
        guard let sessionID = end.event.sessionID, let userID = end.event.userID,
            let token = await context.logoutToken(for: client, ending: sessionID, of: userID)
        else { throw DeliveryProblem(cause: "no signing key is active") }
        // The characters of a token need no escape in a form.
        return OutboundRequest(
            .post, receiver, fields: ["Content-Type": "application/x-www-form-urlencoded"],
            body: Array("logout_token=\(token)".utf8))
    }
}

extension DeliveryKind {
    /// An answer of 400 says that the receiver will never accept the token (section 2.8).
    fileprivate static let logoutToken = DeliveryKind(
        receiver: "client", message: "event", waits: "logout tokens wait",
        isTaken: "the receiver of logout tokens answers again",
        isTriedAgain: "the receiver did not accept a logout token, which is tried again",
        isRefused: "the receiver refuses a logout token, which is given up",
        isLost: "the audit trail deletes ends whose logout tokens were never accepted")
}

extension ClientDeliveries {
    /// The logout tokens for all clients that have a receiver. `node` is the name of this node among all nodes.
    public static func logoutTokens(
        context: ServiceContext, logger: Logger, metrics: DeliveryMetrics, node: String
    ) -> ClientDeliveries {
        ClientDeliveries(kind: .logoutToken, context: context, logger: logger, metrics: metrics, node: node) {
            LogoutTokenSource($0, context)
        }
    }
}
