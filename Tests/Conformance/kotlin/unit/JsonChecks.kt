package org.sojourn.unit

import org.sojourn.*

class JsonChecks : Subject("JSON") {
    init {
        check("values come back as they were") {
            val text = """{"a":[1,-2,0.5,true,false,null,"x"],"b":{"c":"ä\u00e4\n\"\\\/","d":9007199254740993}}"""
            val members = checkNotNull(membersOf(text))
            expect(members.elements("a"), listOf(1L, -2L, 0.5, true, false, null, "x"))
            expect(members.members("b")?.text("c"), "ää\n\"\\/")
            expect(members.members("b")?.number("d"), 9007199254740993)
            expect(membersOf(jsonOf(members)), members)
        }
        check("members are written in the order of their names") {
            expect(jsonOf(mapOf("b" to 1, "a" to listOf("\u0001", "\""), "c" to null)), """{"a":["\u0001","\""],"b":1,"c":null}""")
        }
        check("hostile texts are none") {
            val hostile = listOf(
                "", " ", "{", "{}{}", "[1,]", "{\"a\":1,}", "{\"a\" 1}", "{a:1}", "{\"a\":1,\"a\":2}", "01", "1.", ".5", "+1", "-",
                "1e", "1e999", "0x1", "NaN", "tru", "nulll", "\"", "\"\\\"", "\"\\u12\"", "\"\\u12G4\"", "\"\\x\"", "\"\n\"",
                "\"\\ud800\"", "\"\\udc00\\ud800\"", "\"\\u+123\"", "'a'", "\u00a01", "1\u0000", "[1}", "{\"a\":}", "\ufeff{}",
            )
            for (text in hostile) expect(valueOf(text), null, text)
        }
        check("depth is limited, and a long text of brackets costs no stack") {
            expect(membersOf("{\"a\":" + "[".repeat(63) + "]".repeat(63) + "}") != null, "63 levels below one")
            expect(membersOf("{\"a\":" + "[".repeat(64) + "]".repeat(64) + "}"), null)
            expect(valueOf("[".repeat(1_000_000)), null)
        }
        check("pairs of surrogates are text") {
            expect(membersOf("{\"a\":\"\\ud83d\\ude00\"}")?.text("a"), "\ud83d\ude00")
        }
        check("numbers of wrong kinds are absent") {
            val members = checkNotNull(membersOf("""{"a":1.5,"b":"1","c":1e3,"d":true,"e":99999999999999999999}"""))
            expect(members.number("a"), null)
            expect(members.number("b"), null)
            expect(members.number("c"), 1000)
            expect(members.number("d"), null)
            expect(members.number("e"), null)
        }
    }
}
