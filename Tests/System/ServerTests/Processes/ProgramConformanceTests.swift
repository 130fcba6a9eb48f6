import Dispatch
import FoundationEssentials
import HTTPConformance
import Repository
import Server
import Sockets
import Testing

@testable import Configuration

/// Goal: the whole server frames every row as its clause says, on each listener, and its own routes answer as RFC 9110
/// wants them to.
/// Method: the rows of the engine again, judged by framing alone, and those that need a table of routes.
@Suite("Conformance", .timeLimit(.minutes(10))) struct ProgramConformanceTests {
    let folder = StartingFolder()
    let clock = StartingClock()

    private func withServer(_ body: (_ public: SocketAddress, _ admin: SocketAddress) async throws -> Void) async throws
    {
        // The rows are about the engine's own limit.
        var configuration = folder.configuration
        configuration.limits.bodyBytes = 65_536
        let server = SojournServer(configuration, clock.environment())
        let addresses = try await server.start().addresses
        do {
            try await body(
                SocketAddress(String(addresses.public.dropFirst("http://".count))),
                SocketAddress(String(addresses.admin.dropFirst("http://".count))))
        } catch {
            await server.stop(deadline: .zero)
            throw error
        }
        await server.stop(deadline: .zero)
    }

    private func complaints(_ judge: @escaping @Sendable () -> [String]) async -> [String] {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "judge").async { continuation.resume(returning: judge()) }
        }
    }

    @Test("a row that another suite checks names a file that is there")
    func elsewhere() throws {
        let tests = Repository.path("Tests")
        let files = try FileManager.default.subpathsOfDirectory(atPath: tests).compactMap {
            $0.split(separator: "/").last
        }
        for section in Section.all {
            if let place = section.checkedIn { #expect(files.contains { $0 == "\(place).swift" }, "\(place)") }
        }
    }

    @Test("every row of the engine holds of the whole server")
    func rows() async throws {
        try await withServer { publicAddress, adminAddress in
            for address in [publicAddress, adminAddress] {
                for complaint in await complaints({ Judge(address, .anything).complaints(about: Row.all, .whole) }) {
                    Issue.record("\(complaint)")
                }
            }
        }
    }

    @Test("every row of the endpoints holds")
    func endpointRows() async throws {
        try await withServer { address, _ in
            for complaint in await complaints({ Judge(address, .anything).complaints(about: EndpointRow.all) }) {
                Issue.record("\(complaint)")
            }
        }
    }
}
