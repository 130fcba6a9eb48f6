internal import Calendar
internal import Endpoints
internal import FoundationEssentials
internal import Geolocation
internal import Sessions

/// An event as the webhook tells it, with what a mail to the user needs: whom to write to, and which device, where.
struct WebhookMessage: Encodable, Sendable {
    /// What the event is about.
    struct Content: Encodable, Sendable {
        let eventID: String
        let actor: String
        let user: Person?
        let sessionID: String?
        let clientID: String?
        let device: Appliance?
        /// Whether the user has no other session on that device, living or remembered; only of sessions that start.
        let newDevice: Bool?
        let reason: String?
        /// Where the user was reached before, to be warned there; only of addresses that changed.
        let previousEmail: String?
        let remoteAddress: String?
        let place: Location?
        let requestID: String?
        /// What the feed says of it; nil: nothing.
        let revokes: RevocationWords?

        enum CodingKeys: String, CodingKey {
            case eventID = "event_id"
            case actor, user
            case sessionID = "session_id"
            case clientID = "client_id"
            case device
            case newDevice = "new_device"
            case reason
            case previousEmail = "previous_email"
            case remoteAddress = "remote_address"
            case place
            case requestID = "request_id"
            case revokes
        }
    }

    /// Whom the event concerns; of a deleted user the id is left.
    struct Person: Encodable, Sendable {
        let userID: String
        let username: String?
        let email: String?
        /// Whether it was found to be the user's; of an address alone, and of today's.
        let emailVerified: Bool?
        let displayName: String?

        /// - Parameter later: the first change of the user's address after the event. Whoever made it, maybe a thief, is not who a
        ///   mail about the event has to reach.
        init(_ id: Identifier<User>, _ user: User?, _ later: EmailChange?) {
            userID = id.description
            username = user?.username
            email = later.map(\.old) ?? user?.profile.email
            emailVerified = later != nil || email == nil ? nil : user?.profile.isEmailVerified
            displayName = user?.profile.displayName
        }

        enum CodingKeys: String, CodingKey {
            case userID = "user_id"
            case username, email
            case emailVerified = "email_verified"
            case displayName = "display_name"
        }
    }

    /// On which device.
    struct Appliance: Encodable, Sendable {
        let deviceID: String
        let name: String?
        let platform: String?
        let appVersion: String?

        enum CodingKeys: String, CodingKey {
            case deviceID = "device_id"
            case name, platform
            case appVersion = "app_version"
        }
    }

    /// Where the network address is, as far as that is known.
    struct Location: Encodable, Sendable {
        /// ISO 3166-1: two capital letters.
        let country: String
        let countryName: String?
        let region: String?
        let city: String?
        /// Of the names.
        let language = "en"

        init(_ place: Geolocation.Location) {
            (country, countryName, region, city) = (place.countryCode, place.countryName, place.region, place.city)
        }

        enum CodingKeys: String, CodingKey {
            case country
            case countryName = "country_name"
            case region, city, language
        }
    }

    let type: String
    /// RFC 3339.
    let timestamp: String
    let data: Content

    /// The message about `recorded`, with what the store knows of its user and device by now.
    init(
        _ recorded: RecordedEvent, from store: any Store, _ places: GeoDatabaseFile? = nil
    ) async throws(StoreError) {
        let event = recorded.event
        var user: User?
        var later: EmailChange?
        if let id = event.userID {
            user = try await store.user(.id(id))
            if user != nil { later = try await Self.emailChange(of: id, after: recorded.id, in: store) }
        }
        var device: Device?
        if let id = event.sessionID { device = try await store.session(id)?.session.device }
        var isNew: Bool?
        if event.kind == .sessionStarted, let userID = event.userID {
            isNew = try await !Self.hasOther(event, of: userID, in: store)
        }
        type = event.kind.rawValue
        timestamp = Self.text(event.at)
        data = Content(
            eventID: String(recorded.id), actor: event.actor,
            user: event.userID.map { Person($0, user, later) },
            sessionID: event.sessionID?.description, clientID: event.clientID,
            device: event.deviceID.map { id in
                Appliance(
                    deviceID: id, name: device?.name, platform: device?.platform, appVersion: device?.appVersion)
            },
            newDevice: isNew, reason: event.reason,
            previousEmail: event.kind == .emailChanged ? event.reason.flatMap(EmailChange.init)?.old : nil,
            remoteAddress: event.remoteAddress,
            place: event.remoteAddress.flatMap { places?.location(of: $0) }.map(Location.init),
            requestID: event.requestID, revokes: recorded.revocation.map(RevocationWords.init))
    }

    /// A message that tells of nothing, under `id`.
    init(testing id: String, at now: Instant) {
        type = "webhook_test"
        timestamp = Self.text(now)
        data = Content(
            eventID: id, actor: "admin:local", user: nil, sessionID: nil, clientID: nil, device: nil, newDevice: nil,
            reason: nil, previousEmail: nil, remoteAddress: nil, place: nil, requestID: nil, revokes: nil)
    }

    private static func text(_ instant: Instant) -> String {
        UTCTime(secondsSinceEpoch: instant.secondsSinceEpoch).rfc3339
    }

    /// The first change of the user's address after that place of the trail.
    private static func emailChange(
        of userID: Identifier<User>, after place: Int64, in store: any Store
    ) async throws(StoreError) -> EmailChange? {
        let partSize = 200
        var (cursor, isAtEnd) = (place, false)
        while !isAtEnd {
            let part = try await store.events(after: cursor, limit: partSize, userID: userID, sessionID: nil)
            let change = part.first { $0.event.kind == .emailChanged }?.event.reason.flatMap(EmailChange.init)
            if let change { return change }
            (cursor, isAtEnd) = (part.last?.id ?? cursor, part.count < partSize)
        }
        return nil
    }

    /// Among so many tombstones of a user an earlier session is looked for: a bound on how long one message can hold up the others,
    /// whatever the user has done. Of a user with more it may not be found: better two mails than none.
    private static let tombstonesMax = 10_000

    /// Whether the user has had another session on the device of `event` before, as far as sessions are remembered. Of two in one second
    /// each is the first: better two mails than none.
    private static func hasOther(
        _ event: AuditEvent, of userID: Identifier<User>, in store: any Store
    ) async throws(StoreError) -> Bool {
        guard let deviceID = event.deviceID else { return false }
        return try await store.hasSession(of: userID, onDevice: deviceID, before: event.at, lookMax: tombstonesMax)
    }

    static func encode(_ message: WebhookMessage) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(message)).map { Array($0) } ?? []
    }
}
