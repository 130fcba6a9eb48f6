import Glibc

/// What phones ask for, second by second, before, in and after an outage of the database.
struct OutageMeasurement {
    let options: Options
    let database: ClusterDatabase

    /// The seconds between two refreshes of a phone.
    private static let interval = 60.0
    /// How long the phones are watched before the outage, and at most after it.
    private static let secondsBefore = 30
    private static let secondsAfter = 180

    /// Measures with one phone for each of `tokens`, which speak to the nodes in turn.
    func run(_ ports: [UInt16], _ tokens: [[UInt8]]) throws -> [Figure] {
        SojournBench.progress("\(tokens.count) phones, an outage of \(options.outage) s")
        let crowd = try PhoneCrowd(ports: ports, tokens, interval: Self.interval)
        try crowd.run(seconds: Self.secondsBefore)
        let usual = Double(tokens.count) / Self.interval
        let process = try database.goAway(seconds: options.outage)
        try crowd.run(seconds: options.outage)
        var status: Int32 = 0
        waitpid(process, &status, 0)
        guard status == 0 else { throw Failure("the database could not be opened again") }
        let opened = crowd.second
        try crowd.run(seconds: Self.secondsAfter) { crowd.waitingForOutage(before: opened) == 0 }
        let late = crowd.waitingForOutage(before: opened)
        guard late == 0 else { throw Failure("\(late) phones had no answer \(Self.secondsAfter) s after the outage") }
        let counts = crowd.requests
        let peaks = (counts[Self.secondsBefore..<opened].max() ?? 0, counts[opened...].max() ?? 0)
        let name = "\(tokens.count) phones, \(options.outage) s without database"
        return [
            Figure("\(name): usual requests", "per second", [usual]),
            Figure("\(name): most requests meanwhile", "per second", [Double(peaks.0)]),
            Figure("\(name): most requests afterwards", "per second", [Double(peaks.1)]),
            Figure("\(name): most afterwards / usual", "", [Double(peaks.1) / usual]),
            Figure("\(name): all phones served after", "s", [Double(crowd.second - opened)]),
            Figure("\(name): logged out", "", [Double(crowd.loggedOut)]),
        ]
    }
}
