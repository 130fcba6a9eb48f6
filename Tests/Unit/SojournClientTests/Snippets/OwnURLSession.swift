import Foundation
import SojournClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// `Sojourn.data(for:)` sends requests to APIs through a session of the app's own: its proxies, pins and delegates.
func ownSession(server: URL, session: URLSession) -> Sojourn {
    var configuration = SojournConfiguration(server: server)
    configuration.perform = { request in try await session.data(for: request) }
    return Sojourn(configuration)
}
