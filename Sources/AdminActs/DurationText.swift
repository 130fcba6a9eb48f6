/// A duration as admins write and read it: a number with a unit. The command line and the console have one reader.
public enum DurationText {
    private static let units: [(name: Character, length: Int64)] = [
        ("s", 1), ("m", 60), ("h", 3600), ("d", 86400), ("w", 604_800),
    ]

    /// What a field says about the text that it takes.
    public static let hint = "Such as 14d, 12h or 90m."
    /// An example where there is less room.
    public static let example = "14d, 12h"

    /// Seconds from `90s`, `15m`, `12h`, `14d`, `2w`, and from `0`, which needs no unit; nil for anything else.
    public static func seconds(_ text: String) -> Int64? {
        if text == "0" { return 0 }
        guard let factor = text.last.flatMap({ last in units.first { $0.name == last }?.length }) else { return nil }
        let digits = text.dropLast()
        guard !digits.isEmpty, digits.allSatisfy({ ("0"..."9").contains($0) }), let number = Int64(digits) else {
            return nil
        }
        let (product, overflow) = number.multipliedReportingOverflow(by: factor)
        return overflow ? nil : product
    }

    /// `14d`, `90m`, `45s`: the shortest text with these seconds.
    public static func text(_ seconds: Int64) -> String {
        if seconds == 0 { return "0" }
        let unit = units.prefix { $0.name != "w" }.last { seconds % $0.length == 0 }
        return unit.map { "\(seconds / $0.length)\($0.name)" } ?? "\(seconds)s"
    }

    /// The shortest text with a duration.
    public static func text(_ duration: Duration) -> String { text(duration.components.seconds) }

    /// Why the value of `name` cannot be read.
    public static func problem(_ name: String, _ text: String) -> String {
        let problem = "\(name) must be a duration with a unit, like 90s, 15m, 12h or 14d, not '\(text)'"
        guard let number = Int64(text), number > 0 else { return problem }
        return "\(problem); is it \(text)s, \(text)m, \(text)h or \(text)d?"
    }

    /// The seconds of a field of the console. Throws the sentence for a text that cannot be read.
    public static func seconds(_ text: String, in label: String) throws(CallRefusal) -> Int64 {
        if let seconds = seconds(text) { return seconds }
        let problem = problem(label, text)
        throw CallRefusal(problem.hasSuffix("?") ? problem : problem + ".")
    }
}
