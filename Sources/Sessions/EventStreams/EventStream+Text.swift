internal import Cryptography
internal import FoundationEssentials
internal import JSON

/// The stream as a column of its client, in JSON.
extension EventStream {
    private struct Stored: Codable {
        var id: String
        var endpoint: String?
        var authorization: String?
        var requested: [String]
        var description: String?
        var status: String
        var statusReason: String?
        var since: Int64
        var state: String?
        var verifyingSince: Int64?
        var verificationRequestedAt: Int64?
    }

    /// Reads a column; nil if it was not written by `text`.
    public init?(text: String) {
        guard let stored = try? JSONDecoder().decode(Stored.self, from: Data(text.utf8)),
            let status = Status(rawValue: stored.status)
        else { return nil }
        var delivery = Delivery.poll
        if let endpoint = stored.endpoint {
            var sealed: [UInt8]?
            if let text = stored.authorization {
                guard let bytes = Base64URL.decode(text) else { return nil }
                sealed = bytes
            }
            delivery = .push(endpoint: endpoint, sealedAuthorization: sealed)
        }
        self.init(
            id: stored.id, delivery: delivery,
            requested: stored.requested.compactMap(SecurityEvent.Kind.init(rawValue:)),
            description: stored.description, since: Instant(secondsSinceEpoch: stored.since))
        (self.status, statusReason) = (status, stored.statusReason)
        verification = stored.verifyingSince.map {
            Verification(state: stored.state, requestedAt: Instant(secondsSinceEpoch: $0))
        }
        verificationRequestedAt = stored.verificationRequestedAt.map(Instant.init(secondsSinceEpoch:))
    }

    /// The column.
    public var text: String {
        var stored = Stored(
            id: id, requested: requested.map(\.rawValue), description: description, status: status.rawValue,
            statusReason: statusReason, since: since.secondsSinceEpoch, state: verification?.state,
            verifyingSince: verification?.requestedAt.secondsSinceEpoch,
            verificationRequestedAt: verificationRequestedAt?.secondsSinceEpoch)
        if case .push(let endpoint, let authorization) = delivery {
            (stored.endpoint, stored.authorization) = (endpoint, authorization.map(Base64URL.encode))
        }
        // Members that are texts and integers can always be encoded.
        return String(decoding: JSONText.compact(stored) ?? [], as: UTF8.self)
    }
}
