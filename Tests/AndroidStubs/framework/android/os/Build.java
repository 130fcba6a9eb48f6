package android.os;

public class Build {
    public Build() {}

    public static class VERSION {
        // Not final, because a constant would be copied into the code that compares it.
        public static int SDK_INT = 36;

        public VERSION() {}
    }

    public static class VERSION_CODES {
        public static final int P = 28;
        public static final int Q = 29;
        public static final int R = 30;
        public static final int UPSIDE_DOWN_CAKE = 34;

        public VERSION_CODES() {}
    }
}
