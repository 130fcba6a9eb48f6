import Synchronization
import Testing

@testable import Telemetry

@Suite struct MetricsTests {
    private let registry = MetricsRegistry()

    @Test func rendersCountersAndGauges() {
        registry.counter("logins_total", help: "Logins.").increment()
        let gauge = registry.gauge("connections", help: "Open\nconnections \\ now.")
        gauge.set(5)
        gauge.add(-7)
        registry.gauge("ratio", help: "Half.") { 0.5 }
        #expect(
            registry.render() == """
                # HELP logins_total Logins.
                # TYPE logins_total counter
                logins_total 1
                # HELP connections Open\\nconnections \\\\ now.
                # TYPE connections gauge
                connections -2
                # HELP ratio Half.
                # TYPE ratio gauge
                ratio 0.5

                """)
    }

    @Test func labelsAreAClosedSet() {
        let family = registry.counters(
            "requests_total", help: "Requests.",
            labels: [MetricLabel("route", values: ["a", "b\"\\\n"]), MetricLabel("status", values: ["2xx"])])
        family["a", "2xx"].increment(by: 3)
        let named = """
            # HELP requests_total Requests.
            # TYPE requests_total counter
            requests_total{route="a",status="2xx"} 3
            requests_total{route="b\\"\\\\\\n",status="2xx"} 0

            """
        #expect(registry.render() == named)
        for number in 0..<1000 { family["made up \(number)", "2xx"].increment() }
        family["a", "9xx"].increment()
        #expect(
            registry.render() == """
                # HELP requests_total Requests.
                # TYPE requests_total counter
                requests_total{route="a",status="2xx"} 3
                requests_total{route="a",status="other"} 1
                requests_total{route="b\\"\\\\\\n",status="2xx"} 0
                requests_total{route="other",status="2xx"} 1000

                """)
    }

    @Test func histogramBucketsAreCumulatedAndIncludeTheirEnds() {
        let histogram = registry.histogram("seconds", help: "Time.", buckets: [0.1, 1, 2.5])
        for value in [0.05, 0.1, 0.5, 1.0, 2, 100] { histogram.observe(value) }
        histogram.observe(.nan)
        histogram.observe(.infinity)
        histogram.observe(.milliseconds(250))
        #expect(
            registry.render() == """
                # HELP seconds Time.
                # TYPE seconds histogram
                seconds_bucket{le="0.1"} 2
                seconds_bucket{le="1"} 5
                seconds_bucket{le="2.5"} 6
                seconds_bucket{le="+Inf"} 7
                seconds_sum 103.9
                seconds_count 7

                """)
    }

    @Test func histogramsCarryTheirLabelsBesideTheBound() {
        let family = registry.histograms(
            "seconds", help: "Time.", labels: [MetricLabel("op", values: ["read"])], buckets: [1])
        family["read"].observe(0.5)
        #expect(registry.render().contains(#"seconds_bucket{op="read",le="1"} 1"#))
        #expect(registry.render().contains(#"seconds_sum{op="read"} 0.5"#))
        #expect(!registry.render().contains("other"))
    }

    @Test func nothingIsLostBetweenThreads() async {
        let counter = registry.counter("a_total", help: "A.")
        let gauge = registry.gauge("b", help: "B.")
        let histogram = registry.histogram("c", help: "C.", buckets: [1, 2])
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<2000 {
                        counter.increment()
                        gauge.add(1)
                        histogram.observe(1.5)
                    }
                }
            }
        }
        let sums = registry.histogram("d", help: "D.", buckets: [1])
        await withTaskGroup { group in
            for _ in 0..<4 { group.addTask { for _ in 0..<500_000 { sums.observe(2) } } }
        }
        #expect(sums.snapshot.sum == 4_000_000)
        #expect(counter.value == 16_000 && gauge.value == 16_000)
        #expect(histogram.snapshot.counts == [0, 16_000, 0] && histogram.snapshot.sum == 24_000)
    }

    @Test(arguments: [("", false), ("9a", false), ("a-b", false), ("a b", false), ("é", false), ("a_b:c9", true)])
    func namesAreThoseOfPrometheus(name: String, isName: Bool) {
        #expect(MetricsRegistry.isName(name) == isName)
    }

    @Test func aNameThatIsTakenStopsTheProgram() async {
        await #expect(processExitsWith: .failure) {
            let registry = MetricsRegistry()
            _ = registry.counter("a_total", help: "A.")
            _ = registry.counter("a_total", help: "A.")
        }
    }
}
