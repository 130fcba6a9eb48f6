package org.sojourn.android

import android.annotation.TargetApi
import android.app.Activity
import android.credentials.CreateCredentialException
import android.credentials.CreateCredentialRequest
import android.credentials.CreateCredentialResponse
import android.credentials.CredentialManager
import android.credentials.CredentialOption
import android.credentials.GetCredentialException
import android.credentials.GetCredentialRequest
import android.credentials.GetCredentialResponse
import android.os.Build
import android.os.Bundle
import android.os.CancellationSignal
import android.os.OutcomeReceiver
import org.json.JSONException
import org.json.JSONObject
import org.sojourn.PasskeyAuthenticator
import org.sojourn.PasskeyException
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ExecutionException
import java.util.concurrent.TimeUnit
import java.util.concurrent.TimeoutException

private const val PREFIX = "androidx.credentials."
private const val TYPE = PREFIX + "TYPE_PUBLIC_KEY_CREDENTIAL"
private const val EXISTS = PREFIX + "TYPE_CREATE_PUBLIC_KEY_CREDENTIAL_DOM_EXCEPTION/" + PREFIX + "TYPE_INVALID_STATE_ERROR"
private const val LONGEST_MINUTES = 5L

/**
 * Passkeys by the Credential Manager of Android 14, with the JSON of WebAuthn. The words of its bundles are those of androidx, which
 * providers read. An app that has androidx' own library for older versions implements [PasskeyAuthenticator] by that.
 *
 * The app needs a file `assetlinks.json` at the host of the login server, with the app's signing certificate.
 */
@TargetApi(Build.VERSION_CODES.UPSIDE_DOWN_CAKE)
class CredentialPasskeys(private val activity: Activity) : PasskeyAuthenticator {
    override fun assertion(options: String): String {
        val option = CredentialOption.Builder(TYPE, bundle("GET_PUBLIC_KEY_CREDENTIAL_OPTION", options), Bundle()).build()
        val request = GetCredentialRequest.Builder(Bundle()).addCredentialOption(option).build()
        val outcome = Outcome<GetCredentialResponse, GetCredentialException>()
        val signal = CancellationSignal()
        manager().getCredential(activity, request, signal, activity.mainExecutor, outcome)
        return text(outcome.wait(signal).credential.data, "AUTHENTICATION_RESPONSE_JSON")
    }

    override fun registration(options: String): String {
        val data = bundle("CREATE_PUBLIC_KEY_CREDENTIAL_REQUEST", options)
        data.putBundle(PREFIX + "BUNDLE_KEY_REQUEST_DISPLAY_INFO", display(options))
        val request = CreateCredentialRequest.Builder(TYPE, data, Bundle()).build()
        val outcome = Outcome<CreateCredentialResponse, CreateCredentialException>()
        val signal = CancellationSignal()
        manager().createCredential(activity, request, signal, activity.mainExecutor, outcome)
        return text(outcome.wait(signal).data, "REGISTRATION_RESPONSE_JSON")
    }

    private fun manager(): CredentialManager = activity.getSystemService(CredentialManager::class.java)
        ?: throw PasskeyException(PasskeyException.Kind.FAILED, "no Credential Manager")

    private fun bundle(subtype: String, json: String) = Bundle().apply {
        putString(PREFIX + "BUNDLE_KEY_SUBTYPE", PREFIX + "BUNDLE_VALUE_SUBTYPE_" + subtype)
        putString(PREFIX + "BUNDLE_KEY_REQUEST_JSON", json)
    }

    /** The names that the system shows to the user above the choice of a provider. */
    private fun display(json: String) = Bundle().apply {
        val user = try {
            JSONObject(json).optJSONObject("user")
        } catch (_: JSONException) {
            null
        }
        putCharSequence(PREFIX + "BUNDLE_KEY_USER_ID", user?.optString("name") ?: "")
        putCharSequence(PREFIX + "BUNDLE_KEY_USER_DISPLAY_NAME", user?.optString("displayName") ?: "")
    }

    private fun text(data: Bundle, name: String): String = data.getString(PREFIX + "BUNDLE_KEY_" + name)
        ?: throw PasskeyException(PasskeyException.Kind.FAILED, "an answer without $name")
}

/** The first answer of a call; the call is given up after five minutes, because no system promises one. */
@TargetApi(Build.VERSION_CODES.UPSIDE_DOWN_CAKE)
private class Outcome<Result : Any, Failure : Throwable> : OutcomeReceiver<Result, Failure> {
    private val answer = CompletableFuture<Result>()

    override fun onResult(result: Result) {
        answer.complete(result)
    }

    override fun onError(error: Failure) {
        answer.completeExceptionally(error)
    }

    fun wait(signal: CancellationSignal): Result {
        try {
            return answer.get(LONGEST_MINUTES, TimeUnit.MINUTES)
        } catch (error: ExecutionException) {
            throw exception(error.cause)
        } catch (_: TimeoutException) {
            signal.cancel()
        } catch (_: InterruptedException) {
            signal.cancel()
            Thread.currentThread().interrupt()
        }
        throw PasskeyException(PasskeyException.Kind.CANCELLED)
    }

    private fun exception(error: Throwable?): PasskeyException {
        val type = (error as? GetCredentialException)?.type ?: (error as? CreateCredentialException)?.type ?: ""
        val kind = when (type) {
            GetCredentialException.TYPE_USER_CANCELED, CreateCredentialException.TYPE_USER_CANCELED ->
                PasskeyException.Kind.CANCELLED
            EXISTS -> PasskeyException.Kind.ALREADY_REGISTERED
            else -> PasskeyException.Kind.FAILED
        }
        return PasskeyException(kind, type)
    }
}
