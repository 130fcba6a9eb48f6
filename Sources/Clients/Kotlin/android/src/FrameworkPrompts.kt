package org.sojourn.android

import android.annotation.TargetApi
import android.app.KeyguardManager
import android.content.Context
import android.content.pm.PackageManager
import android.hardware.biometrics.BiometricManager
import android.hardware.biometrics.BiometricPrompt
import android.os.Build
import android.os.CancellationSignal
import org.sojourn.GateAvailability

/** Shows the prompts of the framework. Those of androidx return without a word after the activity was stopped. */
@TargetApi(Build.VERSION_CODES.P)
internal class FrameworkPrompts(
    private val context: Context, private val screen: ActivityScreen, private val usePassword: String,
) : Prompts {
    override fun availability(): GateAvailability {
        val hasCredential = context.getSystemService(KeyguardManager::class.java)?.isDeviceSecure == true
        val code = obstacle()
        return GateAvailability(if (code == BiometricManager.BIOMETRIC_SUCCESS) null else presence(code), hasCredential)
    }

    /** The codes of the manager are those of the prompt. */
    private fun obstacle(): Int {
        if (Build.VERSION.SDK_INT < Build.VERSION_CODES.Q) {
            val hasReader = context.packageManager.hasSystemFeature(PackageManager.FEATURE_FINGERPRINT)
            return if (hasReader) BiometricManager.BIOMETRIC_SUCCESS else PromptCode.NOT_PRESENT
        }
        val manager = context.getSystemService(BiometricManager::class.java) ?: return PromptCode.NOT_PRESENT
        if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.R) {
            return manager.canAuthenticate(BiometricManager.Authenticators.BIOMETRIC_STRONG)
        }
        @Suppress("DEPRECATION")
        return manager.canAuthenticate()
    }

    override fun show(prompt: Prompt, answer: (code: Int?) -> Unit): () -> Unit {
        val activity = screen.activity
        val builder = activity?.let { builder(it, prompt, answer) }
        if (builder == null) {
            answer(if (activity == null) PromptCode.CANCELED else PromptCode.NOT_AVAILABLE)
            return {}
        }
        val signal = CancellationSignal()
        val callback = object : BiometricPrompt.AuthenticationCallback() {
            override fun onAuthenticationSucceeded(result: BiometricPrompt.AuthenticationResult?) = answer(null)

            override fun onAuthenticationError(errorCode: Int, errString: CharSequence?) = answer(errorCode)
            // A finger that was not recognized is shown by the prompt, which goes on.
        }
        val executor = activity.mainExecutor
        if (prompt.cipher == null) {
            builder.build().authenticate(signal, executor, callback)
        } else {
            builder.build().authenticate(BiometricPrompt.CryptoObject(prompt.cipher), signal, executor, callback)
        }
        return signal::cancel
    }

    /** Null where the framework cannot ask for the credential of the device: before API 29. */
    private fun builder(context: Context, prompt: Prompt, answer: (code: Int?) -> Unit): BiometricPrompt.Builder? {
        val builder = BiometricPrompt.Builder(context).setTitle(prompt.title)
        if (prompt.text != null) builder.setDescription(prompt.text)
        if (prompt.cipher != null) {
            builder.setNegativeButton(usePassword, context.mainExecutor) { _, _ -> answer(PromptCode.NEGATIVE_BUTTON) }
            if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.R) {
                builder.setAllowedAuthenticators(BiometricManager.Authenticators.BIOMETRIC_STRONG)
            }
            return builder
        }
        if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.R) {
            return builder.setAllowedAuthenticators(BiometricManager.Authenticators.DEVICE_CREDENTIAL)
        }
        if (Build.VERSION.SDK_INT < Build.VERSION_CODES.Q) return null
        @Suppress("DEPRECATION")
        return builder.setDeviceCredentialAllowed(true)
    }
}
