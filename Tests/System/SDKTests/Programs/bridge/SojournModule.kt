package com.example.shop

import com.facebook.react.bridge.Arguments
import com.facebook.react.bridge.Promise
import com.facebook.react.bridge.ReactApplicationContext
import com.facebook.react.bridge.ReactContextBaseJavaModule
import com.facebook.react.bridge.ReactMethod
import com.facebook.react.bridge.ReadableMap
import org.sojourn.Sojourn
import org.sojourn.android.openLoginPage
import java.util.concurrent.Executors

/** React Native's end on Android: one method, and the event `sojourn.state`. */
class SojournModule(private val context: ReactApplicationContext, sojourn: Sojourn) : ReactContextBaseJavaModule(context) {
    private val bridge = SojournBridge(sojourn, Executors.newCachedThreadPool(), { openLoginPage(context, it) }) { state ->
        context.emitDeviceEvent("sojourn.state", Arguments.makeNativeMap(state))
    }

    override fun getName() = "Sojourn"

    @ReactMethod
    fun call(name: String, words: ReadableMap, promise: Promise) =
        bridge.call(name, words.toHashMap()) { promise.resolve(Arguments.makeNativeMap(it)) }

    @ReactMethod
    fun addListener(name: String) {}

    @ReactMethod
    fun removeListeners(count: Double) {}
}
