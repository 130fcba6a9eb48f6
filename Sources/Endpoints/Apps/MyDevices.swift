internal import HTTP
internal import Sessions

extension Endpoints {
    /// `GET /v1/me/devices`: lists the devices on which the user has active sessions, last seen first.
    func devices(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        let living = try await services.accounts.livingSessions(of: session.user.id).map(\.session)
        return try .json(ListAnswer(DeviceAnswer.list(living, current: session.session)))
    }

    /// `PATCH /v1/me/devices/{device_id}` `{name}`: renames the device; null removes the name. A session on probation renames
    /// itself alone.
    func renameDevice(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        let members = try Members(call, known: ["name"])
        guard members.contains("name") else { throw members.refused("name", "is missing") }
        let record = try await services.accounts.renameDevice(
            call.parameter, to: try members.text("name"), by: session.session)
        return try .json(DeviceAnswer(record.session, current: session.session))
    }

    /// `DELETE /v1/me/devices/{device_id}`: ends the user's sessions on that device.
    func endDevice(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        let ended = try await services.accounts.endSessions(
            of: session.user.id, onDevice: call.parameter, from: call.origin)
        guard ended > 0 else { throw ServiceError.notFound("device") }
        return .noContent
    }

    /// `DELETE /v1/me/devices`: ends all sessions of the user, the current one included.
    func endDevices(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        let ended = try await services.accounts.endSessions(of: session.user.id, onDevice: nil, from: call.origin)
        return try .json(RevokedAnswer(revoked: ended))
    }
}

/// A device with an active session of the user.
struct DeviceAnswer: Encodable {
    let deviceID: String
    let name: String?
    let platform: String?
    let appVersion: String?
    let lastSeenAt: Int64
    let current: Bool

    init(_ session: Session, current: Session) {
        deviceID = session.device.id
        name = session.device.name
        platform = session.device.platform
        appVersion = session.device.appVersion
        lastSeenAt = session.renewedAt.secondsSinceEpoch
        self.current = session.device.row == current.device.row
    }

    /// Lists each device once, with the values of its last seen session, because several apps can share a device. A browser is
    /// one device for each client. The list always includes the current session.
    static func list(_ sessions: [Session], current: Session) -> [DeviceAnswer] {
        var seen: Set<String> = []
        return
            (sessions + [current])
            .sorted { ($0.renewedAt, $0.device.id) > ($1.renewedAt, $1.device.id) }
            .filter { seen.insert($0.device.row).inserted }
            .map { DeviceAnswer($0, current: current) }
    }

    enum CodingKeys: String, CodingKey {
        case deviceID = "device_id"
        case name, platform
        case appVersion = "app_version"
        case lastSeenAt = "last_seen_at"
        case current
    }
}

extension Route {
    static let devices = Route(
        .get, "/v1/me/devices", .user { try await $0.devices($1, $2) },
        Operation(
            "my_devices", .me, "List my devices",
            """
            The last seen device comes first. The list has this device, and those of the user's 1000 sessions \
            that were refreshed last. The server looks at 5000 sessions at most.
            """,
            answers: [.json("MyDevices", "The devices.")]))

    static let endDevices = Route(
        .delete, "/v1/me/devices", onProbation: false, .user { try await $0.endDevices($1, $2) },
        Operation(
            "end_my_devices", .me, "Sign out everywhere",
            "Ends the user's sessions on all devices, this one included.",
            answers: [.json("Revoked", "The number of ended sessions.")]))

    static let renameDevice = Route(
        .patch, "/v1/me/devices/{device_id}", .user { try await $0.renameDevice($1, $2) },
        Operation(
            "rename_my_device", .me, "Rename a device",
            """
            null removes the name. A session on probation renames itself alone. Sessions of one client in one \
            browser are one device.
            """,
            takes: .json("DeviceRename"), answers: [.json("MyDevice", "The changed device.")],
            errors: [.accountForbidden]))

    static let endDevice = Route(
        .delete, "/v1/me/devices/{device_id}", onProbation: false, .user { try await $0.endDevice($1, $2) },
        Operation(
            "end_my_device", .me, "Sign out on a device",
            "Ends the user's sessions on that device.",
            answers: [.empty("The sessions are over.")]))
}
