package com.example.shop

import android.content.Context
import android.os.Handler
import android.os.Looper
import io.flutter.plugin.common.BinaryMessenger
import io.flutter.plugin.common.MethodChannel
import org.sojourn.Sojourn
import org.sojourn.android.openLoginPage
import java.util.concurrent.Executors

/** Flutter's end on Android: made in `configureFlutterEngine`, with `flutterEngine.dartExecutor.binaryMessenger`. */
class SojournPlugin(context: Context, messenger: BinaryMessenger, sojourn: Sojourn) {
    private val channel = MethodChannel(messenger, "sojourn")
    private val main = Handler(Looper.getMainLooper())
    private val bridge = SojournBridge(sojourn, Executors.newCachedThreadPool(), { openLoginPage(context, it) }) { state ->
        main.post { channel.invokeMethod("state", state) }
    }

    init {
        channel.setMethodCallHandler { call, result ->
            @Suppress("UNCHECKED_CAST")
            val words = call.arguments as? Map<String, Any?> ?: emptyMap()
            // Flutter takes answers on the thread that draws alone.
            bridge.call(call.method, words) { answer -> main.post { result.success(answer) } }
        }
    }
}
