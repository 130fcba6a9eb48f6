/// Hides the passwords in the URL of a PostgreSQL database.
enum DatabaseURL {
    /// `url` with `…` for its passwords, which can be before the host and in the query (libpq, "Connection URIs"). A
    /// parameter is shown only if its name is clearly another one, because libpq also accepts `p%61ssword`.
    static func withoutPasswords(_ url: String) -> String {
        // This is first, because libpq accepts a `?` in the password.
        let masked = withoutPasswordOfUser(url)
        let parts = masked.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count > 1 else { return masked }
        let parameters = parts[1].split(separator: "&", omittingEmptySubsequences: false).map { parameter in
            guard let equals = parameter.firstIndex(of: "=") else { return String(parameter) }
            let name = parameter[..<equals]
            let isShown = !name.contains("%") && !name.lowercased().contains("password")
            return isShown ? String(parameter) : name + "=…"
        }
        return parts[0] + "?" + parameters.joined(separator: "&")
    }

    /// Hides everything up to the last `@`: hiding too much is safe.
    private static func withoutPasswordOfUser(_ url: String) -> String {
        guard let scheme = url.firstRange(of: "://"), let at = url[scheme.upperBound...].lastIndex(of: "@"),
            let colon = url[scheme.upperBound..<at].firstIndex(of: ":")
        else { return url }
        return url[..<colon] + ":…" + url[at...]
    }
}
