internal import HTTP
internal import Sessions

/// What a change of lifetimes would do to the living sessions, before it is made.
extension Endpoints {
    /// The time for looking at a sample of sessions.
    static let previewBudget = Duration.seconds(2)

    /// `POST /admin/v1/settings/sessions/preview`: takes the members of the settings.
    func previewSettings(_ call: Call) async throws -> Response {
        let change = try await settingsMembers(call)
        var settings = try await services.administration.settings().sessions
        change.apply(to: &settings)
        return try await answer(previewing: .settings(settings))
    }

    /// `POST /admin/v1/clients/{client_id}/preview`: takes the lifetimes of a client. An empty object counts its sessions.
    func previewClient(_ call: Call) async throws -> Response {
        let members = try Members(
            call,
            known: [
                "offline_session_idle", "offline_session_max", "access_token_lifetime", "refresh_after",
                "stay_logged_in",
            ])
        let change = try ClientMembers(members)
        var client = try await services.administration.client(call.parameter)
        change.apply(to: &client)
        return try await answer(previewing: .client(client))
    }

    /// `POST /admin/v1/users/{user}/preview` `{offline_session_max}`.
    func previewUser(_ call: Call) async throws -> Response {
        let members = try Members(call, known: ["offline_session_max"])
        var user = try await services.administration.user(try call.user())
        if let maximum = try members.change("offline_session_max", members.seconds) { user.offlineSessionMax = maximum }
        return try await answer(previewing: .user(user))
    }

    private func answer(previewing change: LifetimeChange) async throws -> Response {
        let preview = try await services.administration.preview(change, isOver: budget(Self.previewBudget))
        return try .json(
            PreviewAnswer(
                sessions: preview.looked, endingNow: preview.endingNow, endingEarlier: preview.endingEarlier,
                endingLater: preview.endingLater, isSample: !preview.isWhole))
    }
}

/// The result of a look at the living sessions.
private struct PreviewAnswer: Encodable {
    let sessions: Int
    let endingNow: Int
    let endingEarlier: Int
    let endingLater: Int
    let isSample: Bool

    enum CodingKeys: String, CodingKey {
        case sessions
        case endingNow = "ending_now"
        case endingEarlier = "ending_earlier"
        case endingLater = "ending_later"
        case isSample = "is_sample"
    }
}

extension Route {
    static let previewSettings = Route(
        .post, "/admin/v1/settings/sessions/preview", on: .admin, .admin(.read) { try await $0.previewSettings($1) },
        Operation(
            "preview_settings", .settings, "What other lifetimes would do",
            "Counts the sessions that would end at once. Nothing changes.",
            takes: .json("SettingsChange", isOptional: true),
            answers: [.json("LifetimePreview", "What the change would do.")]))

    static let previewClient = Route(
        .post, "/admin/v1/clients/{client_id}/preview", on: .admin, .admin(.read) { try await $0.previewClient($1) },
        Operation(
            "preview_client", .clients, "What other lifetimes of a client would do",
            "An empty object counts its sessions. Nothing changes.",
            takes: .json("ClientLifetimes"), answers: [.json("LifetimePreview", "What the change would do.")]))

    static let previewUser = Route(
        .post, "/admin/v1/users/{user}/preview", on: .admin, .admin(.read) { try await $0.previewUser($1) },
        Operation(
            "preview_user", .users, "What another longest life would do to the sessions of a user",
            "Counts the sessions that would end at once. Nothing changes.",
            takes: .json("UserLifetime"), answers: [.json("LifetimePreview", "What the change would do.")]))
}
