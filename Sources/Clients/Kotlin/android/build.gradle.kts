// The parts for Android as a module of an app's own build: they meet the real `android.jar` there.
//
// settings.gradle.kts of the app: include(":sojourn-android")
//                                 project(":sojourn-android").projectDir = file("vendor/sojourn/android")

import org.jetbrains.kotlin.gradle.dsl.JvmTarget
import org.jetbrains.kotlin.gradle.tasks.KotlinJvmCompile

plugins {
    id("com.android.library")
}

// From version 9 on the Android Gradle plugin compiles Kotlin itself, and refuses the plugin that earlier ones need.
if (extensions.findByName("kotlin") == null) apply(plugin = "org.jetbrains.kotlin.android")

android {
    namespace = "org.sojourn.android"
    compileSdk = 36

    defaultConfig {
        // The gate asks for 28 and the passkeys for 34 when they run; all else works from 26 on.
        minSdk = 26
    }

    sourceSets["main"].java.srcDir("src")
    sourceSets["main"].manifest.srcFile("AndroidManifest.xml")

    compileOptions {
        sourceCompatibility = JavaVersion.VERSION_1_8
        targetCompatibility = JavaVersion.VERSION_1_8
    }
}

// `kotlinOptions` is an error from Kotlin 2.2 on.
tasks.withType<KotlinJvmCompile>().configureEach { compilerOptions.jvmTarget.set(JvmTarget.JVM_1_8) }

dependencies {
    api("org.sojourn:sojourn-client:VERSION")
    // Of the app, if it has OkHttp. Without OkHttp leave `SojournInterceptor.kt` out.
    compileOnly("com.squareup.okhttp3:okhttp:4.12.0")
}
