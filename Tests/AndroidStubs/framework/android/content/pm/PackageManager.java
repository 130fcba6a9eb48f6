package android.content.pm;

public abstract class PackageManager {
    public static final String FEATURE_FINGERPRINT = "android.hardware.fingerprint";

    public PackageManager() {}
    public abstract boolean hasSystemFeature(String featureName);
}
