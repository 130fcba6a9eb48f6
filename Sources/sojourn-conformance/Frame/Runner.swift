import Foundation

/// Plays scenarios, several side by side, and prints how each ends.
struct Runner {
    /// The words that start the driver.
    let command: [String]
    let jobs: Int

    /// The longest time for one scenario. Its single waits are shorter.
    private static let limit: Duration = .seconds(90)

    private struct Result: Sendable {
        let label: String
        let failure: String?
    }

    /// Returns how many scenarios failed.
    func run(_ scenarios: [Scenario]) async -> Int {
        var failures = 0
        var next = scenarios.makeIterator()
        await withTaskGroup(of: Result.self) { group in
            func add() {
                guard let scenario = next.next() else { return }
                group.addTask { await play(scenario) }
            }
            for _ in 0..<jobs { add() }
            for await result in group {
                if result.failure != nil { failures += 1 }
                add()
            }
        }
        return failures
    }

    private func play(_ scenario: Scenario) async -> Result {
        let begin = ContinuousClock.now
        let failure = await failure(of: scenario)
        let seconds = String(format: "%.1f s", (ContinuousClock.now - begin) / .seconds(1))
        let word = failure == nil ? "passed" : "FAILED"
        let lines = ["\(word) \(scenario.label): \(scenario.sentence) (\(seconds))"]
        print((lines + (failure.map { ["       \($0)"] } ?? [])).joined(separator: "\n"))
        fflush(nil)
        return Result(label: scenario.label, failure: failure)
    }

    private func failure(of scenario: Scenario) async -> String? {
        let world: World
        do { world = try await World(scenario, command: command) } catch { return "no server: \(error)" }
        let limit = Task {
            try await Task.sleep(for: Self.limit)
            // Every wait for a driver ends with it.
            world.close()
        }
        defer {
            limit.cancel()
            world.close()
        }
        do {
            try await scenario.play(world)
            return nil
        } catch { return "\(error)\(world.lastWords)" }
    }
}
