// sojourn-conformance: shows that a client in any language keeps the rules of "How an app stays signed in".
//
// Owns: the scenarios, and the protocol by which a driver, a small program around the client, carries out what they ask. Must not
// know: how a client works inside; everything is seen in the driver's answers, in the requests that pass the proxy, and at the
// server. The manual's page `Apps/Conformance` describes the protocol for authors of drivers.
//
// Reading order: SojournConformance; Frame: Options, Scenario, Capabilities, Runner, World (a server behind a proxy), SeenRequest,
// CrossOrigin, Driver, DriverAnswer, Driver+User; Scenarios: one file for each chapter of the rules.

import Foundation

@main
enum SojournConformance {
    static func main() async {
        let options: Options
        do { options = try Options(CommandLine.arguments.dropFirst()) } catch {
            FileHandle.standardError.write(Data("sojourn-conformance: \(error.text)\n\(Options.usage)\n".utf8))
            exit(2)
        }
        let scenarios = Scenario.all.filter(options.isChosen)
        if options.isList {
            for scenario in scenarios { print("\(scenario.label): \(scenario.sentence)") }
            exit(0)
        }
        // The servers are the tests' own, and take every variable with this prefix as a setting.
        for name in ProcessInfo.processInfo.environment.keys where name.hasPrefix("SOJOURN_") { unsetenv(name) }
        if let path = options.server { setenv("SOJOURN_BINARY", path, 1) }
        let capabilities = await Capabilities.of(options.driver)
        let runner = Runner(command: options.driver, jobs: options.jobs, capabilities: capabilities)
        let count = await runner.run(scenarios)
        let skipped = count.skipped == 0 ? "" : ", \(count.skipped) skipped"
        print("\(count.passed) passed, \(count.failed) failed\(skipped)")
        exit(count.failed == 0 ? 0 : 1)
    }
}
