import Foundation

/// The words of the command line.
struct Options {
    struct Wrong: Error { let text: String }

    static let usage = """
        usage: sojourn-conformance [--server PATH] [--only RULE|NAME]… [--jobs N] --driver COMMAND…
               sojourn-conformance --list [--only RULE|NAME]…

        Each scenario starts COMMAND… DIR --server URL --renewal refresh-token|bound as often as it needs a process.
          --server PATH   the server's program; default: `sojourn` beside this program, or in PATH
          --only WORD     a rule (7), or a scenario (7-pages or pages); may be repeated
          --jobs N        scenarios that run side by side; default: 4
        """

    var server: String?
    var only: [String] = []
    var jobs = 4
    var isList = false
    var driver: [String] = []

    init(_ arguments: ArraySlice<String>) throws(Wrong) {
        var words = arguments
        while let word = words.popFirst() {
            switch word {
            case "--list": isList = true
            case "--driver":
                driver = Array(words)
                words = []
            case "--server", "--only", "--jobs":
                guard let value = words.popFirst() else { throw Wrong(text: "\(word) needs a value") }
                try set(word, value)
            default: throw Wrong(text: "unknown word \(word)")
            }
        }
        guard isList || !driver.isEmpty else { throw Wrong(text: "--driver is missing") }
        for word in only where !Scenario.all.contains(where: { $0.isCalled(word) }) {
            throw Wrong(text: "there is no scenario \(word)")
        }
    }

    private mutating func set(_ word: String, _ value: String) throws(Wrong) {
        switch word {
        case "--server":
            guard FileManager.default.isExecutableFile(atPath: value) else { throw Wrong(text: "no program \(value)") }
            // Each server runs in a folder of its own.
            server = URL(fileURLWithPath: value).path
        case "--only": only += value.split(separator: ",").map(String.init)
        default:
            guard let number = Int(value), (1...64).contains(number) else { throw Wrong(text: "--jobs: 1 to 64") }
            jobs = number
        }
    }

    func isChosen(_ scenario: Scenario) -> Bool { only.isEmpty || only.contains(where: scenario.isCalled) }
}
