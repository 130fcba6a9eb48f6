package okhttp3;

/** The part of OkHttp 4 that the recipe of the manual uses. */
public abstract class Request {
    public abstract HttpUrl url();

    public abstract String method();

    public abstract String header(String name);

    public abstract RequestBody body();

    public abstract Builder newBuilder();

    public abstract static class Builder {
        public abstract Builder header(String name, String value);

        public abstract Request build();
    }

    public abstract static class HttpUrl {}

    public abstract static class RequestBody {
        public abstract boolean isOneShot();
    }
}
