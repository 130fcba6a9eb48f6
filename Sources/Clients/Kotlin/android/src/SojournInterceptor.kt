package org.sojourn.android

import okhttp3.Interceptor
import okhttp3.Request
import okhttp3.Response
import org.sojourn.AccessToken
import org.sojourn.Sojourn
import org.sojourn.SojournException
import org.sojourn.accessToken
import org.sojourn.authorize
import org.sojourn.noteChallenge
import org.sojourn.noteNonce
import org.sojourn.reject
import java.io.IOException

/**
 * Authorizes the calls of OkHttp to an app's own APIs. A call to another host gets no token, because a redirect or a picture of a
 * page would carry it away.
 *
 * A 401 renews once and repeats the call once. One that asks for a nonce is signed again without a renewal, and one that asks for the
 * user goes to the app, while the state becomes `PresenceRequired`. A body that can be sent only once is not sent again. An app adds it
 * as an application interceptor: `addInterceptor(…)`, because a network interceptor runs for each redirect.
 *
 * @param origins such as `https://api.example`
 */
class SojournInterceptor(private val sojourn: Sojourn, origins: Collection<String>) : Interceptor {
    private val origins = origins.map { it.trimEnd('/').lowercase() }

    override fun intercept(chain: Interceptor.Chain): Response {
        val request = chain.request()
        if (origin(request) !in origins || request.header("Authorization") != null) return chain.proceed(request)
        val token = guarded { sojourn.accessToken() }
        val answer = chain.proceed(authorized(request, token))
        noteNonce(request, answer)
        if (answer.code != 401) return answer
        val challenge = answer.header("WWW-Authenticate") ?: ""
        sojourn.noteChallenge(challenge)
        // A renewal does not show that the user is present.
        if ("insufficient_user_authentication" in challenge || request.body?.isOneShot() == true) return answer
        val next = try {
            if ("use_dpop_nonce" in challenge) token else {
                sojourn.reject(token)
                sojourn.accessToken()
            }
        } catch (_: SojournException) {
            // The API's own answer says more than a failed renewal. The next call meets what the session has come to.
            return answer
        }
        answer.close()
        return chain.proceed(authorized(request, next)).also { noteNonce(request, it) }
    }

    private fun authorized(request: Request, token: AccessToken): Request {
        val builder = request.newBuilder()
        val fields = guarded { sojourn.authorize(request.method, request.url.toString(), token) }
        for ((name, value) in fields) builder.header(name, value)
        return builder.build()
    }

    private fun noteNonce(request: Request, answer: Response) =
        sojourn.noteNonce(request.url.toString(), answer.header("DPoP-Nonce"))

    private fun origin(request: Request): String {
        val url = request.url
        val isDefault = url.port == (if (url.isHttps) 443 else 80)
        return url.scheme + "://" + url.host + if (isDefault) "" else ":" + url.port
    }

    /** OkHttp passes on an `IOException` alone; another one ends the app in calls that are enqueued. */
    private fun <Result> guarded(body: () -> Result): Result = try {
        body()
    } catch (error: SojournException) {
        throw SojournIOException(error)
    }
}

/** A call that could not be authorized. [cause] is the session's own error. */
class SojournIOException(override val cause: SojournException) : IOException(cause.message, cause)
