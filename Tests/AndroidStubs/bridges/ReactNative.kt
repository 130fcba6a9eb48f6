// The members of React Native that the bridge of the manual uses. No signatures of it were at hand to compare them with.

package com.facebook.react.bridge

import android.content.Context

interface ReadableMap {
    fun toHashMap(): HashMap<String, Any?>
}

interface Promise {
    fun resolve(value: Any?)
}

object Arguments {
    fun makeNativeMap(members: Map<String, Any?>): ReadableMap = throw UnsupportedOperationException("$members")
}

open class ReactApplicationContext : Context() {
    fun emitDeviceEvent(name: String, members: Any?): Unit = throw UnsupportedOperationException("$name $members")
}

abstract class ReactContextBaseJavaModule(@Suppress("unused") private val context: ReactApplicationContext) {
    abstract fun getName(): String
}

@Target(AnnotationTarget.FUNCTION)
annotation class ReactMethod
