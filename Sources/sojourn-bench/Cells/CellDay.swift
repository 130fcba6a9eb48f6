import Glibc

/// A day of one cell, second by second, in virtual time: phones that are due, an outage at the busiest moment, and phones that
/// ask again.
///
/// A phone that got no answer asks again after a random part of a pause that doubles, up to `retryMax`. Beyond what the primary
/// can do, phones are told to come again.
struct CellDay {
    /// The busiest second of attempts after the outage, beside the usual rate.
    private(set) var peakOfAttempts = 0.0
    /// Seconds from the end of the outage until no phone waits any more.
    private(set) var settledAfter = 0.0
    /// Phones that had to wait.
    private(set) var waiting = 0.0
    /// Refreshes of the whole day, and its busiest second beside what the primary can do.
    private(set) var refreshes = 0.0
    private(set) var busiest = 0.0
    private var random: FastRandom
    /// By attempt: phones that ask in this second, and how that changes in each second to come. A ring of a bit more than the
    /// longest pause.
    private var asking: [Double]
    private var changes: [[Double]]
    private let pauses: [Int]

    init(mean: Double, _ inputs: CellInputs, outage: Double, seed: UInt64) {
        random = FastRandom(seed: seed)
        var pauses: [Int] = [1]
        while let last = pauses.last, last < Int(inputs.retryMax) { pauses.append(min(2 * last, Int(inputs.retryMax))) }
        self.pauses = pauses
        asking = pauses.map { _ in 0 }
        changes = pauses.map { _ in [Double](repeating: 0, count: Int(inputs.retryMax) + 2) }
        run(mean, inputs, outage: Int(outage))
    }

    private mutating func run(_ mean: Double, _ inputs: CellInputs, outage: Int) {
        let noon = 43_200
        let end = noon + outage
        let usual = mean * inputs.peakToMean
        var outstanding = 0.0
        for second in 0..<86_400 {
            let angle = 2 * Double.pi * Double(second - noon) / 86_400
            let arrivals = poisson(max(0, mean * (1 + (inputs.peakToMean - 1) * cos(angle))))
            takeChanges(second)
            let again = asking.reduce(0, +)
            let attempts = arrivals + again
            let served = (noon..<end).contains(second) ? 0 : min(attempts, inputs.primaryRefreshes)
            refreshes += served
            if second >= end { peakOfAttempts = max(peakOfAttempts, attempts / usual) }
            if second < noon { busiest = max(busiest, served / inputs.primaryRefreshes) }
            outstanding -= again
            let refused = attempts > 0 ? (attempts - served) / attempts : 0
            if refused > 0 {
                waiting += arrivals * refused
                outstanding += attempts - served
                for attempt in pauses.indices {
                    postpone(asking[attempt] * refused, attempt: min(attempt + 1, pauses.count - 1), from: second)
                }
                postpone(arrivals * refused, attempt: 0, from: second)
            }
            if second >= end, outstanding >= 0.5 { settledAfter = Double(second - end + 1) }
        }
    }

    /// Comes to the next second.
    private mutating func takeChanges(_ second: Int) {
        for attempt in pauses.indices {
            let slot = second % changes[attempt].count
            asking[attempt] = max(0, asking[attempt] + changes[attempt][slot])
            changes[attempt][slot] = 0
        }
    }

    /// Spreads phones over the seconds of their pause.
    private mutating func postpone(_ count: Double, attempt: Int, from second: Int) {
        let (pause, size) = (pauses[attempt], changes[attempt].count)
        changes[attempt][(second + 1) % size] += count / Double(pause)
        changes[attempt][(second + pause + 1) % size] -= count / Double(pause)
    }

    /// How many come in a second at such a rate, by the normal distribution.
    private mutating func poisson(_ rate: Double) -> Double {
        let (first, second) = (
            Double.random(in: .ulpOfOne...1, using: &random), Double.random(in: 0...1, using: &random)
        )
        let deviate = (-2 * log(first)).squareRoot() * cos(2 * .pi * second)
        return max(0, (rate + rate.squareRoot() * deviate).rounded())
    }
}
