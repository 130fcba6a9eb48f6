import EventLoops
import HTTP
import HTTPServer
import Sockets
import Testing

@Test(.timeLimit(.minutes(10))) func aServerIsTwentyLines() async throws {
    let loops = try EventLoopGroup()
    var configuration = HTTPServer.Configuration()
    (configuration.headerTimeout, configuration.idleTimeout) = (.seconds(3600), .seconds(3600))
    let server = HTTPServer(configuration: configuration, loops: loops)
    let address = try server.listen(on: SocketAddress("[::1]:0"), .init(name: "public")) { request, context in
        guard request.method == .get, request.target.path == "/hello" else {
            return Response(.notFound, text: "nothing here")
        }
        return Response(.ok, text: "hello from \(context.listenerName) to \(context.remoteAddress.host)")
    }

    let client = try await Client(address)
    #expect(try await client.ask(get("/hello")).body == "hello from public to ::1")
    #expect(try await client.ask(get("/")).status == 404)

    await server.stop(deadline: .seconds(10))
    await loops.stop()
    #expect(try await client.isClosed())
}
