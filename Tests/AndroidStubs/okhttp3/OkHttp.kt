// The members of OkHttp 4 and 5 that `SojournInterceptor` uses, so that it compiles where OkHttp is not installed.

package okhttp3

abstract class HttpUrl {
    abstract val scheme: String
    abstract val host: String
    abstract val port: Int
    abstract val isHttps: Boolean
}

abstract class RequestBody {
    open fun isOneShot(): Boolean = false
}

abstract class Request {
    abstract val url: HttpUrl
    abstract val method: String
    abstract val body: RequestBody?

    abstract fun header(name: String): String?

    abstract fun newBuilder(): Builder

    abstract class Builder {
        abstract fun header(name: String, value: String): Builder

        abstract fun build(): Request
    }
}

abstract class Response {
    abstract val code: Int

    abstract fun header(name: String, defaultValue: String? = null): String?

    abstract fun close()
}

fun interface Interceptor {
    fun intercept(chain: Chain): Response

    interface Chain {
        fun request(): Request

        fun proceed(request: Request): Response
    }
}
