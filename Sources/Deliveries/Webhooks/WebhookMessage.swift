internal import Calendar
internal import Endpoints
public import Geolocation
internal import JSON
internal import Sessions

/// The message about an event, with what a mail to the user needs: the address, the device and the location.
public struct WebhookMessage: Encodable, Sendable {
    /// Locates a network address; nil for an unknown or private one. May wait for the disk.
    public typealias Locator = @Sendable (String) -> Geolocation.Location?

    struct Content: Encodable, Sendable {
        let eventID: String
        let actor: String
        let user: User?
        let sessionID: String?
        let clientID: String?
        let device: Device?
        /// True if the user has no other session on that device, active or remembered; only for the start of a session.
        let newDevice: Bool?
        /// Where the user ends the session without logging in; only for the start of one that a phone has let in.
        let notMeURL: String?
        let reason: String?
        /// The former address, for a warning; only for a change of the address.
        let previousEmail: String?
        let remoteAddress: String?
        let location: Location?
        let requestID: String?
        /// The item of the revocation feed, if the event revokes tokens.
        let revokes: RevocationWords?
        /// What the sender of the team pushes to the phones of the user; only for a login that waits for one.
        let push: [Push]?

        enum CodingKeys: String, CodingKey {
            case eventID = "event_id"
            case actor, user
            case sessionID = "session_id"
            case clientID = "client_id"
            case device
            case newDevice = "new_device"
            case notMeURL = "not_me_url"
            case reason
            case previousEmail = "previous_email"
            case remoteAddress = "remote_address"
            case location = "place"
            case requestID = "request_id"
            case revokes, push
        }
    }

    /// An encrypted message to one device.
    struct Push: Encodable, Sendable {
        let sessionID: String
        let clientID: String
        let deviceID: String
        let message: String

        init(_ message: PushMessage) {
            (sessionID, clientID) = (message.sessionID.description, message.clientID)
            (deviceID, self.message) = (message.deviceID, message.text)
        }

        enum CodingKeys: String, CodingKey {
            case sessionID = "session_id"
            case clientID = "client_id"
            case deviceID = "device_id"
            case message
        }
    }

    /// The user of the event; a deleted user has only an id.
    struct User: Encodable, Sendable {
        let userID: String
        let username: String?
        let email: String?
        /// True if the address is verified; nil without an address, and if the address has changed since the event.
        let emailVerified: Bool?
        let displayName: String?
        let givenName: String?
        let familyName: String?

        /// - Parameter later: the first change of the user's address after the event. A mail about the event must not go to
        ///   the new address, because a thief may have set it.
        init(_ id: Identifier<Sessions.User>, _ user: Sessions.User?, _ later: EmailChange?) {
            userID = id.description
            username = user?.shownUsername
            email = later.map(\.old) ?? user?.profile.email
            emailVerified = later != nil || email == nil ? nil : user?.profile.isEmailVerified
            displayName = user?.profile.displayName
            givenName = user?.profile.givenName
            familyName = user?.profile.familyName
        }

        enum CodingKeys: String, CodingKey {
            case userID = "user_id"
            case username, email
            case emailVerified = "email_verified"
            case displayName = "display_name"
            case givenName = "given_name"
            case familyName = "family_name"
        }
    }

    /// The device of the event.
    struct Device: Encodable, Sendable {
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

    /// The location of the network address.
    struct Location: Encodable, Sendable {
        /// ISO 3166-1: two capital letters.
        let country: String
        let countryName: String?
        let region: String?
        let city: String?
        /// The language of the names.
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

    /// The message about `recorded`, with the current user and device from the store.
    init(
        _ recorded: RecordedEvent, from store: any Store, _ locate: Locator? = nil,
        notMeURL: ((Identifier<Session>) -> String)? = nil, pushes: PushMessages? = nil
    ) async throws(StoreError) {
        let event = recorded.event
        var user: Sessions.User?
        var later: EmailChange?
        if let id = event.userID {
            user = try await store.user(.id(id))
            if user != nil { later = try await Self.emailChange(of: id, after: recorded.id, in: store) }
        }
        var device: Sessions.Device?
        var notMe: String?
        if let id = event.sessionID, let session = try await store.session(id)?.session {
            device = session.device
            if event.kind == .sessionStarted, session.isByPhone { notMe = notMeURL?(id) }
        }
        var isNew: Bool?
        if event.kind == .sessionStarted, let userID = event.userID {
            isNew = try await !Self.hasOther(event, of: userID, in: store)
        }
        let messages = try await pushes?.messages(about: event) ?? []
        type = event.kind.rawValue
        timestamp = Self.text(event.at)
        data = Content(
            eventID: String(recorded.id), actor: event.actor,
            user: event.userID.map { User($0, user, later) },
            sessionID: event.sessionID?.description, clientID: event.clientID,
            device: event.deviceID.map { id in
                Device(
                    deviceID: id, name: device?.name, platform: device?.platform, appVersion: device?.appVersion)
            },
            newDevice: isNew, notMeURL: notMe, reason: event.kind == .userChanged ? nil : event.reason,
            previousEmail: event.kind == .emailChanged ? event.reason.flatMap(EmailChange.init)?.old : nil,
            remoteAddress: event.remoteAddress,
            location: event.remoteAddress.flatMap { locate?($0) }.map(Location.init),
            requestID: event.requestID, revokes: recorded.revocation.map(RevocationWords.init),
            push: messages.isEmpty ? nil : messages.map(Push.init))
    }

    /// A test message, about no event.
    init(testing id: String, at now: Instant) {
        type = "webhook_test"
        timestamp = Self.text(now)
        data = Content(
            eventID: id, actor: "admin:local", user: nil, sessionID: nil, clientID: nil, device: nil, newDevice: nil,
            notMeURL: nil, reason: nil, previousEmail: nil, remoteAddress: nil, location: nil, requestID: nil,
            revokes: nil, push: nil)
    }

    private static func text(_ instant: Instant) -> String {
        UTCTime(secondsSinceEpoch: instant.secondsSinceEpoch).rfc3339
    }

    /// The first change of the user's address after that event of the trail. Looks from the newest event back, because that list
    /// has each committed event, whereas one with a cursor can still lack the change that the user's row has.
    private static func emailChange(
        of userID: Identifier<Sessions.User>, after eventID: Int64, in store: any Store
    ) async throws(StoreError) -> EmailChange? {
        let partSize = 200
        var first: EmailChange?
        var (cursor, isAtEnd): (Int64?, Bool) = (nil, false)
        while !isAtEnd {
            let part = try await store.events(ofUser: userID, before: cursor, limit: partSize)
            let later = part.prefix { $0.id > eventID }
            first = later.last { $0.event.kind == .emailChanged }?.event.reason.flatMap(EmailChange.init) ?? first
            (cursor, isAtEnd) = (part.last?.id, later.count < partSize)
        }
        return first
    }

    /// The number of a user's ended sessions among which an earlier session is searched. The bound limits how long one message
    /// delays the others. Beyond it, an earlier session may be missed: two mails are better than none.
    private static let tombstonesMax = 10_000

    /// True if the user has had another session on the device of `event` before, and the store remembers it. Of two sessions
    /// in one second each counts as the first: two mails are better than none.
    private static func hasOther(
        _ event: AuditEvent, of userID: Identifier<Sessions.User>, in store: any Store
    ) async throws(StoreError) -> Bool {
        guard let deviceID = event.deviceID else { return false }
        return try await store.hasSession(of: userID, onDevice: deviceID, before: event.at, lookMax: tombstonesMax)
    }

    static func encode(_ message: WebhookMessage) -> [UInt8] {
        JSONText.compact(message) ?? []
    }
}
