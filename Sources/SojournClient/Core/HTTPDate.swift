/// The dates of HTTP (RFC 9110 §5.6.7), in the form that servers send today.
package enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Seconds since 1970 of a date like `Sun, 06 Nov 1994 08:49:37 GMT`; nil if `text` is no such date.
    package static func seconds(_ text: String) -> Int64? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", parts[0].hasSuffix(","), let day = number(parts[1], in: 1...31),
            let month = months.firstIndex(of: String(parts[2])), let year = number(parts[3], in: 1970...9999)
        else { return nil }
        let time = parts[4].split(separator: ":", omittingEmptySubsequences: false)
        guard time.count == 3, let hour = number(time[0], in: 0...23), let minute = number(time[1], in: 0...59),
            let second = number(time[2], in: 0...60)
        else { return nil }
        // Days since 1970: March is counted as the first month, so that the leap day is the last one.
        let (shiftedYear, shiftedMonth) = month < 2 ? (year - 1, month + 10) : (year, month - 2)
        let days =
            365 * shiftedYear + shiftedYear / 4 - shiftedYear / 100 + shiftedYear / 400
            + (153 * shiftedMonth + 2) / 5 + day - 1 - 719_468
        return Int64(days) * 86_400 + Int64(hour * 3600 + minute * 60 + second)
    }

    private static func number(_ text: Substring, in range: ClosedRange<Int>) -> Int? {
        guard text.utf8.allSatisfy({ (48...57).contains($0) }), let value = Int(text), range.contains(value) else {
            return nil
        }
        return value
    }
}
