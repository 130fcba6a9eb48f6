import SojournClient

/// Answers that the proxy gives instead of the server.
extension HTTPAnswer {
    /// JSON. A client that waits before its next attempt need not wait.
    static func json(_ status: Int, _ text: String) -> HTTPAnswer {
        answer(status, "application/json", text)
    }

    /// A page of a proxy or of a captive portal.
    static func page(_ status: Int, _ text: String) -> HTTPAnswer { answer(status, "text/html", text) }

    static func redirect(_ status: Int, _ location: String) -> HTTPAnswer {
        var answer = page(status, "<html>Moved</html>")
        answer.fields.append(HTTPMessageField("Location", location))
        return answer
    }

    /// The server's word that a session has ended.
    static func ending(_ reason: String) -> HTTPAnswer {
        json(400, #"{"error":"invalid_grant","reason":"\#(reason)","reauthenticate":true}"#)
    }

    private static func answer(_ status: Int, _ type: String, _ text: String) -> HTTPAnswer {
        let fields = [HTTPMessageField("Content-Type", type), HTTPMessageField("Retry-After", "0")]
        return HTTPAnswer(status: status, fields: fields, body: Array(text.utf8))
    }
}
