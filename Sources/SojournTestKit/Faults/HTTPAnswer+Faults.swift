package import SojournClient

extension HTTPAnswer {
    /// Moves the field `Date`.
    package mutating func shiftDate(byHours hours: Int) {
        guard let text = self["Date"], let date = HTTPDate.seconds(text) else { return }
        replace("Date", by: HTTPDate.text(date + Int64(hours) * 3600))
    }

    /// Sets the only field of that name.
    package mutating func replace(_ name: String, by value: String) {
        fields.removeAll { $0.name.lowercased() == name.lowercased() }
        fields.append(HTTPMessageField(name, value))
    }
}

extension HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

    /// The text of a time from 1970 on. By arithmetic, because a fake server writes millions of them.
    package static func text(_ seconds: Int64) -> String {
        let (dayCount, second) = (seconds / 86_400, seconds % 86_400)
        // The year has 365 days at least, so that this is the year or one that is a little too late.
        var year = 1970 + dayCount / 365
        while days(year, 1, 1) > dayCount { year -= 1 }
        var month: Int64 = 12
        while days(year, month, 1) > dayCount { month -= 1 }
        let day = dayCount - days(year, month, 1) + 1
        let weekday = weekdays[Int(dayCount % 7)]
        let clock = [second / 3600, second / 60 % 60, second % 60].map(twoDigits).joined(separator: ":")
        return "\(weekday), \(twoDigits(day)) \(months[Int(month) - 1]) \(year) \(clock) GMT"
    }

    private static func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// The days from 1970-01-01 to a date. A year begins in March here, so that the leap day is its last.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month > 2 ? year : year - 1
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    }
}
