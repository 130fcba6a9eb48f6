/// How far the logout tokens for a client's receiver have come.
public struct LogoutReceiver: Sendable {
    /// The client.
    public let clientID: String
    /// The receiver.
    public let uri: String
    /// The ends of the client's sessions that were not looked at, `waitingMax` at most.
    public let waiting: Int
    /// The time of the first of them.
    public let waitingSince: Instant?
    /// The time of the first failed delivery since the last successful one; nil if there is none.
    public let failingSince: Instant?

    /// How many ends are counted at most.
    public static let waitingMax = 1000
}

extension Administration {
    /// The receivers of logout tokens, by client.
    public func logoutReceivers() async throws(ServiceError) -> [LogoutReceiver] {
        try await inStore(
            await store.read(.page) { (reader) throws(TransactionError) in
                let (catalogue, deliveries) = (reader.catalogue(), reader.deliveries())
                return try reader.logoutReceivers(of: try catalogue.value().clients.inOrder, try deliveries.value())
                    .value()
            })
    }
}

extension StoreReader {
    /// The receivers of logout tokens of clients, by the progress of all deliveries.
    func logoutReceivers(of clients: [Client], _ all: [String: DeliveryProgress]) -> Answer<[LogoutReceiver]> {
        let asked = clients.compactMap { client in
            client.page.backchannelLogoutURI.map { uri in
                let progress = all[DeliveryProgress.name(ofLogoutsTo: client.id)]
                // Before the first look nothing waits: earlier ends are not sent.
                let ends = progress.map {
                    sessionEnds(ofClient: client.id, after: $0.cursor, limit: LogoutReceiver.waitingMax)
                }
                return (client.id, uri, progress, ends)
            }
        }
        return Answer { () throws(TransactionError) in
            try asked.map { (clientID, uri, progress, waiting) throws(TransactionError) in
                let ends = try waiting?.value().filter { $0.event.at >= progress?.since ?? $0.event.at } ?? []
                return LogoutReceiver(
                    clientID: clientID, uri: uri, waiting: ends.count, waitingSince: ends.first?.event.at,
                    failingSince: progress?.failingSince)
            }
        }
    }
}
