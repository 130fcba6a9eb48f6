import Foundation
import Locks
import SojournClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An app on a device: the SDK with a store of its own, over a network that the story can cut.
struct DemoPhone {
    let name: String
    let store: MemoryStore
    let network: DemoNetwork
    let sojourn: Sojourn
    private let configuration: SojournConfiguration
    private let keys: SoftwareKeys
    private let clock: DemoClock

    /// An app on a device called `name`. Its refresh tokens are bound to a key of the device, unless `renewal` says otherwise.
    init(_ name: String, in world: DemoWorld, renewal: SojournConfiguration.Renewal = .boundRefreshToken) throws {
        guard let server = URL(string: world.addresses.public) else { throw Surprise(description: "no address") }
        let network = DemoNetwork(name)
        var configuration = SojournConfiguration(server: server)
        configuration.deviceName = "Anna's \(name)"
        configuration.platform = "ios"
        configuration.renewal = renewal
        configuration.perform = { try await network.perform($0) }
        self.init(
            name: name, store: MemoryStore(), network: network, configuration: configuration,
            keys: SoftwareKeys(directory: world.folder.appending(path: name)), clock: DemoClock(world))
    }

    private init(
        name: String, store: MemoryStore, network: DemoNetwork, configuration: SojournConfiguration, keys: SoftwareKeys,
        clock: DemoClock
    ) {
        self.name = name
        self.store = store
        self.network = network
        self.configuration = configuration
        self.keys = keys
        self.clock = clock
        sojourn = Sojourn(configuration, store: store, keys: keys, transport: network, clock: clock)
    }

    /// Another process of the app, such as a widget: it shares store and key.
    func process(_ name: String) -> DemoPhone {
        DemoPhone(
            name: name, store: store, network: DemoNetwork(name), configuration: configuration, keys: keys, clock: clock
        )
    }

    /// A thief with a copy of what the app has stored.
    func thief(in world: DemoWorld) async throws -> DemoPhone {
        let copy = MemoryStore()
        guard let record = try await store.load() else { throw Surprise(description: "nothing is stored") }
        _ = try await copy.replace(nil, with: record.bytes)
        return DemoPhone(
            name: "thief", store: copy, network: DemoNetwork("thief"), configuration: configuration,
            keys: SoftwareKeys(directory: world.folder.appending(path: "thief")), clock: clock)
    }

    /// Whether the access token is let in by an API that asks the server: `GET /v1/me`, by the app's own request.
    func isLetIn(with token: AccessToken, in world: DemoWorld) throws -> Bool {
        try world.app("GET", "/v1/me", bearer: token.value).status == 200
    }
}

/// The clock of the story, as a device sees it.
struct DemoClock: ClientClock {
    private let world: DemoWorld
    private let start: Int64

    init(_ world: DemoWorld) { (self.world, start) = (world, world.now) }

    var wallSeconds: Int64 { world.now }
    var uptime: Duration { .seconds(world.now - start) }
    func sleep(for duration: Duration) async throws { try await ContinuousClock().sleep(for: duration) }
}

/// The network of a device. It prints each exchange, and loses answers when the story says so.
final class DemoNetwork: Transport {
    /// What the network does with answers.
    enum Condition: Sendable {
        case good
        case losesAnswers
    }

    private let name: String
    private let condition = Locked(Condition.good)
    private let printed = Locked(true)
    private let base = URLSessionTransport.shared

    init(_ name: String) { self.name = name }

    /// Changes the condition.
    func become(_ condition: Condition) { self.condition.withLock { $0 = condition } }

    /// Whether exchanges are printed.
    func setPrinted(_ isPrinted: Bool) { printed.withLock { $0 = isPrinted } }

    func send(_ request: HTTPMessage, within limit: Duration) async throws(TransportFailure) -> HTTPAnswer {
        let answer = try await base.send(request, within: limit)
        let isLost = condition.withLock { $0 == .losesAnswers }
        tell(request.method, request.url, answer.status, answer.body, isLost: isLost)
        if isLost { throw .unreachable("the answer was lost") }
        return answer
    }

    /// Sends a request of the app itself.
    func perform(_ request: URLRequest) async throws -> (Data, URLResponse) {
        let (data, response) = try await URLSession.shared.data(for: request)
        if let url = request.url, let status = (response as? HTTPURLResponse)?.statusCode {
            tell(request.httpMethod ?? "GET", url, status, Array(data), isLost: false)
        }
        return (data, response)
    }

    private func tell(_ method: String, _ url: URL, _ status: Int, _ body: [UInt8], isLost: Bool) {
        guard printed.withLock({ $0 }) else { return }
        struct Problem: Decodable { let code, reason: String? }
        let problem = status < 400 ? nil : try? JSONDecoder().decode(Problem.self, from: Data(body))
        let words = ["\(status)", problem?.reason ?? problem?.code, isLost ? "(the answer is lost)" : nil].compactMap(
            \.self)
        DemoStory.tell("\(method) \(url.path)", name, words.joined(separator: " "))
    }
}
