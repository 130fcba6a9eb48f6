import FoundationEssentials
import JSON
import Repository
import Telemetry
import Testing

/// The dashboard for Grafana and the alerts for Prometheus ask for metrics, labels and values that the code has.
@Suite("Dashboard and alerts")
struct MonitoringFilesTests {
    /// Labels that Prometheus adds.
    private static let added: Set = ["job", "instance", "le"]

    /// The page of the manual.
    private static let page = "Sources/sojourn/Sojourn.docc/Operating/Monitoring.md"

    private let metrics: [String: MetricsRegistry.Description]

    init() throws {
        let all = try MetricsPage.groups().flatMap(\.metrics).map { ($0.name, $0) }
        metrics = Dictionary(uniqueKeysWithValues: all)
    }

    private static func manual() throws -> String {
        String(decoding: try #require(FileManager.default.contents(atPath: Repository.path(page))), as: UTF8.self)
    }

    // MARK: Expressions

    /// What is wrong with an expression in PromQL, and the labels that its series have.
    private func review(_ expression: String) -> (faults: [String], labels: Set<String>) {
        var faults: [String] = []
        var labels = Self.added
        for match in expression.matches(of: #/\b(sojourn_[a-z_]+)(?:\{([^}]*)\})?/#) {
            guard let metric = metric(named: String(match.1)) else {
                faults.append("\(match.1) is no metric")
                continue
            }
            labels.formUnion(metric.labels.map(\.name))
            let matchers = (match.2 ?? "").matches(of: #/([a-z_]+)(=~|!~|!=|=)"([^"]*)"/#)
            for matcher in matchers where !Self.added.contains(String(matcher.1)) {
                guard let label = metric.labels.first(where: { $0.name == matcher.1 }) else {
                    faults.append("\(metric.name) has no label \(matcher.1)")
                    continue
                }
                let values = matcher.2.hasSuffix("~") ? matcher.3.split(separator: "|") : [matcher.3]
                for value in values where !label.values.isEmpty && !(label.values + ["other"]).contains(String(value)) {
                    faults.append("\(metric.name) has no \(label.name) \(value)")
                }
            }
        }
        for match in expression.matches(of: #/\b(?:by|on|without|ignoring) \(([a-z_, ]*)\)/#) {
            for name in match.1.split(separator: ", ") where !labels.contains(String(name)) {
                faults.append("no metric of it has the label \(name)")
            }
        }
        let (open, close) = (expression.count { $0 == "(" }, expression.count { $0 == ")" })
        if open != close { faults.append("\(open) parentheses open, \(close) close") }
        return (faults, labels)
    }

    /// The metric to which a series belongs: a histogram has three kinds of series, and none with its own name.
    private func metric(named name: String) -> MetricsRegistry.Description? {
        if let metric = metrics[name] { return metric.type == "histogram" ? nil : metric }
        let suffix = ["_bucket", "_sum", "_count"].first { name.hasSuffix($0) } ?? ""
        guard let metric = metrics[String(name.dropLast(suffix.count))], metric.type == "histogram" else { return nil }
        return metric
    }

    // MARK: Dashboard

    private static func dashboard() throws -> JSONValue {
        let bytes = try #require(FileManager.default.contents(atPath: Repository.path("config/grafana/sojourn.json")))
        return try #require(JSONValue(text: [UInt8](bytes)))
    }

    @Test("each panel of the dashboard asks for what the code has, and its legend for labels of that")
    func panels() throws {
        let panels = try #require(Self.dashboard()["panels"]?.elements).filter { $0["type"]?.string != "row" }
        #expect(panels.count > 20)
        for panel in panels {
            let title = panel["title"]?.string ?? ""
            let targets = panel["targets"]?.elements ?? []
            #expect(!targets.isEmpty, "\(title)")
            for target in targets {
                let (faults, labels) = review(target["expr"]?.string ?? "")
                #expect(faults == [], "\(title)")
                let legend = target["legendFormat"]?.string ?? ""
                for match in legend.matches(of: #/\{\{([^}]*)\}\}/#) {
                    #expect(labels.contains(String(match.1)), "\(title): \(legend)")
                }
            }
        }
    }

    @Test("panels have numbers of their own and do not overlap")
    func places() throws {
        let panels = try #require(Self.dashboard()["panels"]?.elements)
        #expect(Set(panels.map { $0["id"]?.integer }).count == panels.count)
        var cells: Set<[Int64]> = []
        for panel in panels {
            let place = try #require(panel["gridPos"])
            let (x, y) = (try #require(place["x"]?.integer), try #require(place["y"]?.integer))
            let (width, height) = (try #require(place["w"]?.integer), try #require(place["h"]?.integer))
            #expect(x + width <= 24)
            for column in x..<x + width {
                for line in y..<y + height {
                    #expect(cells.insert([column, line]).inserted, "\(panel["title"]?.string ?? "")")
                }
            }
        }
    }

    @Test("the panels about refreshes have every outcome once")
    func outcomes() throws {
        let metric = try #require(metrics["sojourn_refreshes_total"])
        let known = try #require(metric.labels.first?.values)
        var shown: [String] = []
        for panel in try #require(Self.dashboard()["panels"]?.elements) {
            for target in panel["targets"]?.elements ?? [] {
                let expression = target["expr"]?.string ?? ""
                guard expression.contains("by (outcome) (rate(sojourn_refreshes_total") else { continue }
                let values = expression.firstMatch(of: #/outcome=~"([^"]*)"/#)?.1 ?? ""
                shown += values.split(separator: "|").map(String.init)
            }
        }
        // The rate of refreshes shows those that came to no decision.
        #expect(shown.sorted() == known.filter { $0 != "failed" }.sorted())
    }

    @Test("the manual explains each metric in one row of a table, with its type and its labels")
    func explained() throws {
        let rows = try Self.manual().matches(of: #/\n\| `(sojourn_[a-z_]+)` \| (\w+) \|([^|]*)\|/#)
        #expect(rows.map { String($0.1) }.sorted() == metrics.keys.sorted())
        for row in rows {
            let metric = metrics[String(row.1)]
            #expect(row.2 == metric?.type ?? "", "\(row.1)")
            let labels = row.3.matches(of: #/`([a-z_]+)`/#).map { String($0.1) }
            #expect(labels == metric?.labels.map(\.name), "\(row.1)")
        }
    }

    /// What was given up is not tried again, so that an operator has to see it.
    @Test("each counter of messages that can be lost is in a panel, and its losses are in an alert")
    func losses() throws {
        let counters = metrics.values.filter { metric in metric.labels.contains { $0.values.contains("lost") } }
        let names = counters.map(\.name)
        let panels = try Self.dashboard()["panels"]?.elements ?? []
        let shown = panels.flatMap { $0["targets"]?.elements ?? [] }.compactMap { $0["expr"]?.string }
        let rules = try AlertRules().rules.map { $0["expr"] }
        #expect(names.count >= 5)
        for name in names where name != "sojourn_identity_rechecks_total" {
            #expect(shown.contains { $0.contains(name) }, "\(name) is in no panel")
            #expect(rules.contains { $0.contains(name) && $0.contains("lost") }, "\(name) is in no alert")
        }
    }

    // MARK: Alerts

    @Test("each alert asks for what the code has")
    func alerts() throws {
        let rules = try AlertRules().rules
        #expect(rules.count > 10)
        #expect(Set(rules.map { $0["alert"] }).count == rules.count)
        for rule in rules {
            let (faults, labels) = review(rule["expr"])
            #expect(faults == [], "\(rule["alert"])")
            let isAbout = rule["expr"].contains("sojourn_") || rule["expr"] == #"up{job="sojourn"} == 0"#
            #expect(isAbout, "\(rule["alert"])")
            for match in (rule["summary"] + rule["description"]).matches(of: #/\$labels\.([a-z_]+)/#) {
                #expect(labels.contains(String(match.1)), "\(rule["alert"]): \(match.1)")
            }
            #expect(rule["for"].wholeMatch(of: #/[0-9]+[mh]/#) != nil, "\(rule["alert"])")
            #expect(["critical", "warning"].contains(rule["severity"]), "\(rule["alert"])")
            #expect(!rule["summary"].isEmpty && !rule["description"].isEmpty, "\(rule["alert"])")
        }
    }

    @Test("each alert links its heading in the manual, and each of these headings has an alert")
    func runbooks() throws {
        let headings = try Self.manual().matches(of: #/\n### (Sojourn\w+)\n/#).map { String($0.1) }
        let rules = try AlertRules().rules
        #expect(rules.map { $0["alert"] } == headings)
        for rule in rules { #expect(rule["runbook_url"] == "\(Self.page)#\(rule["alert"].lowercased())") }
    }

    @Test(
        "a file of alerts in which YAML could see something else is refused",
        arguments: [
            ("        for: 1m\n", ""), ("        for: 1m", "        for: 1 m"), ("        for: 1m", "       for: 1m"),
            ("severity: critical", "severity: critical # for people"), ("'up == 0'", "up == 0"),
            ("'up == 0'", "'up's'"),
            ("        labels:", "        labels: {}"), ("groups:", "group:"), ("          runbook_url: 'd'\n", ""),
        ])
    func strictness(_ from: String, _ to: String) throws {
        let text = """
            groups:
              - name: sojourn
                rules:
                  - alert: A
                    expr: 'up == 0'
                    for: 1m
                    labels:
                      severity: critical
                    annotations:
                      summary: 'b'
                      description: 'c'
                      runbook_url: 'd'

            """
        #expect(try AlertRules(text: text).rules.count == 1)
        #expect(throws: AlertRules.Unreadable.self) { try AlertRules(text: text.replacing(from, with: to)) }
    }
}
