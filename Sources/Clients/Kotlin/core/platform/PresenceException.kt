package org.sojourn

import kotlin.math.abs
import kotlin.math.min

/** The origin of a gate's codes. The numbers collide: 8 is a lock-out on Apple's platforms and a failure of the vendor's here. */
enum class BiometryPlatform {
    /** `LAError` and `OSStatus`, as absolute values. */
    APPLE,

    /** `androidx.biometric.BiometricPrompt`. */
    ANDROID,
}

/** The meaning of a code for an app. */
enum class PresenceKind {
    /** The user, the system or the app interrupted the prompt. */
    CANCELLED,

    /** Biometry could not be read. */
    NOT_RECOGNIZED,

    /** The wrong biometry was given, perhaps by an attacker. */
    POSSIBLE_ATTACK,

    /** Too many failed attempts. The device's credential unlocks biometry. */
    LOCKED_OUT,

    /** Too many failed attempts in all: only the device's credential leads on. */
    LOCKED_OUT_FOR_GOOD,

    /** Biometry, or the device's own lock, is not set up or cannot be used at present. */
    NOT_SET_UP,

    /** The enrolled biometry has changed, and the keys behind it no longer exist. */
    ENROLLMENT_CHANGED,

    /** The device has no biometry. */
    UNSUPPORTED,

    /** A key of that name exists already. */
    DUPLICATE,

    /** A code that the table does not have. */
    UNKNOWN,
}

/** The reason why the user's presence could not be shown. [code] is the platform's, as an absolute value. */
class PresenceException(val platform: BiometryPlatform, code: Int) : Exception("presence: code $code of $platform") {
    val code = if (code == Int.MIN_VALUE) Int.MAX_VALUE else abs(code)

    /** The code behind the number of the subsystem: 802000007 for the code 7. Codes beyond six digits become 802999999. */
    val errorCode get() = BASE + min(code, 999_999)

    val kind get() = (if (platform == BiometryPlatform.APPLE) appleKinds else androidKinds)[code] ?: PresenceKind.UNKNOWN

    companion object {
        private const val BASE = 802_000_000

        /** Android's exception without a number for changed biometry (`KeyPermanentlyInvalidatedException`) has Apple's. */
        const val ENROLLMENT_CHANGED = 67811

        /**
         * The error of a code with nine digits, such as 802000007; null if it is of another subsystem. The subsystem is
         * subtracted, because the last two digits alone are wrong for codes over 99, such as 25293.
         */
        fun of(platform: BiometryPlatform, errorCode: Int): PresenceException? =
            if (errorCode in BASE until BASE + 1_000_000) PresenceException(platform, errorCode - BASE) else null

        private val appleKinds = mapOf(
            1 to PresenceKind.POSSIBLE_ATTACK, 2 to PresenceKind.CANCELLED, 4 to PresenceKind.CANCELLED,
            5 to PresenceKind.NOT_SET_UP, 6 to PresenceKind.UNSUPPORTED, 7 to PresenceKind.NOT_SET_UP,
            8 to PresenceKind.LOCKED_OUT, 9 to PresenceKind.CANCELLED, 10 to PresenceKind.NOT_RECOGNIZED,
            50 to PresenceKind.NOT_RECOGNIZED, 128 to PresenceKind.CANCELLED, 1004 to PresenceKind.CANCELLED,
            25293 to PresenceKind.POSSIBLE_ATTACK, 25299 to PresenceKind.DUPLICATE,
            25300 to PresenceKind.ENROLLMENT_CHANGED, 67811 to PresenceKind.ENROLLMENT_CHANGED,
        )

        private val androidKinds = mapOf(
            1 to PresenceKind.NOT_SET_UP, 2 to PresenceKind.NOT_RECOGNIZED, 3 to PresenceKind.NOT_RECOGNIZED,
            4 to PresenceKind.NOT_RECOGNIZED, 5 to PresenceKind.CANCELLED, 7 to PresenceKind.LOCKED_OUT,
            8 to PresenceKind.NOT_RECOGNIZED, 9 to PresenceKind.LOCKED_OUT_FOR_GOOD, 10 to PresenceKind.CANCELLED,
            11 to PresenceKind.NOT_SET_UP, 12 to PresenceKind.UNSUPPORTED, 13 to PresenceKind.CANCELLED,
            14 to PresenceKind.NOT_SET_UP, 15 to PresenceKind.NOT_SET_UP, 67811 to PresenceKind.ENROLLMENT_CHANGED,
        )
    }
}

/** A way on that an app can offer. */
enum class PresenceStep {
    RETRY, UNLOCK_WITH_DEVICE_CREDENTIAL, USE_PASSWORD, SWITCH_TO_PASSWORD, SET_UP_BIOMETRY, ENROLL_AGAIN, DISABLE_BIOMETRY
}

/** The recommended next step after a failure of a gate. */
sealed interface PresenceAdvice {
    /** The ways that the app can offer. */
    val steps: List<PresenceStep>

    /** The app can start over. */
    data object MayRetry : PresenceAdvice {
        override val steps get() = listOf(PresenceStep.RETRY)
    }

    /** The app asks the user to try again. */
    data object AskToRetry : PresenceAdvice {
        override val steps get() = listOf(PresenceStep.RETRY)
    }

    /** The app can try again. Countermeasures against an attack may be needed. */
    data object MayRetryWithCountermeasures : PresenceAdvice {
        override val steps get() = listOf(PresenceStep.RETRY)
    }

    /** The app offers these ways to the user. */
    data class AskUser(override val steps: List<PresenceStep>) : PresenceAdvice

    /** Biometry cannot be used on this device: another mode is needed. */
    data object DisableBiometry : PresenceAdvice {
        override val steps get() = listOf(PresenceStep.USE_PASSWORD, PresenceStep.DISABLE_BIOMETRY)
    }

    /** The keys of the old biometry are gone: the password, then new keys. The session stays. */
    data object EnrollAgain : PresenceAdvice {
        override val steps get() = listOf(PresenceStep.USE_PASSWORD, PresenceStep.ENROLL_AGAIN)
    }

    /** The existing item is replaced. */
    data object Overwrite : PresenceAdvice {
        override val steps get() = listOf(PresenceStep.RETRY)
    }
}

/**
 * The advice after [failures] failures in a row, this one included; interruptions do not count. From [limit] on the user is asked
 * how to go on. Without a PIN, pattern or password of the device that way is not offered.
 */
fun PresenceKind.advice(failures: Int = 1, limit: Int = 3, hasDeviceCredential: Boolean = true): PresenceAdvice {
    fun ask(vararg steps: PresenceStep) = PresenceAdvice.AskUser(
        steps.filter { hasDeviceCredential || it != PresenceStep.UNLOCK_WITH_DEVICE_CREDENTIAL })
    val isRepeated = this in listOf(PresenceKind.NOT_RECOGNIZED, PresenceKind.POSSIBLE_ATTACK, PresenceKind.UNKNOWN)
    if (isRepeated && failures >= limit) {
        return ask(PresenceStep.RETRY, PresenceStep.USE_PASSWORD, PresenceStep.UNLOCK_WITH_DEVICE_CREDENTIAL)
    }
    return when (this) {
        PresenceKind.CANCELLED -> PresenceAdvice.MayRetry
        PresenceKind.NOT_RECOGNIZED -> PresenceAdvice.AskToRetry
        PresenceKind.POSSIBLE_ATTACK -> PresenceAdvice.MayRetryWithCountermeasures
        PresenceKind.LOCKED_OUT -> ask(PresenceStep.UNLOCK_WITH_DEVICE_CREDENTIAL, PresenceStep.USE_PASSWORD)
        PresenceKind.LOCKED_OUT_FOR_GOOD -> ask(PresenceStep.UNLOCK_WITH_DEVICE_CREDENTIAL, PresenceStep.SWITCH_TO_PASSWORD)
        PresenceKind.NOT_SET_UP -> ask(PresenceStep.SET_UP_BIOMETRY, PresenceStep.USE_PASSWORD)
        PresenceKind.ENROLLMENT_CHANGED -> PresenceAdvice.EnrollAgain
        PresenceKind.UNSUPPORTED -> PresenceAdvice.DisableBiometry
        PresenceKind.DUPLICATE -> PresenceAdvice.Overwrite
        PresenceKind.UNKNOWN -> ask(PresenceStep.RETRY, PresenceStep.USE_PASSWORD)
    }
}

/** The failure of a gate, and the recommended next step. */
class PresenceFailure(val error: PresenceException, val advice: PresenceAdvice) {
    /** The number that the vendors' events carry, such as 802000007. */
    val errorCode get() = error.errorCode
}
