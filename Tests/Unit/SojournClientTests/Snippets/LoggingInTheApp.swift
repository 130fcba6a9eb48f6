import SojournClient

func openBackend(_ sojourn: Sojourn) async throws -> BackendAccess? {
    let session = try await sojourn.appLogin(client: "shop-web")
    for await event in session.events {
        guard case .secondFactor(let factor) = event else { continue }
        guard factor.expectsInput else { break }
        try await session.enterSecondFactor(reason: "Open the shop.")
    }
    return await session.backendAccess
}
