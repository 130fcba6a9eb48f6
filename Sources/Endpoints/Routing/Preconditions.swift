internal import HTTP

/// Conditional requests (RFC 9110 section 13), for representations with a strong entity tag or none. Dates of modification do
/// not exist, so that `If-Modified-Since` and `If-Unmodified-Since` are ignored, as sections 13.1.3 and 13.1.4 demand.
enum Preconditions {
    /// Evaluates the conditions of a GET or HEAD in the order of section 13.2.2, and replaces the answer 200 if they fail.
    /// Other answers are not changed (section 13.2.1).
    static func apply(_ request: Request, to response: inout Response) {
        // This quick test spares most requests the search: the name of every conditional field begins with an i.
        guard request.fields.mayContain(startingWith: UInt8(ascii: "i")), response.status == .ok,
            request.method == .get || request.method == .head
        else { return }
        let tag = response.fields.first("ETag")
        if request.fields.contains("If-Match"), !names(request.fields.values("If-Match"), tag, weakly: false) {
            response = Endpoints.problem(RequestProblem.preconditionFailed).response
        } else if request.fields.contains("If-None-Match"),
            names(request.fields.values("If-None-Match"), tag, weakly: true)
        {
            var fields = Fields()
            if let tag { fields.append("ETag", tag) }
            if let lifetime = response.fields.first("Cache-Control") { fields.append("Cache-Control", lifetime) }
            response = Response(status: .notModified, fields: fields)
        }
    }

    /// Throws if the conditions of a PUT, PATCH or DELETE fail. The resource exists and has no entity tag.
    static func check(_ request: Request) throws {
        guard request.method == .put || request.method == .patch || request.method == .delete else { return }
        let fields = request.fields
        let isWanted = !fields.contains("If-Match") || names(fields.values("If-Match"), nil, weakly: false)
        let isUnwanted = fields.contains("If-None-Match") && names(fields.values("If-None-Match"), nil, weakly: true)
        guard isWanted, !isUnwanted else { throw RequestProblem.preconditionFailed }
    }

    /// Returns true if the list of entity tags (section 8.8.3) contains `tag`, or is `*`, which matches any existing resource.
    /// A strong comparison matches no weak tag (section 8.8.3.2).
    private static func names(_ lines: [String], _ tag: String?, weakly: Bool) -> Bool {
        if lines == ["*"] { return true }
        for line in lines {
            var rest = line[...]
            while let next = rest.firstIndex(where: { $0 != "," && $0 != " " && $0 != "\t" }) {
                rest = rest[next...]
                let isWeak = rest.hasPrefix("W/")
                if isWeak { rest = rest.dropFirst(2) }
                guard rest.first == "\"", let end = rest.dropFirst().firstIndex(of: "\"") else { break }
                if rest[...end] == tag ?? "", weakly || !isWeak { return true }
                rest = rest[rest.index(after: end)...]
            }
        }
        return false
    }
}
