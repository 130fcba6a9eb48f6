import Foundation

/// Plays scenarios, several side by side, and prints how each ends.
struct Runner {
    /// The words that start the driver.
    let command: [String]
    let jobs: Int
    let capabilities: Capabilities

    /// The longest time for one scenario. Its single waits are shorter.
    private static let limit: Duration = .seconds(90)

    /// How many scenarios ended in each way.
    struct Count: Sendable {
        var passed = 0
        var failed = 0
        /// Those that need what the client lacks.
        var skipped = 0
    }

    func run(_ scenarios: [Scenario]) async -> Count {
        var count = Count()
        for scenario in scenarios {
            guard let obstacle = capabilities.obstacle(to: scenario) else { continue }
            print("skipped \(scenario.label): \(scenario.sentence) (no \(obstacle.rawValue))")
            count.skipped += 1
        }
        var next = scenarios.filter { capabilities.obstacle(to: $0) == nil }.makeIterator()
        await withTaskGroup(of: Bool.self) { group in
            func add() {
                guard let scenario = next.next() else { return }
                group.addTask { await play(scenario) }
            }
            for _ in 0..<jobs { add() }
            for await isPassed in group {
                if isPassed { count.passed += 1 } else { count.failed += 1 }
                add()
            }
        }
        return count
    }

    /// Plays a scenario, prints how it ends, and returns whether it passed.
    private func play(_ scenario: Scenario) async -> Bool {
        let begin = ContinuousClock.now
        let failure = await failure(of: scenario)
        let seconds = String(format: "%.1f s", (ContinuousClock.now - begin) / .seconds(1))
        let word = failure == nil ? "passed" : "FAILED"
        let lines = ["\(word) \(scenario.label): \(scenario.sentence) (\(seconds))"]
        print((lines + (failure.map { ["       \($0)"] } ?? [])).joined(separator: "\n"))
        fflush(nil)
        return failure == nil
    }

    private func failure(of scenario: Scenario) async -> String? {
        let world: World
        do { world = try await World(scenario, command: command, capabilities) } catch { return "no server: \(error)" }
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
