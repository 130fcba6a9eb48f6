/// `sojourn-bench cells`.
struct CellsBenchmark {
    let options: Options

    func run() throws -> Report {
        let inputs = try CellInputs(options.with)
        var report = Report("cells")
        var devices = 1e7
        while devices < inputs.devices {
            report.figures += try figures(devices, inputs)
            devices *= 10
        }
        report.figures += try figures(inputs.devices, inputs)
        return report
    }

    /// The figures of one number of devices; a spread is that over the cells.
    private func figures(_ devices: Double, _ inputs: CellInputs) throws -> [Figure] {
        let plans = (0..<Int(inputs.regions)).map { RegionPlan(region: $0, devices: devices, inputs) }
        let cells = plans.map(\.cells).reduce(0, +)
        guard cells <= 4096 else { throw Failure("\(Int(cells)) cells: an identifier has room for 4096") }
        SojournBench.progress("\(name(devices)) devices: \(Int(cells)) cells")
        var usual: [CellDay] = [], failing: [CellDay] = [], lost: [CellDay] = [], hasty: [CellDay] = []
        var impatient = inputs
        impatient.retryMax = 1
        var seed = options.seed
        for plan in plans {
            let mean = plan.mean / plan.cells
            for _ in 0..<Int(plan.cells) {
                seed &+= 1
                usual.append(CellDay(mean: mean, inputs, outage: 0, seed: seed))
                failing.append(CellDay(mean: mean, inputs, outage: inputs.failOver, seed: seed))
                hasty.append(CellDay(mean: mean, impatient, outage: inputs.failOver, seed: seed))
            }
            lost.append(CellDay(mean: mean, inputs, outage: inputs.regionOutage, seed: seed))
        }
        let own = plans.flatMap { plan in [RegionPlan](repeating: plan, count: Int(plan.cells)) }
        let users = devices / inputs.devicesPerUser
        let kept = 1 + inputs.endedShare
        let cellUsers = own.map { $0.devices / $0.cells / inputs.devicesPerUser }
        let moved = inputs.primaryCores * inputs.moveShare / inputs.moveMicroseconds * 1e6
        let at = "\(name(devices)) devices: "
        return [
            Figure(at + "cells in each region", "", plans.map(\.cells)),
            Figure(at + "sessions of a cell", "millions", own.map { $0.devices / $0.cells / 1e6 }),
            Figure(
                at + "sessions of a cell with ended ones", "GB",
                own.map {
                    $0.devices / $0.cells * kept * inputs.sessionBytes / 1e9
                }),
            Figure(at + "refreshes of a cell at the peak", "per second", own.map { $0.peak / $0.cells }),
            Figure(at + "busiest second, of the primary's cores", "", usual.map(\.busiest)),
            Figure(at + "WAL of a cell at the peak", "MB/s", own.map { $0.peak / $0.cells * inputs.walBytes / 1e6 }),
            Figure(
                at + "cores of nodes in a region at the peak", "",
                plans.map {
                    $0.peak * inputs.nodeMicroseconds / 1e6 / inputs.busyShare
                }),
            Figure(at + "fail-over: phones that wait", "of all, ‰", failing.map { 1000 * $0.waiting / devices }),
            Figure(at + "fail-over: attempts after it", "x the usual", failing.map(\.peakOfAttempts)),
            Figure(at + "fail-over: until no phone waits", "s", failing.map(\.settledAfter)),
            Figure(at + "the same with pauses of 1 s: attempts", "x the usual", hasty.map(\.peakOfAttempts)),
            Figure(
                at + "region away: phones that wait", "of all, ‰",
                zip(lost, plans).map {
                    1000 * $0.waiting * $1.cells / devices
                }),
            Figure(at + "region away: attempts after it", "x the usual", lost.map(\.peakOfAttempts)),
            Figure(at + "region away: until no phone waits", "s", lost.map(\.settledAfter)),
            Figure(at + "directory", "GB", [users * inputs.namesPerUser * inputs.nameBytes / 1e9]),
            Figure(
                at + "lookups of the directory at the peak", "per second",
                [
                    devices * inputs.loginsPerYear / (365 * 86_400) * inputs.peakToMean
                ]),
            Figure(at + "half of a cell moves to a new one", "hours", cellUsers.map { $0 / 2 / moved / 3600 }),
        ]
    }

    private func name(_ devices: Double) -> String { devices >= 1e6 ? "\(Int(devices / 1e6)) M" : "\(Int(devices))" }
}
