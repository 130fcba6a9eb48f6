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
        try await inStore { () async throws(StoreError) in
            var receivers: [LogoutReceiver] = []
            for client in try await store.clients() {
                guard let uri = client.page.backchannelLogoutURI else { continue }
                let progress = try await store.delivery(DeliveryProgress.name(ofLogoutsTo: client.id))
                // Before the first look nothing waits: earlier ends are not sent.
                var ends: [RecordedEvent] = []
                if let progress {
                    ends = try await store.sessionEnds(
                        ofClient: client.id, after: progress.cursor, limit: LogoutReceiver.waitingMax
                    ).filter { $0.event.at >= progress.since }
                }
                receivers.append(
                    LogoutReceiver(
                        clientID: client.id, uri: uri, waiting: ends.count, waitingSince: ends.first?.event.at,
                        failingSince: progress?.failingSince))
            }
            return receivers
        }
    }
}
