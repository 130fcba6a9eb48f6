package org.sojourn.unit

import org.sojourn.*
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.Executor
import java.util.concurrent.RejectedExecutionException

class SessionChecks : Subject("session") {
    init {
        check("observers get the present state, and then each change once") {
            val client = sojourn(FakeServer())
            val states = CopyOnWriteArrayList<SessionState>()
            val watch = client.observe { states.add(it) }
            client.signIn("anna", "pw")
            client.signOut()
            watch.close()
            client.signIn("anna", "pw")
            expect(states.map { it.javaClass.simpleName }, listOf("Starting", "SignedOut", "SignedIn", "SignedOut"))
        }
        check("a store that cannot tell shows no login") {
            val store = object : SessionStore by MemoryStore() {
                override fun load() = throw StoreException(StoreException.Kind.LOCKED)
            }
            val client = sojourn(FakeServer(), store)
            expect(client.start(), SessionState.Locked)
            failure<SojournException.Locked> { client.accessToken() }
        }
        check("a sign-out without a network is local at once, and told later") {
            val server = FakeServer()
            val store = MemoryStore()
            val client = sojourn(server, store)
            client.signIn("anna", "pw")
            server.isReachable = false
            expect(client.signOut(), true)
            expect(client.state, SessionState.SignedOut(SignOut.BY_USER))
            expect(client.settle(5.0), false)
            server.isReachable = true
            expect(client.settle(5.0), true)
            expect(server.count("/v1/logout"), 1)
        }
        check("members that this version does not know are kept") {
            val text = SessionRecord.new("device").with("later" to mapOf("a" to 1L)).text(null)
            val store = MemoryStore(text)
            sojourn(FakeServer(), store).signIn("anna", "pw")
            expect(membersOf(store.load()?.text ?: "")?.members("later"), mapOf("a" to 1L))
        }
        check("a token goes to no URL without https") {
            val client = sojourn(FakeServer())
            client.signIn("anna", "pw")
            failure<SojournException.Misconfigured> { client.authorize("GET", "http://api.example/") }
            expect(client.authorize("GET", "https://api.example/").keys, setOf("Authorization"))
        }
        check("forgetting the device leaves neither record nor key") {
            val store = MemoryStore()
            val keys = MemoryKeys()
            val client = Sojourn(
                SojournConfiguration(FakeServer.URL), SojournPlatform(store, keys, transport = FakeServer()))
            client.signIn("anna", "pw")
            client.forgetDevice()
            expect(store.load()?.version, null)
            expect(keys.key(KeyName.DEVICE)?.publicKey, null)
        }
        check("a second factor goes on with the first proof, and in the mode of the login") {
            val server = FakeServer()
            server.answers["/v1/login"] = { request ->
                if (membersOf(request.body ?: "")?.text("code") == "123456") null else {
                    server.json(
                        mapOf("code" to "second_factor_required", "methods" to listOf("totp"), "login_token" to "sealed"), 401)
                }
            }
            val client = sojourn(server)
            val error = failure<SojournException.SecondFactorRequired> { client.signIn("anna", "pw", AuthenticationMode.PASSWORD) }
            expect(error.login.methods, listOf("totp"))
            expect(error.login.confirm("123456").username, "anna")
            expect(client.authenticationMode, AuthenticationMode.PASSWORD)
            expect(membersOf(server.requests.last().body ?: "")?.text("login_token"), "sealed")
        }
        check("a renewal that cannot run, or that an error of the platform ends, keeps no caller waiting") {
            var run: (Runnable) -> Unit = { throw RejectedExecutionException() }
            val store = MemoryStore()
            val server = FakeServer()
            sojourn(server, store).signIn("anna", "pw")
            val client = Sojourn(
                SojournConfiguration(FakeServer.URL, renewal = Renewing.REFRESH_TOKEN),
                SojournPlatform(store, MemoryKeys(), transport = server, background = Executor { run(it) }))
            server.lifetime = 3600
            client.start()
            expect(client.flights.size, 0)
            failure<SojournException.Unreachable> { client.accessToken(Need.After(client.accessToken())) }
            run = { it.run() }
            server.answers["/oauth/token"] = { throw NoClassDefFoundError("a damaged app") }
            client.retries.noteAnswer()
            client.start()
            expect(client.flights.size, 0)
            run = { throw RejectedExecutionException() }
            expect(client.signOut(), true)
            expect(client.settle(0.2), false)
            run = { it.run() }
            expect(client.settle(5.0), true)
        }
        check("a login in a thread that is interrupted ends with an error of the client, and can be repeated") {
            val server = FakeServer()
            server.isReachable = false
            val client = sojourn(server)
            Thread.currentThread().interrupt()
            val error = try {
                client.signIn("anna", "pw")
                null
            } catch (error: Exception) {
                error
            }
            expect(Thread.interrupted(), "the interrupt is kept")
            expect(error is SojournException.Cancelled, "$error")
            server.isReachable = true
            expect(client.signIn("anna", "pw").username, "anna")
        }
        check("signatures have 64 bytes, and thumbprints are those of RFC 7638") {
            repeat(20) { expect(SoftwareKey.make().sign("text".toByteArray()).size, 64) }
            val key = SoftwareKey.make()
            expect(SoftwareKey.of(key.text)?.publicKey?.json, key.publicKey.json)
            val other = SoftwareKey.make()
            expect(key.agree(other.publicKey).toList(), other.agree(key.publicKey).toList())
        }
    }
}
