package org.sojourn.unit

import org.sojourn.*

class VerdictChecks : Subject("Verdict") {
    private fun of(status: Int, text: String, fields: Map<String, String> = emptyMap(), isKeyGone: Boolean = false) =
        Verdict.of(HttpAnswer(status, fields, text), isKeyGone)

    init {
        check("two answers end a session, and no others") {
            val ends = ArrayList<String>()
            val bodies = listOf(
                """{"reason":"idle_expired","reauthenticate":true}""", """{"reason":"user_deleted","reauthenticate":false}""",
                """{"reason":"idle_expired","reauthenticate":false}""", """{"error":"invalid_grant","reauthenticate":true}""",
                """{"reason":"idle_expired"}""", """{"reason":"idle_expired","reauthenticate":"true"}""", "<html>", "", "{", "[]",
                """{"reason":"binding_mismatch","reauthenticate":false}""",
            )
            for (status in listOf(200, 204, 302, 400, 401, 403, 404, 408, 410, 429, 500, 503)) {
                for (body in bodies) if (of(status, body) is Verdict.Ended) ends.add("$status $body")
            }
            expect(ends, listOf(400, 401).flatMap { status -> bodies.take(2).map { "$status $it" } })
        }
        check("a key that is gone makes a wrong binding final, and nothing else") {
            val body = """{"reason":"binding_mismatch","reauthenticate":false}"""
            expect((of(400, body, isKeyGone = true) as? Verdict.Ended)?.reason, "key_lost")
            expect((of(400, body) as? Verdict.Suspended)?.reason, "binding_mismatch")
            expect(of(403, body, isKeyGone = true) is Verdict.Suspended, "403 ends nothing")
        }
        check("200 is an answer only with an access token and its time") {
            expect(of(200, """{"access_token":"a","issued_at":1}""") is Verdict.Granted, "tokens")
            for (body in listOf("""{"access_token":"a"}""", """{"access_token":"","issued_at":1}""", "<html>")) {
                expect(of(200, body) is Verdict.Unreachable, body)
            }
        }
        check("Retry-After is a number, or a date beside Date, and an hour at most") {
            fun seconds(vararg fields: Pair<String, String>) =
                (of(503, "", fields.toMap()) as? Verdict.Unreachable)?.retryAfter
            expect(seconds("retry-after" to "7"), 7)
            expect(seconds("retry-after" to "-1"), null)
            expect(seconds("retry-after" to "999999"), 3600)
            val date = "Sun, 06 Nov 1994 08:49:37 GMT"
            expect(seconds("retry-after" to date.replace("37", "47"), "date" to date), 10)
            expect(seconds("retry-after" to date), null)
        }
        check("the time of a page counts not, nor that of a cache") {
            val date = mapOf("date" to "Sun, 06 Nov 1994 08:49:37 GMT")
            expect(HttpAnswer(400, date, """{"error":"x"}""").serverTime, 784111777)
            expect(HttpAnswer(400, date, "<html>").serverTime, null)
            expect(HttpAnswer(400, date + ("age" to "1"), """{"error":"x"}""").serverTime, null)
            expect(httpDate("Sun, 06 Nov 1994 08:49:37 GMT x"), null)
        }
    }
}
