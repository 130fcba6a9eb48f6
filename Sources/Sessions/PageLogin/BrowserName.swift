extension PageLoginService.Browser {
    /// The name of the browser in a list of devices: `Firefox · Linux`. Nil if its `User-Agent` names no known browser.
    var name: String? { userAgent.flatMap(Self.name(of:)) }

    /// What a `User-Agent` must contain for each name. The order matters, because most browsers also name those that they
    /// resemble.
    private static let browsers = [
        ("Edg", "Edge"), ("OPR/", "Opera"), ("SamsungBrowser/", "Samsung Internet"), ("FxiOS/", "Firefox"),
        ("Firefox/", "Firefox"), ("CriOS/", "Chrome"), ("Chrome/", "Chrome"), ("Safari/", "Safari"),
    ]
    private static let systems = [
        ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows"), ("CrOS", "ChromeOS"),
        ("Mac OS X", "macOS"), ("Linux", "Linux"),
    ]

    /// The name of the browser with that `User-Agent`: `Firefox · Linux`. Nil for one that is not known.
    public static func name(of userAgent: String) -> String? {
        guard let browser = browsers.first(where: { userAgent.contains($0.0) })?.1 else { return nil }
        let system = systems.first { userAgent.contains($0.0) }?.1
        return system.map { "\(browser) · \($0)" } ?? browser
    }
}
