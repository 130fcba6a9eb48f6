import Foundation
import SojournClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

func tenLines(server: URL, orders: URL, show: @escaping @Sendable (SessionState) -> Void) async throws {
    let sojourn = Sojourn(SojournConfiguration(server: server))
    let screens = Task {
        for await state in sojourn.states { show(state) }
    }
    await sojourn.start()
    try await sojourn.signIn(username: "anna", password: "correct horse battery staple")
    let (data, response) = try await sojourn.data(for: URLRequest(url: orders))
    print(response.statusCode, data.count)
    await sojourn.signOut()
    screens.cancel()
}
