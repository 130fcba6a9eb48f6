package androidx.annotation;

/** Kotlin's compiler knows it by its name, and asks for a check of what has it. */
public @interface Nullable {}
