package okhttp3;

/** The part of OkHttp 4 that the recipe of the manual uses. */
public abstract class Response implements java.io.Closeable {
    public abstract int code();

    @Override
    public abstract void close();
}
