package android.system;

import java.io.FileDescriptor;

public final class Os {
    Os() {}
    public static void close(FileDescriptor fd) throws ErrnoException { throw new UnsupportedOperationException(); }
    public static void fsync(FileDescriptor fd) throws ErrnoException { throw new UnsupportedOperationException(); }
    public static FileDescriptor open(String path, int flags, int mode) throws ErrnoException { throw new UnsupportedOperationException(); }
}
