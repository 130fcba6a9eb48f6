// The members of Flutter's embedding that the bridge of the manual uses. No signatures of it were at hand to compare them with.

package io.flutter.plugin.common

interface BinaryMessenger

abstract class MethodCall {
    @JvmField val method: String = ""
    @JvmField val arguments: Any? = null
}

class MethodChannel(@Suppress("unused") private val messenger: BinaryMessenger, @Suppress("unused") private val name: String) {
    fun interface MethodCallHandler {
        fun onMethodCall(call: MethodCall, result: Result)
    }

    interface Result {
        fun success(result: Any?)
    }

    fun setMethodCallHandler(handler: MethodCallHandler?): Unit = throw UnsupportedOperationException("$handler")

    fun invokeMethod(method: String, arguments: Any?): Unit = throw UnsupportedOperationException("$method $arguments")
}
